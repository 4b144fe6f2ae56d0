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
/// of the block) is kept as clocks: how far a warp has seen each other one. A
/// warp's own time is Machine::WarpEpoch.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_TOGETHER_H
#define STARK_LIB_SIM_TOGETHER_H

#include <cstdint>
#include <map>
#include <vector>

namespace stark::sim {

/// By warp: everything before this time of it has been seen; 0: nothing.
using Clocks = std::vector<uint32_t>;

/// A copy that has begun: what it writes may not be touched until it has been
/// waited for. Its data are there already.
struct AsyncCopy {
  char *To = nullptr;
  uint64_t Bytes = 0;
  uint32_t Thread = 0; ///< in the block, that began it
};

/// An mbarrier.
struct MemoryBarrier {
  uint32_t Expected = 0, Left = 0; ///< arrivals of a phase
  uint64_t Phase = 0;
  uint64_t Awaited = 0, Landed = 0; ///< bytes of bulk copies
  Clocks Arriving, Complete;        ///< of this phase, and of the last one
  std::vector<AsyncCopy> Copies;    ///< of this phase
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

struct Together {
  std::vector<Clocks> Seen; ///< by warp; empty: nothing is ordered so
  std::map<char *, MemoryBarrier> Barriers;
  std::map<int, NamedBarrier> Named;
  std::map<uint32_t, ThreadCopies> Copies; ///< by thread
};

} // namespace stark::sim

#endif
