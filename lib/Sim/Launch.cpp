//===- Launch.cpp - A kernel on its grid ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Checks run every block; a profile runs the first, the last, some between
/// and the neighbours of the first along each axis of the grid, and counts what
/// as many others do as are cheap.
///
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include "Orders.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace stark::sim;

extern "C" {
extern char *__stark_sim_shared;
extern uint32_t *__stark_sim_lane;
extern uint32_t *__stark_sim_counts;
}

namespace {
// cudaError_t
constexpr int InvalidConfiguration = 9;
constexpr uint64_t MiddleBlocks = 3;
/// What may be spent on blocks that are only counted, in issue slots of warps,
/// and in threads: a fraction of a second.
constexpr double LeastCounted = 2e6, MostCounted = 1e7;
constexpr uint64_t MostThreads = uint64_t(4) << 20;
/// How many times as long a way is that stands out, and of how many such blocks
/// all is recorded.
constexpr double HeavyRatio = 2;
constexpr size_t MostHeavy = 4;
/// CUDA C++ Programming Guide, technical specifications, of every architecture.
constexpr Dim3 MaxBlock = {1024, 1024, 64},
               MaxGrid = {2147483647, 65535, 65535};
/// Bytes of shared memory that a kernel may have unless it is allowed more.
constexpr uint64_t DefaultShared = 48 * 1024;

/// Steps of this size through \p Count come by all, neighbours far apart.
uint64_t spreadingStride(uint64_t Count) {
  uint64_t Stride = std::max<uint64_t>(1, uint64_t(double(Count) * 0.618));
  while (std::gcd(Stride, Count) != 1)
    ++Stride;
  return Stride;
}
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

/// By number; every one when there are few. Blocks are clusters of one.
std::vector<uint64_t> Machine::sampledClusters() const {
  uint64_t Count = Clusters.count();
  std::vector<uint64_t> List;
  auto Add = [&](uint64_t I) {
    if (I < Count && std::find(List.begin(), List.end(), I) == List.end())
      List.push_back(I);
  };
  Add(0);
  if (Clusters.X > 1)
    Add(1);
  if (Clusters.Y > 1)
    Add(Clusters.X);
  if (Clusters.Z > 1)
    Add(uint64_t(Clusters.X) * Clusters.Y);
  for (uint64_t I = 1; I <= MiddleBlocks; ++I)
    Add(Count * I / (MiddleBlocks + 1) + (I & 1));
  Add(Count - 1);
  std::sort(List.begin(), List.end());
  return List;
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
  for (size_t B = 0; B < T.Blocks.size(); ++B)
    if (Counts[B])
      for (float Slots : T.Blocks[B].Slots)
        Profiled.ThreadInstructions += double(Counts[B]) * double(Slots);
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

void Machine::beginRecorded(unsigned Rank) {
  Dim3 At = blockAt(Rank);
  Recorder->beginBlock(At.X, At.Y, At.Z);
}

/// What the lanes of each warp of lanes \p Begin to \p End counted.
std::vector<std::vector<uint32_t *>> Machine::warpCounts(unsigned Begin,
                                                         unsigned End) const {
  std::vector<std::vector<uint32_t *>> All;
  for (unsigned W = Begin; W < End; W += 32) {
    All.emplace_back();
    for (unsigned L = W; L < std::min(End, W + 32); ++L)
      All.back().push_back(Lanes[L].Counts);
  }
  return All;
}

void Machine::endRecorded(unsigned Rank) {
  for (const auto &Warp : warpCounts(Rank * PerBlock, (Rank + 1) * PerBlock))
    Recorder->counts(Warp);
  Recorder->endBlock();
}

void Machine::beginRecording(const Kernel &K) {
  ArrayBounds Constants;
  for (const auto &A : Allocations)
    if (A->Banked)
      Constants.push_back({reinterpret_cast<uint64_t>(A->Begin) & AddressMask,
                           reinterpret_cast<uint64_t>(A->End) & AddressMask});
  Recorder = std::make_unique<LaunchRecorder>(
      T, Gpu, blocksPerSm(K, Block.count(), Dynamic), K.StaticShared + Dynamic,
      std::move(Constants));
  Recorder->Together = Ranks;
}

void Machine::recordClusters(const std::vector<uint64_t> &List) {
  for (uint64_t I : List) {
    prepareBlocks(I);
    std::memset(SharedBase, 0, SharedStride * Ranks);
    Recorded.assign(Ranks > 1 ? Ranks : 0, {});
    if (Ranks == 1)
      beginRecorded(0);
    runBlocks();
    for (unsigned Rank = 0; Rank < Ranks; ++Rank) {
      if (Ranks > 1) {
        beginRecorded(Rank);
        for (std::vector<Trace> &Warp : Recorded[Rank]) {
          std::vector<Trace *> Traces;
          for (Trace &T : Warp)
            Traces.push_back(&T);
          Recorder->warp(Traces, SharedBase, SharedMemory.size());
        }
      }
      endRecorded(Rank);
    }
    for (const Lane &L : Lanes)
      addInstructions(L.Counts);
  }
  Recorded.clear();
}

LaunchProfile Machine::endRecording(const Kernel &K, GridExtent Of) {
  ArrayBounds Arrays;
  for (const auto &A : Allocations)
    if (!A->Freed)
      Arrays.push_back({reinterpret_cast<uint64_t>(A->Begin),
                        reinterpret_cast<uint64_t>(A->End)});
  LaunchProfile &P = Recorder->Out;
  P.Kernel = K.Name;
  P.Line = T.Functions[K.Function].Line;
  P.Blocks = uint64_t(Of.blocks());
  P.ThreadsPerBlock = unsigned(Block.count());
  P.Registers = K.Registers;
  P.Exact = K.Exact;
  LaunchProfile Out = Recorder->finish(Of, std::move(Arrays));
  model(Out, T, Gpu);
  Recorder.reset();
  return Out;
}

/// Runs it without a recorder: the longest way of a warp of its blocks, and all
/// that they entered.
Way Machine::countCluster(uint64_t I) {
  std::unique_ptr<LaunchRecorder> Kept = std::move(Recorder);
  prepareBlocks(I);
  std::memset(SharedBase, 0, SharedStride * Ranks);
  runBlocks();
  for (const Lane &L : Lanes)
    addInstructions(L.Counts);
  Recorder = std::move(Kept);
  Way All;
  for (const auto &Warp : warpCounts(0, Threads))
    All.add(wayOf(entriesOf(Warp, T.Blocks.size()), T, Gpu));
  return All;
}

/// Few blocks are sampled: one that does far more than these may not be among
/// them. So as many others as are cheap are run and counted, in an order that
/// spreads them. Those with a longer way by far, the longest first.
std::vector<uint64_t>
Machine::heavyClusters(const std::vector<uint64_t> &Sampled, Way Known,
                       LaunchProfile &P) {
  uint64_t Count = Clusters.count();
  double Budget = std::clamp(Known.Issued / 4, LeastCounted, MostCounted),
         Mean = Known.Issued / double(Sampled.size()), Used = 0;
  std::vector<std::pair<double, uint64_t>> Heavy;
  uint64_t Counted = 0, Stride = spreadingStride(Count);
  for (uint64_t I = 0, At = 0;
       I < Count && Used + Mean <= Budget && Counted * Threads < MostThreads;
       ++I, At = (At + Stride) % Count) {
    if (std::binary_search(Sampled.begin(), Sampled.end(), At))
      continue;
    Way Its = countCluster(At);
    Used += Its.Issued;
    ++Counted;
    if (Its.Cycles > HeavyRatio * Known.Cycles)
      Heavy.push_back({Its.Cycles, At});
  }
  if (Heavy.empty())
    return {};
  std::sort(Heavy.rbegin(), Heavy.rend());
  P.HeavyRatio = Heavy.front().first / std::max(1.0, Known.Cycles);
  // Of those that were not looked at as many as of those that were.
  P.HeavyBlocks = uint64_t(std::ceil(double(Heavy.size()) / double(Counted) *
                                     double(Count - Sampled.size()))) *
                  Ranks;
  std::vector<uint64_t> List;
  for (size_t I = 0; I < std::min(Heavy.size(), MostHeavy); ++I)
    List.push_back(Heavy[I].second);
  return List;
}

void Machine::profileBlocks(const Kernel &K) {
  std::vector<uint64_t> Sampled = sampledClusters();
  beginRecording(K);
  recordClusters(Sampled);
  if (Recorder->mayDraw(double(Grid.count())))
    Recorder->ranAgain(countCluster(Sampled.front()));
  Way Known = Recorder->sampled();
  LaunchProfile P = endRecording(K, {Grid.X, Grid.Y, Grid.Z});
  std::vector<uint64_t> Heavy = heavyClusters(Sampled, Known, P);
  if (!Heavy.empty()) {
    beginRecording(K);
    recordClusters(Heavy);
    addHeavy(P, endRecording(K, {P.HeavyBlocks, 1, 1}), Gpu);
  }
  Profiled.Launches.push_back(std::move(P));
}

void Machine::addTransfer(uint64_t Bytes) {
  Profiled.TransferUs += double(Bytes) * 2 / Gpu.DramGBs * 1e-3 + Gpu.LaunchUs;
}
