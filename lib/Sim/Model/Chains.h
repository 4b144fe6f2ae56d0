//===- Chains.h - Blocks that wait for the ones before --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   accesses of blocks that run one after the other -> how they wait
/// In a chain a block publishes what the next one polls only after it has
/// polled itself: one link a block. Where it has published before, as for a
/// decoupled look-back, blocks that are there at once look back past each
/// other.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_CHAINS_H
#define STARK_LIB_SIM_MODEL_CHAINS_H

#include "Model/Units.h"
#include "stark/Sim/Profile.h"
#include <unordered_map>

namespace stark::sim {

class ChainCounters {
public:
  void beginBlock();
  /// \p Warp tells the warps of a block apart.
  void access(const Request &R, const Probe &Of, const void *Warp);
  void fence(const void *Warp);
  /// Fills Waiting of \p P.
  void finish(LaunchProfile &P) const;

private:
  /// Of a warp, since it polled.
  struct SincePoll {
    double Loads = 0, Fences = 0;
    uint64_t Word = 0;
    bool Wrote = false;
  };
  struct Block {
    std::unordered_map<const void *, SincePoll> Warps; ///< that polled
    /// Of a word that it wrote: since when, unset if it had not polled.
    std::unordered_map<uint64_t, std::optional<SincePoll>> Written;
    double Words = 0; ///< that its warps polled, one after the other
  };
  void poll(const Request &R, const void *Warp);

  Block Before, Now;
  /// Blocks that found what the one before wrote after it polled itself, and
  /// before.
  double Links = 0, Early = 0;
  double Loads = 0, Fences = 0; ///< of the links
  /// What warps load that have polled, until they write.
  double Steps = 0, StepLoads = 0;
  double Polling = 0, Words = 0; ///< blocks that poll, and what
  double AtOnce = 1;             ///< words that a warp polls together, at most
};

} // namespace stark::sim

#endif
