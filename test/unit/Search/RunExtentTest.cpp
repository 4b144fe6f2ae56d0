//===- RunExtentTest.cpp - A run that is given more ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/RunExtent.h"
#include "SearchFixture.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
struct RunExtentTest : SearchTest {
  std::string text(const char *Name) {
    return llvm::cantFail(readFile(Run + "/" + Name));
  }
  std::string extend(unsigned Attempts) {
    return llvm::toString(setExtent(Run, {Attempts, {}}));
  }
};
} // namespace

// A run of two attempts that is given two more is a run of four, byte for byte.
TEST_F(RunExtentTest, GoesOnAsTheLongerRun) {
  outcome();
  EXPECT_EQ(extend(4), "");
  EXPECT_FALSE(llvm::cantFail(readRun(Run)).End);
  Options.Attempts = 4;
  outcome();
  std::string Journal = text("journal.jsonl"), Identity = text("run.json");
  EXPECT_EQ(attemptsBegun(llvm::cantFail(readRun(Run))), 4u);
  Run += "-at-once";
  outcome();
  EXPECT_EQ(text("journal.jsonl"), Journal);
  EXPECT_EQ(text("run.json"), Identity);
}

// What was tuned before is forgotten, as the fastest may be another now.
TEST_F(RunExtentTest, TunesAnew) {
  take(TunableSource);
  Options.Tune = {/*Candidates=*/4, /*Seconds=*/0};
  Judge.Of[4] = correctIn(10);
  outcome();
  EXPECT_EQ(attemptsBegun(llvm::cantFail(readRun(Run))), 2u);
  EXPECT_EQ(extend(3), "");
  EXPECT_FALSE(llvm::sys::fs::exists(Run + "/" + candidateFile(3)));
  Options.Attempts = 3;
  outcome();
  std::string Journal = text("journal.jsonl"), Identity = text("run.json");
  Run += "-at-once";
  outcome();
  EXPECT_EQ(text("journal.jsonl"), Journal);
  EXPECT_EQ(text("run.json"), Identity);
}

// With attempts in flight their order differs, and it goes on all the same.
TEST_F(RunExtentTest, GoesOnWithSeveralJobs) {
  Options.Jobs = 2;
  outcome();
  EXPECT_EQ(extend(4), "");
  Options.Attempts = 4;
  EXPECT_GE(outcome().Winner, 1);
  RecordedRun Long = llvm::cantFail(readRun(Run));
  EXPECT_EQ(attemptsBegun(Long), 4u);
  EXPECT_EQ(Long.Nodes.size(), 5u);
  ASSERT_TRUE(Long.End);
  EXPECT_EQ(Long.End->Attempts, 4u);
}

// One that was cut off ends where it is, and its best is confirmed.
TEST_F(RunExtentTest, EndsWithWhatItHas) {
  Options.Attempts = 9;
  Model.SuspendAfter = 4; // two attempts, and the third has asked
  EXPECT_EQ(problem(), "no answer yet");
  RecordedRun Cut = llvm::cantFail(readRun(Run));
  EXPECT_EQ(attemptsBegun(Cut), 3u);
  EXPECT_EQ(extend(2), "run '" + Run + "' has begun 3 attempts, wanted 2");
  EXPECT_EQ(extend(3), "");
  Model.SuspendAfter = 1000;
  Options.Attempts = 3;
  EXPECT_GE(outcome().Winner, 1);
}

// Killed between its two writes, it is the run that it was, without its end.
TEST_F(RunExtentTest, LosesNothingWhenKilled) {
  outcome();
  std::string Journal = text("journal.jsonl"), Identity = text("run.json");
  EXPECT_EQ(extend(7), "");
  llvm::cantFail(writeFileAtomically(Run + "/run.json", Identity));
  outcome();
  EXPECT_EQ(text("journal.jsonl"), Journal);
}

TEST_F(RunExtentTest, AddsLimitsOfAKind) {
  std::vector<BudgetLimit> Sum =
      addLimits(llvm::cantFail(parseBudgetLimits({"usd=2", "code:usd=1"})),
                llvm::cantFail(parseBudgetLimits({"usd=0.5", "minutes=3"})));
  ASSERT_EQ(Sum.size(), 3u);
  EXPECT_EQ(printBudgetLimit(Sum[0]), "usd=2.50");
  EXPECT_EQ(printBudgetLimit(Sum[1]), "code:usd=1.00");
  EXPECT_EQ(printBudgetLimit(Sum[2]), "minutes=3");
}
