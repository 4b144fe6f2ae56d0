//===- Loops.h - Repeated runs of nodes, as loops -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Graph --> runs of nodes that do the same, round after round --> loops
/// An export unrolls Python's loops. A run is a loop when each round uses its
/// own values, those of the round before, or what stands above the run, and
/// when what stands below uses the last round's or all rounds' in a list.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_LOOPS_H
#define STARK_LIB_TORCH_LOOPS_H

#include "stark/Torch/Graph.h"
#include <map>
#include <tuple>

namespace stark::torch {

/// A use that can be a key.
using UseKey = std::pair<unsigned, int>;
inline UseKey keyOf(Use U) { return {U.Value, U.Item ? int(*U.Item) : -1}; }

struct Loop {
  /// First + Step * round
  struct Affine {
    int64_t First = 0, Step = 0;
  };
  /// What a round hands to the next, or the last one to what stands below.
  struct Carried {
    Use Value;                ///< of the first round
    std::optional<Use> Start; ///< what the first round is handed
  };

  size_t First = 0, Period = 0, Rounds = 0; ///< nodes; Period of them a round
  std::vector<Node> Body;                   ///< the first round's
  // Of constants of Body:
  std::map<const Constant *, Affine> Numbers;    ///< whole numbers that move
  std::map<const Constant *, Affine> Items;      ///< items of a list that move
  std::map<const Constant *, size_t> FromBefore; ///< indices of Carries
  std::vector<Carried> Carries;
  std::vector<Use>
      Collected; ///< of the first round, whose lists are used below
  /// Lists below the loop, and uses of the last round's.
  std::map<const Constant *, size_t> Lists; ///< indices of Collected
  std::map<UseKey, size_t> Last;            ///< indices of Carries

  size_t end() const { return First + Period * Rounds; }
};

/// In the order of their nodes; none overlaps another. \p G must stay as it is.
std::vector<Loop> findLoops(const Graph &G);

} // namespace stark::torch

#endif
