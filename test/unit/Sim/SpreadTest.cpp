//===- SpreadTest.cpp - One launch in several processes -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <bit>

using namespace stark::sim;
using namespace stark::sim::test;

namespace {
constexpr uint32_t Words = 4096, Numbered = ProbeCount,
                   VolatileLoad = Numbered + 1, VolatileStore = Numbered + 2;
/// What is launched knows memory by these names, in every process.
float X[Words], Y[Words];
const float In[Words] = {};
using Thread = void (*)(Machine &M);
struct Closure {
  Thread Do;
  float *Scratch;
};
Closure Now; ///< of the thread that runs

struct Ran {
  std::string Said; ///< what the whole run came to, to the byte
  uint64_t Taken = 0, RunAgain = 0;
};

uint64_t mixed(uint64_t Hash, uint64_t With) {
  Hash = (Hash ^ With) * 0x9e3779b97f4a7c15;
  return Hash ^ Hash >> 29;
}

/// Of all that is known of each word.
uint64_t digestOf(Machine &M) {
  uint64_t Hash = 1;
  for (void *P : {static_cast<void *>(X), static_cast<void *>(Y),
                  static_cast<void *>(Now.Scratch)}) {
    Allocation *A = M.find(P);
    if (!A)
      continue;
    for (size_t I = 0; I < A->Cells->size(); ++I) {
      const Cell &C = (*A->Cells)[I];
      uint32_t Word;
      std::memcpy(&Word, A->Begin + I * 4, 4);
      for (uint64_t V :
           {C.Writer, C.WriteEpoch, C.WriteProbe, C.Reader[0], C.Reader[1],
            C.ReadEpoch[0], C.ReadEpoch[1], C.ReadProbe[0], C.ReadProbe[1],
            uint32_t(C.WriteWarpEpoch), uint32_t(C.ReadWarpEpoch[0]),
            uint32_t(C.ReadWarpEpoch[1]), uint32_t(C.WriteMask),
            uint32_t(C.ReadMask[0]), uint32_t(C.ReadMask[1]),
            uint32_t(C.Written), uint32_t(C.Read), uint32_t(C.Stored), Word})
        Hash = mixed(Hash, V);
    }
  }
  return Hash;
}

void enter(void *Values) {
  Now = *static_cast<Closure *>(Values);
  Now.Do(*theMachine());
}

struct Spreading : Device {
  Dim3 Grid = {11, 1, 1}, Block = {48, 1, 1};
  Dim3 Cluster = {};
  uint64_t Limit = ~0ull;
  unsigned Launches = 2;
  bool PartnersDie = false;

  Spreading() {
    T.Probes.resize(VolatileStore + 1, T.Probes[Load]);
    T.Probes[Numbered].Kind = ProbeKind::Atomic;
    T.Probes[Numbered].Updates = Update::FAdd;
    T.Probes[VolatileLoad].Volatile = T.Probes[VolatileStore].Volatile = true;
    T.Probes[VolatileStore].Kind = ProbeKind::Store;
    for (uint32_t P = Numbered; P <= VolatileStore; ++P)
      T.Probes[P].Line = P + 1;
  }

  std::vector<Kernel> kernels() const {
    Kernel K;
    K.Name = "k";
    K.Registers = 32;
    K.Call = enter;
    K.ClosureBytes = sizeof(Closure);
    return {K};
  }

  std::string host(Machine &M, Thread Do) const {
    auto Adopt = [&](const float *P, const char *Name, bool Holds) -> auto & {
      char *Begin = const_cast<char *>(reinterpret_cast<const char *>(P));
      return M.adopt(Begin, sizeof(X), Name, 4, Holds);
    };
    Adopt(X, "x", true);
    Adopt(Y, "y", false);
    Adopt(In, "in", true).Constant = true;
    Closure C{Do, reinterpret_cast<float *>(M.allocate(sizeof(X)))};
    for (uint32_t I = 0; I < Words; ++I)
      X[I] = float(I % 97) * 0.1f;
    for (unsigned L = 0; L < Launches; ++L) {
      LaunchShape Shape{Grid, Block};
      Shape.Cluster = Cluster;
      M.launch(0, &C, Shape);
    }
    Now = C;
    return "clean; " + std::to_string(M.Accesses) + " accesses, " +
           std::to_string(digestOf(M)) + "; " + M.Suspicion;
  }

  /// On \p Cores cores.
  Ran on(unsigned Cores, Thread Do) {
    Team *Shared = Team::create();
    TeamStarter Starter(*Shared, [&](unsigned I) {
      Machine M(T, Gpu);
      M.Kernels = kernels();
      setMachine(&M);
      if (PartnersDie)
        std::abort();
      M.runPart(*Shared, I);
    });
    Ran Out;
    Out.Said = run(
        [&](Machine &M) {
          M.Kernels = kernels();
          M.AccessLimit = Limit;
          M.Others = Cores > 1 ? Shared : nullptr;
          M.SpreadAfter = 0;
          return host(M, Do);
        },
        [&] { Starter.look(Cores - 1); });
    Out.Taken = Shared->Taken;
    Out.RunAgain = Shared->RunAgain;
    return Out;
  }

