//===- Atomics.h - Atomics on global memory -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   requests of atomics -> turns that L2 needs, and how many meet in one place
/// L2 does the turns of one group of lines one after the other: a slice of L2
/// has it. Floating-point numbers take longer where they meet in one sector
/// (seen on an H200: on 32 random words and more as long as integers).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_ATOMICS_H
#define STARK_LIB_SIM_MODEL_ATOMICS_H

#include "Model/Units.h"
#include "stark/Sim/Profile.h"
#include <unordered_map>

namespace stark::sim {

/// Where the atomics of one probe lie.
struct AtomicSpread {
  /// Of a block, and of those that run at once: the others come later.
  double BlockBytes = 0, BytesAtOnce = 0;
  bool Anywhere = false; ///< they depend on data
  size_t Array = 0;      ///< its number
};
using AtomicSpreads = std::unordered_map<uint32_t, AtomicSpread>;

/// Lines that lie beside one another are in one slice of L2 (seen on an H200:
/// 16.7 million atomics on 256 random words of 1 KiB take 4.3 ms, of 4 KiB
/// 1.4 ms, of 16 KiB 0.49 ms).
constexpr uint64_t GroupSectors = 16;

class AtomicCounters {
public:
  void add(const Request &R, const Probe &Of);
  void endBlock();
  /// Fills the atomics of \p P, of a grid with \p Scale times as many blocks as
  /// were sampled.
  void finish(LaunchProfile &P, const AtomicSpreads &Spreads,
              double Scale) const;

private:
  using Counts = std::unordered_map<uint64_t, double>;
  struct Places {
    Counts All, Block;
    /// Of the place that has most turns of a block, summed over the blocks.
    double HottestOfBlocks = 0;
    void add(uint64_t Place, double Turns);
    void endBlock();
    double hottest(const AtomicSpread &Spread, uint64_t Bytes) const;
  };
  struct OfProbe {
    Places Groups, Sectors;
    double Turns = 0;
    bool Float = false;
  };
  std::unordered_map<uint32_t, OfProbe> Probes;
};

} // namespace stark::sim

#endif
