//===- Load.cpp - What a launch asks of the parts of a GPU ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Load.h"
#include "Model/L1Cache.h"
#include "Model/Units.h"
#include <algorithm>
#include <cmath>

using namespace stark::sim;

namespace {
/// Branches and returns a cycle of an SM: as many as its widest unit takes
/// threads (fit: they bound no kernel of test/calibration).
constexpr double ControlRate = 128;

/// Cycles that a load waits.
class MemoryLatency {
public:
  MemoryLatency(const LaunchProfile &P, const GpuDescription &Gpu) : Gpu(Gpu) {
    double Sectors = 0, Hits = 0;
    for (const ProbeCounters &C : P.Probes) {
      Sectors += double(C.Sectors);
      Hits += double(C.L1Sectors);
    }
    double Misses = Sectors > 0 ? 1 - Hits / Sectors : 0;
    double FromDram =
        P.L2Sectors > 0
            ? std::min(1.0, P.DramBytes /
                                (P.L2Sectors * SectorBytes * double(P.Blocks)))
            : 0;
    BeyondL1 = (1 - FromDram) * Gpu.L2Latency + FromDram * Gpu.DramLatency;
    Mean = (1 - Misses) * Gpu.L1Latency + Misses * BeyondL1;
  }
  double of(const ProbeCounters &C) const {
    if (C.ConstantCycles)
      return Gpu.SharedLatency;
    if (!C.Sectors)
      return Mean;
    return Gpu.L1Latency + (1 - double(C.L1Sectors) / double(C.Sectors)) *
                               (BeyondL1 - Gpu.L1Latency);
  }

private:
  const GpuDescription &Gpu;
  double BeyondL1 = 0, Mean = 0;
};
} // namespace

/// Threads a cycle of an SM.
static std::array<double, Units> ratesOf(const GpuDescription &Gpu) {
  std::array<double, Units> Rates{};
  auto Set = [&](Unit U, double Rate) { Rates[unsigned(U)] = Rate; };
  Set(Unit::Integer, Gpu.IntegerRate);
  Set(Unit::Float, Gpu.FloatRate);
  Set(Unit::Double, Gpu.DoubleRate);
  Set(Unit::Half, Gpu.HalfRate);
  Set(Unit::Special, Gpu.SpecialRate);
  Set(Unit::Control, ControlRate);
  Set(Unit::Multiply, Gpu.IntegerRate);
  return Rates;
}

static void addInstructions(LaunchLoad &L, const LaunchProfile &P,
                            const Tables &T, const GpuDescription &Gpu) {
  std::array<double, Units> Rates = ratesOf(Gpu);
  for (size_t B = 0; B < T.Blocks.size(); ++B) {
    double Count = double(P.WarpCounts[B]) / L.Sampled;
    for (unsigned U = 0; P.WarpCounts[B] && U < Units; ++U) {
      // What goes to memory waits in the load/store pipe.
      if (Unit(U) != Unit::Memory)
        L.UnitCycles[U] += Count * T.Blocks[B].Slots[U] * WarpLanes / Rates[U];
      L.WarpInstructions += Count * T.Blocks[B].Slots[U];
    }
  }
  // Products of integers go to the unit of the floating-point ones.
  L.UnitCycles[unsigned(Unit::Float)] += L.UnitCycles[unsigned(Unit::Multiply)];
}

/// What loads of which \p Depth wait for one another take at most, where each
/// of \p Latencies is one load's.
static double waitOf(std::vector<double> Latencies, double Depth) {
  std::sort(Latencies.rbegin(), Latencies.rend());
  double Wait = 0;
  for (double Each : Latencies) {
    Wait += std::min(Depth, 1.0) * Each;
    Depth -= std::min(Depth, 1.0);
  }
  return Latencies.empty() ? 0 : Wait + Depth * Latencies.front();
}

namespace {
/// Of a warp in a basic block.
struct BlockCycles {
  double All = 0;
  double Waits = 0; ///< of them, for what it has loaded
};
} // namespace

/// A load of a basic block waits as long as those of its probes do. What a warp
/// asks of the load/store pipe leaves it one after the other.
static BlockCycles cyclesOf(const CodeBlock &C, uint64_t Entered,
                            const LaunchProfile &P, const Tables &T,
                            const MemoryLatency &Memory, double SharedLatency) {
  std::vector<double> Latencies;
  double Pipe = 0;
  for (unsigned Number : C.Probes) {
    const ProbeCounters &Found = P.Probes[Number];
    Pipe += double(Found.Lines + Found.SharedCycles + Found.ConstantCycles);
    if (T.Probes[Number].Kind != ProbeKind::Store && Found.Requests &&
        !Found.SharedRequests)
      Latencies.push_back(Memory.of(Found));
  }
  double Issue = 0;
  for (float Each : C.Slots)
    Issue += Each;
  double Alone = std::max({Issue, double(C.Path), Pipe / double(Entered)});
  double Waits =
      waitOf(std::move(Latencies), C.LoadDepth) + C.SharedDepth * SharedLatency;
  return {Alone + Waits, Waits};
}

