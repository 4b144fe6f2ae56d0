//===- Block.cpp - A block's threads as fibers ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Warp by warp, each lane runs until it has to wait for others. What nobody
/// can release is a finding: a barrier that only a part of the block reaches.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <sys/mman.h>

using namespace stark::sim;
namespace ctx = boost::context::detail;

extern "C" {
uint32_t *__stark_sim_lane;
uint32_t *__stark_sim_counts;
char *__stark_sim_shared;
uint32_t __stark_sim_probe;
}

namespace {
/// As many where each takes two pieces of memory.
constexpr size_t GuardedStacks = 8192;
constexpr unsigned SlabStacks = 64;
/// MADV_GUARD_INSTALL of Linux 6.13, which takes no piece of memory.
constexpr int GuardInstall = 102;
/// Bytes by which one stack begins lower than the one before it.
constexpr size_t StackShift = 320;
} // namespace

namespace stark::sim {
struct FiberEntry {
  /// It never returns, so the thread sanitizer may not note that it was
  /// entered: its stack of calls has room for 65536, which a launch's threads
  /// use up.
  __attribute__((no_sanitize("thread"))) static void run(ctx::transfer_t From) {
    Machine *M = theMachine();
    M->left(From);
    M->Kernels[M->Launched].Call(const_cast<void *>(M->Closure));
    Lane *Me = M->Running;
    Me->State = Wait::Done;
    // Another thread gets this stack.
    ctx::jump_fcontext(M->following(), Me);
  }
};
} // namespace stark::sim

/// Of the running lane's warp the next that can go on; null: there is none.
Lane *Machine::nextOfWarp() {
  unsigned End = std::min(Threads, (Running->Thread / 32 + 1) * 32);
  for (unsigned I = Running->Thread + 1; I < End; ++I)
    if (Lanes[I].State == Wait::None)
      return &Lanes[I];
  return nullptr;
}

/// What goes on where the running lane stops: lanes of a warp follow each other
/// directly, the last one the scheduler.
ctx::fcontext_t Machine::following() {
  Lane *Next = nextOfWarp();
  if (!Next)
    return Scheduler;
  enter(*Next);
  return Next->Context;
}

void Machine::suspend() {
  Lane *Me = Running;
  left(ctx::jump_fcontext(following(), Me));
}

/// What runs now follows the lane \p From tells of, or the scheduler.
void Machine::left(ctx::transfer_t From) {
  auto *L = static_cast<Lane *>(From.data);
  if (!L) {
    Scheduler = From.fctx;
    return;
  }
  L->Context = From.fctx;
  Progress += L->State != Wait::Poll;
  if (L->State == Wait::Done) {
    FreeStacks.push_back(L->Stack);
    L->Stack = ~0u;
  }
}

