//===- ArenaTest.cpp - Where the buffers of a case lie --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
/// Three buffers of floats and a number.
Job jobOf(const std::vector<int64_t> &Sizes) {
  Job J;
  for (Role Use : {Role::Input, Role::Input, Role::Output}) {
    Leaf &L = J.Leaves.emplace_back();
    L.Kind = LeafKind::Buffer;
    L.Use = Use;
  }
  J.Leaves.emplace_back().Kind = LeafKind::Integer;
  for (int64_t Size : Sizes) {
    Case &C = J.Cases.emplace_back();
    C.Values.resize(4);
    for (unsigned I = 0; I < 3; ++I)
      C.Values[I].Shape = {Size};
  }
  return J;
}

std::vector<Placed> inOrder(const std::pmr::vector<Placed> &Blocks) {
  std::vector<Placed> Order;
  std::copy_if(Blocks.begin(), Blocks.end(), std::back_inserter(Order),
               [](const Placed &B) { return B.Has; });
  std::sort(Order.begin(), Order.end(),
            [](const Placed &A, const Placed &B) { return A.At < B.At; });
  return Order;
}

// Buffers begin where an allocation may, and each byte of the arena is a
// buffer's or in exactly one red zone.
TEST(Arena, IsBuffersAndZonesAlone) {
  Job J = jobOf({1003, 0, 262144});
  for (unsigned Case = 0; Case < 3; ++Case)
    for (uint64_t Draw = 0; Draw < 200; ++Draw) {
      std::pmr::vector<Placed> Blocks;
      uint64_t All = layOut(J, Case, Draw, Blocks), End = 0;
      std::vector<Placed> Order = inOrder(Blocks);
      ASSERT_EQ(Order.size(), 3u);
      for (const Placed &B : Order) {
        EXPECT_EQ(B.At % 512, 0u);
        EXPECT_EQ(B.Bytes, 4 * uint64_t(J.Cases[Case].Values[0].Shape[0]));
        ASSERT_EQ(B.At - B.Before, End);
        End = B.At + B.Bytes + B.After;
      }
      EXPECT_EQ(End, All);
      EXPECT_GE(Order.front().Before, uint64_t(1) << 20);
      EXPECT_GE(Order.back().After, uint64_t(1) << 20);
    }
}

// A case may ask for pointers that only their elements align.
TEST(Arena, MovesShiftedOnes) {
  Job J = jobOf({1003});
  J.Cases[0].Shifted = true;
  std::pmr::vector<Placed> Blocks;
  layOut(J, 0, 7, Blocks);
  for (const Placed &B : inOrder(Blocks))
    EXPECT_EQ(B.At % 512, 4u);
}

// Near neighbours are met as well as far ones, and each buffer lies before each
// other one.
TEST(Arena, DrawsOrderAndDistances) {
  Job J = jobOf({1024});
  unsigned Near = 0, Far = 0;
  std::set<std::pair<bool, bool>> Orders;
  std::set<uint64_t> Firsts;
  for (uint64_t Draw = 0; Draw < 500; ++Draw) {
    std::pmr::vector<Placed> Blocks;
    layOut(J, 0, Draw, Blocks);
    std::vector<Placed> Order = inOrder(Blocks);
    for (unsigned I = 1; I < 3; ++I) {
      uint64_t Distance = Order[I].At - Order[I - 1].At - Order[I - 1].Bytes;
      EXPECT_GE(Distance, 512u);
      EXPECT_LE(Distance, uint64_t(1) << 20);
      Near += Distance <= 4096;
      Far += Distance >= uint64_t(1) << 18;
    }
    Orders.insert({Blocks[0].At < Blocks[1].At, Blocks[1].At < Blocks[2].At});
    Firsts.insert(Order[0].At);
  }
  EXPECT_GT(Near, 200u);
  EXPECT_GT(Far, 100u);
  EXPECT_EQ(Orders.size(), 4u);
  EXPECT_GT(Firsts.size(), 350u);
}

// Two processes find each buffer at the same place.
TEST(Arena, FollowsFromTheDraw) {
  Job J = jobOf({1003});
  std::pmr::vector<Placed> One, Other;
  EXPECT_EQ(layOut(J, 0, 7, One), layOut(J, 0, 7, Other));
  for (unsigned I = 0; I < 3; ++I)
    EXPECT_EQ(One[I].At, Other[I].At);
}

// All cases but large ones share one piece, in which each has sixteen places at
// least, whatever the draw.
TEST(Arena, ShareAPiece) {
  constexpr uint64_t MiB = uint64_t(1) << 20;
  Job J = jobOf({1003, 0, 262144, 16 * MiB, 100 * MiB, 200 * MiB});
  for (unsigned Case = 0; Case < 6; ++Case) {
    uint64_t Piece = pieceFor(J, Case);
    EXPECT_EQ(Piece % (2 * MiB), 0u);
    EXPECT_EQ(Piece == pieceFor(J, 0), Case < 4);
    EXPECT_TRUE(fits(Piece, J, Case));
    EXPECT_TRUE(fits(leastPieceFor(J, Case), J, Case));
    EXPECT_FALSE(fits(leastPieceFor(J, Case) - 1, J, Case));
    EXPECT_FALSE(fits(Piece + 1, J, Case));
    EXPECT_FALSE(fits(0, J, Case));
    for (unsigned Other = 0; Other < 6; ++Other)
      EXPECT_EQ(sharePiece(J, Case, Other),
                Case == Other || (Case < 4 && Other < 4));
    std::set<uint64_t> Places;
    for (uint64_t Draw = 0; Draw < 300; ++Draw) {
      std::pmr::vector<Placed> Blocks;
      uint64_t Bytes = layOut(J, Case, Draw, Blocks);
      EXPECT_LE(Bytes, leastPieceFor(J, Case));
      uint64_t Place = placeIn(Piece, Bytes, Draw);
      EXPECT_EQ(Place % (2 * MiB), 0u);
      EXPECT_LE(Place + Bytes, Piece);
      Places.insert(Place);
    }
    EXPECT_GE(Places.size(), 16u);
  }
}

// Nothing of a piece is left out of its buffers' red zones.
TEST(Arena, IsARedZoneAround) {
  Job J = jobOf({1003});
  std::pmr::vector<Placed> Blocks;
  uint64_t Bytes = layOut(J, 0, 7, Blocks);
  std::vector<Placed> Before = inOrder(Blocks);
  widen(Blocks, 4096, 8192);
  std::vector<Placed> After = inOrder(Blocks);
  EXPECT_EQ(After.front().Before, Before.front().Before + 4096);
  EXPECT_EQ(After.back().After, Before.back().After + 8192);
  EXPECT_EQ(After.front().After, Before.front().After);
  EXPECT_EQ(After.back().At + After.back().Bytes + After.back().After,
            Bytes + 8192);
  std::pmr::vector<Placed> None(3);
  widen(None, 1, 1);
  EXPECT_EQ(None[0].After, 0u);
}
} // namespace
