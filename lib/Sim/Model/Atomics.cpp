//===- Atomics.cpp - Atomics on global memory -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Atomics.h"
#include <algorithm>

using namespace stark::sim;

/// The turns that L2 needs for what a request asks of one sector: words of a
/// sector are done together, lanes that ask for the same word one after the
/// other (seen on an H200: 131072 requests of some five words each take no
/// longer than as many of one).
static std::unordered_map<uint64_t, unsigned> turnsOf(const Request &R) {
  std::unordered_map<uint64_t, unsigned> Words, Sectors;
  for (unsigned I = 0; I < R.Count; ++I) {
    unsigned &Turns = Sectors[R.Addresses[I] / SectorBytes];
    Turns = std::max(Turns, ++Words[R.Addresses[I]]);
  }
  return Sectors;
}

void AtomicCounters::add(const Request &R, bool Float) {
  for (const auto &[Sector, Count] : turnsOf(R)) {
    Lines[Float][Sector / LineSectors] += Count;
    BlockLines[Float][Sector / LineSectors] += Count;
    Turns[Float] += Count;
  }
}

static uint64_t hottest(const std::unordered_map<uint64_t, uint64_t> &Counts) {
  uint64_t Most = 0;
  for (const auto &[Line, Count] : Counts)
    Most = std::max(Most, Count);
  return Most;
}

void AtomicCounters::endBlock() {
  for (unsigned Float = 0; Float < 2; ++Float) {
    HottestOfBlocks[Float] += hottest(BlockLines[Float]);
    BlockLines[Float].clear();
  }
}

void AtomicCounters::finish(LaunchProfile &P, const AtomicSpread (&Spread)[2],
                            double Scale) const {
  for (unsigned Float = 0; Float < 2; ++Float) {
    if (Turns[Float] > 0)
      P.HottestShare[Float] =
          (Spread[Float].Anywhere
               ? double(hottest(Lines[Float]))
               : double(HottestOfBlocks[Float]) / Spread[Float].Lines) /
          Turns[Float];
    P.GlobalAtomics[Float] = Turns[Float] * Scale;
  }
}