  /// Whatever the number of cores it comes to \p Says. \p Taken: parts that
  /// others run are taken over, of five where the last one finds something.
  void isAlways(Thread Do, const std::string &Says, bool Taken) {
    Ran One = on(1, Do);
    EXPECT_EQ(One.Said.substr(0, Says.size()), Says);
    for (unsigned Cores : {2u, 5u}) {
      Ran Some = on(Cores, Do);
      EXPECT_EQ(Some.Said, One.Said) << Cores << " cores";
      bool Expected = Taken && (Says == "clean" || Cores == 5);
      EXPECT_EQ(Some.Taken > 0, Expected) << Cores << " cores";
      if (Taken && Says == "clean") {
        EXPECT_EQ(Some.RunAgain, 0u);
      }
    }
  }
};

uint32_t global() { return blockX() * 48 + threadX(); }
float readAs(Machine &M, uint32_t Probe, const float *P) {
  M.access(Probe, const_cast<char *>(reinterpret_cast<const char *>(P)), 4,
           ProbeKind::Load, 0, false);
  return *P;
}
void storeAs(Machine &M, uint32_t Probe, float *P, float V) {
  M.access(Probe, reinterpret_cast<char *>(P), 4, ProbeKind::Store,
           std::bit_cast<uint32_t>(V), true);
  *P = V;
}
void addUnused(Machine &M, float *P, float V) {
  M.update(Numbered, reinterpret_cast<char *>(P), 4,
           std::bit_cast<uint32_t>(V));
  *P += V;
}
} // namespace

TEST(Spread, BlocksThatKeepToThemselvesAreSpread) {
  Spreading().isAlways(
      [](Machine &M) {
        uint32_t I = global();
        float V = readAs(M, Load, &In[I]) + load(M, &X[I]);
        store(M, &Y[I], V + load(M, &X[I + 600]));
        syncthreads(M);
        store(M, &X[I], load(M, &Y[I]) * 0.5f);
        store(M, &Now.Scratch[I], V);
      },
      "clean", true);
}

// A sum of floats depends on the order, so it is made in the order of blocks.
TEST(Spread, AtomicsWhoseResultNobodyUsesAreDoneInTheOrderOfBlocks) {
  Spreading().isAlways(
      [](Machine &M) {
        addUnused(M, &X[blockX() % 3], load(M, &X[100 + global()]));
        addUnused(M, &X[7], 0.1f);
      },
      "clean", true);
}

TEST(Spread, AnAtomicWhoseResultIsUsedIsMadeByTheCall) {
  Spreading().isAlways(
      [](Machine &M) {
        add(M, &X[0], 1);
        store(M, &Y[global()], X[0]);
      },
      "clean", false);
}

TEST(Spread, WhatABlockReadsOfAnotherIsWhatThatWrote) {
  // Ordered by the writer, so it is no race.
  Spreading().isAlways(
      [](Machine &M) {
        if (threadX() == 0 && blockX() > 0)
          storeAs(M, VolatileStore, &X[blockX()],
                  1 + readAs(M, VolatileLoad, &X[blockX() - 1]));
      },
      "clean", false);
}

TEST(Spread, ARaceBetweenBlocksIsToldAlike) {
  Spreading().isAlways([](Machine &M) { store(M, &X[5], float(blockX())); },
                       "race: data race on global x[5]: write by kernel k, "
                       "line 2, block (1,0,0), thread (0,0,0) and write by "
                       "thread (47,0,0) of block 0, line 2",
                       false);
  Spreading().isAlways(
      [](Machine &M) {
        load(M, &X[global()]);
        if (blockX() == 9 && threadX() == 3)
          store(M, &X[48], -1);
      },
      "race: data race on global x[48]: write by kernel k, line 2, block "
      "(9,0,0), thread (3,0,0) and read by thread (0,0,0) of block 1",
      true);
}

TEST(Spread, BlocksThatWriteTheSameAreRunByTheCall) {
  Spreading().isAlways([](Machine &M) { store(M, &Y[5], 1); }, "clean", false);
}

