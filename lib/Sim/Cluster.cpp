//===- Cluster.cpp - Blocks that share their memory -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The blocks of a cluster are there at once. Their barrier has two halves,
/// as PTX's barrier.cluster has: all arrive, and who waits goes on. A block's
/// shared memory ends with the block: who else uses it has to be done before,
/// and something has to order that (CUDA C++ Programming Guide, distributed
/// shared memory).
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>

using namespace stark::sim;

extern "C" {
extern uint32_t __stark_sim_probe;
}

namespace {
/// Blocks of a cluster: on every GPU that has them, and where the kernel allows
/// what not every one takes.
constexpr uint64_t PortableBlocks = 8, MostBlocks = 16;

std::string extent(Dim3 D) {
  return "(" + std::to_string(D.X) + "," + std::to_string(D.Y) + "," +
         std::to_string(D.Z) + ")";
}
} // namespace

/// Why the launch's clusters are refused, empty when they are not.
std::string Machine::whyNoCluster(const Kernel &K) const {
  std::string Asked = "clusters of " + extent(Cluster) + " blocks";
  if (Cluster.count() == 1)
    return "";
  if (!Gpu.hasClusters())
    return Asked + ", " + Gpu.Name + " has none";
  if (uint64_t Most = K.LargeClusters ? MostBlocks : PortableBlocks;
      Cluster.count() == 0 || Cluster.count() > Most)
    return Asked + ", it may have " + std::to_string(Most) +
           (K.LargeClusters ? "" : " unless cudaFuncSetAttribute allows more");
  if (K.Cluster.count() &&
      (K.Cluster.X != Cluster.X || K.Cluster.Y != Cluster.Y ||
       K.Cluster.Z != Cluster.Z))
    return Asked + ", its __cluster_dims__ say " + extent(K.Cluster);
  if (Grid.X % Cluster.X || Grid.Y % Cluster.Y || Grid.Z % Cluster.Z)
    return "a grid of " + extent(Grid) + " blocks, which are no whole " + Asked;
  return "";
}

Dim3 Machine::blockAt(unsigned Rank) const {
  Dim3 C = Clusters.at(ClusterLinear), In = Cluster.at(Rank);
  return {C.X * Cluster.X + In.X, C.Y * Cluster.Y + In.Y,
          C.Z * Cluster.Z + In.Z};
}

std::string Machine::blockName(unsigned Rank) const {
  return extent(blockAt(Rank));
}

/// In the grid, of a thread by its number there.
uint64_t Machine::blockNumber(uint64_t Thread) const {
  Dim3 C = Clusters.at(Thread / Threads),
       In = Cluster.at(Thread % Threads / PerBlock);
  return C.X * Cluster.X + In.X +
         uint64_t(Grid.X) * (C.Y * Cluster.Y + In.Y +
                             uint64_t(Grid.Y) * (C.Z * Cluster.Z + In.Z));
}

void Machine::clusterArrive() {
  Lane &L = *Running;
  ClusterBarrier &B = Met.OfCluster;
  L.Probe = __stark_sim_probe;
  if (L.ClusterArrivals > B.Phases)
    return finding(FindingKind::Stuck,
                   here(L.Probe) + " arrives at the cluster's barrier again "
                                   "and has not waited for it");
  L.ClusterArrivals = B.Phases + 1;
  if (How == Mode::Check)
    join(B.Arriving, releaseOf(L.Thread / 32));
  ++Progress;
}

void Machine::clusterWait() {
  Lane &L = *Running;
  ClusterBarrier &B = Met.OfCluster;
  L.Probe = __stark_sim_probe;
  if (L.ClusterArrivals == 0)
    return finding(FindingKind::Stuck,
                   here(L.Probe) + " waits at the cluster's barrier and has "
                                   "not arrived there");
  if (L.ClusterArrivals > B.Phases) {
    L.State = Wait::Cluster;
    suspend();
  }
  if (How == Mode::Check)
    acquire(L.Thread / 32, B.Complete);
}

