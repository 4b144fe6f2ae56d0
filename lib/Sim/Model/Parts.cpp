//===- Parts.cpp - How long a launch keeps each part of a GPU busy --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Parts.h"
#include "Model/Units.h"
#include <algorithm>
#include <cmath>

using namespace stark::sim;

namespace {
/// Warp instructions that an SM issues a cycle: it has four schedulers (CUDA
/// C++ Programming Guide, compute capabilities 8.x and 9.0).
constexpr double Schedulers = 4;
/// Rounds of blocks from which on SMs that have one block more than others do
/// not count (fit).
constexpr double ManyRounds = 8;
/// Groups of lines that lie beside one another are dealt to the slices of L2 in
/// turn. Where there are more than a few, the busiest slice has up to so many
/// groups' turns (fit to atomics on 256 to 4096 random words, and sum_atomic).
constexpr double FewGroups = 4;
constexpr double GroupsOfASlice = 1.3;
/// So many blocks of an SM stay in step; of more a part does. (On an H200 a
/// loop that loads, waits and computes takes the sum of both, with 1 to 8
/// blocks of 256 threads on an SM that all began at once. How far blocks that
/// began one after the other drift apart is fit.)
constexpr double InStep = 2;
/// GB/s are bytes a nanosecond.
constexpr double UsPerNs = 1e-3;
} // namespace

static double cyclesPerUs(const GpuDescription &Gpu) {
  return Gpu.ClockGHz * 1e3;
}

/// SMs that have one block more than others end last.
static double wholeRounds(double Count) {
  return Count > ManyRounds ? Count : std::max(1.0, std::ceil(Count));
}

double stark::sim::issueUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  double Cycles = L.WarpInstructions / Schedulers;
  for (double Unit : L.UnitCycles)
    Cycles = std::max(Cycles, Unit);
  return Cycles * wholeRounds(L.Blocks / Gpu.Sms) / cyclesPerUs(Gpu);
}

double stark::sim::loadStoreUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  // The constant cache works beside L1.
  double Cycles =
      std::max(L.Lines + L.SharedCycles + L.Atomics * Gpu.AtomicCycles,
               L.ConstantCycles) /
      L.Sampled;
  return Cycles * wholeRounds(L.Blocks / Gpu.Sms) / cyclesPerUs(Gpu);
}

double stark::sim::l2Us(const LaunchLoad &L, const GpuDescription &Gpu) {
  return std::max(L.L2Sectors * SectorBytes / Gpu.L2GBs,
                  L.L2Writes / L.Sampled / Gpu.L2WritesPerNs) *
         L.Blocks * UsPerNs;
}

double stark::sim::dramUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  return L.DramBytes / Gpu.DramGBs * UsPerNs;
}

/// Blocks that an SM has room for. A warp that has ended leaves its place to
/// another block's (seen on an H200), unless a barrier keeps it.
static double roomFor(const LaunchLoad &L) {
  if (L.WarpBarriers > 0 || !(L.MeanWarpCycles > 0))
    return L.BlocksPerSm;
  return std::min(L.BlocksPerSm *
                      std::max(1.0, L.WarpCycles / L.MeanWarpCycles),
                  std::max(L.BlocksPerSm, L.MostBlocksPerSm));
}

double stark::sim::latencyUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  double Rounds = wholeRounds(L.Blocks / Gpu.Sms / roomFor(L));
  // From when a block's place is free to the first instruction of the next.
  double Start = Gpu.BlockLatency + Gpu.WarpStartCycles * L.WarpsPerBlock +
                 L.WarpBarriers * Gpu.BarrierLatency;
  return std::max(
             {(L.WarpCycles + Start) * Rounds, L.MostWarpCycles + Start,
              L.ChainCycles > 0 ? L.WarpCycles + Start + L.ChainCycles : 0}) /
         cyclesPerUs(Gpu);
}

double stark::sim::atomicsUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  if (!(L.GlobalAtomics > 0))
    return 0;
  double Share = std::min(1.0, L.AtomicsOfGroup / L.GlobalAtomics),
         OfSlice =
             L.AtomicsOfGroup *
             (1 + (GroupsOfASlice - 1) * std::max(0.0, 1 - FewGroups * Share));
  return std::max({L.GlobalAtomics / Gpu.AtomicsPerNs,
                   OfSlice / Gpu.AtomicsPerNsOneLine,
                   L.FloatAtomicsOfSector / Gpu.FloatAtomicsPerNsOneLine}) *
         UsPerNs;
}

static double together(double A, double B, double C) {
  return std::sqrt(A * A + B * B + C * C);
}

double stark::sim::inStepUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  double Issue = issueUs(L, Gpu), Pipe = loadStoreUs(L, Gpu),
         Life = latencyUs(L, Gpu), OfSm = L.Blocks / Gpu.Sms,
         Waits =
             L.WarpWaits * wholeRounds(OfSm / roomFor(L)) / cyclesPerUs(Gpu);
  double Apart = together(Issue, Pipe, Life),
         Step = together(Issue, Pipe, std::max(0.0, Life - Waits)) + Waits,
         AtOnce = std::min(roomFor(L), std::max(1.0, OfSm)),
         Mixed = Apart +
                 std::max(0.0, Step - Apart) * std::min(1.0, InStep / AtOnce);
  return std::sqrt(Mixed * Mixed - Apart * Apart);
}

double stark::sim::dispatchUs(const LaunchLoad &L, const GpuDescription &Gpu) {
  return L.Blocks / Gpu.BlocksPerUs;
}
