//===- Memory.cpp - Device memory -----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Allocations lie in an arena of addresses of their own, with a gap after
/// each, so that one that is overrun does not reach the next.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <sys/mman.h>

using namespace stark::sim;

namespace {
constexpr uint64_t ArenaBytes = uint64_t(1) << 40;
constexpr uint64_t Gap = 4096, Alignment = 256;
/// Words of larger arrays are not watched: that would take six times their
/// size.
constexpr uint64_t WatchLimit = uint64_t(64) << 20;
/// From so many bytes on cells lie in large pages, where the system has some.
constexpr uint64_t LargePage = uint64_t(2) << 20;
} // namespace

static Machine *Current = nullptr;
Machine *stark::sim::theMachine() { return Current; }
void stark::sim::setMachine(Machine *M) { Current = M; }

CellArray::CellArray(size_t Count)
    : Count(Count), First(static_cast<Cell *>(std::calloc(
                        std::max<size_t>(Count, 1), sizeof(Cell)))) {
  if (!First)
    std::abort();
  auto Begin = reinterpret_cast<uintptr_t>(First.get()),
       End = Begin + Count * sizeof(Cell);
  Begin = (Begin + LargePage - 1) / LargePage * LargePage;
  if (Begin + LargePage <= End)
    madvise(reinterpret_cast<void *>(Begin), End - Begin, MADV_HUGEPAGE);
}

