//===- AsyncCopy.cpp - Copies that go on, and barriers in memory ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A copy's data are there when it begins, but its words are in flight until
/// the copy has been waited for: who touches them before has a race. From then
/// on they were written by the thread that began the copy, and the barriers
/// order that as any other write. A phase of a barrier in memory completes when
/// a thread looks at it, so nothing lands before somebody waits.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>

using namespace stark::sim;

extern "C" {
extern uint32_t __stark_sim_probe;
}

bool Machine::warpsOrdered(unsigned Mine, unsigned Other,
                           uint16_t OtherEpoch) const {
  const Clocks &Seen = Met.Seen[Mine];
  return Other < Seen.size() && OtherEpoch < Seen[Other];
}

/// What \p Warp has done and seen until now; its time goes on.
Clocks Machine::releaseOf(unsigned Warp) {
  if (Met.Seen.empty())
    Met.Seen.resize(Warps);
  Clocks Out = Met.Seen[Warp];
  Out.resize(Warps);
  Out[Warp] = uint32_t(WarpEpoch[Warp]) + 1;
  if (++WarpEpoch[Warp] == 0) {
    // Its time begins anew: everything until here counts as seen by all.
    ++Epoch;
    Met.Seen.assign(Warps, {});
    return Clocks(Warps);
  }
  return Out;
}

static void join(Clocks &Into, const Clocks &With) {
  Into.resize(std::max(Into.size(), With.size()));
  for (size_t I = 0; I < With.size(); ++I)
    Into[I] = std::max(Into[I], With[I]);
}

void Machine::acquire(unsigned Warp, const Clocks &Of) {
  if (Met.Seen.empty())
    Met.Seen.resize(Warps);
  join(Met.Seen[Warp], Of);
}

void Machine::forgetTogether() {
  Met.Seen.clear();
  Met.Barriers.clear();
  Met.Named.clear();
  Met.Copies.clear();
}

/// The shared memory that \p C writes is in flight.
void Machine::settle(const AsyncCopy &C) {
  uint64_t First = uint64_t(C.To - SharedBase) / 4,
           Last = (uint64_t(C.To - SharedBase) + C.Bytes + 3) / 4;
  for (uint64_t I = First; I < Last && I < SharedCells.size(); ++I)
    SharedCells[I].Written |= InFlight;
}

/// It is over: its words were written now, by the thread that began it.
void Machine::copyLanded(const AsyncCopy &C) {
  uint64_t First = uint64_t(C.To - SharedBase) / 4,
           Last = (uint64_t(C.To - SharedBase) + C.Bytes + 3) / 4;
  for (uint64_t I = First; I < Last && I < SharedCells.size(); ++I) {
    Cell &Of = SharedCells[I];
    if (Of.WriteEpoch < BlockEpoch)
      continue;
    Of.Written &= uint8_t(~InFlight);
    Of.Writer = uint32_t(BlockLinear * Threads + C.Thread);
    Of.WriteEpoch = Epoch;
    Of.WriteWarpEpoch = WarpEpoch[C.Thread / 32];
    Of.WriteMask = 0xf;
  }
}

void Machine::copyBegun(char *To, uint64_t Bytes) {
  if (How != Mode::Check || To < SharedBase ||
      To >= SharedBase + SharedMemory.size())
    return;
  AsyncCopy C{To, Bytes, Running->Thread};
  settle(C);
  Met.Copies[Running->Thread].Open.push_back(C);
}

void Machine::copiesCommitted() {
  if (How != Mode::Check)
    return;
  ThreadCopies &Mine = Met.Copies[Running->Thread];
  Mine.Groups.push_back(std::move(Mine.Open));
  Mine.Open.clear();
}

void Machine::copiesAwaited(unsigned GroupsLeft) {
  if (How != Mode::Check)
    return;
  std::vector<std::vector<AsyncCopy>> &Groups =
      Met.Copies[Running->Thread].Groups;
  size_t Over = Groups.size() - std::min<size_t>(GroupsLeft, Groups.size());
  for (size_t I = 0; I < Over; ++I)
    for (const AsyncCopy &C : Groups[I])
      copyLanded(C);
  Groups.erase(Groups.begin(), Groups.begin() + long(Over));
}

MemoryBarrier &Machine::barrierAt(char *Address) {
  auto Found = Met.Barriers.find(Address);
  if (Found == Met.Barriers.end())
    finding(FindingKind::Uninitialised,
            "use of a barrier in memory by " + here(__stark_sim_probe) +
                " that no thread of this block has initialised");
  return Found->second;
}

