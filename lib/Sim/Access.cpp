//===- Access.cpp - Every load and store is seen --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   In bounds? Aligned? Initialised? Ordered against the accesses of other
/// threads? In profile mode it is also noted for the counters.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <cstring>

using namespace stark::sim;

extern "C" uint32_t __stark_sim_site;

namespace {
/// Entries of a lane's trace before its warp is looked at.
constexpr size_t TraceLimit = 8192;

const char *verb(SiteKind K) {
  return K == SiteKind::Load    ? "read"
         : K == SiteKind::Store ? "write"
                                : "atomic access";
}
} // namespace

std::string Machine::threadName(uint32_t Thread) const {
  return "(" + std::to_string(Thread % Block.X) + "," +
         std::to_string(Thread / Block.X % Block.Y) + "," +
         std::to_string(Thread / Block.X / Block.Y) + ")";
}

std::string Machine::here(uint32_t Site) const {
  std::string Text = "kernel " + Kernels[Launched].Name;
  if (Site < T.Sites.size() && T.Sites[Site].Line)
    Text += ", line " + std::to_string(T.Sites[Site].Line);
  Text += ", block (" + std::to_string(BlockLinear % Grid.X) + "," +
          std::to_string(BlockLinear / Grid.X % Grid.Y) + "," +
          std::to_string(BlockLinear / Grid.X / Grid.Y) + ")";
  if (Running)
    Text += ", thread " + threadName(Running->Thread);
  return Text;
}

void Machine::finding(FindingKind Kind, std::string Text) {
  OnFinding({Kind, std::move(Text)});
}

void Machine::unsupported(UnsupportedKind Kind, const std::string &What) {
  OnUnsupported(
      {Kind, What + " (" + here(Running ? __stark_sim_site : ~0u) + ")"});
}

void Machine::outOfBounds(uint32_t Site, const char *Address, uint64_t Bytes,
                          SiteKind Kind) {
  std::string What = std::string(verb(Kind)) + " of " + std::to_string(Bytes) +
                     " bytes by " + here(Site) + ": ";
  if (Address >= SharedBase && Address < SharedBase + SharedMemory.size()) {
    uint64_t Offset = uint64_t(Address - SharedBase);
    const SharedVariable *Before = nullptr;
    for (const SharedVariable &V : T.Shared)
      if (V.Offset <= Offset)
        Before = &V;
    if (Offset >= T.SharedEnd)
      What += "byte " + std::to_string(Offset - T.SharedEnd) +
              " of dynamic shared memory, the launch gives " +
              std::to_string(Dynamic) + " bytes";
    else if (Before)
      What += "shared array '" + Before->Name + "' has " +
              std::to_string(Before->Bytes) + " bytes, this is byte " +
              std::to_string(Offset - Before->Offset);
    finding(FindingKind::OutOfBounds, "out-of-bounds shared " + What);
    return;
  }
  const Allocation *Near = nullptr;
  int64_t Distance = INT64_MAX;
  for (const auto &A : Allocations) {
    int64_t D = Address < A->Begin ? A->Begin - Address
                                   : std::max<int64_t>(Address - A->End, 0);
    if (D < Distance) {
      Distance = D;
      Near = A.get();
    }
  }
  if (!Address || (Near && Distance > (int64_t(1) << 30)) || !Near)
    What += Address ? "the address belongs to no allocation"
                    : "the pointer is null";
  else if (Near->Freed)
    What += element(*Near, Address) + "; it was freed";
  else if (Near->Constant && Kind != SiteKind::Load && Address >= Near->Begin &&
           Address < Near->End)
    return finding(FindingKind::InputChanged,
                   What + element(*Near, Address) +
                       "; it is an input, which must be left as it is");
  else
    What += element(*Near, Address);
  finding(FindingKind::OutOfBounds, "out-of-bounds global " + What);
}

void Machine::trace(uint32_t Site, uint64_t Address) {
  Running->Trace.push_back(uint64_t(Site) << 48 | Address);
  if (Running->Trace.size() >= TraceLimit) {
    Running->State = Wait::Trace;
    Running->Site = Site;
    suspend();
  }
}

