//===- Random.cpp - Draws that are the same on every machine --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Random.h"
#include <cassert>

using namespace stark;

double Random::uniform() { return double(next() >> 11) * 0x1.0p-53; }

uint64_t Random::below(uint64_t Bound) {
  assert(Bound != 0 && "no number is below 0");
  // Draws from the incomplete last interval are rejected.
  uint64_t Reject = (0 - Bound) % Bound;
  uint64_t Drawn;
  do
    Drawn = next();
  while (Drawn < Reject);
  return Drawn % Bound;
}

std::vector<size_t> Random::sample(size_t Size, size_t Count) {
  assert(Count <= Size && "a sample is no larger than what it is drawn from");
  // Selection sampling: number I is taken with the probability that the rest
  // of the sample needs.
  std::vector<size_t> Taken;
  for (size_t I = 0; I < Size && Taken.size() < Count; ++I)
    if (below(Size - I) < Count - Taken.size())
      Taken.push_back(I);
  return Taken;
}
