//===- MachineTest.cpp - Launches and meetings of threads -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "stark/Job/Npy.h"

using namespace stark::sim;
using namespace stark::sim::test;

static std::string launched(Dim3 Grid, Dim3 Block, uint64_t Dynamic = 0,
                            bool Cooperative = false) {
  return Device().run([&](Machine &M) {
    Device::launch(M, [] {}, Grid, Block, Dynamic, Cooperative);
    return std::string("clean");
  });
}

TEST(Machine, WhatTheGpuDoesNotHaveIsRefused) {
  EXPECT_EQ(launched({7, 2, 3}, {1024, 1, 1}), "clean");
  EXPECT_EQ(launched({}, {1025, 1, 1}),
            "launch: kernel k cannot be launched: a block of 1025 x 1 x 1 = "
            "1025 threads, the GPU takes 1024 (1024 x 1024 x 64)");
  EXPECT_NE(launched({}, {1, 1, 65}).find("a block of"), std::string::npos);
  EXPECT_NE(launched({1, 65536, 1}, {}).find("a grid of"), std::string::npos);
  EXPECT_NE(launched({0, 1, 1}, {}).find("none may be 0"), std::string::npos);
  EXPECT_NE(launched({}, {}, 48 * 1024 + 1)
                .find("unless cudaFuncSetAttribute allows more"),
            std::string::npos);
}

// 64 registers are what a block of 1024 threads has; estimates are too high
// more often than not, and a false alarm ends a search.
TEST(Machine, AnEstimateThatIsALittleTooHighForbidsNoLaunch) {
  auto With = [](unsigned Registers) {
    return Device().run([&](Machine &M) {
      Device::launch(M, [] {}, {}, {1024, 1, 1}, 0, false, Registers);
      return std::string("clean");
    });
  };
  EXPECT_EQ(With(68), "clean");
  EXPECT_EQ(With(96), "clean");
  EXPECT_NE(With(97).find("too many resources: 97 registers (estimated)"),
            std::string::npos);
}

TEST(Machine, ACooperativeGridMustFit) {
  // 2048 threads an SM, two SMs.
  EXPECT_EQ(launched({4, 1, 1}, {1024, 1, 1}, 0, true), "clean");
  EXPECT_NE(launched({5, 1, 1}, {1024, 1, 1}, 0, true)
                .find("a cooperative grid of 5 blocks, 4 fit on the GPU at "
                      "once"),
            std::string::npos);
}

TEST(Machine, EveryThreadOfEveryBlockRunsOnce) {
  std::string Said = Device().run([](Machine &M) {
    std::vector<int> Seen(6 * 70);
    Device::launch(M, [&] { ++Seen[blockX() * 70 + threadX()]; }, {6, 1, 1},
                   {70, 1, 1});
    bool Once =
        std::all_of(Seen.begin(), Seen.end(), [](int N) { return N == 1; });
    return std::string(Once ? "clean" : "not once");
  });
  EXPECT_EQ(Said, "clean");
}

// A thread that has returned is not missed, as on a GPU since Volta.
TEST(Machine, ABarrierWaitsForThreadsThatAreStillThere) {
  auto Half = [](Machine &M, float *) {
    if (threadX() < 32)
      syncthreads(M);
  };
  EXPECT_EQ(Device().threads(Half, {}, {64, 1, 1}), "clean");
}

TEST(Machine, ABarrierThatAPartReachesIsTold) {
  auto Two = [](Machine &M, float *) {
    syncthreads(M, threadX() < 32 ? Sync : Other);
  };
  EXPECT_EQ(Device().threads(Two, {}, {64, 1, 1}),
            "divergent barrier: barrier reached by a part of the block: kernel "
            "k, line 4, block (0,0,0): 32 of 64 threads reached it, thread "
            "(32,0,0) waits at line 5");
}

TEST(Machine, ABarrierCountsAndCombines) {
  for (auto [Op, Wanted] : {std::pair<int, int>{0, 21}, {1, 0}, {2, 1}}) {
    auto Count = [Op = Op, Wanted = Wanted](Machine &M, float *) {
      __stark_sim_probe = Sync;
      if (M.barrier(Op, threadX() < 21, 0, 0) != Wanted)
        M.finding(FindingKind::Assert, "wrong result");
    };
    EXPECT_EQ(Device().threads(Count, {}, {64, 1, 1}), "clean");
  }
}

