//===- CompileTest.cpp - What comes of a source ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Compile.h"
#include "stark/Support/File.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace stark;
using namespace stark::sim;

static CompileResult compiled(const std::string &Text,
                              CompileRequest Request = {},
                              Side For = Side::Device) {
  Request.Path = "/source/k.cu";
  Request.Text = Text;
  llvm::Expected<CompileResult> R = compileFor(For, Request);
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
  CompileResult R = compiled("#include <thrust/mr/pool.h>\n");
  EXPECT_FALSE(R.Code);
  ASSERT_TRUE(R.Missing);
  EXPECT_EQ(R.Missing->Kind, UnsupportedKind::Library);
  EXPECT_EQ(R.Missing->text(),
            "a library that the simulator does not have: k.cu:1:10: fatal "
            "error: 'thrust/mr/pool.h' file not found");
}

TEST(Compile, APtxOperandThatClangRefusesIsNamed) {
  CompileResult R = compiled("__global__ void k(int *p) {\n"
                             "  asm(\"mov.b128 %0, 0;\" : \"=q128\"(*p));\n"
                             "}\n"
                             "#include <thrust/mr/pool.h>\n");
  EXPECT_FALSE(R.Code);
  ASSERT_TRUE(R.Missing);
  EXPECT_EQ(R.Missing->Kind, UnsupportedKind::PtxConstraint);
  EXPECT_EQ(R.Missing->text().substr(0, 31), "inline PTX: k.cu:2:27: error: i")
      << R.Missing->text();
}

// A project that names the toolkit's folder itself gets our headers all the
// same, and what else is there.
TEST(Compile, TheToolkitsFolderDoesNotHideOurHeaders) {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("toolkit"));
  std::string At = Folder.path().str();
  for (const char *Name : {"/cuda_runtime.h", "/cooperative_groups.h"})
    llvm::cantFail(writeFileAtomically(At + Name, "#error the toolkit's\n"));
  llvm::cantFail(writeFileAtomically(At + "/mine.h", "#define MINE 3\n"));
  for (const std::string &Flag : {"-I" + At, "-isystem=" + At}) {
    CompileRequest Request;
    Request.Flags = {Flag};
    CompileResult R =
        compiled("#include <cooperative_groups.h>\n"
                 "#include <mine.h>\n"
                 "__global__ void k(int *p) {\n"
                 "  cooperative_groups::this_thread_block().sync();\n"
                 "  *p = MINE;\n"
                 "}\n",
                 Request);
    EXPECT_TRUE(R.Code) << R.Diagnostics;
  }
}

// With relocatable device code a static kernel is launched by the name that it
// has without.
TEST(Compile, RelocatableCodeIsCompiledAsEver) {
  for (Side For : {Side::Host, Side::Device}) {
    std::string Printed[2];
    for (bool Relocatable : {false, true}) {
      CompileRequest Request;
      if (Relocatable)
        Request.Flags = {"-rdc=true"};
      CompileResult R =
          compiled("static __global__ void k(int *p) { *p = 1; }\n"
                   "void call(int *p) { k<<<1, 1>>>(p); }\n",
                   Request, For);
      ASSERT_TRUE(R.Code) << R.Diagnostics;
      llvm::raw_string_ostream(Printed[Relocatable]) << *R.Code;
    }
    EXPECT_EQ(Printed[0], Printed[1]);
  }
}

namespace {
/// Our headers, precompiled once for all of these tests.
struct PrecompiledHeaders : testing::Test {
  static void SetUpTestSuite() {
    Kept =
        new TemporaryFolder(llvm::cantFail(TemporaryFolder::create("headers")));
    llvm::cantFail(precompileHeaders(Kept->path()));
  }
  static void TearDownTestSuite() { delete Kept; }

  /// Our source with \p Headers, or the errors in it.
  std::string code(Side For, std::vector<std::string> Flags,
                   llvm::StringRef Headers, const std::string &Arch = "sm_90") {
    CompileRequest Request;
    Request.Flags = std::move(Flags);
    Request.Arch = Arch;
    Request.Headers = Headers.str();
    CompileResult R = compiled(Text, std::move(Request), For);
    Parsed = R.HeadersParsed;
    std::string Printed = R.Diagnostics;
    if (R.Code)
      llvm::raw_string_ostream(Printed) << *R.Code;
    return Printed;
  }
  bool Parsed = false; ///< by the last compile

  static constexpr char Text[] =
      "#include <cassert>\n"
      "#include <cuda_fp16.h>\n"
      "__global__ void k(float *p, __half h) {\n"
      "  assert(p);\n"
      "  __shared__ float s[SIZE];\n"
      "  s[threadIdx.x] = __expf(p[0]) + __half2float(h);\n"
      "#ifdef __CUDA_ARCH__\n"
      "  p[1] = __CUDA_ARCH__;\n"
      "#endif\n"
      "  __syncthreads();\n"
      "  atomicAdd(p, s[0] + __shfl_down_sync(~0u, s[1], 1));\n"
      "}\n"
      "void call(float *p) { k<<<1, 32>>>(p, __float2half(1)); }\n";
  static TemporaryFolder *Kept;
};
TemporaryFolder *PrecompiledHeaders::Kept = nullptr;
} // namespace

// What is compiled is the same with them, for each GPU. With flags that they
// look at they are parsed as ever.
TEST_F(PrecompiledHeaders, ChangeNothing) {
  struct {
    std::vector<std::string> Flags;
    bool Parsed;
    const char *Arch = "sm_90";
  } Cases[] = {{{"-DSIZE=32"}, false},
               {{"-D", "SIZE=32", "-I", "/nowhere"}, false, "sm_80"},
               {{"-DSIZE=32", "-DNDEBUG", "-std=c++20"}, true}};
  for (Side For : {Side::Host, Side::Device})
    for (const auto &C : Cases) {
      std::string Plain = code(For, C.Flags, "", C.Arch);
      EXPECT_TRUE(Parsed);
      EXPECT_NE(Plain.find("define"), std::string::npos) << Plain;
      EXPECT_TRUE(Plain == code(For, C.Flags, Kept->path(), C.Arch))
          << C.Flags.back();
      EXPECT_EQ(Parsed, C.Parsed) << C.Flags.back();
    }
}

// A file that is missing, or is none of Clang's, costs time alone, and what is
// wrong with a source is told in the same words.
TEST_F(PrecompiledHeaders, WhereTheyDoNotFit) {
  TemporaryFolder Other = llvm::cantFail(TemporaryFolder::create("other"));
  std::string Plain = code(Side::Device, {"-DSIZE=32"}, "");
  llvm::cantFail(
      writeFileAtomically((Other.path() + "/device.pch").str(), "CPCH"));
  EXPECT_EQ(code(Side::Device, {"-DSIZE=32"}, Other.path()), Plain);
  EXPECT_TRUE(Parsed);
  EXPECT_EQ(code(Side::Device, {"-DSIZE=32"}, "/nowhere"), Plain);
  std::string Wrong = code(Side::Device, {}, "");
  EXPECT_NE(Wrong.find("error: "), std::string::npos) << Wrong;
  EXPECT_EQ(code(Side::Device, {}, Kept->path()), Wrong);
}
