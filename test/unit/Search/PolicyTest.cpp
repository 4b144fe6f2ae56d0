//===- PolicyTest.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Policy.h"
#include "Trees.h"
#include "gtest/gtest.h"
#include <map>

using namespace stark;

namespace {
/// What the policy picks, 0 <= epsilon <= 1 deciding how often at random.
std::optional<Selection> pick(const Tree &T, double Epsilon,
                              uint64_t Seed = 1) {
  PolicyOptions Options;
  Options.Epsilon = Epsilon;
  Random Draw(Seed);
  return makeEpsilonGreedy(Options)->select(T, {}, Draw);
}

std::string why(const Tree &T, unsigned Number) {
  std::string Why;
  return eligible(T, Number, PolicyOptions(), &Why) ? "" : Why;
}
} // namespace

// With the fifth child the root becomes ineligible; other nodes have no cap.
TEST(Policy, RootThrottling) {
  TreeBuilder B;
  for (int I = 0; I < 4; ++I)
    B.add(0, correctIn(200));
  EXPECT_EQ(why(B.T, 0), "");
  B.add(0, correctIn(200));
  EXPECT_EQ(why(B.T, 0), "the root has 5 children, its limit");
  for (int I = 0; I < 8; ++I)
    B.add(1, correctIn(300));
  EXPECT_EQ(why(B.T, 1), "");
}

// "More than n_child children and all current children fail": with 3, three
// failing children do not end a node, a fourth does.
TEST(Policy, DeadBranchPruning) {
  TreeBuilder B;
  B.add(0, correctIn(90));
  for (int I = 0; I < 3; ++I)
    B.add(1, failing());
  EXPECT_EQ(why(B.T, 1), "");
  B.add(1, failing());
  EXPECT_EQ(why(B.T, 1), "all of its 4 children fail");
}

// One correct child, even the last, keeps a branch alive.
TEST(Policy, OneCorrectChildKeepsABranch) {
  TreeBuilder B;
  B.add(0, correctIn(90));
  for (int I = 0; I < 6; ++I)
    B.add(1, failing());
  B.add(1, correctIn(95));
  EXPECT_EQ(why(B.T, 1), "");
}

// The pruning rule speaks of a node, and the root is one.
TEST(Policy, DeadBranchPruningHoldsForTheRoot) {
  TreeBuilder B;
  for (int I = 0; I < 4; ++I)
    B.add(0, failing());
  EXPECT_EQ(why(B.T, 0), "all of its 4 children fail");
}

// A failing node whose repairs fail is pruned like any other.
TEST(Policy, DeadBranchPruningHoldsForFailingNodes) {
  TreeBuilder B;
  B.add(0, failing());
  for (int I = 0; I < 4; ++I)
    B.add(1, failing(VerdictKind::NotCompiled));
  EXPECT_EQ(why(B.T, 1), "all of its 4 children fail");
}

// An attempt that gave no plan cannot be gone on from, but it counts as a
// failed child.
TEST(Policy, NoPlanIsIneligible) {
  TreeBuilder B;
  B.add(0, correctIn(90));
  for (int I = 0; I < 4; ++I)
    B.add(1, failing(VerdictKind::NoCandidate));
  EXPECT_EQ(why(B.T, 2), "no plan came of the attempt");
  EXPECT_EQ(why(B.T, 1), "all of its 4 children fail");
}

// A plan whose code could not be used is repaired like a failing candidate.
TEST(Policy, PlanWithoutCandidateIsEligible) {
  TreeBuilder B;
  Node N;
  N.Parent = N.Base = 0;
  N.Found = failing(VerdictKind::NoCandidate);
  N.Given.Anchors.emplace_back();
  EXPECT_EQ(why(B.T, B.T.add(N)), "");
}

// Without exploration the lowest score wins, and the source takes part.
TEST(Policy, BestIsTheLowestScore) {
  TreeBuilder B;
  EXPECT_EQ(pick(B.T, 0)->Node, 0u);
  B.add(0, correctIn(120));
  B.add(0, failing());
  EXPECT_EQ(pick(B.T, 0)->Node, 0u);
  B.add(1, correctIn(80));
  EXPECT_EQ(pick(B.T, 0)->Node, 3u);
  EXPECT_EQ(pick(B.T, 0)->Reason, "best of 4 eligible");
}

// A best node with children is taken again: best is not only among leaves.
TEST(Policy, BestMayHaveChildren) {
  TreeBuilder B;
  B.add(0, correctIn(50));
  B.add(1, correctIn(60));
  EXPECT_EQ(pick(B.T, 0)->Node, 1u);
}

