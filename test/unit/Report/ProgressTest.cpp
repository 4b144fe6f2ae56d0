//===- ProgressTest.cpp ---------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Progress.h"
#include "../Search/Trees.h"
#include "gtest/gtest.h"

using namespace stark;

// Whoever asks why is told how each node shown is related to the selected one.
TEST(ProgressTest, SaysWhatIsShown) {
  TreeBuilder B;
  unsigned Selected = B.add(0, correctIn(80));
  unsigned Child = B.add(int(Selected), correctIn(70));
  unsigned Sibling = B.add(0, correctIn(60));
  unsigned Cousin = B.add(int(Sibling), correctIn(50));
  Selection S;
  S.Node = Selected;
  S.Reason = "best leaf";
  EXPECT_EQ(
      selectionLine(7, S, B.T,
                    {{WindowRole::Plan, {0, Selected, Child, Cousin, Sibling}},
                     {WindowRole::Code, {0, Selected, Child, Cousin}}}),
      "attempt 7: node 1 (best leaf); shown to plan: root, 1 child, 2 leaders; "
      "to code: root, 1 child, 1 child of siblings");
  EXPECT_EQ(
      selectionLine(8, S, B.T, {{WindowRole::Debug, {0, Selected, Sibling}}}),
      "attempt 8: node 1 (best leaf); shown to debug: root, 1 sibling");
}

// A confirmation is of no attempt.
TEST(ProgressTest, SaysWhatIsWaitedFor) {
  using Kind = SearchStep::Kind;
  EXPECT_EQ(stepLine(3, {Kind::Ask, 0, "0003-plan-1"}),
            "attempt 3: asking for 0003-plan-1");
  EXPECT_EQ(stepLine(3, {Kind::Judge, 4}), "attempt 3: judging node 4");
  EXPECT_EQ(stepLine(3, {Kind::Profile, 4}), "attempt 3: profiling node 4");
  EXPECT_EQ(stepLine(3, {Kind::Confirm, 4}), "confirming node 4");
}

// Only what was timed has a time.
TEST(ProgressTest, SaysWhatCameOfAnAttempt) {
  Node N;
  N.Found = correctIn(50);
  N.Given.Title = "vector loads";
  EXPECT_EQ(nodeLine(2, N, false),
            "attempt 2: correct, 50.00 us, 2.000 times the source's speed "
            "[vector loads]");
  N.Found = failing();
  N.Given.Title.clear();
  EXPECT_EQ(nodeLine(2, N, true), "attempt 2: wrong (from the journal)");
}

// Why there is no candidate is said in the same line, which a model cannot
// break nor make long.
TEST(ProgressTest, SaysWhyThereIsNoCandidate) {
  Node N;
  N.Found = failing(VerdictKind::NoCandidate);
  N.Found.Run = "plan: names \x1b[1mloop7, but there is loop1\nmore";
  EXPECT_EQ(nodeLine(3, N, false), "attempt 3: no-candidate: plan: names "
                                   "\\u{1b}[1mloop7, but there is loop1");
  N.Found.Run = std::string(300, 'x');
  EXPECT_EQ(whyNot(N.Found), std::string(97, 'x') + "...");
  N.Given.Title = std::string(300, 't');
  EXPECT_EQ(nodeLine(3, N, false), "attempt 3: no-candidate [" +
                                       std::string(77, 't') +
                                       "...]: " + std::string(97, 'x') + "...");
  N.Found = failing(VerdictKind::NotCompiled);
  N.Found.Compiler = "line 3: error: expected ';'\n";
  EXPECT_EQ(whyNot(N.Found), "line 3: error: expected ';'");
  EXPECT_EQ(whyNot(correctIn(5)), "");
}
