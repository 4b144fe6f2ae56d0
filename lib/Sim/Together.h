//===- Together.h - What orders the warps of one block -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A barrier of the whole block begins a new epoch, which orders everything.
/// What orders some warps alone (a barrier in memory, a named barrier of a part
/// of the block, any barrier in a cluster of several blocks) is kept as clocks:
/// how far a warp has seen each other one. A warp's own time is
/// Machine::WarpEpoch.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_TOGETHER_H
#define STARK_LIB_SIM_TOGETHER_H

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace stark::sim {

/// By warp: everything before this time of it has been seen; 0: nothing.
using Clocks = std::vector<uint32_t>;
/// \p Into has then seen what \p With has.
void join(Clocks &Into, const Clocks &With);

/// A copy that has begun: what it writes may not be touched until it has been
/// waited for. Its data are there already.
struct AsyncCopy {
  char *To = nullptr;
  uint64_t Bytes = 0;
  uint32_t Thread = 0; ///< that began it
  // Of one that a barrier in memory awaits: when it began, and what had been
  // seen until then.
  uint16_t Time = 0;
  Clocks Before = {};
};

/// What a thread of another block of the cluster did last.
struct RemoteUse {
  uint32_t Thread = 0, Probe = 0;
  uint16_t Time = 0; ///< of its warp
};

/// An mbarrier.
struct MemoryBarrier {
  uint32_t Expected = 0, Left = 0; ///< arrivals of a phase
  uint64_t Phase = 0;
  uint64_t Awaited = 0, Landed = 0; ///< bytes of bulk copies
  Clocks Arriving, Complete;        ///< of this phase, and of the last one
  std::vector<AsyncCopy> Copies;    ///< of this phase
  std::map<unsigned, RemoteUse> Arrivals; ///< by warp, of other blocks
};

/// bar.arrive and bar.sync with a number of threads.
struct NamedBarrier {
  unsigned Arrived = 0; ///< threads that do not wait
  Clocks Arriving;
};

/// A thread's cp.async.
struct ThreadCopies {
  std::vector<std::vector<AsyncCopy>> Groups; ///< committed
  std::vector<AsyncCopy> Open;
};

/// The barrier of a cluster.
struct ClusterBarrier {
  uint64_t Phases = 0; ///< that are complete
  Clocks Arriving, Complete;
};

struct Together {
  std::vector<Clocks> Seen; ///< by warp; empty: nothing is ordered so
  std::map<char *, MemoryBarrier> Barriers;
  std::map<std::pair<unsigned, int>, NamedBarrier> Named; ///< rank of a block
  ClusterBarrier OfCluster;
  std::map<uint32_t, ThreadCopies> Copies; ///< by thread
};

} // namespace stark::sim

#endif
