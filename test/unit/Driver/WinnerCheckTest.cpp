//===- WinnerCheckTest.cpp - When a cached winner fails ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerCheck.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
WinnerFacts recorded(double Speedup) {
  WinnerFacts F;
  F.Device = "NVIDIA H200";
  F.Speedup = Speedup;
  return F;
}

Verdict measured(double Low, double Speedup, double High) {
  Verdict V;
  V.Kind = VerdictKind::Correct;
  V.Device = "NVIDIA H200";
  V.Timings.emplace_back();
  V.Timings[0].SpeedupLow = Low;
  V.Timings[0].Speedup = Speedup;
  V.Timings[0].SpeedupHigh = High;
  return V;
}

std::string problem(const char *Text) {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("check"));
  std::string File = Folder.path().str() + "/kernels.json";
  llvm::cantFail(writeFileAtomically(File, Text));
  std::string Why = llvm::toString(readTargetFile(File).takeError());
  size_t At = Why.find(File);
  return At == std::string::npos ? Why : Why.replace(At, File.size(), "FILE");
}

constexpr CheckResult Passed = CheckResult::Passed,
                      Slower = CheckResult::Slower;
} // namespace

// Noise is no failure: only an interval that lies wholly below is.
TEST(WinnerCheckTest, FailsBelowTheSource) {
  EXPECT_EQ(judgeWinner(recorded(1.1), measured(0.9, 0.95, 1.01), 0.25).first,
            Passed);
  auto [Result, Why] =
      judgeWinner(recorded(1.1), measured(0.9, 0.95, 0.99), 0.25);
  EXPECT_EQ(Result, Slower);
  EXPECT_EQ(Why, "got 0.950 times as fast (95 % from 0.900 to 0.990), wanted "
                 "as fast as the source");
}

// What was recorded counts on the GPU that it was recorded on.
TEST(WinnerCheckTest, FailsFarBelowWhatWasRecorded) {
  WinnerFacts Then = recorded(4);
  EXPECT_EQ(judgeWinner(Then, measured(2.8, 2.9, 3.1), 0.25).first, Passed);
  auto [Result, Why] = judgeWinner(Then, measured(2.8, 2.9, 2.99), 0.25);
  EXPECT_EQ(Result, Slower);
  EXPECT_EQ(Why, "got 2.900 times as fast (95 % from 2.800 to 2.990), wanted "
                 "3.000 at least, of the 4.000 recorded");
  Then.Device = "NVIDIA H100";
  EXPECT_EQ(judgeWinner(Then, measured(2.8, 2.9, 2.99), 0.25).first, Passed);
  Then = recorded(4);
  Then.Modelled = true;
  EXPECT_EQ(judgeWinner(Then, measured(2.8, 2.9, 2.99), 0.25).first, Passed);
}

TEST(WinnerCheckTest, FailsWhenNotCorrect) {
  Verdict V;
  V.Kind = VerdictKind::Wrong;
  V.Run = "output 'y' is wrong\nand so on";
  auto [Result, Why] = judgeWinner(recorded(2), V, 0.25);
  EXPECT_EQ(Result, CheckResult::Wrong);
  EXPECT_EQ(Why, "got wrong (output 'y' is wrong), wanted correct");
}

// What lies in a build folder is read with care.
TEST(WinnerCheckTest, NamesWhatIsWrongWithAFile) {
  EXPECT_EQ(problem("{"),
            "'FILE' is not JSON; wanted kernels.json of a target");
  EXPECT_NE(problem("{}").find("FILE"), std::string::npos);
  EXPECT_NE(problem(R"({"format": 1, "target": "t", "toolkit": "13.0",
                        "store": "s", "evaluator": "", "archs": [],
                        "sources": []})")
                .find("archs"),
            std::string::npos);
}
