//===- Atomics.cpp - Atomics on global memory -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Atomics.h"
#include <algorithm>
#include <map>

using namespace stark::sim;

/// The turns that L2 needs for what a request asks of one sector: words of a
/// sector are done together, lanes that ask for the same word one after the
/// other (seen on an H200: 131072 requests of some five words each take no
/// longer than as many of one).
static std::unordered_map<uint64_t, unsigned> turnsOf(const Request &R,
                                                      const Probe &Of) {
  if (Of.Joined)
    return {{R.Addresses[0] / SectorBytes, 1}};
  std::unordered_map<uint64_t, unsigned> Words, Sectors;
  for (unsigned I = 0; I < R.Count; ++I) {
    unsigned &Turns = Sectors[R.Addresses[I] / SectorBytes];
    Turns = std::max(Turns, ++Words[R.Addresses[I]]);
  }
  return Sectors;
}

void AtomicCounters::Places::add(uint64_t Place, double Turns) {
  All[Place] += Turns;
  Block[Place] += Turns;
}

static double most(const std::unordered_map<uint64_t, double> &Counts) {
  double Most = 0;
  for (const auto &[Place, Count] : Counts)
    Most = std::max(Most, Count);
  return Most;
}

void AtomicCounters::Places::endBlock() {
  HottestOfBlocks += most(Block);
  Block.clear();
}

double AtomicCounters::Places::hottest(const AtomicSpread &Spread,
                                       uint64_t Bytes) const {
  double AtOnce = std::max(1.0, Spread.BytesAtOnce /
                                    std::max(Spread.BlockBytes, double(Bytes)));
  return Spread.Anywhere ? most(All) : HottestOfBlocks / AtOnce;
}

void AtomicCounters::add(const Request &R, const Probe &Of) {
  OfProbe &Its = Probes[R.Probe];
  Its.Float = Of.Float;
  for (const auto &[Sector, Count] : turnsOf(R, Of)) {
    Its.Groups.add(Sector / GroupSectors, Count);
    Its.Sectors.add(Sector, Count);
    Its.Turns += Count;
  }
}

void AtomicCounters::endBlock() {
  for (auto &[Probe, Its] : Probes) {
    Its.Groups.endBlock();
    Its.Sectors.endBlock();
  }
}

void AtomicCounters::finish(LaunchProfile &P, const AtomicSpreads &Spreads,
                            double Scale) const {
  // Probes that ask for one array meet there.
  std::map<size_t, double> Groups, Sectors;
  for (const auto &[Probe, Its] : Probes) {
    auto Found = Spreads.find(Probe);
    AtomicSpread Spread =
        Found == Spreads.end() ? AtomicSpread{} : Found->second;
    Groups[Spread.Array] +=
        Its.Groups.hottest(Spread, GroupSectors * SectorBytes);
    if (Its.Float)
      Sectors[Spread.Array] += Its.Sectors.hottest(Spread, SectorBytes);
    P.GlobalAtomics += Its.Turns * Scale;
  }
  for (const auto &[Array, Turns] : Groups)
    P.AtomicsOfGroup = std::max(P.AtomicsOfGroup, Turns * Scale);
  for (const auto &[Array, Turns] : Sectors)
    P.FloatAtomicsOfSector = std::max(P.FloatAtomicsOfSector, Turns * Scale);
}
