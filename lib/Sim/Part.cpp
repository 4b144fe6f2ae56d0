//===- Part.cpp - What a partner does of a launch -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   orders -> memory of its own, as the launch found it -> blocks -> what was
///   touched, written and updated
/// A finding, or what needs to know of other blocks, ends it: the call runs
/// these blocks again.
///
//===----------------------------------------------------------------------===//

#include "Orders.h"
#include <bit>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace stark::sim;

namespace {
constexpr uint64_t Page = 4096;
/// Of atomics that are to be done again.
constexpr size_t MostUpdates = size_t(1) << 22;

/// Memory at that place, which nobody shares.
bool map(char *Begin, const char *End, bool Replaces) {
  auto From = reinterpret_cast<uintptr_t>(Begin) / Page * Page;
  auto To = (reinterpret_cast<uintptr_t>(End) + Page - 1) / Page * Page;
  if (To == From)
    return true;
  void *At = reinterpret_cast<void *>(From);
  return mmap(At, To - From, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                  (Replaces ? MAP_FIXED : MAP_FIXED_NOREPLACE),
              -1, 0) == At;
}
} // namespace

void Machine::failPart() {
  Mine->Of.Slots[Mine->Number].Failed = 1;
  _exit(0);
}

void Machine::update(uint32_t Probe, char *Address, uint32_t Bytes,
                     uint64_t Operand) {
  if (Mine)
    Mine->Operand = Operand;
  access(Probe, Address, Bytes, ProbeKind::Atomic, 0, false);
}

/// What an access touches of global memory.
void Machine::mark(const Watched &A, Allocation &In, uint64_t Offset) {
  const Probe &P = T.Probes[A.Probe];
  bool Updates = A.Kind == ProbeKind::Atomic;
  // What it reads another block may have written, and that be meant so.
  if ((Updates &&
       (P.Updates == Update::None || Mine->Updates.size() >= MostUpdates)) ||
      (P.Volatile && A.Kind == ProbeKind::Load))
    failPart();
  if (Updates)
    Mine->Updates.push_back({A.Probe, A.Address, Mine->Operand});
  for (uint64_t W = Offset / 4; W <= (Offset + A.Bytes - 1) / 4; ++W) {
    Marks &M = In.Marked[W / MarkedWords];
    (Updates                     ? M.Updated
     : A.Kind == ProbeKind::Load ? M.Read
                                 : M.Wrote) |= uint64_t(1) << W % MarkedWords;
  }
}

void Machine::takeOrders(Team &Of) {
  char *Next = Of.orders();
  auto Align = [&](uint64_t To) {
    Next += (To - reinterpret_cast<uintptr_t>(Next) % To) % To;
  };
  auto Take = [&](void *To, uint64_t Bytes) {
    std::memcpy(To, Next, Bytes);
    Next += Bytes;
  };
  LaunchOrders L;
  Take(&L, sizeof(L));
  Align(64);
  Mine->Closure.resize(L.ClosureBytes + 64);
  char *Values = Mine->Closure.data();
  Values += (64 - reinterpret_cast<uintptr_t>(Values) % 64) % 64;
  Take(Values, L.ClosureBytes);
  Closure = Values;
  if (L.Kernel >= Kernels.size() ||
      (L.ArenaBegin && !map(L.ArenaBegin, L.ArenaEnd, /*Replaces=*/false)))
    failPart();
  for (uint64_t I = 0; I < L.Allocations; ++I) {
    AllocationOrders O;
    Align(8);
    Take(&O, sizeof(O));
    auto Bytes = uint64_t(O.End - O.Begin);
    // The caller's lie in memory that processes share.
    bool Settled = O.Constant && !O.Banked && O.Held == 0xf;
    if (!Settled && O.OfCaller && !map(O.Begin, O.End, /*Replaces=*/true))
      failPart();
    Allocation &A = adopt(O.Begin, Bytes, "", O.ElementBytes, false);
    A.Constant = O.Constant;
    A.Banked = O.Banked;
    A.Held = O.Held;
    Mine->Known.push_back(&A);
    if (Settled)
      continue;
    // What is as it was may lie where nobody can write.
    if (O.Bytes && std::memcmp(O.Begin, Next, Bytes) != 0)
      std::memcpy(O.Begin, Next, Bytes);
    Next += O.Bytes ? Bytes : 0;
    A.Marked.resize((A.Cells->size() + MarkedWords - 1) / MarkedWords);
    for (size_t W = 0; O.Cells && W < A.Cells->size(); ++W)
      if (uint8_t Holds = uint8_t(Next[W / 2]) >> W % 2 * 4 & 0xf)
        (*A.Cells)[W].Written = Holds;
    Next += O.Cells ? (A.Cells->size() + 1) / 2 : 0;
  }
  Launched = L.Kernel;
  Grid = L.Shape.Grid;
  Block = L.Shape.Block;
  Dynamic = L.Shape.Dynamic;
  Cluster = L.Shape.Cluster;
  Epoch = LaunchEpoch = Mine->Begun = L.Epoch;
  AccessLimit = L.AccessesLeft;
  Undefined = L.Undefined;
  if (L.Suspicious)
    Suspicion = "known";
  setLaunch();
}

