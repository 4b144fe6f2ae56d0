//===- BudgetTest.cpp - What a run may spend ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Budget.h"
#include <gtest/gtest.h>

using namespace stark;

static BudgetLimit limit(const char *Text) {
  return llvm::cantFail(parseBudgetLimit(Text));
}

static ChatReply reply(uint64_t In, uint64_t Out,
                       std::optional<int64_t> Usd = {}) {
  ChatReply R;
  R.Tokens.Input = In;
  R.Tokens.Output = Out;
  R.CostMicroUsd = Usd;
  return R;
}

TEST(BudgetTest, LimitsReadBackAsTheyPrint) {
  for (const char *Text : {"tokens=200000", "usd=2.50", "minutes=90",
                           "code:usd=0.125", "plan:tokens=1", "usd=0.000001"})
    EXPECT_EQ(printBudgetLimit(limit(Text)), Text);
}

TEST(BudgetTest, AnythingElseIsRefused) {
  for (const char *Text : {"", "tokens", "tokens=", "tokens=0", "tokens=-1",
                           "tokens=1.5", "usd=nan", "usd=1e99", "hours=1",
                           "plan:minutes=1", "boss:tokens=1", ":tokens=1"}) {
    llvm::Expected<BudgetLimit> L = parseBudgetLimit(Text);
    EXPECT_FALSE(bool(L)) << Text;
    llvm::consumeError(L.takeError());
  }
}

TEST(BudgetTest, TheWorstIsReservedAndTheTruthIsSettled) {
  FakeClock Time;
  Budget B({limit("tokens=1000")}, Time);
  WorstCase W{400, 500, {}};
  EXPECT_EQ(*B.reserve("plan", W), "");
  B.settle("plan", reply(100, 50), W);
  EXPECT_EQ(*B.reserve("plan", WorstCase{350, 500, {}}), "");
  EXPECT_EQ(
      *B.reserve("plan", WorstCase{351, 500, {}}),
      "budget spent: tokens, 150 of 1000, and the next call may take 851");
}

TEST(BudgetTest, ALimitOfOneRoleIsOfThatRole) {
  FakeClock Time;
  Budget B({limit("code:tokens=100")}, Time);
  WorstCase W{60, 30, {}};
  B.settle("plan", reply(1000, 1000), W);
  EXPECT_EQ(*B.reserve("code", W), "");
  B.settle("code", reply(60, 30), W);
  EXPECT_EQ(*B.reserve("plan", W), "");
  EXPECT_EQ(*B.reserve("code", W), "budget spent: tokens of code, 90 of 100, "
                                   "and the next call may take 90");
}

TEST(BudgetTest, MoneyNeedsAPrice) {
  FakeClock Time;
  Budget B({limit("usd=0.01")}, Time);
  llvm::Expected<std::string> Why = B.reserve("plan", WorstCase{1, 1, {}});
  ASSERT_FALSE(bool(Why));
  EXPECT_NE(llvm::toString(Why.takeError()).find("is not known"),
            std::string::npos);
  WorstCase W{1, 1, 6000};
  EXPECT_EQ(*B.reserve("plan", W), "");
  B.settle("plan", reply(1, 1, 5000), W);
  EXPECT_EQ(*B.reserve("plan", W), "budget spent: usd, 0.005 of 0.01, and the "
                                   "next call may take 0.006");
}

TEST(BudgetTest, WhatAReplyDoesNotSayIsTakenForTheWorst) {
  FakeClock Time;
  Budget B({limit("tokens=100")}, Time);
  WorstCase W{40, 20, {}};
  B.settle("plan", ChatReply(), W);
  EXPECT_NE(*B.reserve("plan", W), "");
}

TEST(BudgetTest, TimeOfEarlierProcessesCounts) {
  FakeClock Time;
  Budget B({limit("minutes=1")}, Time);
  WorstCase W;
  EXPECT_EQ(*B.reserve("plan", W), "");
  ChatReply R = reply(1, 1);
  R.WallMs = 61'000;
  B.settleRecorded("plan", R, W);
  EXPECT_EQ(B.reserve("plan", W)->find("budget spent: minutes, 1.01"), 0u);
}

TEST(BudgetTest, MinutesAreTheClocks) {
  FakeClock Time;
  Time.advance(std::chrono::hours(5)); // before it begins
  Budget B({limit("minutes=1.5")}, Time);
  Time.advance(std::chrono::milliseconds(89'999));
  EXPECT_EQ(llvm::cantFail(B.reserve("plan", {})), "");
  Time.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(llvm::cantFail(B.reserve("plan", {})),
            "budget spent: minutes, 1.5 of 1.5");
}

TEST(BudgetTest, DiscardedAnswersAreSpent) {
  FakeClock Time;
  Budget B({limit("tokens=1000"), limit("plan:usd=1")}, Time);
  ChatReply R;
  R.Tokens.Input = 100;
  R.Tokens.Output = 50;
  R.CostMicroUsd = 100'000;
  R.Discarded = {1, 500, 100, true, 600'000};
  B.settle("plan", R, WorstCase());
  EXPECT_EQ(llvm::cantFail(B.reserve("plan", {200, 50, 300'000})), "");
  EXPECT_NE(llvm::cantFail(B.reserve("plan", {200, 51, 0})), "");
  EXPECT_NE(llvm::cantFail(B.reserve("plan", {0, 0, 300'001})), "");
  // Of an unknown price it is taken for the worst.
  Budget Money({limit("usd=1")}, Time);
  R.Discarded.CostMicroUsd.reset();
  Money.settle("plan", R, {0, 0, 450'000});
  EXPECT_EQ(llvm::cantFail(Money.reserve("plan", {0, 0, 450'000})), "");
  EXPECT_NE(llvm::cantFail(Money.reserve("plan", {0, 0, 450'001})), "");
}
