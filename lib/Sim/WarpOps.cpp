//===- WarpOps.cpp - Shuffles, votes and their kin ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <bit>
#include <cstdio>

using namespace stark::sim;

extern "C" uint32_t __stark_sim_probe;

uint64_t Machine::warp(WarpOp Op, uint32_t Mask, uint64_t Value, int Mode,
                       int Argument, int Width, int *Predicate) {
  Lane &L = *Running;
  L.Probe = __stark_sim_probe;
  unsigned Me = L.Thread % 32;
  if (!(Mask >> Me & 1)) {
    char Hex[16];
    std::snprintf(Hex, sizeof(Hex), "0x%08x", Mask);
    finding(FindingKind::WrongMask,
            "wrong mask: " + T.Probes[L.Probe].What + " by " + here(L.Probe) +
                " has mask " + Hex + ", which leaves out the calling lane " +
                std::to_string(Me));
  }
  L.State = Wait::Warp;
  L.Op = Op;
  L.Mask = Mask;
  L.Value = Value;
  L.Mode = Mode;
  L.Argument = Argument;
  L.Width = Width;
  L.Predicate = Predicate ? *Predicate : 0;
  suspend();
  if (Predicate)
    *Predicate = Running->Predicate;
  return Running->Result;
}

namespace {
/// The lane that lane \p Me reads in a shuffle, itself when there is none.
unsigned sourceLane(const Lane &L, unsigned Me) {
  unsigned Width = L.Width >= 1 && L.Width <= 32 ? unsigned(L.Width) : 32;
  unsigned Base = Me / Width * Width, In = Me % Width;
  int Argument = L.Argument;
  switch (L.Mode) {
  case 0:
    return Base + unsigned(Argument) % Width;
  case 1:
    return In >= unsigned(Argument) ? Me - unsigned(Argument) : Me;
  case 2:
    return In + unsigned(Argument) < Width ? Me + unsigned(Argument) : Me;
  default: {
    unsigned Other = Me ^ unsigned(Argument);
    return Other < Base + Width && Other < 32 ? Other : Me;
  }
  }
}

uint32_t reduce(int Op, uint32_t A, uint32_t B) {
  switch (Op) {
  case 0:
    return A + B;
  case 1:
    return std::min(A, B);
  case 2:
    return std::max(A, B);
  case 3:
    return uint32_t(std::min(int32_t(A), int32_t(B)));
  case 4:
    return uint32_t(std::max(int32_t(A), int32_t(B)));
  case 5:
    return A & B;
  case 6:
    return A | B;
  default:
    return A ^ B;
  }
}
} // namespace

/// \p L has a value of a lane that is not there: has left the kernel, is none
/// of the block, or is left out by the mask. That may be no mistake, as long as
/// nothing depends on the value; see RunHooks.
void Machine::suspect(const Lane &L, unsigned From) {
  if (!Suspicion.empty())
    return;
  unsigned Other = L.Thread / 32 * 32 + From;
  const char *Why = Other >= Threads ? "is none of the block"
                    : Lanes[Other].State == Wait::Done
                        ? "has left the kernel"
                        : "is left out by the mask";
  Suspicion = "shuffle by " + here(L.Probe) + ", thread " +
              threadName(L.Thread) + " reads lane " + std::to_string(From) +
              ", which " + Why + ", and the outputs depend on what it gets";
}

/// Eight bytes that are large, or small, as any number of 4 or 8 bytes.
uint64_t Machine::undefinedValue(uint64_t Own) const {
  return Undefined == 0   ? Own
         : Undefined == 1 ? 0x7f7f7f7f7f7f7f7full
                          : 0xff7f7f7fff7f7f7full;
}

/// A matrix instruction is one of the whole warp.
void Machine::tellPart(const Lane &L, uint32_t There) {
  unsigned Missing = unsigned(std::countr_one(There));
  finding(FindingKind::WrongMask,
          "wrong mask: matrix instruction by " + here(L.Probe) +
              ", which all lanes of the warp must make, but lane " +
              std::to_string(Missing) +
              " has left the kernel or is none of "
              "the block");
}

void Machine::shuffle(Lane *Warp, uint32_t There, uint64_t *Results) {
  for (unsigned I = 0; I < 32; ++I) {
    if (!(There >> I & 1))
      continue;
    Lane &Me = Warp[I];
    unsigned From = sourceLane(Me, I);
    bool Known = There >> From & 1;
    Results[I] = Known ? Warp[From].Value : undefinedValue(Me.Value);
    if (!Known)
      suspect(Me, From);
  }
}

