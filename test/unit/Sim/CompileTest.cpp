//===- CompileTest.cpp - Why a source does not compile --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Compile.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace stark::sim;

static CompileResult compiled(const std::string &Text) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Text = Text;
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  if (R)
    return std::move(*R);
  ADD_FAILURE() << llvm::toString(R.takeError());
  return {};
}

TEST(Compile, AMistakeIsTheSourcesOwn) {
  CompileResult R = compiled("__global__ void error(int *p) { *p = asm; }\n");
  EXPECT_FALSE(R.Code);
  EXPECT_FALSE(R.Missing) << R.Missing->text();
  R = compiled("#include \"cub_of_mine.h\"\n");
  EXPECT_FALSE(R.Code);
  EXPECT_FALSE(R.Missing) << R.Missing->text();
}

TEST(Compile, ALibraryThatIsNotThereIsNamed) {
  CompileResult R = compiled("#include <thrust/sort.h>\n");
  EXPECT_FALSE(R.Code);
  ASSERT_TRUE(R.Missing);
  EXPECT_EQ(R.Missing->Kind, UnsupportedKind::Library);
  EXPECT_EQ(R.Missing->text(),
            "a library that the simulator does not have: k.cu:1:10: fatal "
            "error: 'thrust/sort.h' file not found");
}

TEST(Compile, APtxOperandThatClangRefusesIsNamed) {
  CompileResult R = compiled("__global__ void k(int *p) {\n"
                             "  asm(\"mov.b128 %0, 0;\" : \"=q128\"(*p));\n"
                             "}\n"
                             "#include <thrust/sort.h>\n");
  EXPECT_FALSE(R.Code);
  ASSERT_TRUE(R.Missing);
  EXPECT_EQ(R.Missing->Kind, UnsupportedKind::PtxConstraint);
  EXPECT_EQ(R.Missing->text().substr(0, 31), "inline PTX: k.cu:2:27: error: i")
      << R.Missing->text();
}
