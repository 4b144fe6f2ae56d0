//===- GpuTest.cpp - The GPU that is simulated ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Gpu.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace stark::sim;

// Each description is read, and the one that stands for an architecture has it
// or says so.
TEST(Gpu, AnArchitectureHasItsGpu) {
  EXPECT_EQ(gpuForArch("sm_80"), "a100");
  EXPECT_EQ(gpuForArch("sm_86"), "rtx4090");
  EXPECT_EQ(gpuForArch("sm_89"), "rtx4090");
  EXPECT_EQ(gpuForArch("sm_90a"), "h200");
  EXPECT_EQ(gpuForArch("sm_120"), DefaultGpu);
}

/// What is wrong with a description that holds \p Text.
static std::string problemOf(const std::string &Text) {
  llvm::SmallString<64> Path;
  int File = -1;
  if (llvm::sys::fs::createTemporaryFile("gpu", "json", File, Path))
    return "no temporary file";
  llvm::FileRemover Remover(Path);
  llvm::raw_fd_ostream(File, /*shouldClose=*/true) << Text;
  llvm::Expected<GpuDescription> G = describeGpu(Path);
  std::string Problem = G ? "" : llvm::toString(G.takeError());
  return Problem.substr(Problem.find("field"));
}

TEST(Gpu, AFigureThatCannotBeIsNamed) {
  EXPECT_EQ(problemOf(R"({"name": "x"})"),
            "field 'arch': got nothing, wanted a string");
  EXPECT_EQ(problemOf(R"({"name": "x", "arch": "sm_90", "sms": 0})"),
            "field 'sms': got 0, wanted a number from 1 to 2^40");
}