static void addWarp(LaunchLoad &L, const LaunchProfile &P, const Tables &T,
                    const GpuDescription &Gpu) {
  MemoryLatency Memory(P, Gpu);
  std::vector<BlockCycles> Cycles(T.Blocks.size());
  for (size_t B = 0; B < T.Blocks.size(); ++B)
    if (P.WarpCounts[B])
      Cycles[B] = cyclesOf(T.Blocks[B], P.WarpCounts[B], P, T, Memory,
                           Gpu.SharedLatency);
  // A block lives as long as the slowest of its warps, and a launch as long as
  // the slowest of its blocks.
  for (const std::vector<uint32_t> &Warp : P.LongestWarps) {
    double Way = 0;
    for (size_t B = 0; B < Warp.size(); ++B)
      Way += Warp[B] * Cycles[B].All * P.WarpShare;
    for (size_t B = 0; B < Warp.size(); ++B)
      L.WarpWaits += Warp[B] * Cycles[B].Waits * P.WarpShare /
                     double(P.LongestWarps.size());
    L.WarpCycles += Way / double(P.LongestWarps.size());
    L.MostWarpCycles = std::max(L.MostWarpCycles, Way);
  }
  double Warps = double(std::max<uint64_t>(1, P.WarpsSampled));
  for (size_t B = 0; B < Cycles.size(); ++B)
    L.MeanWarpCycles += double(P.WarpCounts[B]) * Cycles[B].All / Warps;
  L.WarpBarriers = double(P.Barriers) / Warps;
}

/// Blocks that are there at once and look back past each other: while the first
/// of them come to know all that is before them, the others look back as many
/// blocks as there were steps, so those that know are 1, 3, 6, 10.
static double stepsBack(const BlocksWait &W, double AtOnce) {
  return W.For == BlocksWait::Tree ? std::log2(std::max(1.0, AtOnce))
                                   : std::sqrt(2 * AtOnce / W.AtOnce);
}

static void addWaiting(LaunchLoad &L, const BlocksWait &W,
                       const GpuDescription &Gpu) {
  double Link =
      Gpu.HopLatency + W.Loads * Gpu.L2Latency + W.Fences * Gpu.FenceLatency;
  if (W.For == BlocksWait::Chain) {
    L.ChainCycles = L.Blocks * Link;
  } else if (W.For != BlocksWait::Nothing) {
    double Cycles =
        stepsBack(W, std::min(L.Blocks, L.BlocksPerSm * Gpu.Sms)) * Link;
    L.WarpCycles += Cycles;
    L.MostWarpCycles += Cycles;
    L.WarpWaits += Cycles;
  }
}

/// Spilled words go through the load/store pipe and L1, which writes through.
/// Where in the code they stand ptxas does not say: they are taken to be
/// executed as often as its mean instruction.
static void addSpills(LaunchLoad &L, const LaunchProfile &P, const Tables &T,
                      const GpuDescription &Gpu) {
  constexpr double WordBytes = 4;
  if (!P.Exact || !(P.Exact->SpillStoreBytes + P.Exact->SpillLoadBytes))
    return;
  double Written = 0, Executed = 0;
  for (size_t B = 0; B < T.Blocks.size(); ++B) {
    double Slots = 0;
    for (float Each : T.Blocks[B].Slots)
      Slots += P.WarpCounts[B] ? double(Each) : 0;
    Written += Slots;
    Executed += Slots * double(P.WarpCounts[B]) / L.Sampled;
  }
  double Times = Written > 0 ? Executed / Written : 0,
         Stores = double(P.Exact->SpillStoreBytes) / WordBytes * Times,
         Loads = double(P.Exact->SpillLoadBytes) / WordBytes * Times;
  L.WarpInstructions += Stores + Loads;
  L.Lines += (Stores + Loads) * L.Sampled;
  L.L2Writes += Stores * L.Sampled;
  // What a block has there, beside what L1 has room for.
  double Held = double(P.Exact->StackBytes) * double(P.ThreadsPerBlock),
         Room = l1ShareOf(Gpu, P.BlocksPerSm, P.SharedBytes);
  if (Held > Room)
    L.L2Sectors += Loads * LineSectors * (1 - Room / Held);
}

LaunchLoad stark::sim::loadOf(const LaunchProfile &P, const Tables &T,
                              const GpuDescription &Gpu) {
  LaunchLoad L;
  L.Blocks = double(P.Blocks);
  L.WarpsPerBlock = std::ceil(double(P.ThreadsPerBlock) / WarpLanes);
  L.BlocksPerSm = std::max(1.0, double(P.BlocksPerSm));
  L.MostBlocksPerSm = std::max(
      L.BlocksPerSm,
      std::min(double(Gpu.MaxBlocksPerSm),
               std::floor(double(Gpu.SharedPerSm) /
                          double(P.SharedBytes + Gpu.SharedReserved))));
  L.Sampled = double(std::max<uint64_t>(1, P.SampledBlocks));
  L.L2Sectors = P.L2Sectors;
  L.DramBytes = P.DramBytes;
  L.GlobalAtomics = P.GlobalAtomics;
  L.AtomicsOfGroup = P.AtomicsOfGroup;
  L.FloatAtomicsOfSector = P.FloatAtomicsOfSector;
  for (size_t I = 0; I < P.Probes.size(); ++I) {
    const ProbeCounters &C = P.Probes[I];
    L.Lines += double(C.Lines);
    L.SharedCycles += double(C.SharedCycles);
    L.ConstantCycles += double(C.ConstantCycles);
    L.L2Writes += double(C.L2Writes);
    if (T.Probes[I].Kind == ProbeKind::Atomic)
      L.Atomics += double(C.Sectors + C.AtomicConflicts);
  }
  addInstructions(L, P, T, Gpu);
  addSpills(L, P, T, Gpu);
  addWarp(L, P, T, Gpu);
  addWaiting(L, P.Waiting, Gpu);
  return L;
}
