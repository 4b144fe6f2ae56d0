//===- PoliciesTest.cpp --------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The policies beside the paper's, and what each makes of attempts in
/// flight.
///
//===----------------------------------------------------------------------===//

#include "Trees.h"
#include "stark/Search/Policy.h"
#include "gtest/gtest.h"
#include <set>

using namespace stark;

namespace {
int pick(Policy &P, const Tree &T, const PendingChildren &Pending = {},
         uint64_t Seed = 1) {
  Random Draw(Seed);
  std::optional<Selection> S = P.select(T, Pending, Draw);
  return S ? int(S->Node) : -1;
}

std::set<int> picks(Policy &P, const Tree &T) {
  std::set<int> All;
  for (uint64_t Seed = 1; Seed < 200; ++Seed)
    All.insert(pick(P, T, {}, Seed));
  return All;
}

PolicyOptions withEpsilon(double Epsilon) {
  PolicyOptions Options;
  Options.Epsilon = Epsilon;
  return Options;
}

PolicyOptions withRepairs(unsigned Repairs) {
  PolicyOptions Options;
  Options.Repairs = Repairs;
  return Options;
}
} // namespace

// Each has a name that leads back to it, and the error for another names all.
TEST(Policies, Names) {
  for (PolicyKind K : allPolicyKinds())
    EXPECT_EQ(llvm::cantFail(parsePolicyKind(policyName(K))), K);
  auto Wrong = parsePolicyKind("best");
  ASSERT_FALSE(bool(Wrong));
  EXPECT_EQ(llvm::toString(Wrong.takeError()),
            "got 'best', wanted one of epsilon-greedy, plain-epsilon-greedy, "
            "greedy, mcts, evolutionary, beam, best-of-k, iterative, "
            "iterative-correct, random");
}

// Every policy begins with the source, and never takes an attempt that gave no
// plan, whatever the draw.
TEST(Policies, NeverWhatCannotBeGoneOnFrom) {
  for (PolicyKind K : allPolicyKinds()) {
    PolicyOptions Options;
    Options.Kind = K;
    auto P = makePolicy(Options);
    TreeBuilder B;
    EXPECT_EQ(picks(*P, B.T), std::set<int>{0}) << policyName(K).str();
    B.add(0, failing(VerdictKind::NoCandidate));
    B.add(0, correctIn(150));
    B.add(2, failing(VerdictKind::NoCandidate));
    for (int Node : picks(*P, B.T))
      EXPECT_TRUE(Node == 0 || Node == 2) << policyName(K).str();
  }
}

// The same tree, what is pending and the seed: the same choice.
TEST(Policies, Repeatable) {
  TreeBuilder B;
  for (int I = 0; I < 12; ++I)
    B.add(I / 2, I % 3 ? correctIn(200 - 10 * I) : failing());
  for (PolicyKind K : allPolicyKinds()) {
    PolicyOptions Options;
    Options.Kind = K;
    for (uint64_t Seed = 1; Seed < 20; ++Seed)
      EXPECT_EQ(pick(*makePolicy(Options), B.T, {{0, 1}}, Seed),
                pick(*makePolicy(Options), B.T, {{0, 1}}, Seed));
  }
}

// Plain epsilon-greedy draws from all nodes, and neither throttles nor prunes.
TEST(Policies, PlainEpsilonGreedy) {
  TreeBuilder B;
  for (int I = 0; I < 8; ++I)
    B.add(0, failing());
  EXPECT_EQ(picks(*makePlainEpsilonGreedy(withEpsilon(0)), B.T),
            std::set<int>{0});
  EXPECT_EQ(picks(*makePlainEpsilonGreedy(withEpsilon(1)), B.T).size(), 9u);
}

// Greedy stays at the source until something beats it.
TEST(Policies, Greedy) {
  TreeBuilder B;
  for (int I = 0; I < 8; ++I)
    B.add(0, correctIn(120));
  EXPECT_EQ(pick(*makeGreedy({}), B.T), 0);
  unsigned Faster = B.add(3, correctIn(90));
  EXPECT_EQ(pick(*makeGreedy({}), B.T), int(Faster));
}

// UCT fills the source's room first, then prefers the better subtree, and comes
// back to the other one when it was left alone for long.
TEST(Policies, Mcts) {
  auto P = makeMcts({});
  TreeBuilder B;
  EXPECT_EQ(pick(*P, B.T), 0);
  B.add(0, correctIn(50)); // 1
  EXPECT_EQ(pick(*P, B.T), 0);
  B.add(0, failing()); // 2; 3 visits, room for 2
  EXPECT_EQ(pick(*P, B.T), 1);
  // What is in flight below 1 counts as failing until it is known.
  EXPECT_EQ(pick(*P, B.T, {{1, 1}}), 0); // 4 visits, room for 3
  std::set<int> Seen;
  for (int I = 0; I < 30; ++I) {
    int Next = pick(*P, B.T);
    Seen.insert(Next);
    B.add(Next, Next == 1 ? correctIn(50) : failing());
  }
  EXPECT_TRUE(Seen.count(2));
  EXPECT_GT(Seen.size(), 8u);
}

