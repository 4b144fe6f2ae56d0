//===- Resident.cpp - Blocks that wait for each other ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   In a cooperative launch all blocks are there at once, each with its fibers
/// and its shared memory. They take turns in the order of their numbers, each
/// until the grid's barrier, so a run is the same every time.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <cstring>

using namespace stark::sim;

extern "C" {
extern char *__stark_sim_shared;
extern uint32_t __stark_sim_probe;
}

struct Machine::ResidentCluster {
  std::vector<Lane> Lanes;
  std::vector<uint16_t> WarpEpoch;
  std::vector<bool> Left;
  Together Met;
  std::vector<char> SharedMemory;
  std::vector<Cell> SharedCells;
  char *SharedBase = nullptr;
  uint64_t Linear = 0;
  uint32_t BlockEpoch = 0;
  bool BlockSynced = false;
};

/// Puts \p B in the place of the block that is there. Lanes stay where they
/// are in memory: their fibers know them by address.
void Machine::exchange(ResidentCluster &B) {
  std::swap(Lanes, B.Lanes);
  std::swap(WarpEpoch, B.WarpEpoch);
  std::swap(Left, B.Left);
  std::swap(Met, B.Met);
  std::swap(SharedMemory, B.SharedMemory);
  std::swap(SharedCells, B.SharedCells);
  std::swap(SharedBase, B.SharedBase);
  std::swap(ClusterLinear, B.Linear);
  std::swap(BlockEpoch, B.BlockEpoch);
  std::swap(BlockSynced, B.BlockSynced);
}

void Machine::checkResident() {
  std::vector<ResidentCluster> Blocks(Clusters.count());
  for (uint64_t I = 0; I < Blocks.size(); ++I) {
    exchange(Blocks[I]);
    Lanes.resize(Threads);
    WarpEpoch.resize(Warps);
    makeShared();
    prepareBlocks(I);
    exchange(Blocks[I]);
  }
  for (bool Left = true; Left;) {
    Left = false;
    const ResidentCluster *Gone = nullptr, *There = nullptr;
    for (ResidentCluster &B : Blocks) {
      exchange(B);
      ++Epoch;
      runBlocks();
      exchange(B);
      bool Waits =
          std::any_of(B.Lanes.begin(), B.Lanes.end(),
                      [](const Lane &L) { return L.State == Wait::Grid; });
      (Waits ? There : Gone) = &B;
    }
    if (There && Gone) {
      ClusterLinear = There->Linear;
      return finding(FindingKind::DivergentBarrier,
                     "barrier of the grid reached by a part of it: " +
                         here(There->Lanes[0].Probe) + " waits, block " +
                         std::to_string(blockNumber(Gone->Linear * Threads)) +
                         " has left the kernel");
    }
    if (!There)
      break;
    // What was done before the barrier is ordered before what follows it.
    LaunchEpoch = ++Epoch;
    for (ResidentCluster &B : Blocks)
      for (Lane &L : B.Lanes)
        if (L.State == Wait::Grid)
          L.State = Wait::None;
    Left = true;
  }
  addInstructions(CountPool.data());
}

void Machine::gridSync() {
  if (!TogetherInGrid)
    return finding(FindingKind::Launch,
                   "grid.sync() by " + here(__stark_sim_probe) +
                       " in a launch that is not cooperative; "
                       "cudaLaunchCooperativeKernel() makes one");
  Wrote.spoil();
  // A profile runs a few blocks, one after the other.
  if (Grid.count() == 1 || How == Mode::Profile) {
    if (Ranks > 1) {
      clusterArrive();
      clusterWait();
    } else {
      barrier(-1, 0, 0, 0);
    }
    return;
  }
  Running->Probe = __stark_sim_probe;
  Running->State = Wait::Grid;
  suspend();
}
