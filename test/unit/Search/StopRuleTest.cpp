//===- StopRuleTest.cpp - When a search has found enough ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/StopRule.h"
#include "Trees.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
class StopRule : public testing::Test {
public:
  StopRule() {
    Load.Bytes = "4000000000 * n";
    Size S;
    S.Names = {{"n", 1}};
    Load.Sizes = {S};
  }
  /// Found in \p Us, on a device that copies 1 GB a microsecond.
  unsigned add(double Us) {
    Verdict V = correctIn(Us);
    V.CopyGBs = 1e6;
    return Tree.add(0, V);
  }
  std::string why() { return whyEnough(Tree.T, Load, Options).value_or(""); }
  Workload Load;
  SearchOptions Options;
  TreeBuilder Tree;
};
} // namespace

TEST_F(StopRule, NeverUnlessAsked) {
  for (int I = 0; I < 50; ++I)
    add(I ? 50 : 4);
  EXPECT_EQ(why(), "");
}

TEST_F(StopRule, PatienceCountsWhatGainsLittle) {
  Options.Patience = 3;
  add(50);
  add(49);
  Tree.add(0, failing());
  EXPECT_EQ(why(), "");
  add(60);
  EXPECT_EQ(why(), "the last 3 attempts gained less than 5 %");
  // Had it gained, it would have begun to count again.
  add(40);
  EXPECT_EQ(why(), "");
}

TEST_F(StopRule, SmallGainsAddUp) {
  Options.Patience = 2;
  for (double Us : {50.0, 48.5, 47.0, 46.5, 44.5})
    add(Us);
  EXPECT_EQ(why(), "");
}

// What took seven attempts to come may take as many to come again.
TEST_F(StopRule, LateGainsAreWaitedForLonger) {
  Options.Patience = 3;
  for (int I = 0; I < 6; ++I)
    Tree.add(0, failing());
  add(50);
  for (int I = 0; I < 6; ++I) {
    add(50);
    EXPECT_EQ(why(), "");
  }
  add(50);
  EXPECT_EQ(why(), "the last 7 attempts gained less than 5 %");
}

TEST_F(StopRule, NothingFoundIsNothingToBeContentWith) {
  Options.Patience = 2;
  for (int I = 0; I < 9; ++I)
    Tree.add(0, failing());
  add(99);
  EXPECT_EQ(why(), "");
}

TEST_F(StopRule, TheFloor) {
  Options.StopAt = 0.95;
  add(4.5);
  EXPECT_EQ(why(), "");
  add(4.2);
  EXPECT_EQ(why(), "attempt 2 is at 95 % of its floor");
}

TEST_F(StopRule, WhatHasNoFloor) {
  Options.StopAt = 0.1;
  Verdict V = correctIn(4);
  EXPECT_EQ(leastFloorShare(Load, V), std::nullopt); // no copy rate
  V.CopyGBs = 1e6;
  EXPECT_NEAR(*leastFloorShare(Load, V), 1, 1e-9);
  V.Modelled = true;
  EXPECT_EQ(leastFloorShare(Load, V), std::nullopt);
  V.Modelled = false;
  Load.Bytes = "";
  EXPECT_EQ(leastFloorShare(Load, V), std::nullopt);
  Load.Bytes = "4 / 0";
  EXPECT_EQ(leastFloorShare(Load, failing()), std::nullopt);
}

// A pair of events is in every time: nothing can be won of what takes as long.
TEST_F(StopRule, TheLaunchIsAFloorWithoutBytes) {
  Load.Bytes = "";
  Verdict V = correctIn(2);
  V.EventPairUs = 1.5;
  EXPECT_NEAR(*leastFloorShare(Load, V), 0.75, 1e-9);
}

// What L2 may keep moves at no copy rate, so that its share ends no search.
TEST_F(StopRule, BytesThatL2MayKeepEndNothing) {
  Verdict V = correctIn(20);
  V.Device = "NVIDIA H200";
  V.CopyGBs = 4000;
  Load.Bytes = "80000000 * n";
  EXPECT_NEAR(*leastFloorShare(Load, V), 2.0 / 20, 1e-9);
  Load.Bytes = "160000000 * n";
  EXPECT_NEAR(*leastFloorShare(Load, V), 40.0 / 20, 1e-9);
}