/// The page below a stack may not be touched. A system gives a process some
/// 65000 pieces of memory, and where Linux is old such a stack is two: of a
/// cooperative launch's many threads the others are looked at when it is done.
unsigned Machine::newStack() {
  if (StacksInSlab == 0) {
    void *Memory =
        mmap(nullptr, StackBytes * SlabStacks, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (Memory == MAP_FAILED)
      OnUnsupported({UnsupportedKind::LocalMemory,
                     "no memory for the stack of a thread"});
    madvise(Memory, StackBytes * SlabStacks, MADV_NOHUGEPAGE);
    StackSlab = static_cast<char *>(Memory);
    StacksInSlab = SlabStacks;
  }
  if (madvise(StackSlab, StackGuard, GuardInstall) != 0) {
    if (Stacks.size() >= GuardedStacks)
      FirstUnguarded = std::min(FirstUnguarded, Stacks.size());
    else if (mprotect(StackSlab, StackGuard, PROT_NONE) != 0)
      OnUnsupported({UnsupportedKind::LocalMemory,
                     "no memory for the stack of a thread"});
  }
  Stacks.push_back(StackSlab);
  StackSlab += StackBytes;
  --StacksInSlab;
  return unsigned(Stacks.size() - 1);
}

/// Whether a thread has gone beyond a stack that is not guarded.
bool Machine::overran() const {
  for (size_t I = FirstUnguarded; I < Stacks.size(); ++I) {
    unsigned char There = 0;
    if (mincore(Stacks[I], StackGuard, &There) == 0 && (There & 1))
      return true;
  }
  return false;
}

void Machine::enter(Lane &L) {
  if (!L.Started) {
    if (FreeStacks.empty())
      FreeStacks.push_back(newStack());
    L.Stack = FreeStacks.back();
    FreeStacks.pop_back();
    // At the same place of all pages they would share a few sets of the cache.
    size_t Shift = L.Stack * StackShift % StackShifts;
    L.Context =
        ctx::make_fcontext(Stacks[L.Stack] + StackBytes - Shift,
                           StackBytes - StackGuard - Shift, FiberEntry::run);
    L.Started = true;
  }
  L.State = Wait::None;
  Running = &L;
  __stark_sim_lane = L.Registers;
  __stark_sim_counts = L.Counts;
  __stark_sim_shared = SharedBase + rankOf(L) * SharedStride;
}

/// Until it and those behind it in its warp have to wait.
void Machine::resume(Lane &L) {
  enter(L);
  left(ctx::jump_fcontext(L.Context, nullptr));
  Running = nullptr;
}

void Machine::prepareBlocks(uint64_t Linear) {
  ClusterLinear = Linear;
  ++Epoch;
  BlockEpoch = Epoch;
  BlockSynced = false;
  forgetTogether();
  Left.assign(Ranks, false);
  std::fill(WarpEpoch.begin(), WarpEpoch.end(), uint16_t(0));
  if (How == Mode::Profile)
    std::fill(CountPool.begin(), CountPool.end(), 0u);
  Dim3 In = {}, At = {}; // of a rank
  for (unsigned I = 0; I < Threads; ++I) {
    Lane &L = Lanes[I];
    unsigned Rank = I / PerBlock, Own = I % PerBlock;
    if (Own == 0)
      In = Cluster.at(Rank), At = blockAt(Rank);
    // Lanes behind the last thread of a block.
    L.State = Own < Block.count() ? Wait::None : Wait::Done;
    L.Started = false;
    L.Thread = I;
    L.BarrierOp = -1;
    L.ClusterArrivals = 0;
    L.Trace.clear();
    Dim3 Thread = Block.at(Own);
    uint32_t Values[] = {
        Thread.X, Thread.Y,  Thread.Z,  At.X,     At.Y,
        At.Z,     Block.X,   Block.Y,   Block.Z,  Grid.X,
        Grid.Y,   Grid.Z,    Own % 32,  Own / 32, uint32_t(Dynamic),
        0,        Rank,      Ranks,     In.X,     In.Y,
        In.Z,     Cluster.X, Cluster.Y, Cluster.Z};
    static_assert(sizeof(Values) == sizeof(L.Registers));
    std::memcpy(L.Registers, Values, sizeof(Values));
    L.Counts = How == Mode::Profile ? &CountPool[I * T.Blocks.size()]
                                    : CountPool.data();
  }
}

/// Looks at the traces of a warp whose lanes have all come to a stop.
void Machine::endOfWarp(unsigned W) {
  std::vector<Trace *> &Traces = TracesOfWarp;
  Traces.clear();
  for (unsigned I = W * 32; I < std::min(Threads, W * 32 + 32); ++I)
    Traces.push_back(&Lanes[I].Trace);
  // The recorder takes one block after the other; without, all is only counted.
  if (Recorder && Ranks > 1) {
    std::vector<sim::Trace> &Own = Recorded[W * 32 / PerBlock].emplace_back();
    for (sim::Trace *T : Traces)
      Own.push_back(std::move(*T));
  } else if (Recorder) {
    Recorder->warp(Traces, SharedBase, SharedMemory.size());
  }
  for (Trace *T : Traces)
    T->clear();
}

void Machine::runWarp(unsigned W) {
  unsigned Begin = W * 32, End = std::min(Threads, Begin + 32);
  for (;;) {
    bool Ran = false;
    for (unsigned I = Begin; I < End; ++I)
      if (Lanes[I].State == Wait::None) {
        resume(Lanes[I]);
        Ran = true;
      }
    if (How == Mode::Profile && Ran)
      endOfWarp(W);
    bool Released = false;
    for (unsigned I = Begin; I < End; ++I)
      if (Lanes[I].State == Wait::Turn) {
        Lanes[I].State = Wait::None;
        Released = true;
      }
    // Warps take turns, as they do on a GPU: what one has brought to L1 another
    // finds there.
    if (Released || !resolveWarp(W))
      return;
  }
}

void Machine::runBlocks() {
  for (;;) {
    uint64_t Before = Progress;
    for (unsigned W = 0; W < Warps; ++W) {
      for (unsigned I = W * 32; I < std::min(Threads, W * 32 + 32); ++I)
        if (Lanes[I].State == Wait::None) {
          runWarp(W);
          break;
        }
    }
    if (Ranks > 1)
      endOfBlocks();
    bool AllDone = true, InGrid = true;
    const Lane *Gone = nullptr, *Waits = nullptr;
    for (const Lane &L : Lanes) {
      AllDone &= L.State == Wait::Done;
      InGrid &= L.State == Wait::Grid || L.State == Wait::Done;
      if (L.Thread % PerBlock < Block.count())
        (L.State == Wait::Grid ? Waits : Gone) = &L;
    }
    if (AllDone || (InGrid && !Gone))
      return;
    if (InGrid)
      return finding(FindingKind::DivergentBarrier,
                     "barrier of the grid reached by a part of the block: " +
                         placeOf(Waits->Probe, rankOf(*Waits)) + ": thread " +
                         threadName(Gone->Thread) + " has left the kernel");
    if (releaseNamed() || releaseBlocks() || releaseCluster())
      continue;
    if (Progress == Before)
      return stuck();
    pollAgain();
  }
}

/// The barriers of blocks at which everyone waits who is left.
bool Machine::releaseBlocks() {
  bool Any = false;
  for (unsigned Rank = 0; Rank < Ranks; ++Rank) {
    bool Waiting = true, Some = false;
    for (const Lane &L : lanesOf(Rank)) {
      Some |= L.State == Wait::Barrier;
      Waiting &= L.State == Wait::Barrier || L.State == Wait::Done;
    }
    if (Waiting && Some)
      releaseBarrier(Rank);
    Any |= Waiting && Some;
  }
  return Any;
}

/// Everyone who is left in the block waits at a barrier.
void Machine::releaseBarrier(unsigned Rank) {
  std::span<Lane> Own = lanesOf(Rank);
  const Lane *First = nullptr;
  for (const Lane &L : Own)
    if (L.State == Wait::Barrier && !First)
      First = &L;
  int Id = First->BarrierId;
  if (First->BarrierCount == 0)
    // A thread that has left the kernel is not waited for, as on a GPU since
    // Volta.
    for (const Lane &L : Own)
      if (L.State != Wait::Done &&
          !T.Probes[L.Probe].isWhere(T.Probes[First->Probe])) {
        uint64_t Reached = 0;
        for (const Lane &Other : Own)
          Reached += Other.State == Wait::Barrier &&
                     T.Probes[Other.Probe].isWhere(T.Probes[First->Probe]);
        return finding(
            FindingKind::DivergentBarrier,
            "barrier reached by a part of the block: " +
                placeOf(First->Probe, Rank) + ": " + std::to_string(Reached) +
                " of " + std::to_string(Block.count()) +
                " threads reached it, thread " + threadName(L.Thread) +
                " waits at " + T.Probes[L.Probe].place());
      }
  std::vector<Lane *> There;
  for (Lane &L : Own)
    if (L.State == Wait::Barrier && L.BarrierId == Id)
      There.push_back(&L);
  if (Ranks == 1)
    ++Epoch;
  else
    orderWarps(There, {});
  meet(There);
}

/// Lanes that have waited for each other go on.
void Machine::meet(const std::vector<Lane *> &There) {
  uint64_t Count = 0;
  for (const Lane *L : There)
    Count += L->Predicate != 0;
  if (Recorder)
    for (unsigned W = 0; W < Warps / Ranks; ++W)
      Recorder->barrier();
  for (Lane *L : There) {
    L->Result = L->BarrierOp == 0   ? Count
                : L->BarrierOp == 1 ? uint64_t(Count == There.size())
                                    : uint64_t(Count != 0);
    L->State = Wait::None;
  }
}

/// Some lanes wait for lanes that will never come.
void Machine::stuck() {
  for (Lane &L : Lanes)
    if (L.State == Wait::Warp) {
      unsigned Base = L.Thread / 32 * 32;
      for (unsigned I = 0; I < 32 && Base + I < Threads; ++I) {
        const Lane &Other = Lanes[Base + I];
        if (!(L.Mask >> I & 1) || &Other == &L ||
            (Other.State == Wait::Warp && Other.Mask == L.Mask &&
             Other.Op == L.Op && Other.Mode == L.Mode))
          continue;
        char Hex[16];
        std::snprintf(Hex, sizeof(Hex), "0x%08x", L.Mask);
        Running = &L;
        std::string Where = here(L.Probe);
        Running = nullptr;
        return finding(FindingKind::WrongMask,
                       "wrong mask: " + T.Probes[L.Probe].What + " by " +
                           Where + " has mask " + Hex + ", which names lane " +
                           std::to_string(I) + ", but that lane " +
                           (Other.State == Wait::Done
                                ? "has left the kernel"
                                : "waits at " + T.Probes[Other.Probe].place()));
      }
    }
  for (const Lane &L : Lanes)
    if (L.State == Wait::Cluster)
      for (const Lane &Other : Lanes)
        if (Other.State != Wait::Done &&
            Other.ClusterArrivals == L.ClusterArrivals - 1)
          return finding(FindingKind::DivergentBarrier,
                         "barrier of the cluster reached by a part of it: " +
                             placeOf(L.Probe, rankOf(L)) + ": thread " +
                             threadName(L.Thread) + " waits, thread " +
                             threadName(Other.Thread) + " of block " +
                             blockName(rankOf(Other)) +
                             " has not arrived: it waits at " +
                             T.Probes[Other.Probe].place());
  for (const Lane &L : Lanes)
    if (L.State == Wait::Poll)
      return finding(FindingKind::Stuck,
                     placeOf(L.Probe, rankOf(L)) + ": thread " +
                         threadName(L.Thread) +
                         " waits for a phase of a barrier in memory that "
                         "never completes");
  finding(FindingKind::Stuck,
          "threads wait for each other and none goes on: kernel " +
              Kernels[Launched].Name);
}

int Machine::barrier(int Op, int Predicate, int Id, int Count) {
  Lane &L = *Running;
  L.Probe = __stark_sim_probe;
  L.State = Wait::Barrier;
  L.BarrierOp = Op;
  L.BarrierId = Id;
  L.BarrierCount = Count;
  L.Predicate = Predicate;
  suspend();
  return int(Running->Result);
}
