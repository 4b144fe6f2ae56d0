//===- Trees.h - Trees for the tests of the search -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Builds trees of nodes that are only a parent and a score.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_UNIT_SEARCH_TREES_H
#define STARK_TEST_UNIT_SEARCH_TREES_H

#include "stark/Search/Tree.h"

namespace stark {

inline Verdict correctIn(double Us) {
  Verdict V;
  V.Kind = VerdictKind::Correct;
  job::Timing T;
  T.Label = "n=1";
  T.Samples = 30;
  T.MedianUs = Us;
  T.SourceMedianUs = 100;
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = 100 / Us;
  V.Timings = {T};
  return V;
}

inline Verdict failing(VerdictKind Kind = VerdictKind::Wrong) {
  Verdict V;
  V.Kind = Kind;
  return V;
}

/// A source of 100 us, to which nodes are added by parent.
struct TreeBuilder {
  Tree T;
  Leaderboard Leaders{2};
  explicit TreeBuilder(Verdict Source = correctIn(100)) { add(-1, Source); }
  unsigned add(int Parent, const Verdict &Found, int SameAs = -1) {
    Node N;
    N.Parent = N.Base = Parent;
    N.Found = Found;
    N.SameAs = SameAs;
    unsigned Number = T.add(std::move(N));
    Leaders.update(T, Number);
    return Number;
  }
};

} // namespace stark

#endif
