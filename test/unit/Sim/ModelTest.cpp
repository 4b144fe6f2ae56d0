//===- ModelTest.cpp - The parts of the cost model, each alone ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include "Model/Atomics.h"
#include "Model/Coalescing.h"
#include "Model/Dram.h"
#include "Model/L1Cache.h"
#include "Model/LaunchRecorder.h"
#include "Model/Load.h"
#include "Model/Parts.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace stark::sim;

namespace {
/// The 32 lanes of a warp, \p Stride bytes apart.
Request warpOf(uint64_t Begin, uint64_t Stride, uint64_t Bytes = 4) {
  Request R;
  R.Count = WarpLanes;
  R.Bytes = Bytes;
  for (unsigned I = 0; I < WarpLanes; ++I)
    R.Addresses[I] = Begin + I * Stride;
  return R;
}

GpuDescription gpu() {
  GpuDescription G;
  G.Sms = 10;
  G.ClockGHz = 1; // a thousand cycles a microsecond
  G.DramGBs = 1000;
  G.L2GBs = 2000;
  G.L2Bytes = 1 << 20;
  G.L1Bytes = 128 * 1024;
  return G;
}
} // namespace

TEST(Coalescing, NeighboursShareSectors) {
  EXPECT_EQ(sectorsOf(warpOf(0, 4)).Count, 4u);
  EXPECT_EQ(sectorsOf(warpOf(16, 4)).Count, 5u);
  EXPECT_EQ(sectorsOf(warpOf(0, 128)).Count, 32u);
  EXPECT_EQ(linesOf(sectorsOf(warpOf(0, 4))).Count, 1u);
  EXPECT_EQ(linesOf(sectorsOf(warpOf(0, 128))).Count, 32u);
}

TEST(Coalescing, WordsOfOneBankWait) {
  Probe Load;
  EXPECT_EQ(sharedCycles(warpOf(0, 4), Load), 1u);
  EXPECT_EQ(sharedCycles(warpOf(0, 8), Load), 2u);
  EXPECT_EQ(sharedCycles(warpOf(0, 128), Load), 32u);
  EXPECT_EQ(sharedCycles(warpOf(0, 0), Load), 1u) << "one word for all lanes";
  EXPECT_EQ(sharedCycles(warpOf(0, 16, 16), Load), 4u);
}

TEST(Coalescing, AtomicsWaitForTheirAddress) {
  Probe Atomic;
  Atomic.Kind = ProbeKind::Atomic;
  EXPECT_EQ(sharedCycles(warpOf(0, 0), Atomic), 32u);
  Atomic.Counts = true;
  EXPECT_EQ(sharedCycles(warpOf(0, 0), Atomic), 1u);
  EXPECT_EQ(atomicConflicts(warpOf(0, 0)), 31u);
  EXPECT_EQ(atomicConflicts(warpOf(0, 4)), 0u);
}

TEST(Coalescing, ConstantMemoryServesOneAddressAtATime) {
  Request Same = warpOf(64, 0), Each = warpOf(64, 4);
  EXPECT_EQ(constantCycles(Each), 32 * constantCycles(Same));
}

// One thread has 4 KiB copied to shared memory: 128 sectors of L2, of which the
// load/store pipe sees nothing and shared memory 32 cycles. Word by word, as
// threads copy, it would be 1024 requests of each.
TEST(LaunchRecorder, ABulkCopyPassesTheLoadStorePipe) {
  Tables T;
  T.Probes.resize(2);
  T.Probes[1].Kind = ProbeKind::Store;
  T.Probes[0].Bulk = T.Probes[1].Bulk = true;
  GpuDescription G = gpu();
  LaunchRecorder Recorder(T, G, 1, 4096, {});
  char *Shared = reinterpret_cast<char *>(uint64_t(1) << 30);
  Trace Lane;
  for (uint64_t I = 0; I < 4096; I += 32)
    Lane.push_back(traceEntry(0, (uint64_t(1) << 20) + I));
  for (uint64_t I = 0; I < 4096; I += 32)
    Lane.push_back(traceEntry(1, (uint64_t(1) << 30) + I));
  Recorder.beginBlock(0, 0, 0);
  Recorder.warp({&Lane}, Shared, 4096);
  Recorder.endBlock();
  LaunchProfile P = Recorder.finish({}, {});
  EXPECT_EQ(P.Probes[0].Sectors, 128u);
  EXPECT_EQ(P.Probes[0].LeastSectors, 128u);
  EXPECT_EQ(P.Probes[0].L1Sectors, 0u);
  EXPECT_EQ(P.Probes[0].Lines, 0u);
  EXPECT_EQ(P.Probes[1].SharedCycles, 32u);
  EXPECT_EQ(P.L2Sectors, 128);
}

