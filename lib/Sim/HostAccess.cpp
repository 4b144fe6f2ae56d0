//===- HostAccess.cpp - What the host does to device memory ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Copies and sets are operations of a stream that touch words as threads do.
/// While host code runs the device's memory may not be touched at all: it is
/// taken away, and given back when the host asks for something.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <sys/mman.h>

using namespace stark::sim;

namespace {
constexpr uint64_t Page = 4096;

void setProtection(char *Begin, const char *End, bool Touchable) {
  auto From = reinterpret_cast<uintptr_t>(Begin) / Page * Page;
  auto To = (reinterpret_cast<uintptr_t>(End) + Page - 1) / Page * Page;
  if (To > From)
    mprotect(reinterpret_cast<void *>(From), To - From,
             Touchable ? PROT_READ | PROT_WRITE : PROT_NONE);
}
} // namespace

void Machine::beginOperation(std::string What) {
  LaunchEpoch = ++Epoch;
  if (LaunchLine)
    What += ", launched at line " + std::to_string(LaunchLine);
  LaunchLine = 0;
  What += " in " + Streams::nameOf(Stream);
  if (Stream != Streams::Callers && !InOrder && Profiled.Elsewhere.empty())
    Profiled.Elsewhere = What;
  InOrder = false;
  Order.begin(Stream, Epoch, std::move(What));
}

/// Against what was asked of other streams; in check mode alone.
void Machine::operate(char *Address, uint64_t Bytes, ProbeKind Kind) {
  if (Kind == ProbeKind::Load)
    Wrote.hostTakes();
  else
    Wrote.hostPuts();
  Allocation *A = find(Address);
  if (!A || !A->Cells || A->OfHost)
    return;
  auto Unordered = [this](uint32_t Other) {
    return Other >= Order.allBefore() && Other < LaunchEpoch &&
           !Order.ordered(Other);
  };
  auto Tell = [&](const char *Theirs, uint32_t Other) {
    std::string Name = nameOf(*A);
    finding(FindingKind::Race,
            "data race on global " + (Name.empty() ? "memory" : Name) + ": " +
                (Kind == ProbeKind::Load ? "read" : "write") + " by " +
                Order.what(Epoch) + " and " + Theirs + " by " +
                Order.what(Other) +
                "; nothing orders the one before the other: no wait for an "
                "event, a stream or the device");
  };
  uint64_t First = uint64_t(Address - A->Begin) / 4,
           Last = std::min<uint64_t>(
               (uint64_t(Address - A->Begin) + Bytes + 3) / 4,
               A->Cells->size());
  for (uint64_t I = First; I < Last; ++I) {
    Cell &C = (*A->Cells)[I];
    if (C.WriteMask && Unordered(C.WriteEpoch))
      return Tell("write", C.WriteEpoch);
    if (Kind == ProbeKind::Load) {
      C.Reader[0] = C.ReadProbe[0] = ~0u;
      C.ReadEpoch[0] = Epoch;
      C.ReadMask[0] = 0xf;
      continue;
    }
    for (unsigned R = 0; R < 2; ++R)
      if (C.ReadMask[R] && Unordered(C.ReadEpoch[R]))
        return Tell("read", C.ReadEpoch[R]);
    C.Writer = C.WriteProbe = ~0u;
    C.WriteEpoch = Epoch;
    C.WriteMask = 0xf;
  }
}

void Machine::protect(bool HostRuns) {
  if (!ProtectsFromHost || (Protected == HostRuns && !HostRuns))
    return;
  Protected = HostRuns;
  if (Arena)
    setProtection(Arena, ArenaNext, !HostRuns);
  for (const auto &A : Allocations)
    if (A->OfCaller)
      setProtection(A->Begin, A->End, !HostRuns);
}

void Machine::hostTouched(const char *Address) {
  Allocation *A = find(Address);
  if (!A || (!A->OfCaller && (Address < Arena || Address >= ArenaEnd)))
    return;
  finding(FindingKind::HostAccess,
          "host code reads or writes device memory through a pointer: " +
              element(*A, Address) +
              "; cudaMemcpy() is for that, or managed memory");
}
