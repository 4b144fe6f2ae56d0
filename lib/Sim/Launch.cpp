//===- Launch.cpp - A kernel on its grid ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Checks run every block, a profile those of Sample.cpp
///
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include "Orders.h"
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace stark::sim;

extern "C" {
extern char *__stark_sim_shared;
extern uint32_t *__stark_sim_counts;
}

namespace {
// cudaError_t
constexpr int InvalidConfiguration = 9;
/// CUDA C++ Programming Guide, technical specifications, of every architecture.
constexpr Dim3 MaxBlock = {1024, 1024, 64},
               MaxGrid = {2147483647, 65535, 65535};
/// Bytes of shared memory that a kernel may have unless it is allowed more.
constexpr uint64_t DefaultShared = 48 * 1024;
} // namespace

Machine::Machine(const Tables &T, const GpuDescription &Gpu) : T(T), Gpu(Gpu) {
  Cached.resize(T.Probes.size());
}

Machine::~Machine() = default;

unsigned Machine::blocksPerSm(const Kernel &K, uint64_t Threads,
                              uint64_t Dynamic) const {
  uint64_t Warps = (Threads + 31) / 32;
  uint64_t ByThreads = Gpu.MaxThreadsPerSm / std::max<uint64_t>(Warps * 32, 1);
  // Registers are given to a warp in steps of 256.
  uint64_t PerWarp = (uint64_t(K.Registers) * 32 + 255) / 256 * 256;
  uint64_t ByRegisters =
      Gpu.RegistersPerSm / std::max<uint64_t>(PerWarp * Warps, 1);
  // The estimate may be half as much again as what nvcc needs; that alone
  // forbids no launch.
  if (!ByRegisters && !K.Exact &&
      (KnownLater || PerWarp * Warps <= Gpu.RegistersPerSm * 3 / 2))
    ByRegisters = 1;
  uint64_t Shared = K.StaticShared + Dynamic + Gpu.SharedReserved;
  uint64_t ByShared = Gpu.SharedPerSm / std::max<uint64_t>(Shared, 1);
  return unsigned(std::min(
      {uint64_t(Gpu.MaxBlocksPerSm), ByThreads, ByRegisters, ByShared}));
}

static std::string extent(Dim3 D, const char *Between) {
  return std::to_string(D.X) + Between + std::to_string(D.Y) + Between +
         std::to_string(D.Z);
}

/// Why the launch is refused, empty when it is not.
std::string Machine::whyNotLaunched(const Kernel &K, bool Cooperative) const {
  uint64_t Count = Block.count();
  if (!Count || !Grid.count())
    return "grid (" + extent(Grid, ",") + "), block (" + extent(Block, ",") +
           "): none may be 0";
  if (Count > Gpu.MaxThreadsPerBlock || Block.X > MaxBlock.X ||
      Block.Y > MaxBlock.Y || Block.Z > MaxBlock.Z)
    return "a block of " + extent(Block, " x ") + " = " +
           std::to_string(Count) + " threads, the GPU takes " +
           std::to_string(Gpu.MaxThreadsPerBlock) + " (" +
           extent(MaxBlock, " x ") + ")";
  if (K.BoundThreads && Count > K.BoundThreads)
    return "a block of " + extent(Block, " x ") + " = " +
           std::to_string(Count) + " threads, its __launch_bounds__ allow " +
           std::to_string(K.BoundThreads);
  if (Grid.X > MaxGrid.X || Grid.Y > MaxGrid.Y || Grid.Z > MaxGrid.Z)
    return "a grid of " + extent(Grid, " x ") + " blocks, the GPU takes " +
           extent(MaxGrid, " x ");
  if (Dynamic > K.MaxDynamic)
    return std::to_string(Dynamic) +
           " bytes of dynamic shared memory, it may have " +
           std::to_string(K.MaxDynamic) +
           (K.MaxDynamic <= DefaultShared
                ? " unless cudaFuncSetAttribute allows more"
                : "");
  if (K.StaticShared > DefaultShared)
    return std::to_string(K.StaticShared) +
           " bytes of static shared memory, the limit is " +
           std::to_string(DefaultShared);
  if (K.StaticShared + Dynamic > Gpu.SharedPerBlock)
    return std::to_string(K.StaticShared + Dynamic) +
           " bytes of shared memory, the GPU has " +
           std::to_string(Gpu.SharedPerBlock) + " for a block";
  unsigned PerSm = blocksPerSm(K, Count, Dynamic);
  if (!PerSm)
    return "too many resources: " + std::to_string(K.Registers) +
           (K.Exact ? " registers for each of "
                    : " registers (estimated) for each of ") +
           std::to_string(Count) + " threads, the GPU has " +
           std::to_string(Gpu.RegistersPerSm);
  if (Cooperative && Grid.count() > uint64_t(PerSm) * Gpu.Sms)
    return "a cooperative grid of " + std::to_string(Grid.count()) +
           " blocks, " + std::to_string(uint64_t(PerSm) * Gpu.Sms) +
           " fit on the GPU at once";
  return "";
}