static uint64_t shuffled(Machine &M, uint32_t Mask, uint64_t V, int Mode,
                         int Argument, int Width = 32) {
  __stark_sim_probe = Other;
  return M.warp(WarpOp::Shuffle, Mask, V, Mode, Argument, Width, nullptr);
}

TEST(Machine, ShufflesReadTheLaneThatIsMeant) {
  auto All = [](Machine &M, float *) {
    uint32_t Me = threadX() % 32;
    bool Good = shuffled(M, ~0u, Me * 3, 0, 5) == 15 &&
                shuffled(M, ~0u, Me, 1, 2) == (Me < 2 ? Me : Me - 2) &&
                shuffled(M, ~0u, Me, 2, 30) == (Me < 2 ? Me + 30 : Me) &&
                shuffled(M, ~0u, Me, 3, 1) == (Me ^ 1) &&
                shuffled(M, ~0u, Me, 0, 1, 8) == Me / 8 * 8 + 1;
    if (!Good)
      M.finding(FindingKind::Assert, "lane " + std::to_string(Me));
  };
  EXPECT_EQ(Device().threads(All, {}, {64, 1, 1}), "clean");
}

TEST(Machine, VotesMatchesAndSums) {
  auto All = [](Machine &M, float *) {
    __stark_sim_probe = Other;
    uint32_t Me = threadX();
    int Odd = int(Me & 1);
    uint64_t Ballot = M.warp(WarpOp::Vote, ~0u, 0, 2, 0, 32, &Odd);
    uint64_t Equal = M.warp(WarpOp::Match, ~0u, Me / 8, 0, 0, 32, nullptr);
    uint64_t Sum = M.warp(WarpOp::Reduce, ~0u, Me, 0, 0, 32, nullptr);
    if (Ballot != 0xaaaaaaaa || Equal != 0xffu << Me / 8 * 8 || Sum != 496)
      M.finding(FindingKind::Assert, "lane " + std::to_string(Me));
  };
  EXPECT_EQ(Device().threads(All, {}, {32, 1, 1}), "clean");
}

TEST(Machine, AMaskMustNameTheLanesThatCome) {
  auto Without = [](Machine &M, float *) { shuffled(M, 0xffff, 0, 0, 0); };
  EXPECT_NE(Device()
                .threads(Without, {}, {32, 1, 1})
                .find("has mask 0x0000ffff, which leaves out the calling lane "
                      "16"),
            std::string::npos);
  auto Waits = [](Machine &M, float *) {
    if (threadX() < 16)
      shuffled(M, ~0u, 0, 0, 0);
    else
      syncthreads(M);
  };
  EXPECT_NE(Device()
                .threads(Waits, {}, {32, 1, 1})
                .find("names lane 16, but that lane waits at line 4"),
            std::string::npos);
}

TEST(Machine, TheGridsBarrierOrdersItsBlocks) {
  auto Meet = [](Machine &M, float *X) {
    store(M, X + blockX() * 2 + threadX(), float(blockX()));
    __stark_sim_probe = Sync;
    M.gridSync();
    if (load(M, X + (5 - blockX()) * 2 + threadX()) != float(5 - blockX()))
      M.finding(FindingKind::Assert, "block " + std::to_string(blockX()));
    M.gridSync();
    store(M, X + (5 - blockX()) * 2 + threadX(), 0);
  };
  EXPECT_EQ(Device().threads(Meet, {6, 1, 1}, {2, 1, 1}, true, true), "clean");
  EXPECT_NE(Device()
                .threads(Meet, {6, 1, 1}, {2, 1, 1}, true, false)
                .find("in a launch that is not cooperative"),
            std::string::npos);
}

TEST(Machine, AProfileRunsSomeBlocksOfMany) {
  Device D;
  D.How = Mode::Profile;
  std::string Said = D.run([](Machine &M) {
    std::vector<uint32_t> Ran;
    Device::launch(M,
                   [&] {
                     if (threadX() == 0)
                       Ran.push_back(blockX());
                   },
                   {1000, 1, 1}, {32, 1, 1});
    std::string Text;
    for (uint32_t B : Ran)
      Text += std::to_string(B) + " ";
    return Text;
  });
  // Then the others, spread, as long as they are cheap.
  EXPECT_EQ(Said.substr(0, 34), "0 1 251 500 751 999 619 238 857 47");
  EXPECT_EQ(std::count(Said.begin(), Said.end(), ' '), 1000);
}
