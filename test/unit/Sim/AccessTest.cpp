//===- AccessTest.cpp - What is wrong with an access ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "stark/Job/Npy.h"

using namespace stark::sim;
using namespace stark::sim::test;

TEST(Access, WithinBoundsAndApartIsClean) {
  EXPECT_EQ(Device().threads(
                [](Machine &M, float *X) {
                  store(M, X + threadX(), load(M, X + threadX()) + 1);
                },
                {}, {64, 1, 1}),
            "clean");
}

TEST(Access, BeyondTheEndNamesArrayAndIndex) {
  std::string Said = Device().threads(
      [](Machine &M, float *X) { load(M, X + threadX() + 1); }, {}, {64, 1, 1});
  EXPECT_EQ(Said, "out of bounds: out-of-bounds global read of 4 bytes by "
                  "kernel k, line 1, block (0,0,0), thread (63,0,0): x[64], "
                  "'x' has 64 elements");
  Said = Device().threads([](Machine &M, float *X) { store(M, X - 1, 0); }, {},
                          {1, 1, 1});
  EXPECT_NE(Said.find("write of 4 bytes"), std::string::npos) << Said;
  EXPECT_NE(Said.find("x[-1]"), std::string::npos) << Said;
}

TEST(Access, NullAndWildPointersAreTold) {
  EXPECT_NE(
      Device()
          .threads([](Machine &M, float *) { load(M, nullptr); }, {}, {1, 1, 1})
          .find("the pointer is null"),
      std::string::npos);
}

TEST(Access, AnAddressThatIsNotAlignedIsTold) {
  std::string Said = Device().threads(
      [](Machine &M, float *X) {
        M.access(Load, reinterpret_cast<char *>(X) + 2, 4, ProbeKind::Load, 0,
                 false);
      },
      {}, {1, 1, 1});
  EXPECT_EQ(Said.substr(0, 10), "misaligned");
  EXPECT_NE(Said.find("no multiple of 4"), std::string::npos) << Said;
}

TEST(Access, WhatNobodyWroteMayNotBeRead) {
  auto Read = [](Machine &M, float *X) { load(M, X + 5); };
  EXPECT_NE(Device()
                .threads(Read, {}, {1, 1, 1}, /*Holds=*/false)
                .find("x[5] was never written"),
            std::string::npos);
  auto WriteFirst = [](Machine &M, float *X) {
    store(M, X + 5, 1);
    load(M, X + 5);
  };
  EXPECT_EQ(Device().threads(WriteFirst, {}, {1, 1, 1}, false), "clean");
}

TEST(Access, AnInputMayNotBeWritten) {
  std::string Said = Device().run([](Machine &M) {
    static float X[4];
    M.adopt(reinterpret_cast<char *>(X), 16, "x", 4, true).Constant = true;
    Device::launch(M, [&] { store(M, X + 1, 3); }, {}, {});
    return std::string("clean");
  });
  EXPECT_EQ(Said.substr(0, 13), "input changed");
}

TEST(Access, TwoThreadsThatWriteDifferentValuesRace) {
  auto Different = [](Machine &M, float *X) { store(M, X, float(threadX())); };
  std::string Said = Device().threads(Different, {}, {64, 1, 1});
  EXPECT_EQ(Said, "race: data race on global x[0]: write by kernel k, line 2, "
                  "block (0,0,0), thread (1,0,0) and write by thread (0,0,0), "
                  "line 2, with no barrier between them");
  auto Same = [](Machine &M, float *X) { store(M, X, 7); };
  EXPECT_EQ(Device().threads(Same, {}, {64, 1, 1}), "clean");
}

// Of as many bytes as one instruction stores.
TEST(Access, EqualVectorsDoNotRace) {
  auto Stored = [](bool Same) {
    return [Same](Machine &M, float *X) {
      float Four[4] = {1, 2, 3, Same ? 4.0f : float(threadX())};
      M.touch(Store, reinterpret_cast<char *>(X), 16, ProbeKind::Store, Four);
      std::memcpy(X, Four, 16);
    };
  };
  EXPECT_EQ(Device().threads(Stored(true), {}, {64, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Stored(false), {}, {64, 1, 1}).substr(0, 4),
            "race");
}

// So do copies and sets of many bytes.
TEST(Access, EqualRangesDoNotRace) {
  static const char Given[64] = {1, 2, 3};
  auto Copied = [](Machine &M, float *X) {
    M.range(Store, reinterpret_cast<char *>(X), 64, Given, ~uint64_t(0));
    std::memcpy(X, Given, 64);
  };
  auto Set = [](Machine &M, float *X) {
    static const int Byte = 0;
    M.range(Store, reinterpret_cast<char *>(X), 64,
            reinterpret_cast<const char *>(&Byte), 0);
    std::memset(X, 0, 64);
  };
  EXPECT_EQ(Device().threads(Copied, {}, {64, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Set, {}, {64, 1, 1}), "clean");
}

TEST(Access, ABarrierOrdersTheBlock) {
  auto Neighbour = [](bool Meets) {
    return [Meets](Machine &M, float *X) {
      store(M, X + threadX(), float(threadX()));
      if (Meets)
        syncthreads(M);
      load(M, X + (threadX() + 32) % 64);
    };
  };
  EXPECT_EQ(Device().threads(Neighbour(true), {}, {64, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Neighbour(false), {}, {64, 1, 1}).substr(0, 4),
            "race");
}

TEST(Access, BlocksAreOrderedByAtomicsAlone) {
  auto Plain = [](Machine &M, float *X) { store(M, X, load(M, X) + 1); };
  std::string Said = Device().threads(Plain, {4, 1, 1}, {1, 1, 1});
  EXPECT_NE(Said.find("of block 0"), std::string::npos) << Said;
  auto Added = [](Machine &M, float *X) { add(M, X, 1); };
  EXPECT_EQ(Device().threads(Added, {4, 1, 1}, {32, 1, 1}), "clean");
}

TEST(Access, SharedMemoryBeginsUnwrittenInEachBlock) {
  auto Tile = [](Machine &M, float *X) {
    auto *T = reinterpret_cast<float *>(__stark_sim_shared);
    if (blockX() == 0)
      store(M, T + 3, 1);
    load(M, T + 3);
  };
  EXPECT_EQ(Device().threads(Tile, {1, 1, 1}, {1, 1, 1}), "clean");
  EXPECT_NE(
      Device()
          .threads(Tile, {2, 1, 1}, {1, 1, 1})
          .find("read of uninitialised shared memory by kernel k, line 1, "
                "block (1,0,0), thread (0,0,0): tile[3] was never written"),
      std::string::npos);
  auto Beyond = [](Machine &M, float *) {
    store(M, reinterpret_cast<float *>(__stark_sim_shared) + 64, 1);
  };
  EXPECT_NE(Device()
                .threads(Beyond, {}, {})
                .find("shared array 'tile' has 256 bytes, this is byte 256"),
            std::string::npos);
}

TEST(Access, AThreadsOwnArrayHasItsSize) {
  auto Own = [](Machine &M, float *) {
    char Array[16] = {};
    M.local(Load, Array, 16, Array + 12, 4);
    M.local(Load, Array, 16, Array + 13, 4);
  };
  EXPECT_NE(Device()
                .threads(Own, {}, {})
                .find("byte 13 of a local array of 16 bytes"),
            std::string::npos);
}
