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
constexpr uint64_t LeastSpare = MostSpare / 2;

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

/// As layOut() says at most.
static uint64_t mostBytes(const Job &J, unsigned Case) {
  const job::Case &C = J.Cases[Case];
  uint64_t Bytes = 2 * Edge;
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == LeafKind::Buffer)
      Bytes += C.Values[I].elements() * dtypeBytes(J.Leaves[I].Type) + Edge +
               2 * Aligned;
  return Bytes;
}

uint64_t gpu::leastPieceFor(const Job &J, unsigned Case) {
  return roundUp(mostBytes(J, Case), DriverPage);
}

bool gpu::sharePiece(const Job &J, unsigned Case, unsigned Other) {
  return Case == Other || (mostBytes(J, Case) <= MostShared &&
                           mostBytes(J, Other) <= MostShared);
}

uint64_t gpu::pieceFor(const Job &J, unsigned Case) {
  uint64_t Most = 0;
  for (unsigned Other = 0; Other < J.Cases.size(); ++Other)
    if (sharePiece(J, Case, Other))
      Most = std::max(Most, leastPieceFor(J, Other));
  return Most +
         roundUp(std::clamp(Most / 2, LeastSpare, MostSpare), DriverPage);
}

bool gpu::fits(uint64_t Piece, const Job &J, unsigned Case) {
  return Piece >= leastPieceFor(J, Case) && Piece <= pieceFor(J, Case);
}

uint64_t gpu::placeIn(uint64_t Piece, uint64_t Bytes, uint64_t Draw) {
  return judge::mix(Draw) % ((Piece - Bytes) / DriverPage + 1) * DriverPage;
}

void gpu::widen(std::pmr::vector<Placed> &Blocks, uint64_t Before,
                uint64_t After) {
  Placed *First = nullptr, *Last = nullptr;
  for (Placed &B : Blocks) {
    if (B.Has && (!First || B.At < First->At))
      First = &B;
    if (B.Has && (!Last || B.At > Last->At))
      Last = &B;
  }
  if (!First)
    return;
  First->Before += Before;
  Last->After += After;
}