// Islands take turns; a node stays on the island of its first ancestor.
TEST(Policies, Evolutionary) {
  auto P = makeEvolutionary({});
  TreeBuilder B;
  B.add(0, correctIn(40)); // 1, island 1
  B.add(0, correctIn(60)); // 2, island 2
  B.add(0, correctIn(80)); // 3, island 3; next is the turn of island 1
  for (int Node : picks(*P, B.T))
    EXPECT_TRUE(Node == 0 || Node == 1);
  B.add(1, correctIn(30)); // 4, island 1; island 2
  for (int Node : picks(*P, B.T))
    EXPECT_TRUE(Node == 0 || Node == 2);
  B.add(2, failing()); // 5, island 2
  B.add(3, failing()); // 6, island 3
  // Island 1: the source never wins against what is faster; the two winners of
  // a tournament among {0, 1, 4} are 4 and 1.
  EXPECT_EQ(picks(*P, B.T), (std::set<int>{1, 4}));
}

// Three of a level, three children each, then the next level.
TEST(Policies, Beam) {
  auto P = makeBeam({});
  TreeBuilder B;
  for (double Us : {300.0, 200.0, 400.0}) {
    EXPECT_EQ(pick(*P, B.T), 0);
    B.add(0, correctIn(Us));
  }
  EXPECT_EQ(pick(*P, B.T), 2);
  B.add(2, failing());
  EXPECT_EQ(pick(*P, B.T), 1);
  EXPECT_EQ(pick(*P, B.T, {{1, 1}}), 3);
  TreeBuilder Dead;
  for (int I = 0; I < 7; ++I)
    Dead.add(0, failing());
  EXPECT_EQ(pick(*P, Dead.T), 0);
}

// Best-of-k samples from the source, and repairs a failing sample as often as
// it may.
TEST(Policies, BestOfK) {
  TreeBuilder B;
  B.add(0, correctIn(50));
  B.add(0, failing());
  EXPECT_EQ(pick(*makeBestOfK(withRepairs(0)), B.T), 0);
  EXPECT_EQ(pick(*makeBestOfK(withRepairs(1)), B.T), 2);
  EXPECT_EQ(pick(*makeBestOfK(withRepairs(1)), B.T, {{2, 1}}), 0);
  B.add(2, failing());
  EXPECT_EQ(pick(*makeBestOfK(withRepairs(1)), B.T), 0);
  EXPECT_EQ(pick(*makeBestOfK(withRepairs(2)), B.T), 3);
}

// A chain goes on from its end, failing or not, or from the last that was
// correct, and waits for the attempt in flight.
TEST(Policies, Iterative) {
  TreeBuilder B;
  B.add(0, correctIn(150));
  B.add(1, failing());
  EXPECT_EQ(pick(*makeIterative({}), B.T), 2);
  EXPECT_EQ(pick(*makeIterativeCorrect({}), B.T), 1);
  EXPECT_EQ(pick(*makeIterative({}), B.T, {{2, 1}}), -1);
}

// The adapted rule counts what is in flight as children that may fail, spreads
// the jobs over the best nodes, and takes no leaf twice.
TEST(Policies, EpsilonGreedyInFlight) {
  PolicyOptions Options;
  Options.Epsilon = 0;
  auto P = makeEpsilonGreedy(Options);
  TreeBuilder B;
  EXPECT_EQ(pick(*P, B.T, {{0, 4}}), 0);
  EXPECT_EQ(pick(*P, B.T, {{0, 5}}), -1);
  B.add(0, correctIn(50));
  B.add(0, correctIn(70));
  EXPECT_EQ(pick(*P, B.T), 1);
  EXPECT_EQ(pick(*P, B.T, {{1, 1}}), 2);
  EXPECT_EQ(pick(*P, B.T, {{1, 1}, {2, 1}}), 0);
  EXPECT_EQ(pick(*P, B.T, {{1, 1}, {2, 1}, {0, 1}}), 1);
  for (int I = 0; I < 3; ++I)
    B.add(1, failing());
  EXPECT_EQ(pick(*P, B.T), 1);
  std::string Why;
  EXPECT_FALSE(eligible(B.T, 1, Options, &Why, 1));
  EXPECT_EQ(Why, "all of its 3 children fail, and 1 in flight");
  Options.Epsilon = 1;
  EXPECT_EQ(pick(*makeEpsilonGreedy(Options), B.T, {{2, 1}, {3, 1}, {4, 1}}),
            5);
}
