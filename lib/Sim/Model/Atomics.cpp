//===- Atomics.cpp - Atomics on global memory -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Atomics.h"
#include <algorithm>

using namespace stark::sim;

void AtomicCounters::add(const Request &R, bool Float) {
  for (unsigned I = 0; I < R.Count; ++I) {
    ++Lines[Float][R.Addresses[I] / LineBytes];
    ++BlockLines[Float][R.Addresses[I] / LineBytes];
  }
  Threads[Float] += R.Count;
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
    if (Threads[Float] > 0)
      P.HottestShare[Float] =
          (Spread[Float].Anywhere
               ? double(hottest(Lines[Float]))
               : double(HottestOfBlocks[Float]) / Spread[Float].Lines) /
          Threads[Float];
    P.GlobalAtomics[Float] = Threads[Float] * Scale;
  }
}