/// The launch of \p Blocks blocks, of which the first two are recorded: the
/// first reads \p First sectors, the second \p Second; run again, the first
/// enters \p Again basic blocks.
static LaunchProfile recorded(uint64_t Blocks, unsigned First, unsigned Second,
                              bool Draws = true, uint64_t Again = 0) {
  Tables T;
  T.Probes.resize(2);
  T.Probes[1].Kind = ProbeKind::Atomic;
  T.Blocks.resize(1);
  GpuDescription G = gpu();
  LaunchRecorder Recorder(T, G, /*BlocksPerSm=*/1, 0, {});
  uint64_t Next = uint64_t(1) << 20;
  for (unsigned Count : {First, Second}) {
    Trace Lane;
    if (Draws)
      Lane.push_back(traceEntry(1, uint64_t(1) << 19));
    for (unsigned I = 0; I < Count; ++I, Next += 32)
      Lane.push_back(traceEntry(0, Next));
    Recorder.beginBlock(Count == First ? 0 : 1, 0, 0);
    Recorder.warp({&Lane}, nullptr, 0);
    Recorder.counts({&Count});
    Recorder.endBlock();
  }
  Recorder.ranAgain({0, Again});
  return Recorder.finish({Blocks, 1, 1},
                         {{uint64_t(1) << 19, uint64_t(1) << 24}});
}

// What the first block did is the work of all, where it drew that from a
// counter: there are ten SMs, each with a block.
TEST(LaunchRecorder, BlocksThatDrawTheirWorkShareIt) {
  LaunchProfile P = recorded(10, 1000, 1);
  EXPECT_EQ(P.SampledBlocks, 10u);
  EXPECT_EQ(P.WarpsSampled, 10u);
  EXPECT_NEAR(P.DramBytes, 32000, 300);
  // Nothing was drawn; each has as much; some blocks wait for others to end.
  EXPECT_EQ(recorded(10, 1000, 1, false).SampledBlocks, 2u);
  EXPECT_EQ(recorded(10, 1000, 900).SampledBlocks, 2u);
  EXPECT_EQ(recorded(11, 1000, 1).SampledBlocks, 2u);
  // It finds its work again: that was its own.
  EXPECT_EQ(recorded(10, 1000, 1, true, 1000).SampledBlocks, 2u);
}

TEST(L1Cache, ALineIsFilledBySectors) {
  L1Cache L1(128 * 1024);
  EXPECT_FALSE(L1.touch(0));
  EXPECT_TRUE(L1.touch(0));
  EXPECT_FALSE(L1.touch(1)) << "of the same line";
  L1.clear();
  EXPECT_FALSE(L1.touch(0));
}

TEST(L1Cache, TheLineThatWasNotUsedLongestGoes) {
  L1Cache L1(512); // one set of four lines
  for (uint64_t Line : {0, 1, 2, 3, 0, 4})
    L1.touch(Line * LineSectors);
  EXPECT_TRUE(L1.touch(0));
  EXPECT_FALSE(L1.touch(1 * LineSectors));
}

TEST(L1Cache, BlocksOfAnSmAndSharedMemoryDivideIt) {
  GpuDescription G = gpu();
  G.SharedReserved = 1024;
  EXPECT_EQ(l1ShareOf(G, 1, 0), 127 * 1024);
  EXPECT_EQ(l1ShareOf(G, 2, 15 * 1024), 48 * 1024);
  EXPECT_EQ(l1ShareOf(G, 4, 60 * 1024), 4 * 1024) << "some is always left";
}

TEST(Parts, TheBusiestUnitBoundsTheIssue) {
  LaunchLoad L;
  L.Blocks = 100; // ten rounds on each of ten SMs
  L.WarpInstructions = 400;
  EXPECT_DOUBLE_EQ(issueUs(L, gpu()), 400 / 4 * 10 / 1e3);
  L.UnitCycles[unsigned(Unit::Special)] = 1000;
  EXPECT_DOUBLE_EQ(issueUs(L, gpu()), 1000 * 10 / 1e3);
}

