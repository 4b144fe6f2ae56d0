//===- Arena.cpp - Where the buffers of a case lie ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "stark/Job/Records.h"
#include "stark/Judge/Fill.h"
#include <algorithm>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
constexpr uint64_t Aligned = 512; ///< as the driver's allocations are
constexpr uint64_t Edge = uint64_t(1) << 20;
constexpr uint64_t Small = uint64_t(8) << 20;
constexpr uint64_t MostSpare = uint64_t(32) << 20;

uint64_t roundUp(uint64_t Bytes, uint64_t To) {
  return (Bytes + To - 1) / To * To;
}

/// From 512 bytes to 1 MiB, each doubling as often as any other.
uint64_t drawDistance(uint64_t Draw) {
  uint64_t Least = Aligned << Draw % 11;
  return Least + (Draw >> 8) % Least / Aligned * Aligned;
}
} // namespace

uint64_t gpu::layOut(const Job &J, unsigned Case, uint64_t Draw,
                     std::pmr::vector<Placed> &Blocks) {
  const job::Case &C = J.Cases[Case];
  Blocks.assign(J.Leaves.size(), {});
  auto Key = [&](size_t Leaf) {
    return judge::mix(judge::mix(Draw) + 2 * Leaf);
  };
  // The first begins anywhere in the first pages.
  uint64_t Distance = Edge + judge::mix(~Draw) % (Edge / Aligned) * Aligned;
  uint64_t End = 0;
  // In the order of their keys, without a list of them: the entry could read
  // that in the heap.
  for (Placed *Last = nullptr;;) {
    size_t Next = J.Leaves.size();
    for (size_t I = 0; I < J.Leaves.size(); ++I)
      if (J.Leaves[I].Kind == LeafKind::Buffer && !Blocks[I].Has &&
          (Next == J.Leaves.size() || Key(I) < Key(Next)))
        Next = I;
    if (Next == J.Leaves.size()) {
      if (Last)
        Last->After = Edge;
      return Last ? Last->At + Last->Bytes + Edge : 0;
    }
    const Leaf &L = J.Leaves[Next];
    uint64_t At =
        roundUp(End, Aligned) + Distance + (C.Shifted ? shiftOf(L) : 0);
    Placed &B = Blocks[Next];
    B.Has = true;
    B.At = At;
    B.Bytes = C.Values[Next].elements() * dtypeBytes(L.Type);
    B.Before = Last ? Distance / 2 : At;
    if (Last)
      Last->After = At - B.Before - End;
    End = At + B.Bytes;
    Distance = drawDistance(judge::mix(Key(Next) + 1));
    Last = &B;
  }
}

uint64_t gpu::arenaFor(uint64_t Bytes) {
  return roundUp(std::max(Small, Bytes + std::min(Bytes / 8, MostSpare)),
                 DriverPage);
}

bool gpu::fits(uint64_t Arena, uint64_t Bytes) {
  return Arena && Bytes <= Arena && Arena <= std::max(Small, 2 * Bytes);
}
