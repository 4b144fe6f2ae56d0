//===- ChainsTest.cpp - Blocks that wait for the ones before --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Chains.h"
#include "Model/Load.h"
#include "Model/Parts.h"
#include <gtest/gtest.h>

using namespace stark::sim;

namespace {
/// Of one lane.
Request wordAt(uint64_t Address) {
  Request R;
  R.Count = 1;
  R.Bytes = 4;
  R.Addresses[0] = Address;
  return R;
}

/// Blocks 0 to 3, each of one warp.
class Blocks {
public:
  enum Access { Polls, Loads, Stores };
  void access(Access What, uint64_t Address) {
    Probe P;
    P.Kind = What == Stores ? ProbeKind::Store : ProbeKind::Load;
    P.Polls = What == Polls;
    Chains.access(wordAt(Address), P, this);
  }
  template <class Body> BlocksWait run(Body Each) {
    for (unsigned I = 0; I < 4; ++I) {
      Chains.beginBlock();
      Each(I);
    }
    LaunchProfile P;
    Chains.finish(P);
    return P.Waiting;
  }
  ChainCounters Chains;
};

constexpr uint64_t Flags = 1000, Data = 2000, Sums = 3000;
} // namespace

// Each block polls its neighbour's flag, loads its data, and sets its own flag
// behind a fence.
TEST(Chains, EachBlockWaitsForTheOneBefore) {
  Blocks B;
  BlocksWait W = B.run([&](unsigned I) {
    B.access(Blocks::Loads, 5000 + I);
    if (I) {
      B.access(Blocks::Polls, Flags + I - 1);
      B.access(Blocks::Loads, Data + I - 1);
    }
    B.access(Blocks::Stores, Data + I);
    B.Chains.fence(&B);
    B.access(Blocks::Stores, Flags + I);
  });
  EXPECT_EQ(W.For, BlocksWait::Chain);
  EXPECT_EQ(W.Loads, 1);
  EXPECT_EQ(W.Fences, 1);
}

// A block that has set its flag before it polls is looked past.
TEST(Chains, WhatIsPublishedBeforeIsNoChain) {
  Blocks B;
  BlocksWait W = B.run([&](unsigned I) {
    B.access(Blocks::Stores, Flags + I);
    if (I) {
      B.access(Blocks::Polls, Flags + I - 1);
      B.access(Blocks::Loads, Data + I - 1);
      B.access(Blocks::Loads, Sums + I - 1);
    }
    B.access(Blocks::Stores, Flags + I);
  });
  EXPECT_EQ(W.For, BlocksWait::LookBack);
  EXPECT_EQ(W.Loads, 2);
}

TEST(Chains, ThoseThatPollSeveralFormATree) {
  Blocks B;
  BlocksWait W = B.run([&](unsigned I) {
    B.access(Blocks::Stores, Flags + I);
    for (unsigned J = I; J > 0; J /= 2)
      B.access(Blocks::Polls, Flags + J - 1);
    B.access(Blocks::Stores, Flags + I);
  });
  EXPECT_EQ(W.For, BlocksWait::Tree);
}

TEST(Chains, BlocksThatPollNothingDoNotWait) {
  Blocks B;
  EXPECT_EQ(B.run([&](unsigned I) {
               B.access(Blocks::Loads, Flags + I - 1);
               B.access(Blocks::Stores, Flags + I);
             }).For,
            BlocksWait::Nothing);
}

// A chain of 100 links takes a hop each, and what lies between; blocks that
// look back add to each other's lives.
TEST(Chains, LinksAddUp) {
  GpuDescription G;
  G.Sms = 10;
  G.ClockGHz = 1;
  G.HopLatency = 700;
  G.FenceLatency = 400;
  G.L2Latency = 200;
  G.BlockLatency = G.WarpStartCycles = 0;
  LaunchProfile P;
  P.Blocks = 100;
  P.ThreadsPerBlock = 32;
  P.BlocksPerSm = 5;
  P.Waiting = {BlocksWait::Chain, 1, 1, 1};
  EXPECT_NEAR(latencyUs(loadOf(P, {}, G), G), 130, 1e-6);
  P.Waiting = {BlocksWait::LookBack, 1, 0, 1};
  EXPECT_NEAR(latencyUs(loadOf(P, {}, G), G), 2 * 10 * 0.9, 1e-6)
      << "50 at once, ten steps back, two rounds";
  P.Waiting.AtOnce = 25;
  EXPECT_NEAR(latencyUs(loadOf(P, {}, G), G), 2 * 2 * 0.9, 1e-6);
}
