//===- SearchProgressTest.cpp - What a search is at -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/SearchProgress.h"
#include "../Search/Trees.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace stark;
using std::chrono::seconds;

namespace {
class SearchProgressTest : public testing::Test {
protected:
  void begin(unsigned Attempts, std::vector<std::string> Limits = {}) {
    RunIdentity Run;
    Run.TaskName = "softmax";
    Run.Options.Attempts = Attempts;
    Run.Options.Limits = llvm::cantFail(parseBudgetLimits(Limits));
    P.onBegin(Run);
  }
  void node(unsigned Attempt, const Verdict &Found, bool Recorded = false,
            std::string Title = "") {
    Node N;
    N.Number = Attempt;
    N.Found = Found;
    N.Given.Title = std::move(Title);
    P.onNode(Attempt, N, T, Recorded);
  }
  void reply(std::string Request, uint64_t Tokens,
             std::optional<int64_t> MicroUsd) {
    ChatReply R;
    R.Tokens.Input = Tokens;
    R.CostMicroUsd = MicroUsd;
    P.onReply(1, Request, R, false);
  }
  std::string shown(size_t Columns = 80, size_t Rows = 24) {
    return llvm::join(P.lines(Columns, Rows), "\n");
  }

  FakeClock Time;
  SearchProgress P{Time};
  Tree T;
};

Verdict timed(double Us, double Low, double High, std::string Floor) {
  Verdict V = correctIn(Us);
  V.Timings[0].SpeedupLow = Low;
  V.Timings[0].SpeedupHigh = High;
  if (!Floor.empty())
    V.Run = "n=1: median 50.00 us; moving its 1.0 MB at the device's copy rate "
            "of 4250 GB/s takes " +
            Floor + " us, 25 % of the median\n";
  return V;
}
using Kind = SearchStep::Kind;
} // namespace

// One look says how far it is, what is best and how sure, who does what and for
// how long, who waits for the judge, what is spent and when it ends.
TEST_F(SearchProgressTest, SaysAllOfASearchInAFewLines) {
  begin(10, {"tokens=200000", "code:usd=1"});
  node(0, timed(100, 1, 1, "12.0"));
  node(1, failing(VerdictKind::NotCompiled));
  Time.advance(seconds(60));
  node(2, timed(50, 1.98, 2.02, "12.5"));
  P.onSelect(3, {}, T, {}, false);
  P.onSelect(4, {}, T, {}, false);
  P.onSelect(5, {}, T, {}, false);
  P.onStep(3, {Kind::Ask, 0, "0003-code-1"});
  P.onStep(4, {Kind::Queue});
  Time.advance(seconds(7));
  P.onStep(5, {Kind::Judge, 3});
  Time.advance(seconds(1));
  reply("0003-plan-1", 1200, 10000);
  reply("0003-code-1", 800, 420000);
  EXPECT_EQ(
      shown(),
      "softmax: 2 of 10 attempts  [###-------------]  1 min 08 s, "
      "about 1 min 33 s left\n"
      "best: node 2, 2.000 times as fast (1.980 to 2.020), 50.00 us, 25 % "
      "of the floor\n"
      "verdicts: 1 not-compiled, 1 correct\n"
      "attempt 3: code agent, 8 s\n"
      "attempt 5: judge, node 3, 1 s\n"
      "judge's queue: 1 attempt\n"
      "spent: 2000 of 200000 tokens, code: 0.42 of 1.00 USD, 0.43 USD\n"
      "last: attempt 2: correct, 50.00 us, 2.000 times the source's speed");
  EXPECT_EQ(P.lines(70, 24)[1],
            "best: node 2, 2.000 times as fast (1.980 to 2.020), 50.00 us");
}

// The first lines of a search say that there is nothing yet.
TEST_F(SearchProgressTest, BeginsWithNothing) {
  // A command that fails before its search began has drawn nothing of it.
  EXPECT_EQ(shown(), "");
  begin(3);
  EXPECT_EQ(shown(), "softmax: 0 of 3 attempts  "
                     "[------------------------------]  0 s\n"
                     "best: none that is correct yet");
  EXPECT_EQ(P.secondsLeft(), std::nullopt);
}

// What an earlier process made counts as made, and not for the pace.
TEST_F(SearchProgressTest, GoesByItsOwnPace) {
  begin(10);
  for (unsigned I = 1; I <= 6; ++I)
    node(I, failing(), /*Recorded=*/true);
  Time.advance(seconds(20));
  EXPECT_EQ(P.secondsLeft(), std::nullopt);
  node(7, failing());
  node(8, failing());
  EXPECT_EQ(P.secondsLeft(), 20u) << "two of ten are left, ten seconds each";
}

