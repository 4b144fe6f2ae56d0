//===- Spread.cpp - A launch that partners have a part in -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Blocks are cut into parts that follow each other. The first part runs
/// here, each other one in a partner, which knows nothing of what the parts
/// before it do. In their order they are taken over: if nothing that a part
/// touched was written by one before it, and nothing that it wrote was read by
/// one, then it has done what it would have done here, to the bit. Else it is
/// run again, here, as is a part that found something or asked for what a
/// partner does not have. So a launch's outcome does not depend on whether
/// there are partners.
///
//===----------------------------------------------------------------------===//

#include "Orders.h"
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

using namespace stark::sim;

namespace {
/// How long a partner may take, by its processor: so many times as long as the
/// part that was run here, and some seconds.
constexpr double PartnerFactor = 10, MostSeconds = 5;
/// Looking whether partners are worth it takes time, too: so often in a launch,
/// and not before it has made a part of SpreadAfter.
constexpr uint64_t Looks = 64, LeastPart = 64;
/// Instructions that take as long as an access; accesses for each word that
/// threads may write, from which on it is worth it.
constexpr double InstructionsOfAccess = 16, WorkOfWord = 6;
/// How much more than SpreadAfter has to be left.
constexpr double LeastComing = 16;
/// Where a call waits for partners: at most so long, in steps.
constexpr std::chrono::milliseconds MostWait(10000), WaitStep(1);
} // namespace

bool OrderWriter::put(const void *From, uint64_t Bytes) {
  if (Bytes > Left)
    return false;
  std::memcpy(Next, From, Bytes);
  Next += Bytes;
  Left -= Bytes;
  return true;
}

bool OrderWriter::align(uint64_t To) {
  uint64_t Gap = (To - reinterpret_cast<uintptr_t>(Next) % To) % To;
  if (Gap > Left)
    return false;
  Next += Gap;
  Left -= Gap;
  return true;
}

/// Is it something that partners can have?
static bool isTold(const Allocation &A) {
  return A.Cells && !A.Freed && !A.OfHost;
}

/// What the launch has cost, as accesses, of which it has made \p Made.
static double workOf(uint64_t Made, const Tables &T, const uint32_t *Counts) {
  double Instructions = 0;
  for (size_t B = 0; B < T.Blocks.size(); ++B)
    if (Counts[B])
      for (float Slots : T.Blocks[B].Slots)
        Instructions += double(Counts[B]) * double(Slots);
  return double(Made) + Instructions / InstructionsOfAccess;
}

/// \p Made: accesses that the launch has made until cluster \p Next.
bool Machine::isWorthPartners(uint64_t Next, uint64_t Made) const {
  uint64_t Left = Clusters.count() - Next;
  // What other streams do at the same time is known here alone.
  if (!Others || Kernels[Launched].Alone || Reach || Left < 2 ||
      Order.allBefore() < LaunchEpoch)
    return false;
  if (SpreadAfter == 0)
    return Next == 0;
  if (Next % std::max<uint64_t>(Clusters.count() / Looks, 1) != 0 ||
      Made < std::max<uint64_t>(SpreadAfter / LeastPart, 1))
    return false;
  double Work = workOf(Made, T, CountPool.data());
  double Words = 0;
  for (const auto &A : Allocations)
    if (isTold(*A) && !A->isSettled())
      Words += double(A->Cells->size());
  double Coming = Work / double(Next) * double(Left);
  return Work >= double(SpreadAfter) &&
         Coming >= LeastComing * double(SpreadAfter) &&
         Coming >= WorkOfWord * Words;
}

/// Asks for \p Most partners, if nobody has.
bool Machine::partnersCome(uint64_t Most) {
  bool Asked = false;
  for (std::chrono::milliseconds Waited(0);; Waited += WaitStep) {
    uint32_t Phase = Others->Now;
    if (Phase == Team::Here)
      return Others->Count > 0 && Others->Count <= MostPartners;
    if (Phase == Team::Alone || (Phase == Team::Refused && !Asked)) {
      Others->Asked = unsigned(std::min<uint64_t>(Most, MostPartners));
      Others->Now = Team::Wanted;
      Asked = true;
    } else if (Phase == Team::Refused) {
      return false;
    }
    if (SpreadAfter > 0 || Waited > MostWait)
      return false;
    std::this_thread::sleep_for(WaitStep);
  }
}

