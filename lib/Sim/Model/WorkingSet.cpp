//===- WorkingSet.cpp - What a block touches of global memory -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/WorkingSet.h"

using namespace stark::sim;

void WorkingSets::beginBlock(uint64_t X, uint64_t Y, uint64_t Z) {
  if (Blocks.size() == 1)
    Firsts = std::move(Seen);
  Blocks.push_back({X, Y, Z, {}, {}, {}, {}, {}});
  Seen.clear();
  Read.clear();
  Written.clear();
  Parts.clear();
}

void WorkingSets::store(const Request &R) {
  if (R.Bytes >= SectorBytes)
    return;
  for (unsigned I = 0; I < R.Count; ++I) {
    // One that was read lies in L2 already.
    if (Read.count(R.Addresses[I] / GranuleBytes))
      continue;
    Part &P = Parts[R.Addresses[I] / SectorBytes];
    P.Bytes |= uint32_t(((uint64_t(1) << R.Bytes) - 1)
                        << (R.Addresses[I] % SectorBytes));
    P.Probe = R.Probe;
  }
}

void WorkingSets::touch(const Request &R, bool Reads, uint64_t Sector,
                        bool Hit) {
  WorkingSet &Block = Blocks.back();
  if (!Hit)
    ++Block.Traffic[R.Probe];
  uint64_t Granule = Sector / GranuleSectors;
  if (Seen[R.Probe].insert(Granule).second) {
    ++Block.Unique[R.Probe];
    if (auto Of = Firsts.find(R.Probe);
        Of != Firsts.end() && Of->second.count(Granule))
      ++Block.OfFirst[R.Probe];
  }
  if ((Reads ? Read : Written).insert(Granule).second)
    ++Block.First[R.Probe];
}