// Minutes that are a limit end it earlier.
TEST_F(SearchProgressTest, EndsWithItsMinutes) {
  begin(100, {"minutes=2"});
  node(1, failing());
  node(2, failing());
  Time.advance(seconds(100));
  EXPECT_EQ(P.secondsLeft(), 20u);
}

// Money or tokens that are spent before the attempts end it earlier: what an
// earlier process took of them is gone, and its pace is not this one's.
TEST_F(SearchProgressTest, EndsWithItsBudget) {
  begin(100, {"tokens=10000", "code:usd=1"});
  ChatReply Earlier;
  Earlier.Tokens.Input = 4000;
  P.onReply(1, "0001-plan-1", Earlier, /*Recorded=*/true);
  node(1, failing(), /*Recorded=*/true);
  Time.advance(seconds(10));
  node(2, failing());
  node(3, failing());
  EXPECT_EQ(P.secondsLeft(), 485u) << "97 attempts of five seconds";
  reply("0003-plan-1", 1000, 0);
  EXPECT_EQ(P.secondsLeft(), 50u) << "5000 of 10000 tokens, 100 a second";
  reply("0003-code-1", 0, 500000);
  EXPECT_EQ(P.secondsLeft(), 10u) << "half of the code agent's money";
  reply("0004-code-1", 0, 600000);
  EXPECT_EQ(P.secondsLeft(), 0u);
  P.onEnd({});
  EXPECT_EQ(P.secondsLeft(), std::nullopt) << "it has ended";
}

// In any width no line is wider, and what matters most stays.
TEST_F(SearchProgressTest, FitsAnyWidth) {
  begin(10, {"tokens=200000"});
  node(0, timed(100, 1, 1, ""));
  node(2, timed(50, 1.98, 2.02, "12.5"), false,
       "a \x1b[31mtitle\x07 that is much too long for any terminal at all");
  P.onStep(3, {Kind::Ask, 0, "0003-code-1"});
  for (size_t Columns : {200, 80, 60, 40, 20, 8, 1})
    for (const std::string &Line : P.lines(Columns, 24)) {
      EXPECT_LE(columnsOf(Line), Columns) << Line;
      EXPECT_EQ(Line.find('\x1b'), std::string::npos);
    }
  EXPECT_EQ(P.lines(40, 24)[0], "softmax: 1 of 10 attempts  0 s");
  EXPECT_EQ(P.lines(48, 24)[1],
            "best: node 2, 2.000 times as fast (1.980 to 2...");
}

// Variants are no attempts, and may be the best.
TEST_F(SearchProgressTest, Variants) {
  begin(1);
  node(0, correctIn(100));
  node(1, correctIn(50));
  Node N;
  N.Number = 2;
  N.Tuned = true;
  N.Found = correctIn(40);
  P.onNode(2, N, T, false);
  EXPECT_NE(shown().find("1 of 1 attempts, 1 with other numbers"),
            std::string::npos)
      << shown();
  EXPECT_NE(shown().find("best: node 2"), std::string::npos) << shown();
}

// Many attempts in flight do not fill the screen.
TEST_F(SearchProgressTest, FitsAnyHeight) {
  begin(300);
  for (unsigned I = 1; I <= 256; ++I)
    P.onStep(I, {Kind::Ask, 0, "0001-plan-1"});
  std::vector<std::string> Lines = P.lines(80, 24);
  EXPECT_LE(Lines.size(), 24u);
  EXPECT_EQ(Lines.back(), "238 more");
}

TEST(DurationTest, IsReadAtOnce) {
  EXPECT_EQ(durationText(0), "0 s");
  EXPECT_EQ(durationText(59), "59 s");
  EXPECT_EQ(durationText(60), "1 min 00 s");
  EXPECT_EQ(durationText(3599), "59 min 59 s");
  EXPECT_EQ(durationText(3900), "1 h 05 min");
}

// A share is only of what the evaluator said for every size.
TEST(FloorShareTest, IsTheMeanOfAllSizes) {
  Verdict V = timed(50, 2, 2, "12.5");
  EXPECT_DOUBLE_EQ(*floorShare(V), 0.25);
  V.Timings.push_back(V.Timings[0]);
  V.Timings[1].Label = "n=2";
  EXPECT_EQ(floorShare(V), std::nullopt);
  V.Run +=
      "n=2: median 50.00 us; moving its 4.0 MB at the device's copy rate of "
      "4250 GB/s takes 50.0 us, 100 % of the median\n";
  EXPECT_DOUBLE_EQ(*floorShare(V), 0.5);
  V.Run = "n=1: median takes x us, nan % of the median\n";
  EXPECT_EQ(floorShare(V), std::nullopt);
}
