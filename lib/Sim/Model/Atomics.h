//===- Atomics.h - Atomics on global memory -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   requests of atomics -> turns that L2 needs, and how many meet on one line
/// L2 does the turns of one line one after the other, integers and
/// floating-point numbers at different rates.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_ATOMICS_H
#define STARK_LIB_SIM_MODEL_ATOMICS_H

#include "Model/Units.h"
#include "stark/Sim/Profile.h"
#include <unordered_map>

namespace stark::sim {

/// Where the lines lie that the atomics of all blocks meet, of one number kind.
struct AtomicSpread {
  double Lines = 1;      ///< times as many in the grid as in a block
  bool Anywhere = false; ///< they depend on data
};

/// Index 0 are integers, 1 floating-point numbers.
class AtomicCounters {
public:
  void add(const Request &R, bool Float);
  void endBlock();
  /// Fills the atomics of \p P, of a grid with \p Scale times as many blocks as
  /// were sampled.
  void finish(LaunchProfile &P, const AtomicSpread (&Spread)[2],
              double Scale) const;

private:
  using LineCounts = std::unordered_map<uint64_t, uint64_t>;
  LineCounts Lines[2], BlockLines[2];
  /// Of the line that has most turns of a block, summed over the blocks.
  uint64_t HottestOfBlocks[2] = {0, 0};
  double Turns[2] = {0, 0};
};

} // namespace stark::sim

#endif
