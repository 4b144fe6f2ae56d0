//===- KernelBuildTest.cpp ------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/KernelBuild.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
RunIdentity run() {
  RunIdentity Run;
  Run.Arch = "sm_90";
  Run.Versions["toolkit"] = "12.4";
  return Run;
}

std::string problem(CacheInputs In, const RunIdentity *Run,
                    const char *Toolkit) {
  return llvm::toString(completeInputs(In, Run, Toolkit));
}
} // namespace

// A run that is kept says for what it is, unless the command does.
TEST(KernelBuildTest, TakesWhatTheRunSays) {
  RunIdentity Run = run();
  CacheInputs In;
  ASSERT_FALSE(bool(completeInputs(In, &Run, "/nonexistent")));
  EXPECT_EQ(In.Arch, "sm_90");
  EXPECT_EQ(In.ToolkitVersion, "12.4");
  In.ToolkitVersion = "13.0";
  ASSERT_FALSE(bool(completeInputs(In, &Run, "/nonexistent")));
  EXPECT_EQ(In.ToolkitVersion, "13.0");
}

TEST(KernelBuildTest, NamesWhatIsMissing) {
  RunIdentity Run = run();
  CacheInputs In;
  EXPECT_EQ(problem(In, nullptr, ""), "--arch is needed, e.g. --arch sm_90");
  In.Arch = "sm_80";
  EXPECT_EQ(problem(In, &Run, ""),
            "--arch: got sm_80, but the run is for sm_90");
  EXPECT_EQ(problem(In, nullptr, "/nonexistent"),
            "no CUDA toolkit was found: give --toolkit-version or --cuda-path");
}