TEST(Parts, AFewBlocksTakeWholeRounds) {
  LaunchLoad L;
  L.WarpInstructions = 4000;
  L.Blocks = 1;
  EXPECT_DOUBLE_EQ(issueUs(L, gpu()), 1);
  L.Blocks = 11;
  EXPECT_DOUBLE_EQ(issueUs(L, gpu()), 2);
  L.Blocks = 101;
  EXPECT_DOUBLE_EQ(issueUs(L, gpu()), 10.1);
}

TEST(Parts, ThePipeTakesLinesWordsAndAtomics) {
  LaunchLoad L;
  L.Blocks = 10;
  L.Sampled = 2;
  L.Lines = 100;
  L.SharedCycles = 50;
  L.Atomics = 15;
  GpuDescription G = gpu();
  G.AtomicCycles = 2;
  EXPECT_DOUBLE_EQ(loadStoreUs(L, G), 0.09);
  // The constant cache works beside it.
  L.ConstantCycles = 180;
  EXPECT_DOUBLE_EQ(loadStoreUs(L, G), 0.09);
  L.ConstantCycles = 200;
  EXPECT_DOUBLE_EQ(loadStoreUs(L, G), 0.1);
}

TEST(Parts, L2TakesBytesOrWrites) {
  LaunchLoad L;
  L.Blocks = 1000;
  L.L2Sectors = 62.5; // 2000 bytes a block, 2 MB at 2000 GB/s
  EXPECT_DOUBLE_EQ(l2Us(L, gpu()), 1);
  GpuDescription G = gpu();
  G.L2WritesPerNs = 1;
  L.L2Writes = 3;
  EXPECT_DOUBLE_EQ(l2Us(L, G), 3);
  L.DramBytes = 5e6;
  EXPECT_DOUBLE_EQ(dramUs(L, gpu()), 5);
}

TEST(Parts, LatencyIsTheLifeOfABlockTimesItsRounds) {
  GpuDescription G = gpu();
  G.BlockLatency = 100;
  G.WarpStartCycles = 10;
  G.BarrierLatency = 20;
  LaunchLoad L;
  L.Blocks = 40;
  L.BlocksPerSm = 2; // two rounds
  L.WarpsPerBlock = 4;
  L.WarpCycles = 800;
  L.WarpBarriers = 3;
  EXPECT_DOUBLE_EQ(latencyUs(L, G), 2 * (800 + 60 + 100 + 40) / 1e3);
  // One block that lives longer than all rounds of the others.
  L.MostWarpCycles = 5000;
  EXPECT_DOUBLE_EQ(latencyUs(L, G), (5000 + 60 + 100 + 40) / 1e3);
}

// Warps that have ended make room for those of other blocks, as far as shared
// memory and the number of blocks let them; those that a barrier keeps do not.
TEST(Parts, WarpsThatHaveEndedLeaveTheirPlace) {
  GpuDescription G = gpu();
  G.BlockLatency = G.WarpStartCycles = G.BarrierLatency = 0;
  LaunchLoad L;
  L.Blocks = 160;
  L.BlocksPerSm = 2; // eight rounds
  L.WarpCycles = 800;
  L.MeanWarpCycles = 200;
  L.MostBlocksPerSm = 32;
  EXPECT_DOUBLE_EQ(latencyUs(L, G), 2 * 800 / 1e3);
  L.MostBlocksPerSm = 4;
  EXPECT_DOUBLE_EQ(latencyUs(L, G), 4 * 800 / 1e3);
  L.WarpBarriers = 1;
  EXPECT_DOUBLE_EQ(latencyUs(L, G), 8 * 800 / 1e3);
}

// Two blocks of an SM wait at the same time, and compute at the same time; of
// many a part does.
TEST(Parts, FewBlocksStayInStep) {
  GpuDescription G = gpu();
  G.BlockLatency = G.WarpStartCycles = G.BarrierLatency = 0;
  LaunchLoad L;
  L.Blocks = 20;
  L.BlocksPerSm = 2;
  L.WarpInstructions = 4000;
  L.WarpCycles = 2000;
  EXPECT_EQ(inStepUs(L, G), 0) << "it waits for nothing";
  L.WarpWaits = 2000;
  // 2 us of instructions, then 2 us of waiting.
  EXPECT_DOUBLE_EQ(inStepUs(L, G), std::sqrt(4 * 4 - (2 * 2 + 2 * 2)));
  L.Blocks = 80;
  L.BlocksPerSm = 8;
  double Apart = std::sqrt(8 * 8 + 2 * 2),
         Mixed = Apart + (10 - Apart) * (2.0 / 8);
  EXPECT_DOUBLE_EQ(inStepUs(L, G), std::sqrt(Mixed * Mixed - Apart * Apart));
}

