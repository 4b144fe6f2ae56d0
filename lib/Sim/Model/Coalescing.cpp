//===- Coalescing.cpp - One request of a warp, in pieces of memory --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Coalescing.h"
#include <algorithm>

using namespace stark::sim;

namespace {
constexpr unsigned Banks = 32;
constexpr uint64_t WordBytes = 4;
/// Cycles that one address of constant memory takes (fit).
constexpr uint64_t ConstantAddressCycles = 2;
/// Floating additions in shared memory are loops that compare and swap: times
/// as long as an integer's (fit).
constexpr unsigned SharedFloatAtomic = 12;
} // namespace

void Pieces::add(uint64_t Number) {
  // Neighbours mostly share.
  for (unsigned I = Count; I-- > 0;)
    if (List[I] == Number)
      return;
  if (Count < std::size(List))
    List[Count++] = Number;
}

Pieces stark::sim::sectorsOf(const Request &R) {
  Pieces Found;
  for (unsigned I = 0; I < R.Count; ++I)
    for (uint64_t Sector = R.Addresses[I] / SectorBytes;
         Sector <= (R.Addresses[I] + R.Bytes - 1) / SectorBytes; ++Sector)
      Found.add(Sector);
  return Found;
}

Pieces stark::sim::linesOf(const Pieces &Sectors) {
  Pieces Found;
  for (unsigned I = 0; I < Sectors.Count; ++I)
    Found.add(Sectors.List[I] / LineSectors);
  return Found;
}

uint64_t stark::sim::distinctAddresses(Request &R) {
  std::sort(R.Addresses, R.Addresses + R.Count);
  return uint64_t(std::unique(R.Addresses, R.Addresses + R.Count) -
                  R.Addresses);
}

uint64_t stark::sim::sharedCycles(const Request &R, const Probe &P) {
  // Wide accesses move 128 bytes a cycle, too.
  std::vector<uint64_t> Words;
  for (unsigned I = 0; I < R.Count; ++I)
    for (uint64_t B = 0; B < std::max(R.Bytes, WordBytes); B += WordBytes)
      Words.push_back((R.Addresses[I] + B) / WordBytes);
  if (P.Kind != ProbeKind::Atomic || P.Counts || P.Joined) {
    std::sort(Words.begin(), Words.end());
    Words.erase(std::unique(Words.begin(), Words.end()), Words.end());
  }
  unsigned Used[Banks] = {}, Worst = 1;
  for (uint64_t Word : Words)
    Worst = std::max(Worst, ++Used[Word % Banks]);
  return P.Float ? Worst * SharedFloatAtomic : Worst;
}

uint64_t stark::sim::constantCycles(Request &R) {
  return ConstantAddressCycles * distinctAddresses(R);
}

uint64_t stark::sim::atomicConflicts(const Request &R) {
  unsigned Worst = 1;
  for (unsigned I = 0; I < R.Count; ++I) {
    unsigned Same = 0;
    for (unsigned J = 0; J < R.Count; ++J)
      Same += R.Addresses[J] == R.Addresses[I];
    Worst = std::max(Worst, Same);
  }
  return Worst - 1;
}
