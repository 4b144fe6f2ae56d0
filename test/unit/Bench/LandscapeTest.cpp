//===- LandscapeTest.cpp -------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Laboratory.h"
#include "gtest/gtest.h"

using namespace stark;

static LandscapeRun runOf(const LandscapeOptions &O, uint64_t Seed,
                          PolicyKind Kind, unsigned Attempts = 30) {
  PolicyOptions P;
  P.Kind = Kind;
  return runLandscape(O, Seed, *makePolicy(P), Attempts);
}

// The same task and policy: the same tree.
TEST(Landscape, Repeatable) {
  LandscapeOptions O = standardLandscapes()[0];
  LandscapeRun A = runOf(O, 5, PolicyKind::EpsilonGreedy),
               B = runOf(O, 5, PolicyKind::EpsilonGreedy);
  ASSERT_EQ(A.Nodes.size(), B.Nodes.size());
  for (unsigned I = 0; I < A.Nodes.size(); ++I) {
    EXPECT_EQ(A.Nodes.node(I).Parent, B.Nodes.node(I).Parent);
    EXPECT_EQ(A.Nodes.node(I).scoreUs(), B.Nodes.node(I).scoreUs());
  }
  EXPECT_EQ(A.BestSoFar, B.BestSoFar);
}

// The k-th attempt from a node comes to the same under every policy: the first
// three from the source, here.
TEST(Landscape, SameLuckForAll) {
  LandscapeOptions O = standardLandscapes()[1];
  for (uint64_t Seed = 1; Seed < 50; ++Seed) {
    LandscapeRun A = runOf(O, Seed, PolicyKind::BestOfK, 3),
                 B = runOf(O, Seed, PolicyKind::Beam, 3);
    for (unsigned I = 1; I <= 3; ++I) {
      EXPECT_EQ(A.Nodes.node(I).Found.Kind, B.Nodes.node(I).Found.Kind);
      EXPECT_EQ(A.Nodes.node(I).scoreUs(), B.Nodes.node(I).scoreUs());
    }
  }
}

// Best so far never falls, and counts correct candidates alone.
TEST(Landscape, BestSoFar) {
  for (const LandscapeOptions &O : standardLandscapes()) {
    LandscapeRun Run = runOf(O, 3, PolicyKind::EpsilonGreedy);
    double Best = 0;
    for (unsigned I = 1; I < Run.Nodes.size(); ++I) {
      Best = std::max(Best, Run.Nodes.node(I).Found.speedup());
      EXPECT_EQ(Run.BestSoFar[I - 1], Best);
    }
  }
}

// The fitted levels compile, are correct and beat the source as the paper's
// tables 1 and 2 say of STARK and of sampling, within what docs/bench.md says.
TEST(Landscape, FittedToThePaper) {
  struct {
    double Compiled, Correct, SamplingFast1;
  } Paper[] = {{0.845, 0.506, 0.143}, {0.907, 0.612, 0.5}, {0.834, 0.355, 0.5}};
  std::vector<LandscapeOptions> Levels = standardLandscapes();
  Levels.resize(3);
  auto All = llvm::cantFail(
      runLaboratory(Levels, {"epsilon-greedy", "best-of-k"}, 1000, 30));
  for (size_t I = 0; I < 3; ++I) {
    EXPECT_NEAR(All[I].Policies[0].Compiled, Paper[I].Compiled, 0.03);
    EXPECT_NEAR(All[I].Policies[0].Correct, Paper[I].Correct, 0.03);
    EXPECT_NEAR(All[I].Policies[1].Fast1, Paper[I].SamplingFast1, 0.05);
  }
}

// A policy's parameters, and what is none.
TEST(Laboratory, PolicySpecs) {
  PolicyOptions O =
      llvm::cantFail(parsePolicySpec("plain-epsilon-greedy:0.4:8:6"));
  EXPECT_EQ(O.Kind, PolicyKind::PlainEpsilonGreedy);
  EXPECT_EQ(O.Epsilon, 0.4);
  EXPECT_EQ(O.RootThrottle, 8u);
  EXPECT_EQ(O.DeadBranch, 6u);
  for (const char *Bad : {"", "best", "mcts:x", "mcts:2", "mcts:0.1:0",
                          "mcts:0.1:1:-1", "mcts:0.1:1:1:1", "mcts:nan"}) {
    auto R = parsePolicySpec(Bad);
    EXPECT_FALSE(bool(R)) << Bad;
    llvm::consumeError(R.takeError());
  }
}