// What takes a block long is the longest way of its warps, not their mean.
TEST(LaunchRecorder, ABlockLivesAsLongAsItsSlowestWarp) {
  Tables T;
  T.Blocks.resize(1);
  T.Blocks[0].Path = 10;
  GpuDescription G = gpu();
  LaunchRecorder Recorder(T, G, /*BlocksPerSm=*/1, 0, {});
  for (uint32_t X = 0; X < 2; ++X) {
    Recorder.beginBlock(X, 0, 0);
    for (uint32_t Count : {1u, X ? 40u : 90u, 2u})
      Recorder.counts({&Count});
    Recorder.endBlock();
  }
  EXPECT_EQ(Recorder.sampled().Cycles, 900);
  EXPECT_EQ(Recorder.sampled().Entered, 1u + 90 + 2 + 1 + 40 + 2);
  LaunchLoad L = loadOf(Recorder.finish({2, 1, 1}, {}), T, G);
  EXPECT_DOUBLE_EQ(L.WarpCycles, 650);
  EXPECT_DOUBLE_EQ(L.MostWarpCycles, 900);
}

// Spilled words are executed as often as the mean instruction: here the block
// of 10 slots once and that of 30 nine times, so 7 times.
TEST(Load, SpillsGoThroughThePipe) {
  Tables T;
  T.Blocks.resize(3);
  T.Blocks[0].Slots[unsigned(Unit::Float)] = 10;
  T.Blocks[1].Slots[unsigned(Unit::Float)] = 30;
  T.Blocks[2].Slots[unsigned(Unit::Float)] = 1000; // never entered
  GpuDescription G;
  G.L1Bytes = 256 * 1024;
  G.SharedPerSm = 100 * 1024;
  LaunchProfile P;
  P.Blocks = 100;
  P.ThreadsPerBlock = 32;
  P.BlocksPerSm = 2;
  P.SampledBlocks = 2;
  P.WarpCounts = {2, 18, 0};
  P.ThreadCounts = {64, 576, 0};
  LaunchLoad Without = loadOf(P, T, G);
  P.Exact = KernelResources{"k", 40, 0, 64, 8, 12};
  LaunchLoad With = loadOf(P, T, G);
  EXPECT_EQ(With.WarpInstructions - Without.WarpInstructions, 5 * 7);
  EXPECT_EQ(With.Lines - Without.Lines, 2 * 5 * 7);
  EXPECT_EQ(With.L2Writes - Without.L2Writes, 2 * 2 * 7);
  EXPECT_EQ(With.L2Sectors, Without.L2Sectors);
  // More than a block's share of L1 holds comes from L2.
  P.Exact->StackBytes = 1 << 20;
  EXPECT_GT(loadOf(P, T, G).L2Sectors, 3 * 7 * 3.9);
}

TEST(Model, HeavyBlocksAreAdded) {
  GpuDescription G = gpu();
  LaunchProfile P, Heavy;
  P.PartUs[unsigned(Part::Dram)] = 4;
  P.PartUs[unsigned(Part::Dispatch)] = 3;
  Heavy.PartUs[unsigned(Part::Latency)] = 3;
  Heavy.PartUs[unsigned(Part::Dispatch)] = 9;
  addHeavy(P, Heavy, G);
  EXPECT_DOUBLE_EQ(P.TimeUs, G.LaunchUs + 5);
  EXPECT_EQ(P.Bound, Part::Dram);
}

TEST(Parts, AtomicsOfOneLineAreMadeOneAfterTheOther) {
  GpuDescription G = gpu();
  G.AtomicsPerNs = 10;
  G.AtomicsPerNsOneLine = 1;
  LaunchLoad L;
  G.FloatAtomicsPerNsOneLine = 0.5;
  L.GlobalAtomics = 10000;
  EXPECT_DOUBLE_EQ(atomicsUs(L, G), 1);
  L.AtomicsOfGroup = 10000;
  EXPECT_DOUBLE_EQ(atomicsUs(L, G), 10);
  // Two groups are in two slices, of many some share one.
  L.AtomicsOfGroup = 5000;
  EXPECT_DOUBLE_EQ(atomicsUs(L, G), 5);
  L.AtomicsOfGroup = 2000;
  EXPECT_GT(atomicsUs(L, G), 2);
  L.FloatAtomicsOfSector = 5000;
  EXPECT_DOUBLE_EQ(atomicsUs(L, G), 10);
}