void Machine::dismissPartners() {
  if (!Others)
    return;
  uint32_t Was = Team::Wanted;
  if (Others->Now.compare_exchange_strong(Was, Team::Alone))
    return;
  if (Was == Team::Here || Was == Team::Begun)
    Others->Now = Team::Over;
}

/// False: there is no room for all that they would have to know.
bool Machine::tellPartners() {
  OrderWriter To(Others->orders(), Team::OrderBytes);
  Told.clear();
  ToldEpoch = Epoch;
  for (const auto &A : Allocations)
    if (isTold(*A))
      Told.push_back(A.get());
  const Kernel &K = Kernels[Launched];
  LaunchOrders L{Launched,
                 Undefined,
                 {Grid, Block, Dynamic, false, Cluster},
                 Epoch,
                 AccessLimit - Accesses,
                 K.ClosureBytes,
                 Told.size(),
                 Arena,
                 ArenaNext,
                 !Suspicion.empty()};
  if (!To.put(&L, sizeof(L)) || !To.align(64) ||
      !To.put(Closure, K.ClosureBytes))
    return false;
  for (Allocation *A : Told) {
    bool All = A->Held == 0xf || !A->Used;
    std::vector<uint8_t> Written;
    if (!All) {
      All = true;
      Written.resize((A->Cells->size() + 1) / 2);
      for (size_t I = 0; I < A->Cells->size(); ++I) {
        uint8_t Holds = (*A->Cells)[I].Written | A->Held;
        Written[I / 2] |= uint8_t(Holds << I % 2 * 4);
        All &= Holds == 0xf;
      }
      // It stays so.
      if (All)
        A->Held = 0xf;
    }
    AllocationOrders O{
        A->Begin,  A->End,      A->ElementBytes, A->Constant,
        A->Banked, A->OfCaller, A->Held,         A->Used && !A->isSettled(),
        !All};
    if (!To.align(8) || !To.put(&O, sizeof(O)) ||
        (O.Bytes && !To.put(A->Begin, uint64_t(A->End - A->Begin))) ||
        (!All && !To.put(Written.data(), Written.size())))
      return false;
  }
  return true;
}

/// Runs what can be run of the clusters from \p Next on, with partners if there
/// are some. The first that is not done.
uint64_t Machine::spread(uint64_t Next, uint64_t Made) {
  if (!isWorthPartners(Next, Made) ||
      !partnersCome(Clusters.count() - Next - 1))
    return Next;
  if (tellPartners())
    return runTogether(Next);
  Kernels[Launched].Alone = true;
  return Next;
}

uint64_t Machine::runTogether(uint64_t Next) {
  uint64_t Count = Clusters.count(), Left = Count - Next;
  unsigned Partners = unsigned(std::min<uint64_t>(Others->Count, Left - 1));
  auto BeginOf = [&](unsigned Part) {
    return Next + Left * Part / (Partners + 1);
  };
  for (unsigned I = 0; I < Others->Count; ++I) {
    Others->Slots[I].Begin = I < Partners ? BeginOf(I + 1) : Count;
    Others->Slots[I].End = I < Partners ? BeginOf(I + 2) : Count;
  }
  Others->Now = Team::Begun;
  double Begun = processorSecondsOf(0);
  for (uint64_t I = Next; I < BeginOf(1); ++I)
    checkCluster(I);
  double Own = processorSecondsOf(0) - Begun;
  for (unsigned P = 0; P < Partners; ++P) {
    if (takeOver(P, Own)) {
      BlocksDone = (BeginOf(P + 2) - 1) * Ranks;
      ++Others->Taken;
      continue;
    }
    // It will be the same in the next launch.
    Kernels[Launched].Alone = true;
    ++Others->RunAgain;
    for (uint64_t I = BeginOf(P + 1); I < BeginOf(P + 2); ++I)
      checkCluster(I);
  }
  return Count;
}

