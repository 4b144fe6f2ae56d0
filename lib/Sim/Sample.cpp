//===- Sample.cpp - The blocks of a launch that are profiled --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The first, the last, some between and the neighbours of the first along
/// each axis of the grid are recorded; what as many others do as are cheap is
/// counted. Blocks that do far more than most are a launch of their own, beside
/// that of the others. Of blocks that wait for those before them the first
/// few are recorded, and no others run.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Model/Model.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace stark::sim;

namespace {
/// Its number, and what it did.
using CountedCluster = std::pair<uint64_t, Way>;

constexpr uint64_t MiddleBlocks = 3;
/// Of blocks that wait for those before them.
constexpr uint64_t FirstBlocks = 8;
/// What may be spent on blocks that are only counted, in issue slots of warps,
/// and in threads: a fraction of a second.
constexpr double LeastCounted = 2e6, MostCounted = 1e7;
constexpr uint64_t MostThreads = uint64_t(4) << 20;
/// How many times as much a block does as one that finds nothing to do, and of
/// how many others at least it is known how many do.
constexpr uint64_t IdleRatio = 8;
constexpr size_t FewOthers = 16;
/// How many times as long a way is that stands out, and of how many such blocks
/// all is recorded.
constexpr double HeavyRatio = 2;
constexpr size_t MostHeavy = 4;

/// Steps of this size through \p Count come by all, neighbours far apart.
uint64_t spreadingStride(uint64_t Count) {
  uint64_t Stride = std::max<uint64_t>(1, uint64_t(double(Count) * 0.618));
  while (std::gcd(Stride, Count) != 1)
    ++Stride;
  return Stride;
}
} // namespace

/// By number; every one when there are few. Blocks are clusters of one. What
/// polls would wait forever for a block that is not run.
std::vector<uint64_t> Machine::sampledClusters(bool InOrder) const {
  uint64_t Count = Clusters.count();
  std::vector<uint64_t> List;
  if (InOrder) {
    List.resize(std::min(Count, FirstBlocks));
    std::iota(List.begin(), List.end(), 0);
    return List;
  }
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
    Wrote.beginCluster(I);
    runBlocks();
    Wrote.endCluster();
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
  Wrote.beginCluster(I);
  runBlocks();
  Wrote.endCluster();
  for (const Lane &L : Lanes)
    addInstructions(L.Counts);
  Recorder = std::move(Kept);
  Way All;
  for (const auto &Warp : warpCounts(0, Threads))
    All.add(wayOf(entriesOf(Warp, T.Blocks.size()), T, Gpu));
  return All;
}

/// Few blocks are sampled. As many others as are cheap are run and counted, in
/// an order that spreads them. \p Uneven: the sampled ones differ by far.
std::vector<CountedCluster>
Machine::countOthers(const std::vector<uint64_t> &Sampled, Way Known,
                     bool Uneven) {
  uint64_t Count = Clusters.count();
  double Budget = Uneven
                      ? MostCounted
                      : std::clamp(Known.Issued / 4, LeastCounted, MostCounted),
         Mean = Known.Issued / double(Sampled.size()), Used = 0;
  std::vector<CountedCluster> Others;
  uint64_t Stride = spreadingStride(Count);
  for (uint64_t I = 0, At = 0; I < Count && Used + Mean <= Budget &&
                               Others.size() * Threads < MostThreads;
       ++I, At = (At + Stride) % Count) {
    if (std::binary_search(Sampled.begin(), Sampled.end(), At))
      continue;
    Others.push_back({At, countCluster(At)});
    Used += Others.back().second.Issued;
  }
  return Others;
}