void Machine::access(uint32_t Site, char *Address, uint32_t Bytes,
                     SiteKind Kind, uint64_t Stored, bool Known) {
  if (++Accesses > AccessLimit)
    OnLimit();
  // A thread's own variables lie on its stack.
  char *Own = Stacks[Running->Stack];
  if (Address >= Own && Address + Bytes <= Own + StackBytes)
    return;
  uint32_t Align = T.Sites[Site].Align;
  if (Align > 1 && (reinterpret_cast<uintptr_t>(Address) & (Align - 1)))
    return finding(FindingKind::Misaligned,
                   "misaligned " + std::string(verb(Kind)) + " of " +
                       std::to_string(Bytes) + " bytes by " + here(Site) +
                       ": the address is no multiple of " +
                       std::to_string(Align));
  if (How == Mode::Profile)
    trace(Site, reinterpret_cast<uintptr_t>(Address) & AddressMask);
  if (Address >= SharedBase && Address < SharedBase + SharedMemory.size())
    return sharedAccess(Site, Address, Bytes, Kind, Stored, Known);
  SiteCache &C = Cached[Site];
  if (Address < C.Begin || Address + Bytes > C.End) {
    Allocation *A = find(Address);
    if (!A || A->Freed || Address + Bytes > A->End ||
        (A->Constant && Kind != SiteKind::Load))
      return outOfBounds(Site, Address, Bytes, Kind);
    C = {A->Begin, A->End, A};
  }
  if (How == Mode::Check && C.Of->Cells) {
    uint64_t Offset = uint64_t(Address - C.Of->Begin);
    watch(Site, C.Of->Cells->data(), Offset, Address, Bytes, Kind, Stored,
          Known, C.Of->Name, Offset / std::max(1u, C.Of->ElementBytes), false);
  }
  if (Kind == SiteKind::Atomic || T.Sites[Site].Volatile)
    BlockSynced = true;
}

void Machine::sharedAccess(uint32_t Site, char *Address, uint32_t Bytes,
                           SiteKind Kind, uint64_t Stored, bool Known) {
  uint64_t Offset = uint64_t(Address - SharedBase);
  const SharedVariable *Of = nullptr;
  if (Offset < T.SharedEnd) {
    auto After = std::upper_bound(
        T.Shared.begin(), T.Shared.end(), Offset,
        [](uint64_t O, const SharedVariable &V) { return O < V.Offset; });
    if (After == T.Shared.begin())
      return outOfBounds(Site, Address, Bytes, Kind);
    Of = &*std::prev(After);
    if (Offset + Bytes > Of->Offset + Of->Bytes)
      return outOfBounds(Site, Address, Bytes, Kind);
  } else if (Offset + Bytes > T.SharedEnd + Dynamic) {
    return outOfBounds(Site, Address, Bytes, Kind);
  }
  if (How != Mode::Check)
    return;
  uint64_t Within = Of ? Offset - Of->Offset : Offset - T.SharedEnd;
  static const std::string Extern = "dynamic shared memory";
  watch(Site, SharedCells.data(), Offset, Address, Bytes, Kind, Stored, Known,
        Of ? Of->Name : Extern, Within / std::max(1u, Bytes), true);
}