static Probe atomic(bool Float = false, bool Joined = false) {
  Probe P;
  P.Kind = ProbeKind::Atomic;
  P.Float = Float;
  P.Joined = Joined;
  return P;
}

static LaunchProfile afterOne(Request R, const Probe &Of = atomic()) {
  AtomicCounters Counters;
  R.Probe = 0;
  Counters.add(R, Of);
  Counters.endBlock();
  LaunchProfile P;
  Counters.finish(P, {}, 1);
  return P;
}

// Words of one sector are done together, lanes that ask for one word are not.
TEST(Atomics, LanesOfOneWordTakeTurns) {
  EXPECT_EQ(afterOne(warpOf(0, 0)).GlobalAtomics, 32);
  EXPECT_EQ(afterOne(warpOf(0, 4)).GlobalAtomics, 4);
  EXPECT_EQ(afterOne(warpOf(0, 4)).AtomicsOfGroup, 4);
  // Four lines beside one another are in one slice of L2.
  EXPECT_EQ(afterOne(warpOf(0, 128)).GlobalAtomics, 32);
  EXPECT_EQ(afterOne(warpOf(0, 128)).AtomicsOfGroup, 4);
  EXPECT_EQ(afterOne(warpOf(0, 512)).AtomicsOfGroup, 1);
}

TEST(Atomics, OneThreadOfAWarpThatJoinsTakesATurn) {
  EXPECT_EQ(afterOne(warpOf(0, 0), atomic(false, true)).GlobalAtomics, 1);
  EXPECT_EQ(afterOne(warpOf(0, 0), atomic(false, true)).AtomicsOfGroup, 1);
}

TEST(Atomics, FloatsOfOneWordWaitForOneAnother) {
  EXPECT_EQ(afterOne(warpOf(0, 0)).FloatAtomicsOfSector, 0);
  EXPECT_EQ(afterOne(warpOf(0, 0), atomic(true)).FloatAtomicsOfSector, 32);
  EXPECT_EQ(afterOne(warpOf(0, 32), atomic(true)).FloatAtomicsOfSector, 1);
}

// Blocks add to words of their own, of which those that run at once lie in few
// groups of lines.
TEST(Atomics, BlocksThatRunAtOnceMeet) {
  AtomicCounters Counters;
  for (uint64_t Block : {0, 1}) {
    Request R = warpOf(Block * 4096, 0);
    R.Probe = 7;
    Counters.add(R, atomic());
    Counters.endBlock();
  }
  auto Of = [&](AtomicSpread Spread) {
    LaunchProfile P;
    Counters.finish(P, {{7, Spread}}, 10);
    return P.AtomicsOfGroup;
  };
  EXPECT_EQ(Of({64, 64, false, 0}), 640);
  EXPECT_EQ(Of({64, 4096, false, 0}), 80);
  EXPECT_EQ(Of({64, 4096, true, 0}), 320) << "each lies anywhere, here in two";
}

