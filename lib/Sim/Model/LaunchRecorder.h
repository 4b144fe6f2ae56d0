//===- LaunchRecorder.h - The counters of a launch ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   traces of a warp's lanes -> requests -> shared memory, constant cache, L1,
///   working sets, atomics -> LaunchProfile
/// The lanes of a warp are brought together again: accesses of one probe that
/// stand next in their traces are one request.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_LAUNCHRECORDER_H
#define STARK_LIB_SIM_MODEL_LAUNCHRECORDER_H

#include "Model/Atomics.h"
#include "Model/Chains.h"
#include "Model/Dram.h"
#include "Model/L1Cache.h"
#include "Model/WorkingSet.h"
#include "stark/Sim/Profile.h"
#include <algorithm>

namespace stark::sim {

/// A warp's way through the code, about: its length in cycles, how many basic
/// blocks it enters, and how many issue slots it takes. Of several warps: the
/// longest, and all.
struct Way {
  double Cycles = 0;
  uint64_t Entered = 0;
  double Issued = 0;
  void add(const Way &Other) {
    Cycles = std::max(Cycles, Other.Cycles);
    Entered += Other.Entered;
    Issued += Other.Issued;
  }
};
/// How often a warp entered each of \p Blocks basic blocks; \p Lanes: as
/// LaunchRecorder::counts().
std::vector<uint32_t> entriesOf(const std::vector<uint32_t *> &Lanes,
                                size_t Blocks);
/// \p Entries: of entriesOf().
Way wayOf(const std::vector<uint32_t> &Entries, const Tables &T,
          const GpuDescription &Gpu);

class LaunchRecorder {
public:
  /// \p Constants: where __constant__ variables lie.
  LaunchRecorder(const Tables &T, const GpuDescription &Gpu,
                 unsigned BlocksPerSm, uint64_t SharedBytes,
                 ArrayBounds Constants);
  void beginBlock(uint64_t X, uint64_t Y, uint64_t Z);
  /// \p Lanes: the traces of one warp, each from lane 0. Shared memory lies at
  /// \p SharedBase.
  void warp(const std::vector<Trace *> &Lanes, char *SharedBase,
            uint64_t SharedBytes);
  /// \p Lanes: how often each of a warp entered each basic block.
  void counts(const std::vector<uint32_t *> &Lanes);
  /// Of all warps so far.
  const Way &sampled() const { return Sampled; }
  void barrier() { ++Out.Barriers; }
  void endBlock();
  /// Basic blocks that each cluster entered.
  std::vector<uint64_t> worksOfClusters() const;
  /// Whether the first cluster may have drawn its work from a counter, and all
  /// that there was. Run again it finds none then; what is its own it finds.
  bool mayDraw(double Blocks) const;
  void ranAgain(const Way &Its) { Again = Its.Entered; }
  /// \p Arrays: of device memory.
  LaunchProfile finish(GridExtent Grid, ArrayBounds Arrays);
  /// What the caller knows of the launch.
  LaunchProfile Out;
  size_t Together = 1; ///< neighbouring blocks of a cluster

private:
  void record(Request &R);
  bool inConstants(uint64_t Address) const;
  bool drawsItsWork(double Blocks) const;
  void localAccess(const Request &R, ProbeCounters &C);
  void globalAccess(Request &R, ProbeCounters &C);

  const Tables &T;
  const GpuDescription &Gpu;
  ArrayBounds Constants;
  uint64_t SharedBegin = 0, SharedEnd = 0; ///< of the warp that is looked at
  L1Cache L1;
  WorkingSets Sets;
  AtomicCounters Atomics;
  bool Polling = false; ///< some probe does
  ChainCounters Chains;
  const void *Warp = nullptr; ///< that is looked at
  uint64_t Entered = 0;       ///< basic blocks, by the block that is recorded
  double LongestWay = 0;      ///< of the block that is recorded
  Way Sampled;
  uint64_t Again = 0;          ///< basic blocks, by the first cluster run again
  std::vector<uint64_t> Works; ///< of each before
  bool MakesAtomics = false;   ///< of global memory
};

} // namespace stark::sim

#endif
