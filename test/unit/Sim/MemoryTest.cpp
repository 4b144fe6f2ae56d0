//===- MemoryTest.cpp - Device memory -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "stark/Job/Npy.h"

using namespace stark::sim;
using namespace stark::sim::test;

TEST(Memory, AllocationsAreAlignedAndApart) {
  Device D;
  Machine M(D.T, D.Gpu);
  char *A = M.allocate(100), *B = M.allocate(1000);
  ASSERT_TRUE(A && B);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(A) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(B) % 256, 0u);
  EXPECT_GE(B - (A + 100), 4096);
  EXPECT_EQ(M.find(A + 99)->Begin, A);
  EXPECT_EQ(M.find(A + 100), nullptr);
  EXPECT_EQ(M.find(B + 999)->Begin, B);
  EXPECT_EQ(M.find(A - 1), nullptr);
}

TEST(Memory, MoreThanThereIsGivesNothing) {
  Device D;
  Machine M(D.T, D.Gpu);
  EXPECT_EQ(M.allocate(~0ull - 100), nullptr);
  EXPECT_EQ(M.allocate(uint64_t(1) << 50), nullptr);
  EXPECT_NE(M.allocate(0), nullptr);
}

TEST(Memory, OnlyTheBeginIsFreedAndOnlyOnce) {
  Device D;
  Machine M(D.T, D.Gpu);
  char *A = M.allocate(64);
  EXPECT_EQ(M.release(nullptr), 0);
  EXPECT_EQ(M.release(A + 4), 1);
  EXPECT_EQ(M.release(A), 0);
  EXPECT_EQ(M.release(A), 1);
}

TEST(Memory, WhatWasFreedMayNotBeRead) {
  std::string Said = Device().run([](Machine &M) {
    auto *P = reinterpret_cast<float *>(M.allocate(64));
    M.markWritten(P, 64);
    Device::launch(M, [&] { load(M, P); }, {}, {});
    M.release(P);
    Device::launch(M, [&] { load(M, P); }, {}, {});
    return std::string("clean");
  });
  EXPECT_NE(Said.find("byte 0 of an allocation of 64 bytes; it was freed"),
            std::string::npos)
      << Said;
}

TEST(Memory, ACopyMarksTheBytesThatItWrites) {
  auto ReadAfter = [](uint64_t Marked) {
    return Device().run([=](Machine &M) {
      auto *P = reinterpret_cast<float *>(M.allocate(64));
      M.markWritten(P, Marked);
      Device::launch(M, [&] { load(M, P + 1); }, {}, {});
      return std::string("clean");
    });
  };
  EXPECT_EQ(ReadAfter(8), "clean");
  EXPECT_NE(ReadAfter(7).find("was never written"), std::string::npos);
}