/// The word's history against this access.
void Machine::watch(uint32_t Site, Cell *Cells, uint64_t Offset, char *Address,
                    uint32_t Bytes, SiteKind Kind, uint64_t Stored, bool Known,
                    const std::string &Array, uint64_t Element, bool Shared) {
  uint32_t Thread = uint32_t(BlockLinear * Threads + Running->Thread);
  unsigned W = Running->Thread / 32;
  uint16_t Mine = WarpEpoch[W];
  bool Ordered = Kind == SiteKind::Atomic || T.Sites[Site].Volatile;
  auto Races = [&](uint32_t Other, uint32_t OtherEpoch, uint16_t OtherWarp) {
    if (OtherEpoch < LaunchEpoch || Other == Thread)
      return false;
    bool SameBlock = Other / Threads == Thread / Threads;
    if (!SameBlock)
      return !Shared && !BlockSynced;
    if (OtherEpoch != Epoch)
      return false;
    return (Other % Threads) / 32 != W || OtherWarp == Mine;
  };
  auto Tell = [&](const char *Theirs, uint32_t Other, uint32_t OtherSite) {
    const char *Name = Kind == SiteKind::Load ? "read" : "write";
    std::string Who = "thread " + threadName(Other % Threads);
    if (Other / Threads != Thread / Threads)
      Who += " of block " + std::to_string(Other / Threads);
    std::string Which =
        Array.empty() ? "global memory"
                      : Array + (Shared && Array == "dynamic shared memory"
                                     ? " at element " + std::to_string(Element)
                                     : "[" + std::to_string(Element) + "]");
    finding(FindingKind::Race,
            std::string("data race on ") + (Shared ? "shared " : "global ") +
                Which + ": " + Name + " by " + here(Site) + " and " + Theirs +
                " by " + Who + ", line " +
                std::to_string(
                    OtherSite < T.Sites.size() ? T.Sites[OtherSite].Line : 0) +
                ", with no barrier between them");
  };
  for (uint64_t At = Offset; At < Offset + Bytes;) {
    Cell &C = Cells[At / 4];
    uint64_t Stop = std::min(Offset + Bytes, (At / 4 + 1) * 4);
    uint8_t Mask = uint8_t(((1u << (Stop - At)) - 1) << (At % 4));
    bool Fresh = Shared && C.WriteEpoch < BlockEpoch;
    uint8_t Holds = Fresh ? 0 : C.Written;
    if (Kind != SiteKind::Store && (Holds & Mask) != Mask)
      return finding(
          FindingKind::Uninitialised,
          "read of uninitialised " + std::string(Shared ? "shared " : "") +
              "memory by " + here(Site) + ": " +
              (Array.empty() ? "an allocation at byte " + std::to_string(Offset)
                             : Array + "[" + std::to_string(Element) + "]") +
              " was never written");
    if (!Ordered && (C.WriteMask & Mask) &&
        Races(C.Writer, C.WriteEpoch, C.WriteWarpEpoch)) {
      uint64_t Held = 0;
      if (Known && Bytes <= 8)
        std::memcpy(&Held, Address, Bytes);
      if (Kind == SiteKind::Load || !Known || Held != Stored)
        return Tell("write", C.Writer, C.WriteSite);
    }
    if (Kind == SiteKind::Store && !Ordered)
      for (unsigned R = 0; R < 2; ++R)
        if ((C.ReadMask[R] & Mask) &&
            Races(C.Reader[R], C.ReadEpoch[R], C.ReadWarpEpoch[R])) {
          uint64_t Held = 0;
          if (Known && Bytes <= 8)
            std::memcpy(&Held, Address, Bytes);
          if (!Known || Held != Stored)
            return Tell("read", C.Reader[R], C.ReadSite[R]);
        }
    if (Kind == SiteKind::Load) {
      if (!Ordered) {
        // The two newest readers are kept, of different threads.
        unsigned R = C.Reader[0] == Thread || C.ReadEpoch[0] < LaunchEpoch ||
                             (C.ReadEpoch[0] != Epoch)
                         ? 0
                         : 1;
        bool Add = C.Reader[R] == Thread && C.ReadEpoch[R] == Epoch;
        C.ReadMask[R] = Add ? C.ReadMask[R] | Mask : Mask;
        C.Reader[R] = Thread;
        C.ReadEpoch[R] = Epoch;
        C.ReadWarpEpoch[R] = Mine;
        C.ReadSite[R] = Site;
      }
    } else {
      C.Written = uint8_t((Fresh ? 0 : C.Written) | Mask);
      bool Add = C.Writer == Thread && C.WriteEpoch == Epoch && !Ordered;
      C.WriteMask = Ordered ? 0 : Add ? C.WriteMask | Mask : Mask;
      C.Writer = Thread;
      C.WriteEpoch = Epoch;
      C.WriteWarpEpoch = Mine;
      C.WriteSite = Site;
    }
    At = Stop;
  }
}

void Machine::range(uint32_t Site, char *Address, uint64_t Bytes) {
  if (!Bytes)
    return;
  // Word by word, as a copy loop would.
  SiteKind Kind = T.Sites[Site].Kind;
  for (uint64_t I = 0; I < Bytes;) {
    uint32_t Step = uint32_t(std::min<uint64_t>(Bytes - I, 4));
    access(Site, Address + I, Step, Kind, 0, false);
    I += Step;
  }
}

void Machine::local(uint32_t Site, const char *Base, uint64_t Size,
                    const char *Address, uint32_t Bytes) {
  if (Address >= Base && Address + Bytes <= Base + Size) {
    // Word W of every lane's array lies in one line, as on a GPU.
    if (How == Mode::Profile)
      trace(Site,
            LocalBegin +
                (uint64_t(Address - Base) / 4 * 32 + Running->Thread % 32) * 4);
    return;
  }
  finding(FindingKind::OutOfBounds,
          "out-of-bounds local " + std::string(verb(T.Sites[Site].Kind)) +
              " of " + std::to_string(Bytes) + " bytes by " + here(Site) +
              ": byte " + std::to_string(Address - Base) +
              " of a local array of " + std::to_string(Size) + " bytes");
}