/// Has anyone before touched what this part did, so that it may have gone
/// otherwise?
static bool collides(const TouchedWords &W, const Allocation &A,
                     uint32_t Since) {
  uint64_t First = uint64_t(W.Group) * MarkedWords;
  for (uint64_t Bits = W.Of.Read | W.Of.Wrote; Bits; Bits &= Bits - 1) {
    unsigned Bit = unsigned(std::countr_zero(Bits));
    const Cell &C = (*A.Cells)[First + Bit];
    if (C.WriteEpoch >= Since)
      return true;
    if ((W.Of.Wrote >> Bit & 1) &&
        (C.ReadEpoch[0] >= Since || C.ReadEpoch[1] >= Since))
      return true;
  }
  return false;
}

/// What the threads of a part did to a word, after what was done before.
static void addTo(Cell &C, const Cell &Part, uint32_t Since, uint32_t Later) {
  for (unsigned R = 0; R < 2; ++R)
    if (Part.ReadEpoch[R] > Since) {
      C.Reader[R] = Part.Reader[R];
      C.ReadEpoch[R] = Part.ReadEpoch[R] + Later;
      C.ReadProbe[R] = Part.ReadProbe[R];
      C.ReadWarpEpoch[R] = Part.ReadWarpEpoch[R];
      C.ReadMask[R] = Part.ReadMask[R];
    }
  if (Part.WriteEpoch > Since) {
    C.Writer = Part.Writer;
    C.WriteEpoch = Part.WriteEpoch + Later;
    C.WriteProbe = Part.WriteProbe;
    C.WriteWarpEpoch = Part.WriteWarpEpoch;
    C.WriteMask = Part.WriteMask;
  }
  C.Written |= Part.Written;
  C.Read |= uint8_t(Part.Read & ~C.Stored);
  C.Stored |= Part.Stored;
}

template <class T> static void apply(Update What, T &Word, T By) {
  using Signed = std::make_signed_t<T>;
  using Real = std::conditional_t<sizeof(T) == 4, float, double>;
  auto Less = [](T A, T B) { return Signed(A) < Signed(B); };
  auto Sum = [&](bool Adds) {
    Real A = std::bit_cast<Real>(Word), B = std::bit_cast<Real>(By);
    Word = std::bit_cast<T>(Adds ? A + B : A - B);
  };
  switch (What) {
  case Update::None:
    break;
  case Update::Add:
    Word += By;
    break;
  case Update::Sub:
    Word -= By;
    break;
  case Update::And:
    Word &= By;
    break;
  case Update::Or:
    Word |= By;
    break;
  case Update::Xor:
    Word ^= By;
    break;
  case Update::Max:
    Word = std::max(Word, By, Less);
    break;
  case Update::Min:
    Word = std::min(Word, By, Less);
    break;
  case Update::UMax:
    Word = std::max(Word, By);
    break;
  case Update::UMin:
    Word = std::min(Word, By);
    break;
  case Update::FAdd:
    Sum(true);
    break;
  case Update::FSub:
    Sum(false);
    break;
  }
}

static void applyTo(char *Address, const Probe &P, uint64_t Operand) {
  auto As = [&](auto Word) {
    std::memcpy(&Word, Address, sizeof(Word));
    apply(P.Updates, Word, decltype(Word)(Operand));
    std::memcpy(Address, &Word, sizeof(Word));
  };
  if (P.Bytes == 8)
    As(uint64_t(0));
  else
    As(uint32_t(0));
}

/// Of those bytes of a word.
static void putBytes(char *To, uint32_t Word, uint8_t Which) {
  if (Which == 0xf) {
    std::memcpy(To, &Word, 4);
    return;
  }
  for (unsigned B = 0; B < 4; ++B)
    if (Which >> B & 1)
      To[B] = char(Word >> B * 8);
}

