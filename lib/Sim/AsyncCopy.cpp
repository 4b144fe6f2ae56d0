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

void stark::sim::join(Clocks &Into, const Clocks &With) {
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
  Met.OfCluster = {};
  Met.Copies.clear();
}

/// The shared memory that \p C writes is in flight.
void Machine::settle(const AsyncCopy &C) {
  uint64_t First = uint64_t(C.To - SharedBase) / 4,
           Last = (uint64_t(C.To - SharedBase) + C.Bytes + 3) / 4;
  for (uint64_t I = First; I < Last && I < SharedCells.size(); ++I)
    SharedCells[I].Written |= InFlight;
}

/// It is over: its words were written at \p Time of the warp that began it.
void Machine::copyLanded(const AsyncCopy &C, uint16_t Time) {
  uint64_t First = uint64_t(C.To - SharedBase) / 4,
           Last = (uint64_t(C.To - SharedBase) + C.Bytes + 3) / 4;
  for (uint64_t I = First; I < Last && I < SharedCells.size(); ++I) {
    Cell &Of = SharedCells[I];
    if (Of.WriteEpoch < BlockEpoch)
      continue;
    Of.Written &= uint8_t(~InFlight);
    Of.Writer = uint32_t(ClusterLinear * Threads + C.Thread);
    Of.WriteEpoch = Epoch;
    Of.WriteWarpEpoch = Time;
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
      copyLanded(C, WarpEpoch[C.Thread / 32]);
  Groups.erase(Groups.begin(), Groups.begin() + long(Over));
}

MemoryBarrier &Machine::barrierAt(char *Address) {
  auto Found = Met.Barriers.find(Address);
  if (Found == Met.Barriers.end())
    finding(FindingKind::Uninitialised, "use of a barrier in memory by " +
                                            here(__stark_sim_probe) +
                                            " that no thread has initialised");
  isThere(Address);
  return Found->second;
}

/// All that this thread has copied so far is part of the barrier's phase.
void Machine::copiesArrive(char *Address, bool Counts) {
  if (How == Mode::Check) {
    ThreadCopies &Mine = Met.Copies[Running->Thread];
    MemoryBarrier &B = barrierAt(Address);
    Mine.Groups.push_back(std::move(Mine.Open));
    uint16_t Time = WarpEpoch[Running->Thread / 32];
    Clocks Before = releaseOf(Running->Thread / 32);
    for (const auto &Group : Mine.Groups)
      for (const AsyncCopy &C : Group)
        B.Copies.push_back({C.To, C.Bytes, C.Thread, Time, Before});
    Mine = {};
  }
  if (Counts)
    barrierArrive(Address, 1, 0, false);
}

void Machine::bulkBegun(char *To, uint64_t Bytes, char *Address) {
  MemoryBarrier &B = barrierAt(Address);
  B.Landed += Bytes;
  if (How == Mode::Check) {
    unsigned Warp = Running->Thread / 32;
    AsyncCopy C{To, Bytes, Running->Thread, WarpEpoch[Warp]};
    C.Before = releaseOf(Warp);
    settle(C);
    B.Copies.push_back(std::move(C));
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
    copyLanded(C, C.Time);
    join(Complete, C.Before);
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
    unsigned Warp = Running->Thread / 32;
    if (Ranks > 1 && rankOf(Address) != rankOf(*Running))
      B.Arrivals[Warp] = {Running->Thread, __stark_sim_probe, WarpEpoch[Warp]};
    join(B.Arriving, releaseOf(Warp));
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
  NamedBarrier &B = Met.Named[{rankOf(*Running), Id}];
  ++B.Arrived;
  join(B.Arriving, releaseOf(Running->Thread / 32));
  ++Progress;
}

/// The warps of \p There have all seen what each has, and \p All.
void Machine::orderWarps(const std::vector<Lane *> &There, Clocks All) {
  std::vector<bool> Released(Warps);
  for (Lane *L : There)
    if (!Released[L->Thread / 32]) {
      Released[L->Thread / 32] = true;
      join(All, releaseOf(L->Thread / 32));
    }
  for (unsigned W = 0; W < Warps; ++W)
    if (Released[W])
      acquire(W, All);
}

/// Releases named barriers of a part of the block that all have reached.
bool Machine::releaseNamed() {
  std::map<std::pair<unsigned, int>, std::vector<Lane *>> Waiting;
  for (Lane &L : Lanes)
    if (L.State == Wait::Barrier && L.BarrierCount > 0)
      Waiting[{rankOf(L), L.BarrierId}].push_back(&L);
  bool Any = false;
  for (auto &[Which, There] : Waiting) {
    NamedBarrier &B = Met.Named[Which];
    unsigned Count = unsigned(There[0]->BarrierCount);
    if (There.size() + B.Arrived < Count)
      continue;
    orderWarps(There, std::move(B.Arriving));
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