TEST(Spread, AFaultInTheMiddleNamesItsBlockAndThread) {
  Spreading().isAlways(
      [](Machine &M) {
        store(M, &Y[global()], 1);
        if (blockX() == 6 && threadX() == 17)
          load(M, &X[Words]);
      },
      "out of bounds: out-of-bounds global read of 4 bytes by kernel k, line "
      "1, block (6,0,0), thread (17,0,0): x[4096], 'x' has 4096 elements",
      true);
  Spreading().isAlways(
      [](Machine &M) {
        if (blockX() == 8)
          load(M, &Now.Scratch[global()]);
      },
      "uninitialised: read of uninitialised memory by kernel k, line 1, block "
      "(8,0,0), thread (0,0,0)",
      true);
  Spreading().isAlways(
      [](Machine &M) {
        if (blockX() != 9 || threadX() < 32)
          syncthreads(M, blockX() == 9 && threadX() < 7 ? Sync : Other);
      },
      "divergent barrier: barrier reached by a part of the block: kernel k, "
      "line 4, block (9,0,0)",
      true);
}

TEST(Spread, TheLimitOfAccessesIsThatOfAllTogether) {
  Spreading S;
  S.Limit = 48 * 10 * 9 - 20;
  S.isAlways(
      [](Machine &M) {
        for (unsigned K = 0; K < 10; ++K)
          load(M, &X[global()]);
      },
      "limit: kernel k had done 8 of its 11 blocks", true);
}

TEST(Spread, MemoryThatThreadsAskForIsTheCalls) {
  Spreading().isAlways(
      [](Machine &M) {
        M.notAPartners();
        auto *Own = reinterpret_cast<float *>(M.allocate(4));
        store(M, Own, 2);
        store(M, &Y[global()], load(M, Own));
      },
      "clean", false);
}

TEST(Spread, PartnersThatDieAreNotMissed) {
  Spreading S;
  S.PartnersDie = true;
  auto Do = [](Machine &M) { store(M, &Y[global()], load(M, &X[global()])); };
  S.isAlways(Do, "clean", false);
  EXPECT_GT(S.on(5, Do).RunAgain, 0u);
}

// A call that asks gets no more than there are, and an answer.
TEST(Spread, WhereNoCoreIsFreeACallIsRefused) {
  Spreading S;
  Team *Shared = Team::create();
  TeamStarter Starter(*Shared, [](unsigned) {});
  Shared->Asked = 100;
  Shared->Now = Team::Wanted;
  EXPECT_EQ(Starter.look(0), 0u);
  EXPECT_EQ(Shared->Now, Team::Refused);
  Shared->Now = Team::Wanted;
  EXPECT_EQ(Starter.look(100), MostPartners);
  EXPECT_EQ(Shared->Now, Team::Here);
  Shared->Now = Team::Over;
  EXPECT_EQ(Starter.look(100), 0u);
  EXPECT_EQ(Shared->Now, Team::Alone);
  Team::destroy(Shared);
}

// No part is taken over of which one has gone otherwise than it would have.
TEST(Spread, WhatIsDoneAtRandomComesToTheSame) {
  static uint64_t Seed;
  unsigned Taken = 0, RunAgain = 0, Clean = 0;
  for (Seed = 0; Seed < 60; ++Seed) {
    Spreading S;
    S.Grid = {uint32_t(3 + Seed % 9), 1, 1};
    S.Launches = 1 + Seed % 3;
    auto Do = [](Machine &M) {
      uint64_t Draw = mixed(mixed(Seed, 7), global());
      for (unsigned K = 0; K < 6; ++K) {
        Draw = mixed(Draw, K);
        // Now and then a word that is everybody's.
        unsigned Seldom = Seed % 4 == 1 ? 0x7 : 0xff;
        bool Own = (Draw >> 8 & Seldom) != 0 || Seed % 4 == 0;
        uint32_t At =
            Own ? 64 + global() * 4 + (Draw >> 20 & 3) : Draw >> 20 & 15;
        float *P = Draw >> 30 & 1 ? &X[At] : &Y[At];
        switch (Draw >> 40 & 7) {
        case 0:
        case 1:
          load(M, &X[At]);
          break;
        case 2:
          readAs(M, Load, &In[Draw >> 50 & 0xfff]);
          break;
        case 3:
          if (Seed % 5 == 0 && !Own)
            add(M, &X[At], 0.3f);
          break;
        case 4:
        case 5:
          addUnused(M, &X[Draw >> 50 & 31], float(Draw >> 60) * 0.7f);
          break;
        default:
          store(M, P, float(Draw >> 44 & 0xff));
        }
      }
    };
    Ran One = S.on(1, Do);
    Clean += One.Said.starts_with("clean");
    for (unsigned Cores : {2u, 5u}) {
      Ran Some = S.on(Cores, Do);
      EXPECT_EQ(Some.Said, One.Said) << Seed << ", " << Cores << " cores";
      Taken += Some.Taken > 0;
      RunAgain += Some.RunAgain > 0;
    }
  }
  // All of it came up.
  EXPECT_GT(Taken, 30u);
  EXPECT_GT(RunAgain, 30u);
  EXPECT_GT(Clean, 10u);
  EXPECT_LT(Clean, 50u);
}
