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

// A piece does for sizes about as large, and for all small ones; not for one
// beside which most of it would have to be looked at for nothing.
TEST(Arena, IsUsedOn) {
  constexpr uint64_t MiB = uint64_t(1) << 20;
  EXPECT_FALSE(fits(0, MiB));
  EXPECT_TRUE(fits(arenaFor(3 * MiB), 7 * MiB));
  EXPECT_FALSE(fits(arenaFor(3 * MiB), 9 * MiB));
  EXPECT_TRUE(fits(arenaFor(100 * MiB), 60 * MiB));
  EXPECT_FALSE(fits(arenaFor(100 * MiB), 3 * MiB));
  for (uint64_t Bytes : {MiB, 100 * MiB, 100000 * MiB}) {
    EXPECT_TRUE(fits(arenaFor(Bytes), Bytes));
    EXPECT_EQ(arenaFor(Bytes) % (2 * MiB), 0u);
    EXPECT_LE(arenaFor(Bytes), Bytes + 34 * MiB);
  }
}
} // namespace