int Machine::launch(unsigned KernelIndex, const void *Values,
                    const LaunchShape &Shape) {
  const Kernel &K = Kernels[KernelIndex];
  Launched = KernelIndex;
  Grid = Shape.Grid;
  Block = Shape.Block;
  Dynamic = Shape.Dynamic;
  Cluster = Shape.Cluster.X ? Shape.Cluster
            : K.Cluster.X   ? K.Cluster
                            : Dim3{1, 1, 1};
  Closure = Values;
  ClusterLinear = 0;
  bool Cooperative = Shape.Cooperative;
  std::string Why = whyNotLaunched(K, Cooperative);
  if (Why.empty())
    Why = whyNoCluster(K);
  if (!Why.empty()) {
    std::string Line =
        LaunchLine ? ", launched at line " + std::to_string(LaunchLine) + ","
                   : "";
    finding(FindingKind::Launch,
            "kernel " + K.Name + Line + " cannot be launched: " + Why);
    return LastError = InvalidConfiguration;
  }

  setLaunch();
  TogetherInGrid = Cooperative;
  beginOperation("kernel " + K.Name);
  ++LaunchCount;
  Wrote.beginLaunch();
  BlocksDone = 0;
  protect(false);

  PartnerSeconds = 0;
  double Begun = processorSecondsOf(0);
  if (How == Mode::Check && Cooperative && Grid.count() > 1)
    checkResident();
  else if (How == Mode::Check)
    checkBlocks();
  else
    profileBlocks(K);
  Profiled.LaunchSeconds += processorSecondsOf(0) - Begun + PartnerSeconds;
  protect(true);
  this->Closure = nullptr;
  if (overran())
    unsupported(UnsupportedKind::LocalMemory,
                "local arrays of more than 128 KiB in a cooperative launch");
  return 0;
}

/// Makes room for the launch whose shape is known.
void Machine::setLaunch() {
  Clusters = {Grid.X / Cluster.X, Grid.Y / Cluster.Y, Grid.Z / Cluster.Z};
  Ranks = unsigned(Cluster.count());
  PerBlock = unsigned(Block.count());
  if (Ranks > 1)
    PerBlock = (PerBlock + 31) / 32 * 32;
  Threads = PerBlock * Ranks;
  Warps = (Threads + 31) / 32;
  Lanes.resize(Threads);
  WarpEpoch.assign(Warps, 0);
  makeShared();
  CountPool.assign(std::max<size_t>(T.Blocks.size(), 1) *
                       (How == Mode::Profile ? Threads : 1),
                   0u);
}

/// Shared memory of the blocks of a cluster, each at a multiple of 1024 bytes.
void Machine::makeShared() {
  SharedBytes = T.SharedEnd + Dynamic;
  SharedStride = (SharedBytes + 64 + 1023) / 1024 * 1024;
  // What it holds at first must not look like zeros.
  SharedMemory.assign(SharedStride * Ranks + 1024,
                      char(How == Mode::Check ? 0xA5 : 0));
  SharedBase =
      SharedMemory.data() +
      (1024 - reinterpret_cast<uintptr_t>(SharedMemory.data()) % 1024) % 1024;
  if (How == Mode::Check)
    SharedCells.assign((SharedStride * Ranks + 4095) / 4, Cell());
}

/// \p Counts: how often each basic block was entered.
void Machine::addInstructions(const uint32_t *Counts) {
  // Each thread of a profiled block asks.
  if (SlotsOfBlock.empty())
    for (const CodeBlock &B : T.Blocks)
      SlotsOfBlock.push_back(
          std::accumulate(std::begin(B.Slots), std::end(B.Slots), 0.0));
  for (size_t B = 0; B < SlotsOfBlock.size(); ++B)
    Profiled.ThreadInstructions += double(Counts[B]) * SlotsOfBlock[B];
}

/// How far a launch has come, and what would be done in full.
std::string Machine::progress() const {
  uint64_t All = Clusters.count() * Ranks;
  std::string Text = "kernel " + Kernels[Launched].Name + " had done " +
                     std::to_string(BlocksDone) + " of its " +
                     std::to_string(All) + (All == 1 ? " block" : " blocks");
  if (LaunchCount > 1)
    Text += " in launch " + std::to_string(LaunchCount);
  // A launch before may have taken its part.
  if (LaunchCount == 1 && BlocksDone > 1 && BlocksDone < All)
    Text += "; a size with " + std::to_string(BlocksDone) +
            " blocks of this work would do";
  else
    Text += "; a size with less work for each thread would do";
  return Text;
}

void Machine::checkCluster(uint64_t I) {
  BlocksDone = I * Ranks;
  prepareBlocks(I);
  // What shared memory holds at first must not look like zeros.
  std::memset(SharedBase, 0xA5, SharedStride * Ranks);
  runBlocks();
}

void Machine::checkBlocks() {
  uint64_t Before = Accesses;
  for (uint64_t I = 0; I < Clusters.count();) {
    uint64_t Next = spread(I, Accesses - Before);
    if (Next == I)
      checkCluster(Next++);
    I = Next;
  }
  dismissPartners();
  addInstructions(CountPool.data());
}

void Machine::addTransfer(uint64_t Bytes) {
  Profiled.TransferUs += double(Bytes) * 2 / Gpu.DramGBs * 1e-3 + Gpu.LaunchUs;
}