/// All that this thread has copied so far is part of the barrier's phase.
void Machine::copiesArrive(char *Address, bool Counts) {
  if (How == Mode::Check) {
    ThreadCopies &Mine = Met.Copies[Running->Thread];
    MemoryBarrier &B = barrierAt(Address);
    for (const auto &Group : Mine.Groups)
      B.Copies.insert(B.Copies.end(), Group.begin(), Group.end());
    B.Copies.insert(B.Copies.end(), Mine.Open.begin(), Mine.Open.end());
    Mine = {};
  }
  if (Counts)
    barrierArrive(Address, 1, 0, false);
}

void Machine::bulkBegun(char *To, uint64_t Bytes, char *Address) {
  MemoryBarrier &B = barrierAt(Address);
  AsyncCopy C{To, Bytes, Running->Thread};
  B.Landed += Bytes;
  if (How == Mode::Check) {
    settle(C);
    B.Copies.push_back(C);
  }
  ++Progress;
}

void Machine::barrierInit(char *Address, uint32_t Count) {
  MemoryBarrier B;
  B.Expected = B.Left = Count;
  Met.Barriers[Address] = std::move(B);
}

/// Where all have arrived and all bytes have landed the next phase begins.
void Machine::completePhase(MemoryBarrier &B) {
  if (B.Left != 0 || B.Landed < B.Awaited)
    return;
  Clocks Complete = std::move(B.Arriving);
  for (const AsyncCopy &C : B.Copies) {
    copyLanded(C);
    join(Complete, releaseOf(C.Thread / 32));
  }
  B.Complete = std::move(Complete);
  B.Arriving.clear();
  B.Copies.clear();
  B.Landed -= B.Awaited;
  B.Awaited = 0;
  B.Left = B.Expected;
  ++B.Phase;
}

uint64_t Machine::barrierArrive(char *Address, uint32_t Count, uint64_t Bytes,
                                bool Drops) {
  MemoryBarrier &B = barrierAt(Address);
  if (B.Left == 0)
    completePhase(B);
  if (Count > B.Left) {
    finding(FindingKind::Stuck,
            "a barrier in memory is given " + std::to_string(Count) +
                " arrivals by " + here(__stark_sim_probe) + ", but its phase " +
                (B.Left ? "misses " + std::to_string(B.Left)
                        : std::string("has them all and waits for copies")));
    return 0;
  }
  B.Awaited += Bytes;
  if (Count) {
    join(B.Arriving, releaseOf(Running->Thread / 32));
    B.Left -= Count;
    if (Drops)
      B.Expected -= Count;
  }
  ++Progress;
  return B.Phase;
}

bool Machine::barrierTest(char *Address, uint32_t Parity, bool Blocks) {
  uint32_t Probe = __stark_sim_probe;
  for (bool Looked = false;; Looked = true) {
    MemoryBarrier &B = barrierAt(Address);
    completePhase(B);
    if ((B.Phase & 1) != (Parity & 1)) {
      acquire(Running->Thread / 32, B.Complete);
      ++Progress;
      return true;
    }
    if (Looked && !Blocks)
      return false;
    Running->Probe = Probe;
    Running->State = Wait::Poll;
    suspend();
  }
}

/// bar.arrive: \p Count threads meet, of which this one does not wait.
void Machine::namedArrive(int Id, int) {
  NamedBarrier &B = Met.Named[Id];
  ++B.Arrived;
  join(B.Arriving, releaseOf(Running->Thread / 32));
  ++Progress;
}

/// Releases named barriers of a part of the block that all have reached.
bool Machine::releaseNamed() {
  std::map<int, std::vector<Lane *>> Waiting;
  for (Lane &L : Lanes)
    if (L.State == Wait::Barrier && L.BarrierCount > 0)
      Waiting[L.BarrierId].push_back(&L);
  bool Any = false;
  for (auto &[Id, There] : Waiting) {
    NamedBarrier &B = Met.Named[Id];
    unsigned Count = unsigned(There[0]->BarrierCount);
    if (There.size() + B.Arrived < Count)
      continue;
    Clocks All = std::move(B.Arriving);
    std::vector<bool> Released(Warps);
    for (Lane *L : There)
      if (!Released[L->Thread / 32]) {
        Released[L->Thread / 32] = true;
        join(All, releaseOf(L->Thread / 32));
      }
    for (unsigned W = 0; W < Warps; ++W)
      if (Released[W])
        acquire(W, All);
    B = {};
    meet(There);
    Any = true;
  }
  return Any;
}

/// Lanes that found a barrier's phase not complete look again, as long as
/// others went on since.
void Machine::pollAgain() {
  for (Lane &L : Lanes)
    if (L.State == Wait::Poll)
      L.State = Wait::None;
}