/// Where most blocks find nothing to do, those of the sample that do are as a
/// rule too many, as the first has some. Takes them out of \p Sampled.
static std::vector<uint64_t>
takeRare(std::vector<uint64_t> &Sampled, const std::vector<uint64_t> &Works,
         const std::vector<CountedCluster> &Others) {
  uint64_t Most = *std::max_element(Works.begin(), Works.end());
  auto DoesMuch = [&](uint64_t Entered) { return Entered * IdleRatio > Most; };
  double Busy = double(std::count_if(Works.begin(), Works.end(), DoesMuch)) /
                double(Works.size()),
         BusyOthers = double(std::count_if(Others.begin(), Others.end(),
                                           [&](const CountedCluster &C) {
                                             return DoesMuch(C.second.Entered);
                                           })) /
                      double(std::max<size_t>(1, Others.size()));
  std::vector<uint64_t> Rare, Rest;
  for (size_t I = 0; I < Works.size(); ++I)
    (DoesMuch(Works[I]) ? Rare : Rest).push_back(Sampled[I]);
  if (Rest.empty() || Others.size() < FewOthers || Busy < 2 * BusyOthers)
    return {};
  Sampled = std::move(Rest);
  return Rare;
}

/// Of \p Others, and of \p Rare, those with a longer way by far than the
/// sampled ones, the longest first.
static std::vector<uint64_t>
heavyClusters(const std::vector<CountedCluster> &Others,
              const std::vector<uint64_t> &Rare, uint64_t Left, Way Known,
              LaunchProfile &P) {
  std::vector<std::pair<double, uint64_t>> Heavy;
  for (const CountedCluster &C : Others)
    if (C.second.Cycles > HeavyRatio * Known.Cycles)
      Heavy.push_back({C.second.Cycles, C.first});
  std::sort(Heavy.rbegin(), Heavy.rend());
  // Of those that were not looked at as many as of those that were.
  if (!Heavy.empty())
    P.HeavyBlocks = uint64_t(
        std::ceil(double(Heavy.size()) / double(Others.size()) * double(Left)));
  P.HeavyBlocks += Rare.size();
  std::vector<uint64_t> List;
  for (size_t I = 0; I < std::min(Heavy.size(), MostHeavy); ++I)
    List.push_back(Heavy[I].second);
  for (size_t I = 0; I < Rare.size() && List.size() < MostHeavy; ++I)
    List.push_back(Rare[I]);
  return List;
}

void Machine::profileBlocks(const Kernel &K) {
  const bool InOrder = T.polls(K.Function);
  std::vector<uint64_t> Sampled = sampledClusters(InOrder), Rare;
  const uint64_t Left = Clusters.count() - Sampled.size();
  if (InOrder)
    Wrote.spoil();
  beginRecording(K);
  recordClusters(Sampled);
  std::vector<CountedCluster> Others;
  if (InOrder) {
    // Others would wait, too.
  } else if (Recorder->mayDraw(double(Grid.count()))) {
    Recorder->ranAgain(countCluster(Sampled.front()));
    Others = countOthers(Sampled, Recorder->sampled(), /*Uneven=*/false);
  } else {
    std::vector<uint64_t> Works = Recorder->worksOfClusters();
    auto [Least, Most] = std::minmax_element(Works.begin(), Works.end());
    Others =
        countOthers(Sampled, Recorder->sampled(), *Least * IdleRatio <= *Most);
    Rare = takeRare(Sampled, Works, Others);
  }
  if (!Rare.empty()) {
    beginRecording(K);
    recordClusters(Sampled);
  }
  Way Known = Recorder->sampled();
  LaunchProfile P = endRecording(K, {Grid.X, Grid.Y, Grid.Z});
  std::vector<uint64_t> Heavy = heavyClusters(Others, Rare, Left, Known, P);
  P.HeavyBlocks *= Ranks;
  if (!Heavy.empty()) {
    beginRecording(K);
    recordClusters(Heavy);
    Way Long = Recorder->sampled();
    P.HeavyRatio = Long.Cycles / std::max(1.0, Known.Cycles);
    addHeavy(P, endRecording(K, {P.HeavyBlocks, 1, 1}), Gpu);
  }
  Profiled.Launches.push_back(std::move(P));
}
