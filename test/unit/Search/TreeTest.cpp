//===- TreeTest.cpp ------------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trees.h"
#include "gtest/gtest.h"

using namespace stark;
using Numbers = std::vector<unsigned>;

// Nodes are numbered in the order they are added, and know their relations.
TEST(Tree, Relations) {
  TreeBuilder B;
  B.add(0, correctIn(50)); // 1
  B.add(0, failing());     // 2
  B.add(1, correctIn(40)); // 3
  B.add(3, failing());     // 4
  EXPECT_EQ(B.T.size(), 5u);
  EXPECT_EQ(B.T.node(0).Children, (Numbers{1, 2}));
  EXPECT_EQ(B.T.siblings(1), (Numbers{2}));
  EXPECT_EQ(B.T.siblings(0), (Numbers{}));
  EXPECT_EQ(B.T.siblings(3), (Numbers{}));
  EXPECT_TRUE(B.T.inSubtree(4, 1));
  EXPECT_TRUE(B.T.inSubtree(1, 1));
  EXPECT_TRUE(B.T.inSubtree(4, 0));
  EXPECT_FALSE(B.T.inSubtree(2, 1));
  EXPECT_FALSE(B.T.inSubtree(1, 4));
}

// The leaderboard begins with the root (Algorithm 1, line 2).
TEST(Leaderboard, BeginsWithTheSource) {
  TreeBuilder B;
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{0}));
}

// It keeps the r best correct nodes, best first.
TEST(Leaderboard, KeepsTheBest) {
  TreeBuilder B;
  B.add(0, correctIn(80)); // 1
  B.add(0, failing());     // 2
  B.add(0, correctIn(60)); // 3
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{3, 1}));
  B.add(0, correctIn(70)); // 4
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{3, 4}));
  B.add(0, correctIn(90)); // 5
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{3, 4}));
}

// A tie goes to the older node, whether it comes to lead or to drop out.
TEST(Leaderboard, TiesGoToTheOlder) {
  TreeBuilder B;
  B.add(0, correctIn(100)); // 1
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{0, 1}));
  B.add(0, correctIn(100)); // 2
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{0, 1}));
}

// The paper wants distinct kernels: one with the tokens of another is left out.
TEST(Leaderboard, LeavesOutTheSameKernel) {
  TreeBuilder B;
  B.add(0, correctIn(50));    // 1
  B.add(1, correctIn(50), 1); // 2, the same tokens as 1
  EXPECT_EQ(B.Leaders.nodes(), (Numbers{1, 0}));
}