/// Where all have arrived who are left, those that wait go on.
bool Machine::releaseCluster() {
  ClusterBarrier &B = Met.OfCluster;
  bool All = true, Some = false;
  for (const Lane &L : Lanes) {
    bool Arrived = L.ClusterArrivals > B.Phases;
    All &= Arrived || L.State == Wait::Done;
    Some |= Arrived;
  }
  if (!All || !Some)
    return false;
  ++B.Phases;
  B.Complete = std::move(B.Arriving);
  B.Arriving.clear();
  bool Any = false;
  for (Lane &L : Lanes)
    if (L.State == Wait::Cluster) {
      L.State = Wait::None;
      Any = true;
    }
  if (Recorder && Any)
    for (unsigned W = 0; W < Warps; ++W)
      Recorder->barrier();
  return Any;
}

void Machine::endOfBlocks() {
  for (unsigned Rank = 0; Rank < Ranks; ++Rank)
    if (!Left[Rank] && std::ranges::all_of(lanesOf(Rank), [](const Lane &L) {
          return L.State == Wait::Done;
        })) {
      Left[Rank] = true;
      if (How == Mode::Check)
        endOfBlock(Rank);
    }
}

/// What others have done to the memory of a block that is over has to be
/// ordered before its end: some warp of it has seen it.
void Machine::endOfBlock(unsigned Rank) {
  auto Seen = [&](uint32_t Other, uint16_t Time) {
    unsigned Warp = Other % Threads / 32;
    for (unsigned W = Rank * PerBlock / 32; W < (Rank + 1) * PerBlock / 32; ++W)
      if (!Met.Seen.empty() && warpsOrdered(W, Warp, Time))
        return true;
    return false;
  };
  auto IsOthers = [&](uint32_t Thread, uint32_t When) {
    return When == Epoch && Thread % Threads / PerBlock != Rank;
  };
  auto Tell = [&](uint32_t Thread, uint32_t Probe, const char *What) {
    finding(FindingKind::Race,
            std::string("data race on shared memory of another block: ") +
                What + " by " + placeOf(Probe, Thread % Threads / PerBlock) +
                ", thread " + threadName(Thread % Threads) + ", and block " +
                blockName(Rank) +
                " may have ended before: no barrier of the cluster follows");
  };
  for (const auto &[Address, B] : Met.Barriers)
    if (uint64_t(Address - SharedBase) / SharedStride == Rank)
      for (const auto &[Warp, Use] : B.Arrivals)
        if (!Seen(Use.Thread, Use.Time))
          return Tell(Use.Thread, Use.Probe, "arrival at a barrier");
  for (uint64_t I = Rank * SharedStride / 4;
       I < (Rank + 1) * SharedStride / 4 && I < SharedCells.size(); ++I) {
    const Cell &C = SharedCells[I];
    if (C.WriteMask && IsOthers(C.Writer, C.WriteEpoch) &&
        !Seen(C.Writer, C.WriteWarpEpoch))
      return Tell(C.Writer, C.WriteProbe, "write");
    for (unsigned R = 0; R < 2; ++R)
      if (C.ReadMask[R] && IsOthers(C.Reader[R], C.ReadEpoch[R]) &&
          !Seen(C.Reader[R], C.ReadWarpEpoch[R]))
        return Tell(C.Reader[R], C.ReadProbe[R], "read");
  }
}

/// Blocks that are over have no shared memory.
bool Machine::isThere(const char *Address) {
  // What is none of it others look at.
  uint64_t Rank = uint64_t(Address - SharedBase) / SharedStride;
  if (Ranks == 1 || Rank >= Ranks || !Left[Rank])
    return true;
  finding(FindingKind::OutOfBounds,
          "use of shared memory of block " + blockName(Rank) + " by " +
              here(__stark_sim_probe) + ": that block has left the kernel");
  return false;
}

uint32_t Machine::rankOf(const char *Address) {
  if (Address >= SharedBase && Address < SharedBase + Ranks * SharedStride)
    return uint32_t(uint64_t(Address - SharedBase) / SharedStride);
  finding(FindingKind::OutOfBounds, "an address that is none of the cluster's "
                                    "shared memory is asked for its block by " +
                                        here(__stark_sim_probe));
  return 0;
}

char *Machine::mapShared(char *Address, uint32_t Rank) {
  if (Rank >= Ranks) {
    finding(FindingKind::OutOfBounds,
            "shared memory of block " + std::to_string(Rank) +
                " of a cluster of " + std::to_string(Ranks) +
                " is asked for by " + here(__stark_sim_probe));
    return Address;
  }
  // Another address is told, and stays what it is.
  uint32_t Own = rankOf(Address);
  return Address + (int64_t(Rank) - int64_t(Own)) * int64_t(SharedStride);
}