namespace {
/// \p Blocks blocks along x were sampled; each reads one granule, \p Step bytes
/// after the one before.
struct Sample {
  Sample(uint64_t Blocks, uint64_t Step) {
    T.Probes.resize(1);
    Counters.resize(1);
    for (uint64_t X = 0; X < Blocks; ++X) {
      Request R;
      R.Count = 1;
      R.Addresses[0] = 4096 + X * Step;
      Sets.beginBlock(X, 0, 0);
      Sets.begin(R, R.Addresses[0]);
      for (uint64_t S = 0; S < GranuleSectors; ++S)
        Sets.touch(R, true, R.Addresses[0] / SectorBytes + S, false);
    }
  }
  /// Of blocks that go down the columns of a matrix of 1 GiB, eight a column of
  /// words.
  static Sample downColumns() {
    Sample S(0, 0);
    for (uint64_t X : {0, 1, 2, 803, 1540}) {
      Request R;
      R.Count = 1;
      R.Addresses[0] = 4096 + (X % 8 << 27) + X / 8 * 4;
      S.Sets.beginBlock(X, 0, 0);
      S.Sets.begin(R, R.Addresses[0]);
      for (uint64_t I = 0; I < GranuleSectors; ++I)
        S.Sets.touch(R, true, R.Addresses[0] / SectorBytes + I, false);
    }
    return S;
  }
  /// Each of \p Blocks blocks reads \p Count granules, one after the other's of
  /// 100 blocks, \p Step bytes apart; those from \p Late on begin a turn later.
  static Sample interleaved(uint64_t Blocks, uint64_t Count,
                            uint64_t Step = 16384, uint64_t Late = ~0ull) {
    Sample S(0, 0);
    for (uint64_t X = 0; X < Blocks; ++X) {
      S.Sets.beginBlock(X, 0, 0);
      for (uint64_t I = 0; I < Count; ++I) {
        Request R;
        R.Count = 1;
        R.Addresses[0] = 4096 + ((I + (X >= Late)) * 100 + X) * Step;
        S.Sets.begin(R, R.Addresses[0]);
        for (uint64_t J = 0; J < GranuleSectors; ++J)
          S.Sets.touch(R, true, R.Addresses[0] / SectorBytes + J, false);
      }
    }
    return S;
  }
  DramTraffic of(uint64_t GridX, uint64_t Bytes = 1 << 30) const {
    return estimateDram({T,
                         G,
                         Sets.blocks(),
                         Counters,
                         {GridX, 1, 1},
                         1,
                         {{4096, 4096 + Bytes}}});
  }
  Tables T;
  GpuDescription G = gpu();
  std::vector<ProbeCounters> Counters;
  WorkingSets Sets;
};
} // namespace

TEST(Dram, BlocksThatReadTheirOwnAddUp) {
  DramTraffic D = Sample(4, GranuleBytes).of(100);
  EXPECT_DOUBLE_EQ(D.L2Sectors, 2);
  EXPECT_DOUBLE_EQ(D.Bytes, 100 * GranuleBytes);
}

// What a block reads lies between what its neighbours do, far apart.
TEST(Dram, BlocksThatTakeTurnsAddUp) {
  EXPECT_DOUBLE_EQ(Sample::interleaved(4, 50).of(100).Bytes,
                   5000 * GranuleBytes);
}

// Of a loop that was unrolled, blocks that make one turn more begin with the
// turn that is over.
TEST(Dram, BlocksThatBeginATurnLaterAddUp) {
  EXPECT_DOUBLE_EQ(Sample::interleaved(4, 50, GranuleBytes, 2)
                       .of(100, 5100 * GranuleBytes)
                       .Bytes,
                   5000 * GranuleBytes);
}

// A granule for every sixteen blocks.
TEST(Dram, BlocksThatReadAWordEachShareGranules) {
  EXPECT_NEAR(Sample(4, 4).of(1601).Bytes, 101 * GranuleBytes, 1);
}

// The word beside is read by the block eight later, and is still in L2.
TEST(Dram, ColumnsShareGranules) {
  EXPECT_NEAR(Sample::downColumns().of(1600).Bytes, 8 * 200 * 4, 1000);
}

TEST(Dram, BlocksThatReadTheSameFetchItOnce) {
  EXPECT_DOUBLE_EQ(Sample(4, 0).of(100).Bytes, GranuleBytes);
}

TEST(Model, SquaresAddUpAndDispatchIsAFloor) {
  LaunchProfile P;
  Tables T;
  GpuDescription G = gpu();
  G.LaunchUs = 2;
  using L = const LaunchLoad &;
  using Gpu = const GpuDescription &;
  PartModels Fixed = {[](L, Gpu) { return 3.0; },  [](L, Gpu) { return 4.0; },
                      [](L, Gpu) { return 12.0; }, [](L, Gpu) { return 5.0; },
                      [](L, Gpu) { return 0.0; },  [](L, Gpu) { return 0.0; },
                      [](L, Gpu) { return 1.0; }};
  model(P, T, G, Fixed);
  EXPECT_DOUBLE_EQ(P.TimeUs, 2 + 13) << "of L2 and DRAM the slower counts";
  EXPECT_EQ(P.Bound, Part::L2);
  Fixed[unsigned(Part::Dispatch)] = [](L, Gpu) { return 20.0; };
  model(P, T, G, Fixed);
  EXPECT_DOUBLE_EQ(P.TimeUs, 22);
  EXPECT_STREQ(boundName(P.Bound), "the dispatch of blocks");
}
