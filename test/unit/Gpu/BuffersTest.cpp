//===- BuffersTest.cpp - The arguments of a case on the device ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "HostDevice.h"
#include "stark/Judge/Fill.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
/// x, w -> y, of floats.
Job jobOf(const std::vector<int64_t> &Sizes) {
  Job J;
  for (Role Use : {Role::Input, Role::Input, Role::Output}) {
    Leaf &L = J.Leaves.emplace_back();
    L.Kind = LeafKind::Buffer;
    L.Use = Use;
    L.Fill.Kind = InitKind::Normal;
    L.Fill.High = 1;
  }
  for (int64_t Size : Sizes) {
    Case &C = J.Cases.emplace_back();
    C.Values.resize(3);
    for (LeafValue &V : C.Values)
      V.Shape = {Size};
  }
  return J;
}

class OnHost : public testing::Test {
protected:
  void place(unsigned Case, const Placing &Where) {
    uint64_t Arena = 0;
    bool NoMemory = false;
    ASSERT_EQ(Args->allocate(Case, Where, Arena, NoMemory), "");
  }
  void fill(unsigned Round = 0) {
    ASSERT_EQ(Args->fill(1, 1, Round, 0, nullptr), "");
    ASSERT_EQ(Args->arm(nullptr), "");
  }
  float *data(unsigned Leaf) {
    return static_cast<float *>(
        *static_cast<void **>(Args->arguments(nullptr)[Leaf]));
  }
  Reply inspect() {
    Reply R;
    EXPECT_EQ(Args->inspect(nullptr, R), "");
    return R;
  }

  Job J = jobOf({1003, 2000, 50000, 1000000});
  std::optional<Buffers> Args{std::in_place, J, "",
                              *std::pmr::new_delete_resource(), false};
};

// Where buffers are placed anew, for the same size or another that is not
// large, nothing is asked of the driver, and they lie somewhere else.
TEST_F(OnHost, OneAllocationForAll) {
  place(0, {1, 1});
  Calls = {};
  std::set<float *> Places;
  for (uint64_t Draw = 2; Draw < 42; ++Draw) {
    place(unsigned(Draw) % 3, {Draw, 1});
    Places.insert(data(0));
  }
  EXPECT_EQ(Calls.Allocations, 0u);
  EXPECT_EQ(Calls.Frees, 0u);
  EXPECT_GE(Places.size(), 8u);
}

// Where there is too little memory for several places, one is enough; where
// there is too little for a size, another may still be placed.
TEST_F(OnHost, TooLittleMemory) {
  LargestPiece = leastPieceFor(J, 3);
  for (unsigned Case : {3, 0, 3, 2}) {
    place(Case, {7, 7});
    fill();
    EXPECT_EQ(inspect().What, Status::Ok);
  }
  Args.emplace(J, "", *std::pmr::new_delete_resource(), false);
  LargestPiece = leastPieceFor(J, 3) - 1;
  uint64_t Bytes = 0;
  bool NoMemory = false;
  EXPECT_NE(Args->allocate(3, {7, 7}, Bytes, NoMemory), "");
  EXPECT_TRUE(NoMemory);
  EXPECT_EQ(Bytes, 0u);
  place(0, {7, 7});
  fill();
  EXPECT_EQ(inspect().What, Status::Ok);
  LargestPiece = UINT64_MAX;
}

// What a call left in the arena is gone with the next size, outside of the
// buffers as well as in them.
TEST_F(OnHost, NothingOutlivesASize) {
  place(2, {1, 1});
  fill();
  for (unsigned Leaf = 0; Leaf < 3; ++Leaf)
    std::memset(data(Leaf), 0x5A, 4 * 50000);
  data(2)[50010] = 0;
  EXPECT_EQ(inspect().What, Status::OutOfBounds);
  place(0, {2, 2});
  fill();
  EXPECT_EQ(inspect().What, Status::Ok);
  for (unsigned Leaf = 0; Leaf < 3; ++Leaf)
    for (unsigned I = 0; I < 1003; ++I) {
      uint32_t Bits = 0;
      std::memcpy(&Bits, data(Leaf) + I, 4);
      ASSERT_NE(Bits, 0x5A5A5A5Au);
    }
}

// Whatever lies beside it, one element past either end is seen.
TEST_F(OnHost, SeesEachEnd) {
  for (uint64_t Draw = 0; Draw < 4; ++Draw)
    for (unsigned Leaf = 0; Leaf < 3; ++Leaf)
      for (int64_t At : {-1, 1003}) {
        place(0, {0, Draw});
        fill();
        data(Leaf)[At] = 0;
        Reply R = inspect();
        EXPECT_EQ(R.What, Status::OutOfBounds);
        EXPECT_EQ(R.Leaf, Leaf);
        EXPECT_EQ(R.Count, 4u);
      }
}

// Where inputs can only be read they are what they are otherwise, between red
// zones of their own, and outputs lie where they did.
TEST_F(OnHost, InputsThatCanOnlyBeRead) {
  TwoAddresses Piece = mapTwice(pieceFor(J, 0));
  ASSERT_NE(Piece.Writable, nullptr);
  place(0, {3, 7});
  fill();
  std::vector<float> Was(data(0), data(0) + 1003);
  float *Input = data(0), *Output = data(2);
  for (unsigned Times = 0; Times < 2; ++Times) {
    ASSERT_EQ(Args->guard(&Piece), "");
    fill(1);
    EXPECT_TRUE(Args->isGuarded());
    EXPECT_EQ(data(2), Output);
    ASSERT_NE(data(0), Input);
    EXPECT_EQ(std::memcmp(data(0), Was.data(), 4 * Was.size()), 0);
    EXPECT_TRUE(data(0)[-1] != data(0)[-1] && data(0)[1003] != data(0)[1003]);
    EXPECT_EQ(inspect().What, Status::Ok);
    ASSERT_EQ(Args->guard(nullptr), "");
    EXPECT_EQ(data(0), Input);
  }
  EXPECT_EXIT(
      {
        EXPECT_EQ(Args->guard(&Piece), "");
        data(0)[5] = 0;
      },
      testing::KilledBySignal(SIGSEGV), "");
  // What is larger than the piece is called as ever.
  TwoAddresses Small = {Piece.Writable, Piece.ReadOnly, Piece.Bytes - 1};
  ASSERT_EQ(Args->guard(&Small), "");
  EXPECT_FALSE(Args->isGuarded());
}

// What is right only where its buffers are a MiB apart is found: a read of the
// 64 KiB behind an input meets another buffer's values in some placement.
TEST_F(OnHost, NeighboursAreMet) {
  unsigned Met = 0;
  for (uint64_t Draw = 0; Draw < 20; ++Draw) {
    place(0, {0, Draw});
    fill();
    Met += std::any_of(data(0) + 1003, data(0) + 1003 + 16384,
                       [](float V) { return V == V; });
  }
  EXPECT_GT(Met, 5u);
}
} // namespace