void Machine::tellWhatWasDone() {
  auto Put = [&](const void *From, uint64_t Bytes) {
    Mine->Of.put(Mine->Number, From, Bytes);
  };
  std::vector<TouchedWords> Touched;
  for (uint32_t I = 0; I < Mine->Known.size(); ++I) {
    const std::vector<Marks> &All = Mine->Known[I]->Marked;
    for (uint32_t G = 0; G < All.size(); ++G) {
      const Marks &M = All[G];
      // In which order is not known.
      if (M.Updated & (M.Read | M.Wrote))
        failPart();
      if (M.all())
        Touched.push_back({I, G, M});
    }
  }
  PartReport R{
      Epoch - Mine->Begun, uint32_t(Suspicion.size()), Accesses,
      Touched.size(),      Mine->Updates.size(),       processorSecondsOf(0)};
  Put(&R, sizeof(R));
  Put(CountPool.data(), CountPool.size() * sizeof(uint32_t));
  Put(Suspicion.data(), Suspicion.size());
  Put(Touched.data(), Touched.size() * sizeof(TouchedWords));
  const Cell None, *Before = &None;
  for (const TouchedWords &W : Touched) {
    Allocation &A = *Mine->Known[W.Allocation];
    size_t First = size_t(W.Group) * MarkedWords;
    CellsTold Told;
    Cell Cells[MarkedWords];
    uint32_t Words[MarkedWords], CellCount = 0, WordCount = 0;
    for (uint64_t Bits = W.Of.all(); Bits; Bits &= Bits - 1) {
      auto Bit = unsigned(std::countr_zero(Bits));
      uint64_t Mask = uint64_t(1) << Bit;
      const Cell &C = (*A.Cells)[First + Bit];
      Cell Next = nextThreads(*Before, Mine->Begun);
      if (std::memcmp(&C, Before, sizeof(Cell)) == 0)
        Told.Same |= Mask;
      else if (std::memcmp(&C, &Next, sizeof(Cell)) == 0)
        Told.Next |= Mask;
      else
        Cells[CellCount++] = C;
      Before = &C;
      if (!(W.Of.Wrote & Mask))
        continue;
      const char *At = A.Begin + (First + Bit) * 4;
      uint32_t &Word = Words[WordCount++] = 0;
      std::memcpy(&Word, At, std::min<size_t>(4, size_t(A.End - At)));
    }
    Put(&Told, sizeof(Told));
    Put(Cells, CellCount * sizeof(Cell));
    Put(Words, WordCount * sizeof(uint32_t));
  }
  Put(Mine->Updates.data(), Mine->Updates.size() * sizeof(UpdateDone));
}

void Machine::runPart(Team &Of, unsigned I) {
  Mine = std::make_unique<Part>(Part{Of, I, {}, {}});
  OnFinding = [this](const Finding &) { failPart(); };
  OnUnsupported = [this](const Unsupported &) { failPart(); };
  OnLimit = [this](const std::string &) { failPart(); };
  Of.awaitOrders();
  takeOrders(Of);
  for (uint64_t C = Of.Slots[I].Begin; C < Of.Slots[I].End; ++C)
    checkCluster(C);
  tellWhatWasDone();
  _exit(0);
}
