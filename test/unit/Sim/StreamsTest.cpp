//===- StreamsTest.cpp - What orders one operation before another ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

using namespace stark::sim;
using namespace stark::sim::test;

namespace {
/// An operation begins every ten epochs.
struct Order : Streams {
  uint32_t Epoch = 0;
  uint32_t begin(unsigned Stream) {
    Epoch += 10;
    Streams::begin(Stream, Epoch, "op" + std::to_string(Epoch));
    return Epoch;
  }
  unsigned add(bool NonBlocking) { return named(create(NonBlocking)); }
};
} // namespace

TEST(Streams, OneStreamIsInOrder) {
  Order S;
  unsigned A = S.add(true);
  uint32_t First = S.begin(A);
  S.begin(A);
  EXPECT_TRUE(S.ordered(First));
  EXPECT_TRUE(S.ordered(First + 9));
}

TEST(Streams, TwoStreamsAreNot) {
  Order S;
  unsigned A = S.add(true), B = S.add(true);
  uint32_t First = S.begin(A);
  S.begin(B);
  EXPECT_FALSE(S.ordered(First));
  EXPECT_EQ(S.allBefore(), First);
  EXPECT_EQ(S.what(First), "op10");
}

TEST(Streams, AnEventOrdersWhatWasBeforeIt) {
  Order S;
  unsigned A = S.add(true), B = S.add(true);
  uint32_t First = S.begin(A);
  S.record(7, A);
  uint32_t Second = S.begin(A);
  S.waitEvent(B, 7);
  S.begin(B);
  EXPECT_TRUE(S.ordered(First));
  EXPECT_FALSE(S.ordered(Second));
}

TEST(Streams, TheHostsWaitsOrderWhatFollows) {
  Order S;
  unsigned A = S.add(true), B = S.add(true);
  uint32_t First = S.begin(A);
  S.wait(A);
  S.begin(B);
  EXPECT_TRUE(S.ordered(First));
  uint32_t Third = S.begin(A);
  S.waitForAll();
  S.begin(B);
  EXPECT_TRUE(S.ordered(Third));
}

TEST(Streams, TheLegacyStreamWaitsForBlockingOnesAndTheyForIt) {
  Order S;
  unsigned Blocking = S.add(false), Apart = S.add(true);
  uint32_t InBlocking = S.begin(Blocking), InApart = S.begin(Apart);
  uint32_t InLegacy = S.begin(Streams::Legacy);
  EXPECT_TRUE(S.ordered(InBlocking));
  EXPECT_FALSE(S.ordered(InApart));
  S.begin(Blocking);
  EXPECT_TRUE(S.ordered(InLegacy));
  S.begin(Apart);
  EXPECT_FALSE(S.ordered(InLegacy));
}

/// Kernel A writes, kernel B reads what it wrote, each in a stream.
static std::string twoLaunches(bool SameStream, bool Waits) {
  return Device().run([&](Machine &M) {
    static float X[64];
    M.adopt(reinterpret_cast<char *>(X), sizeof(X), "x", 4, true);
    unsigned A = M.Order.named(M.Order.create(true)),
             B = SameStream ? A : M.Order.named(M.Order.create(true));
    M.Stream = A;
    Device::launch(M, [&] { store(M, X + threadX(), 1); }, {}, {64, 1, 1});
    if (Waits)
      M.Order.wait(A);
    M.Stream = B;
    Device::launch(M, [&] { load(M, X + threadX()); }, {}, {64, 1, 1});
    return std::string("clean");
  });
}

TEST(Streams, ALaunchThatReadsWhatAnotherStreamWritesRaces) {
  EXPECT_EQ(twoLaunches(true, false), "clean");
  EXPECT_EQ(twoLaunches(false, true), "clean");
  std::string Said = twoLaunches(false, false);
  EXPECT_NE(Said.find("race: data race on global x[0]: read by kernel k, line "
                      "1, block (0,0,0), thread (0,0,0) and write by kernel k "
                      "in stream 1 that was created, line 2; nothing orders "
                      "that before kernel k in stream 2 that was created"),
            std::string::npos)
      << Said;
}

TEST(Streams, ACopyThatReadsWhatAnotherStreamWritesRaces) {
  auto Copied = [](bool Waits) {
    return Device().run([&](Machine &M) {
      static float X[64];
      M.adopt(reinterpret_cast<char *>(X), sizeof(X), "x", 4, true);
      M.Stream = M.Order.named(M.Order.create(true));
      Device::launch(M, [&] { store(M, X + threadX(), 1); }, {}, {64, 1, 1});
      if (Waits)
        M.Order.waitForAll();
      M.Stream = Streams::Legacy;
      M.beginOperation("a copy");
      M.operate(reinterpret_cast<char *>(X), 256, ProbeKind::Load);
      return std::string("clean");
    });
  };
  EXPECT_EQ(Copied(true), "clean");
  EXPECT_NE(Copied(false).find("read by a copy in the default stream and "
                               "write by kernel k"),
            std::string::npos);
}