char *Machine::allocate(uint64_t Bytes, const std::string &Name) {
  if (!Arena) {
    void *Found = mmap(nullptr, ArenaBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (Found == MAP_FAILED)
      return nullptr;
    Arena = ArenaNext = static_cast<char *>(Found);
    ArenaEnd = Arena + ArenaBytes;
  }
  uint64_t Whole = (Bytes + Alignment - 1) / Alignment * Alignment + Gap;
  if (Whole < Bytes || Whole > uint64_t(ArenaEnd - ArenaNext))
    return nullptr;
  char *Begin = ArenaNext;
  ArenaNext += Whole;
  adopt(Begin, Bytes, Name.empty() ? NextName : Name, 0, /*Holds=*/false)
      .OfProgram = true;
  NextName.clear();
  if (Protected)
    protect(true);
  return Begin;
}

/// What the host writes there is not seen, so it counts as written.
char *Machine::allocateManaged(uint64_t Bytes) {
  void *Found = mmap(nullptr, Bytes + 2 * Gap, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Found == MAP_FAILED)
    return nullptr;
  char *Begin = static_cast<char *>(Found) + Gap;
  Allocation &A = adopt(Begin, Bytes, NextName, 0, /*Holds=*/true);
  A.OfHost = A.OfProgram = true;
  addToHost(Bytes);
  NextName.clear();
  return Begin;
}

void Machine::mapHost(void *Pointer, uint64_t Bytes) {
  Allocation &A =
      adopt(static_cast<char *>(Pointer), Bytes, NextName, 0, /*Holds=*/true);
  A.OfHost = A.OfProgram = true;
  addToHost(Bytes);
  NextName.clear();
}

uint64_t Machine::keptBytes() const {
  uint64_t Bytes = 0;
  for (const auto &A : Allocations)
    if (A->OfProgram && !A->Freed)
      Bytes += std::max<uint64_t>(uint64_t(A->End - A->Begin), 1);
  return Bytes;
}

/// Bytes of the elements of \p A that were written and have the value that
/// more than half of them have; fewer where there is no such value.
static uint64_t alikeBytes(const Allocation &A) {
  const uint64_t Bytes = std::max<uint64_t>(A.ElementBytes, 1);
  auto Each = [&](llvm::function_ref<void(const char *)> Then) {
    for (const char *P = A.Begin; P + Bytes <= A.End; P += Bytes)
      if ((*A.Cells)[size_t(P - A.Begin) / 4].Stored)
        Then(P);
  };
  const char *Most = nullptr;
  uint64_t Votes = 0, Count = 0;
  auto Same = [&](const char *P) { return !std::memcmp(P, Most, Bytes); };
  Each([&](const char *P) {
    if (!Votes)
      Most = P;
    Votes += Same(P) ? 1 : -1;
  });
  if (Most)
    Each([&](const char *P) { Count += Same(P); });
  return Count * Bytes;
}

RunProfile Machine::takeProfile() {
  Profiled.KeptBytes = keptBytes();
  for (const auto &A : Allocations) {
    if (!Reach || A->Name.empty() || A->OfProgram || !A->Cells)
      continue;
    BufferReach R{A->Name, uint64_t(A->End - A->Begin), 0, 0, 0};
    for (const Cell &C : *A->Cells) {
      R.Read += unsigned(std::popcount(C.Read));
      R.Written += unsigned(std::popcount(C.Stored));
    }
    R.Alike = R.Written ? alikeBytes(*A) : 0;
    Profiled.Reached.push_back(std::move(R));
  }
  Profiled.Written = Wrote.take();
  return std::move(Profiled);
}

Allocation &Machine::adopt(char *Begin, uint64_t Bytes, const std::string &Name,
                           unsigned ElementBytes, bool Holds) {
  auto A = std::make_unique<Allocation>();
  A->Begin = Begin;
  A->End = Begin + Bytes;
  A->Name = Name;
  A->ElementBytes = ElementBytes;
  A->Given = Holds;
  if (How == Mode::Check && Bytes <= WatchLimit) {
    A->Cells = std::make_unique<CellArray>((Bytes + 3) / 4);
    A->Held = Holds ? 0xf : 0;
    A->Used = Holds;
  }
  auto Place = std::upper_bound(
      Allocations.begin(), Allocations.end(), Begin,
      [](const char *P, const std::unique_ptr<Allocation> &Other) {
        return P < Other->Begin;
      });
  return **Allocations.insert(Place, std::move(A));
}

Allocation *Machine::find(const void *Pointer) {
  auto *P = static_cast<const char *>(Pointer);
  auto After = std::upper_bound(
      Allocations.begin(), Allocations.end(), P,
      [](const char *Address, const std::unique_ptr<Allocation> &Other) {
        return Address < Other->Begin;
      });
  if (After == Allocations.begin())
    return nullptr;
  Allocation *A = std::prev(After)->get();
  // The end itself belongs to it when it is empty or one past it is meant.
  return P < A->End || (P == A->Begin) ? A : nullptr;
}

int Machine::release(void *Pointer) {
  if (!Pointer)
    return 0;
  Allocation *A = find(Pointer);
  if (!A || A->Begin != Pointer || A->Freed)
    return 1; // cudaErrorInvalidValue
  std::fill(Cached.begin(), Cached.end(), ProbeCache());
  if (A->OfHost) {
    // The host may have something else there soon.
    std::erase_if(Allocations, [A](const auto &Other) { return &*Other == A; });
    return 0;
  }
  A->Freed = true;
  A->Cells.reset();
  if (A->Begin >= Arena && A->End <= ArenaEnd)
    madvise(A->Begin, size_t(A->End - A->Begin), MADV_DONTNEED);
  return 0;
}

void Machine::markWritten(void *Pointer, uint64_t Bytes) {
  Allocation *A = find(Pointer);
  if (A)
    A->Given = true;
  if (!A || !A->Cells)
    return;
  A->Used = true;
  uint64_t First = uint64_t(static_cast<char *>(Pointer) - A->Begin);
  uint64_t Last = std::min(First + Bytes, uint64_t(A->End - A->Begin));
  for (uint64_t I = First; I < Last;) {
    Cell &C = (*A->Cells)[I / 4];
    if (I % 4 == 0 && Last - I >= 4) {
      C.Written = C.Stored = 0xf;
      I += 4;
    } else {
      C.Written |= uint8_t(1u << (I % 4));
      C.Stored |= uint8_t(1u << (I % 4));
      ++I;
    }
  }
}

/// "y[17] of 4096"
std::string Machine::element(const Allocation &A, const char *Address) const {
  std::string Name = nameOf(A);
  int64_t Offset = Address - A.Begin;
  int64_t Size = A.End - A.Begin;
  unsigned E = std::max(1u, A.ElementBytes);
  if (Name.empty() || E == 1)
    return "byte " + std::to_string(Offset) + " of " +
           (Name.empty() ? "an allocation" : "'" + Name + "'") + " of " +
           std::to_string(Size) + " bytes";
  int64_t Index = Offset >= 0 ? Offset / E : -((-Offset + E - 1) / E);
  return Name + "[" + std::to_string(Index) + "], '" + Name + "' has " +
         std::to_string(Size / E) + " elements";
}
