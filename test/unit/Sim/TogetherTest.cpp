//===- TogetherTest.cpp - Copies that go on, barriers in memory -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "TensorOps.h"

using namespace stark::sim;
using namespace stark::sim::test;

namespace {
float *tile() { return reinterpret_cast<float *>(__stark_sim_shared); }
char *barrier() { return __stark_sim_shared + 248; }
void begin(Machine &M, float *To) {
  store(M, To, 1);
  M.copyBegun(reinterpret_cast<char *>(To), 4);
}
} // namespace

TEST(Together, ACopyMayNotBeReadBeforeItIsAwaited) {
  auto Copy = [](bool Waits) {
    return [Waits](Machine &M, float *) {
      begin(M, tile() + threadX());
      M.copiesCommitted();
      if (Waits)
        M.copiesAwaited(0);
      load(M, tile() + threadX());
    };
  };
  EXPECT_EQ(Device().threads(Copy(true), {}, {32, 1, 1}), "clean");
  std::string Said = Device().threads(Copy(false), {}, {32, 1, 1});
  EXPECT_EQ(Said, "race: data race on shared tile[0]: read by kernel k, line "
                  "1, block (0,0,0), thread (0,0,0) and the asynchronous copy "
                  "by thread (0,0,0), line 2, which has not been waited for");
}