/// What each lane of \p There gets; \p L is one of them.
void Machine::resultsOf(Lane *Warp, const Lane &L, uint32_t There,
                        uint64_t *Results) {
  if (L.Op == WarpOp::Shuffle)
    return shuffle(Warp, There, Results);
  uint32_t Ballot = 0;
  uint32_t Sum = 0;
  bool Begun = false, AllSame = true;
  for (unsigned I = 0; I < 32; ++I)
    if (There >> I & 1) {
      Ballot |= uint32_t(Warp[I].Predicate != 0) << I;
      uint32_t V = uint32_t(Warp[I].Value);
      Sum = Begun ? reduce(L.Mode, Sum, V) : V;
      AllSame &= Warp[I].Value == L.Value;
      Begun = true;
    }
  for (unsigned I = 0; I < 32; ++I) {
    if (!(There >> I & 1))
      continue;
    Lane &Me = Warp[I];
    Results[I] = 0;
    switch (L.Op) {
    case WarpOp::Vote:
      Results[I] = L.Mode == 0   ? Ballot == There
                   : L.Mode == 1 ? Ballot != 0
                   : L.Mode == 2 ? Ballot
                                 : Ballot == 0 || Ballot == There;
      break;
    case WarpOp::Match: {
      uint32_t Equal = 0;
      for (unsigned J = 0; J < 32; ++J)
        if ((There >> J & 1) && Warp[J].Value == Me.Value)
          Equal |= 1u << J;
      Results[I] = L.Mode == 0 ? Equal : AllSame ? There : 0;
      break;
    }
    case WarpOp::Reduce:
      Results[I] = Sum;
      break;
    case WarpOp::Sync:
    case WarpOp::Shuffle:
    case WarpOp::Matrix:
    case WarpOp::Active:
      break;
    }
  }
  if (L.Op == WarpOp::Match)
    for (unsigned I = 0; I < 32; ++I)
      if (There >> I & 1)
        Warp[I].Predicate = AllSame;
}

/// Releases the lanes of the first operation that all of its lanes have
/// reached. Lanes that have left the kernel are not waited for, as on a GPU.
bool Machine::resolveWarp(unsigned W) {
  unsigned Base = W * 32, Size = std::min(32u, Threads - Base);
  Lane *Warp = &Lanes[Base];
  for (unsigned First = 0; First < Size; ++First) {
    Lane &L = Warp[First];
    if (L.State != Wait::Warp || L.Op == WarpOp::Active)
      continue;
    uint32_t There = 0, Missing = 0;
    for (unsigned I = 0; I < 32; ++I) {
      if (!(L.Mask >> I & 1))
        continue;
      if (I >= Size || Warp[I].State == Wait::Done)
        continue;
      if (Warp[I].State == Wait::Warp && Warp[I].Op == L.Op &&
          Warp[I].Mask == L.Mask && Warp[I].Mode == L.Mode)
        There |= 1u << I;
      else
        Missing |= 1u << I;
    }
    if (Missing)
      continue;
    if (L.Op == WarpOp::Matrix) {
      if (There != ~0u)
        return tellPart(L, There), false;
      multiply(Warp);
    }
    uint64_t Results[32];
    resultsOf(Warp, L, There, Results);
    for (unsigned I = 0; I < Size; ++I)
      if (There >> I & 1) {
        Warp[I].Result = Results[I];
        Warp[I].State = Wait::None;
      }
    ++WarpEpoch[W];
    return true;
  }
  return gatherActive(Warp, Size);
}

/// Lanes that ask at one place who is there, when no other can come, are it.
bool Machine::gatherActive(Lane *Warp, unsigned Size) {
  const Lane *First = nullptr;
  uint32_t There = 0;
  for (unsigned I = 0; I < Size; ++I)
    if (Warp[I].State == Wait::Warp && Warp[I].Op == WarpOp::Active) {
      First = First ? First : &Warp[I];
      There |= uint32_t(Warp[I].Probe == First->Probe) << I;
    }
  for (unsigned I = 0; I < Size; ++I)
    if (There >> I & 1) {
      Warp[I].Result = There;
      Warp[I].State = Wait::None;
    }
  return There != 0;
}

uint32_t Machine::activeMask() {
  Lane &L = *Running;
  L.Probe = __stark_sim_probe;
  L.State = Wait::Warp;
  L.Op = WarpOp::Active;
  L.Mask = 0;
  suspend();
  return uint32_t(Running->Result);
}
