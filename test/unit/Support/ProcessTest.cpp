//===- ProcessTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Process.h"
#include "stark/Support/Error.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>

using namespace stark;

namespace {
ProcessResult shell(std::string Script, uint64_t TimeoutMs = 0,
                    size_t Limit = 1 << 20) {
  ProcessSpec Spec;
  Spec.Program = "sh";
  Spec.Arguments = {"-c", std::move(Script)};
  Spec.TimeoutMs = TimeoutMs;
  Spec.OutputLimit = Limit;
  return llvm::cantFail(runProcess(Spec));
}

TEST(Process, KeepsOutputAndExitCode) {
  ProcessResult R = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(R.Out, "out\n");
  EXPECT_EQ(R.Err, "err\n");
  EXPECT_EQ(R.ExitCode, 3);
  EXPECT_EQ(shell("kill -SEGV $$").Signal, SIGSEGV);
}

// The deadline ends the whole group, also what the program started.
TEST(Process, DeadlineEndsTheGroup) {
  ProcessResult R = shell("sleep 60 & sleep 60", 200);
  EXPECT_TRUE(R.TimedOut);
  EXPECT_LT(R.WallMs, 10000u);
}

// A grandchild that holds the pipe open does not hold the caller up.
TEST(Process, LeftoversDoNotBlock) {
  ProcessResult R = shell("sleep 60 & echo done", 30000);
  EXPECT_FALSE(R.TimedOut);
  EXPECT_EQ(R.Out, "done\n");
  EXPECT_LT(R.WallMs, 10000u);
}

TEST(Process, OutputIsLimited) {
  ProcessResult R = shell("head -c 5000 /dev/zero | tr '\\0' x", 0, 100);
  EXPECT_EQ(R.Out.substr(0, 100), std::string(100, 'x'));
  EXPECT_NE(R.Out.find("4900 more bytes left out"), std::string::npos);
}

// No child sees a key.
TEST(Process, EnvironmentHasNoSecrets) {
  ::setenv("STARK_TEST_API_KEY", "marked", 1);
  EXPECT_EQ(shell("env").Out.find("marked"), std::string::npos);
}

TEST(Process, MissingProgramIsAnError) {
  ProcessSpec Spec;
  Spec.Program = "no-such-program";
  auto R = runProcess(Spec);
  ASSERT_FALSE(bool(R));
  EXPECT_EQ(llvm::toString(R.takeError()),
            "cannot run 'no-such-program': not found on PATH");
}
} // namespace