// The best node that is ineligible is passed over for the next best.
TEST(Policy, BestSkipsTheIneligible) {
  TreeBuilder B;
  B.add(0, correctIn(50)); // 1
  B.add(0, correctIn(70)); // 2
  for (int I = 0; I < 4; ++I)
    B.add(1, failing());
  EXPECT_EQ(pick(B.T, 0)->Node, 2u);
}

// Ties go to the older node.
TEST(Policy, TiesGoToTheOlder) {
  TreeBuilder B;
  B.add(0, correctIn(50));
  B.add(0, correctIn(50));
  EXPECT_EQ(pick(B.T, 0)->Node, 1u);
}

// When every eligible node fails, the least tried one is repaired first, the
// older one of several.
TEST(Policy, OnlyFailingNodes) {
  TreeBuilder B;
  for (int I = 0; I < 5; ++I)
    B.add(0, failing()); // 1 to 5; the root is ineligible now
  EXPECT_EQ(pick(B.T, 0)->Node, 1u);
  EXPECT_EQ(pick(B.T, 0)->Reason, "best of 5 eligible, none correct");
  B.add(1, failing()); // 6
  EXPECT_EQ(pick(B.T, 0)->Node, 2u);
}

// No eligible node: nothing is selected, and the search ends.
TEST(Policy, NoEligibleNode) {
  TreeBuilder B;
  for (int I = 0; I < 4; ++I)
    B.add(0, failing(VerdictKind::NoCandidate));
  EXPECT_FALSE(pick(B.T, 0).has_value());
  EXPECT_FALSE(pick(B.T, 1).has_value());
}

// Exploration draws eligible leaves, correct and failing ones, all equally
// often, and nothing else.
TEST(Policy, LeafBias) {
  TreeBuilder B;
  B.add(0, correctIn(50));                     // 1, has a child
  B.add(0, failing());                         // 2, a failing leaf
  B.add(1, correctIn(90));                     // 3, a correct leaf
  B.add(0, failing(VerdictKind::NoCandidate)); // 4, no plan
  B.add(1, correctIn(150));                    // 5, a slow leaf
  PolicyOptions Options;
  Options.Epsilon = 1;
  auto P = makeEpsilonGreedy(Options);
  Random Draw(7);
  std::map<unsigned, int> Count;
  for (int I = 0; I < 3000; ++I)
    ++Count[P->select(B.T, {}, Draw)->Node];
  ASSERT_EQ(Count.size(), 3u);
  for (unsigned Leaf : {2u, 3u, 5u})
    EXPECT_NEAR(Count[Leaf], 1000, 120);
  EXPECT_EQ(pick(B.T, 1)->Reason, "random leaf, eps 1.00");
}

// The rate of exploration is epsilon.
TEST(Policy, ExplorationRate) {
  TreeBuilder B;
  B.add(0, correctIn(50)); // 1: best, no leaf
  B.add(1, failing());     // 2: the only leaf
  auto P = makeEpsilonGreedy(PolicyOptions());
  Random Draw(3);
  int Leaves = 0;
  for (int I = 0; I < 10000; ++I)
    Leaves += P->select(B.T, {}, Draw)->Node == 2;
  EXPECT_NEAR(Leaves, 3000, 150);
}

// Exploration with no eligible leaf falls back to the best node.
TEST(Policy, NoLeafToExplore) {
  TreeBuilder B;
  B.add(0, failing(VerdictKind::NoCandidate));
  EXPECT_EQ(pick(B.T, 1)->Node, 0u);
  EXPECT_EQ(pick(B.T, 1)->Reason, "best of 1 eligible");
}

// The same seed takes the same path; the sequence is pinned, so that a run can
// be replayed by a build with another standard library.
TEST(Policy, Determinism) {
  TreeBuilder B;
  B.add(0, correctIn(50));
  for (int I = 0; I < 6; ++I)
    B.add(1, correctIn(60 + I));
  auto P = makeEpsilonGreedy(PolicyOptions());
  std::vector<unsigned> Path;
  Random Draw(1);
  for (int I = 0; I < 16; ++I)
    Path.push_back(P->select(B.T, {}, Draw)->Node);
  EXPECT_EQ(Path, (std::vector<unsigned>{2, 1, 2, 1, 1, 4, 1, 7, 1, 4, 3, 1, 1,
                                         7, 1, 1}));
}