namespace {
/// What a partner told.
struct PartTold {
  PartReport Report;
  std::vector<uint32_t> Counts;
  std::string Suspicion;
  std::vector<TouchedWords> Touched;
  std::vector<CellsTold> Told; ///< by what was touched
  std::vector<Cell> Cells;     ///< those that are told
  std::vector<uint32_t> Words; ///< of what was written
  std::vector<UpdateDone> Updates;
};
} // namespace

/// False: it has told nothing, or what cannot be taken over.
static bool fetch(PartTold &P, uint64_t MostAccesses, size_t Blocks,
                  const std::function<bool(void *To, uint64_t Bytes)> &Take,
                  const std::function<bool(const TouchedWords &)> &Fits) {
  auto TakeList = [&](auto &List, size_t More) {
    List.resize(List.size() + More);
    return Take(List.data() + List.size() - More, More * sizeof(List[0]));
  };
  if (!Take(&P.Report, sizeof(P.Report)) || P.Report.Accesses > MostAccesses ||
      !TakeList(P.Counts, Blocks) ||
      !TakeList(P.Suspicion, P.Report.SuspicionBytes) ||
      !TakeList(P.Touched, P.Report.Touched) ||
      !std::all_of(P.Touched.begin(), P.Touched.end(), Fits))
    return false;
  for (const TouchedWords &W : P.Touched) {
    if (!TakeList(P.Told, 1))
      return false;
    uint64_t Known = P.Told.back().Same | P.Told.back().Next;
    if (!TakeList(P.Cells, size_t(std::popcount(W.Of.all() & ~Known))) ||
        !TakeList(P.Words, size_t(std::popcount(W.Of.Wrote))))
      return false;
  }
  return TakeList(P.Updates, P.Report.Updates);
}

/// False: that part is to be run here.
bool Machine::takeOver(unsigned I, double OwnSeconds) {
  auto Patient = [&] {
    return processorSecondsOf(Others->Slots[I].Process) <
           PartnerFactor * OwnSeconds + MostSeconds;
  };
  PartTold P;
  // Nothing may be missing once some of it is done, so all is fetched first.
  if (!fetch(
          P, AccessLimit - Accesses, CountPool.size(),
          [&](void *To, uint64_t Bytes) {
            return Others->take(I, To, Bytes, Patient);
          },
          [&](const TouchedWords &W) {
            const Allocation &A = *Told[W.Allocation];
            return A.Cells && !collides(W, A, LaunchEpoch);
          }))
    return false;
  uint32_t Later = Epoch - ToldEpoch;
  const Cell *NextCell = P.Cells.data();
  const uint32_t *NextWord = P.Words.data();
  const CellsTold *Known = P.Told.data();
  Cell Part;
  for (const TouchedWords &W : P.Touched) {
    Allocation &A = *Told[W.Allocation];
    for (uint64_t Bits = W.Of.all(); Bits; Bits &= Bits - 1) {
      unsigned Bit = unsigned(std::countr_zero(Bits));
      size_t Word = size_t(W.Group) * MarkedWords + Bit;
      Part = Known->Same >> Bit & 1   ? Part
             : Known->Next >> Bit & 1 ? nextThreads(Part, ToldEpoch)
                                      : *NextCell++;
      addTo((*A.Cells)[Word], Part, ToldEpoch, Later);
      if (W.Of.Wrote >> Bit & 1)
        putBytes(A.Begin + Word * 4, *NextWord++, Part.Stored);
    }
    A.Used |= (W.Of.Wrote | W.Of.Updated) != 0;
    ++Known;
  }
  for (const UpdateDone &U : P.Updates)
    applyTo(U.Address, T.Probes[U.Probe], U.Operand);
  for (size_t B = 0; B < CountPool.size(); ++B)
    CountPool[B] += P.Counts[B];
  if (Suspicion.empty())
    Suspicion = P.Suspicion;
  Epoch += P.Report.Epochs;
  Accesses += P.Report.Accesses;
  PartnerSeconds += P.Report.Seconds;
  Others->TakenMs += uint64_t(P.Report.Seconds * 1e3);
  return true;
}