// Of the groups that a thread has committed the newest may go on.
TEST(Together, WaitingForSomeGroupsLeavesTheNewest) {
  auto Copy = [](unsigned Read) {
    return [Read](Machine &M, float *) {
      for (unsigned I = 0; I < 2; ++I) {
        begin(M, tile() + I);
        M.copiesCommitted();
      }
      M.copiesAwaited(1);
      load(M, tile() + Read);
    };
  };
  EXPECT_EQ(Device().threads(Copy(0), {}, {1, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Copy(1), {}, {1, 1, 1}).substr(0, 4), "race");
}

// A thread that has waited for its own copy has not told the others.
TEST(Together, OtherThreadsNeedABarrierAsWell) {
  auto Copy = [](bool Meets) {
    return [Meets](Machine &M, float *) {
      begin(M, tile() + threadX());
      M.copiesCommitted();
      M.copiesAwaited(0);
      if (Meets)
        syncthreads(M);
      // What the second warp reads the first one has written.
      load(M, tile() + threadX() % 32);
    };
  };
  EXPECT_EQ(Device().threads(Copy(true), {}, {60, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Copy(false), {}, {60, 1, 1}).substr(0, 4), "race");
}

/// The first warp writes and arrives, the second one waits, or not, and reads.
static std::string handedOver(bool Waits, bool Arrives = true) {
  auto Thread = [=](Machine &M, float *X) {
    __stark_sim_probe = Other;
    if (threadX() == 0)
      M.barrierInit(barrier(), 32);
    syncthreads(M);
    if (threadX() < 32) {
      store(M, X + threadX(), 5);
      if (Arrives)
        M.barrierArrive(barrier(), 1, 0, false);
      return;
    }
    if (Waits)
      M.barrierTest(barrier(), 0, true);
    load(M, X + threadX() - 32);
  };
  return Device().threads(Thread, {}, {64, 1, 1});
}

TEST(Together, ABarrierInMemoryOrdersWhoArrivesBeforeWhoWaits) {
  EXPECT_EQ(handedOver(true), "clean");
  EXPECT_EQ(handedOver(false).substr(0, 4), "race");
  EXPECT_NE(handedOver(true, false)
                .find("waits for a phase of a barrier in "
                      "memory that never completes"),
            std::string::npos);
}

TEST(Together, ABarrierInMemoryMustBeInitialised) {
  auto Use = [](Machine &M, float *) {
    M.barrierArrive(barrier(), 1, 0, false);
  };
  EXPECT_EQ(Device().threads(Use, {}, {1, 1, 1}).substr(0, 13),
            "uninitialised");
}

// Its bytes are part of the phase, whoever arrives before.
TEST(Together, ABulkCopyIsAwaitedAtItsBarrier) {
  auto Copy = [](bool Waits) {
    return [Waits](Machine &M, float *) {
      if (threadX() == 0) {
        M.barrierInit(barrier(), 1);
        M.barrierArrive(barrier(), 1, 4, false);
        store(M, tile(), 3);
        M.bulkBegun(reinterpret_cast<char *>(tile()), 4, barrier());
      }
      syncthreads(M);
      if (Waits)
        M.barrierTest(barrier(), 0, true);
      load(M, tile());
    };
  };
  EXPECT_EQ(Device().threads(Copy(true), {}, {64, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Copy(false), {}, {64, 1, 1}).substr(0, 4), "race");
}

// A named barrier of a part of the block orders those who meet, and no others.
TEST(Together, ANamedBarrierOrdersItsWarps) {
  auto Meet = [](unsigned Reader) {
    return [Reader](Machine &M, float *X) {
      unsigned Warp = threadX() / 32;
      if (Warp == 0)
        store(M, X, 1);
      __stark_sim_probe = Sync;
      if (Warp < 2)
        M.barrier(-1, 0, 1, 64);
      if (Warp == Reader && threadX() % 32 == 5)
        load(M, X);
    };
  };
  EXPECT_EQ(Device().threads(Meet(1), {}, {96, 1, 1}), "clean");
  EXPECT_EQ(Device().threads(Meet(2), {}, {96, 1, 1}).substr(0, 4), "race");
}

// Lanes elsewhere are not active, and those that have left are not either.
TEST(Together, TheActiveLanesAreThoseThatCome) {
  auto Ask = [](Machine &M, float *) {
    if (threadX() == 7)
      return;
    __stark_sim_probe = threadX() < 16 ? Sync : Other;
    uint32_t Wanted = threadX() < 16 ? 0xff7fu : 0xffff0000u;
    if (M.activeMask() != Wanted)
      M.finding(FindingKind::Assert, "lane " + std::to_string(threadX()));
  };
  EXPECT_EQ(Device().threads(Ask, {}, {32, 1, 1}), "clean");
}

// The value of a lane that is not there is what Undefined says, and noted.
TEST(Together, AShuffleFromALaneThatHasLeftIsSuspected) {
  auto Shuffled = [](unsigned Undefined, unsigned From) {
    return Device().run([=](Machine &M) {
      M.Undefined = Undefined;
      Device::launch(M,
                     [&] {
                       if (threadX() > 8)
                         return;
                       __stark_sim_probe = Other;
                       uint64_t Got = M.warp(WarpOp::Shuffle, ~0u, threadX(), 0,
                                             int(From), 32, nullptr);
                       uint64_t Wanted = From < 9    ? From
                                         : Undefined ? 0x7f7f7f7f7f7f7f7full
                                                     : threadX();
                       if (Got != Wanted)
                         M.finding(FindingKind::Assert, "wrong value");
                     },
                     {}, {32, 1, 1});
      return M.Suspicion.empty() ? std::string("clean") : M.Suspicion;
    });
  };
  EXPECT_EQ(Shuffled(0, 3), "clean");
  EXPECT_EQ(Shuffled(1, 12), Shuffled(0, 12));
  EXPECT_EQ(Shuffled(0, 12),
            "shuffle by kernel k, line 5, block (0,0,0), thread (0,0,0) reads "
            "lane 12, which has left the kernel, and the outputs depend on "
            "what it gets");
}

// A times the unit matrix is A, by the layouts of the PTX ISA.
TEST(Together, MatricesAreMultipliedByTheirLayout) {
  MatrixOp Op;
  Op.K = 16;
  uint32_t In[32][10] = {}, Out[32][4] = {};
  MatrixLane Lanes[32];
  auto Half = [](unsigned Small) -> uint32_t { // 0 to 15
    float F = float(Small);
    uint32_t Bits;
    std::memcpy(&Bits, &F, 4);
    return Small ? (Bits >> 13 & 0x3ff) | ((Bits >> 23) - 112) << 10 : 0;
  };
  for (unsigned L = 0; L < 32; ++L) {
    Lanes[L] = {In[L], Out[L]};
    for (unsigned R = 0; R < 4; ++R)
      for (unsigned E = 0; E < 2; ++E) {
        unsigned Row = L / 4 + 8 * (R & 1),
                 Column = L % 4 * 2 + E + 8 * (R >> 1);
        In[L][R] |= Half((Row * 3 + Column) % 16) << (16 * E);
      }
    for (unsigned R = 0; R < 2; ++R)
      for (unsigned E = 0; E < 2; ++E) {
        unsigned K = L % 4 * 2 + E + 8 * R, N = L / 4;
        In[L][4 + R] |= Half(K == N) << (16 * E);
      }
  }
  EXPECT_EQ(MatrixOp::decode(Op.code()).code(), Op.code());
  multiply(Op, Lanes);
  for (unsigned L = 0; L < 32; ++L)
    for (unsigned I = 0; I < 4; ++I) {
      unsigned Row = L / 4 + 8 * (I / 2), Column = L % 4 * 2 + I % 2;
      float Got;
      std::memcpy(&Got, &Out[L][I], 4);
      EXPECT_EQ(Got, float((Row * 3 + Column) % 16)) << L << " " << I;
    }
}
