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

extern "C" uint32_t __stark_sim_probe;

namespace {
/// Entries of a lane's trace before its warp is looked at.
constexpr size_t TraceLimit = 32;
const std::string DynamicArray = "dynamic shared memory";

const char *verb(ProbeKind K) {
  return K == ProbeKind::Load    ? "read"
         : K == ProbeKind::Store ? "write"
                                 : "atomic access";
}
} // namespace

std::string Machine::threadName(uint32_t Thread) const {
  Dim3 At = Block.at(Thread % PerBlock);
  return "(" + std::to_string(At.X) + "," + std::to_string(At.Y) + "," +
         std::to_string(At.Z) + ")";
}

/// ", line 12", or nothing.
static std::string lineOf(const Tables &T, uint32_t Probe) {
  return Probe < T.Probes.size() && T.Probes[Probe].Line
             ? ", " + T.Probes[Probe].place()
             : "";
}

std::string Machine::placeOf(uint32_t Probe, unsigned Rank) const {
  return "kernel " + Kernels[Launched].Name + lineOf(T, Probe) + ", block " +
         blockName(Rank);
}

std::string Machine::here(uint32_t Probe) const {
  if (!Running)
    return placeOf(Probe, 0);
  return placeOf(Probe, rankOf(*Running)) + ", thread " +
         threadName(Running->Thread);
}

void Machine::finding(FindingKind Kind, std::string Text) {
  OnFinding({Kind, std::move(Text)});
}

void Machine::unsupported(UnsupportedKind Kind, const std::string &What) {
  OnUnsupported(
      {Kind, What + " (" + here(Running ? __stark_sim_probe : ~0u) + ")"});
}

void Machine::outOfBounds(uint32_t Probe, const char *Address, uint64_t Bytes,
                          ProbeKind Kind) {
  std::string What = std::string(verb(Kind)) + " of " + std::to_string(Bytes) +
                     " bytes by " + here(Probe) + ": ";
  if (Address >= SharedBase && Address < SharedBase + SharedMemory.size()) {
    uint64_t Offset = uint64_t(Address - SharedBase) % SharedStride;
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
  else if (Near->Constant && Kind != ProbeKind::Load &&
           Address >= Near->Begin && Address < Near->End)
    return finding(FindingKind::InputChanged,
                   What + element(*Near, Address) +
                       "; it is an input, which must be left as it is");
  else
    What += element(*Near, Address);
  finding(FindingKind::OutOfBounds, "out-of-bounds global " + What);
}

void Machine::trace(uint32_t Probe, uint64_t Address) {
  if (!Recorder) // the block is only counted
    return;
  Running->Trace.push_back(traceEntry(Probe, Address));
  if (Running->Trace.size() >= TraceLimit) {
    Running->State = Wait::Turn;
    Running->Probe = Probe;
    suspend();
  }
}

void Machine::fence() {
  if (How == Mode::Profile)
    trace(__stark_sim_probe, 0);
}

void Machine::access(uint32_t Probe, char *Address, uint32_t Bytes,
                     ProbeKind Kind, uint64_t Stored, bool Known) {
  touch(Probe, Address, Bytes, Kind, Known ? &Stored : nullptr);
}

void Machine::touch(uint32_t Probe, char *Address, uint32_t Bytes,
                    ProbeKind Kind, const void *Stored) {
  if (++Accesses > AccessLimit)
    OnLimit(progress());
  // A thread's own variables lie on its stack.
  char *Own = Stacks[Running->Stack];
  if (Address >= Own && Address + Bytes <= Own + StackBytes)
    return;
  // What a warp does with volatile memory it does in step: its last rounds of a
  // sum in shared memory were written so before there was __syncwarp().
  if (T.Probes[Probe].Volatile && Kind != ProbeKind::Atomic) {
    Running->State = Wait::Turn;
    Running->Probe = Probe;
    suspend();
  }
  uint32_t Align = T.Probes[Probe].Align;
  if (Align > 1 && (reinterpret_cast<uintptr_t>(Address) & (Align - 1)))
    return finding(FindingKind::Misaligned,
                   "misaligned " + std::string(verb(Kind)) + " of " +
                       std::to_string(Bytes) + " bytes by " + here(Probe) +
                       ": the address is no multiple of " +
                       std::to_string(Align));
  if (How == Mode::Profile)
    trace(Probe, reinterpret_cast<uintptr_t>(Address) & AddressMask);
  if (Address >= SharedBase && Address < SharedBase + SharedMemory.size())
    return sharedAccess(Probe, Address, Bytes, Kind, Stored);
  ProbeCache &C = Cached[Probe];
  if (Address < C.Begin || Address + Bytes > C.End) {
    Allocation *A = find(Address);
    if (!A || A->Freed || Address + Bytes > A->End ||
        (A->Constant && Kind != ProbeKind::Load))
      return outOfBounds(Probe, Address, Bytes, Kind);
    // Of what nobody writes no history is needed, but to tell what was read.
    bool Watches = How == Mode::Check && A->Cells && (Reach || !A->isSettled());
    C = {A->Begin, A->End, A, Watches ? A->Cells->data() : nullptr};
    A->Used |= Kind != ProbeKind::Load;
  }
  if (Wrote.isOpen())
    Wrote.note(*C.Of, uint64_t(Address - C.Begin), Bytes, T.Probes[Probe],
               Kind);
  if (C.Cells) {
    uint64_t Offset = uint64_t(Address - C.Of->Begin);
    Watched A{Probe, Kind, Address, Bytes, Stored, false, C.Of->Name, C.Of};
    A.Within = Offset;
    if (Mine)
      mark(A, *C.Of, Offset);
    watch(A, C.Cells, Offset);
  } else if (!C.Of->isSettled()) {
    notAPartners();
  }
  if (Kind == ProbeKind::Atomic || T.Probes[Probe].Volatile)
    BlockSynced = true;
}

void Machine::sharedAccess(uint32_t Probe, char *Address, uint32_t Bytes,
                           ProbeKind Kind, const void *Stored) {
  uint64_t InCluster = uint64_t(Address - SharedBase), Offset = InCluster;
  if (Ranks > 1) {
    if (!isThere(Address))
      return;
    Offset %= SharedStride;
  }
  const SharedVariable *Of = nullptr;
  if (Offset < T.SharedEnd) {
    auto After = std::upper_bound(
        T.Shared.begin(), T.Shared.end(), Offset,
        [](uint64_t O, const SharedVariable &V) { return O < V.Offset; });
    if (After == T.Shared.begin())
      return outOfBounds(Probe, Address, Bytes, Kind);
    Of = &*std::prev(After);
    if (Offset + Bytes > Of->Offset + Of->Bytes)
      return outOfBounds(Probe, Address, Bytes, Kind);
  } else if (Offset + Bytes > T.SharedEnd + Dynamic) {
    return outOfBounds(Probe, Address, Bytes, Kind);
  }
  if (How != Mode::Check)
    return;
  Watched A{
      Probe, Kind, Address, Bytes, Stored, true, Of ? Of->Name : DynamicArray};
  A.Within = Offset - (Of ? Of->Offset : T.SharedEnd);
  watch(A, SharedCells.data(), InCluster);
}

/// Who else touched a word, and whether nothing orders that against this
/// access.
bool Machine::races(const Watched &A, uint32_t Other, uint32_t OtherEpoch,
                    uint16_t OtherWarpEpoch) const {
  if (OtherEpoch < LaunchEpoch)
    return OtherEpoch >= Order.allBefore() && !Order.ordered(OtherEpoch);
  if (Other == A.Thread)
    return false;
  bool Together = Other / Threads == A.Thread / Threads;
  if (!Together)
    return !A.Shared && !BlockSynced;
  if (OtherEpoch != Epoch)
    return false;
  unsigned OtherWarp = (Other % Threads) / 32;
  if (OtherWarp == A.Warp)
    return OtherWarpEpoch == A.WarpEpoch;
  return Met.Seen.empty() || !warpsOrdered(A.Warp, OtherWarp, OtherWarpEpoch);
}

/// Two threads that write the same value do not race.
bool Machine::changes(const Watched &A) {
  return !A.Stored || std::memcmp(A.Address, A.Stored, A.Bytes) != 0;
}

/// "x[3]", by the name that is known.
std::string Machine::nameOf(const Watched &A) const {
  std::string Number = std::to_string(A.element());
  if (A.Shared)
    return &A.Array == &DynamicArray ? A.Array + " at element " + Number
                                     : "shared " + A.Array + "[" + Number + "]";
  std::string Name = A.In ? nameOf(*A.In) : A.Array;
  return "global " + (Name.empty() ? "memory" : Name + "[" + Number + "]");
}

/// Of an allocation: the argument's of the entry, the variable's of the host's
/// code, or the kernel's parameter that points to it.
std::string Machine::nameOf(const Allocation &A) const {
  if (!A.Name.empty() || Launched >= Kernels.size() || !Closure)
    return A.Name;
  const Kernel &K = Kernels[Launched];
  size_t Known = std::min(K.ParameterNames.size(), K.ParameterOffsets.size());
  for (size_t I = 0; I < Known; ++I) {
    const char *Value = nullptr;
    if (K.ParameterBytes[I] != sizeof(Value) || K.ParameterNames[I].empty())
      continue;
    std::memcpy(&Value,
                static_cast<const char *>(Closure) + K.ParameterOffsets[I],
                sizeof(Value));
    if (Value >= A.Begin && Value < A.End)
      return K.ParameterNames[I];
  }
  return "";
}

void Machine::tellRace(const Watched &A, const char *Theirs, uint32_t Other,
                       uint32_t OtherEpoch, uint32_t OtherProbe) {
  std::string Text = std::string("data race on ") + nameOf(A) + ": " +
                     (A.Kind == ProbeKind::Load ? "read" : "write") + " by " +
                     here(A.Probe) + " and " + Theirs + " by ";
  std::string Line = lineOf(T, OtherProbe);
  if (OtherEpoch < LaunchEpoch) {
    Text += Order.what(OtherEpoch) + Line;
    return finding(FindingKind::Race,
                   Text + "; nothing orders that before " + Order.what(Epoch) +
                       ": no wait for an event, a stream or the device");
  }
  Text += "thread " + threadName(Other % Threads);
  if (blockNumber(Other) != blockNumber(A.Thread))
    Text += " of block " + std::to_string(blockNumber(Other));
  finding(FindingKind::Race, Text + Line + ", with no barrier between them");
}

void Machine::tellInFlight(const Watched &A, const Cell &C) {
  finding(FindingKind::Race,
          "data race on " + nameOf(A) + ": " + verb(A.Kind) + " by " +
              here(A.Probe) + " and the asynchronous copy by thread " +
              threadName(C.Writer % Threads) + lineOf(T, C.WriteProbe) +
              ", which has not been waited for");
}

void Machine::tellUninitialised(const Watched &A, uint64_t Offset) {
  std::string Name = A.In ? nameOf(*A.In) : A.Array;
  finding(FindingKind::Uninitialised,
          "read of uninitialised " + std::string(A.Shared ? "shared " : "") +
              "memory by " + here(A.Probe) + ": " +
              (Name.empty() ? "an allocation at byte " + std::to_string(Offset)
                            : Name + "[" + std::to_string(A.element()) + "]") +
              " was never written");
}

/// The two newest readers of a word are kept, of different threads.
void Machine::noteRead(const Watched &A, Cell &C, uint8_t Mask) const {
  if (A.Ordered)
    return;
  unsigned R = C.Reader[0] == A.Thread || C.ReadEpoch[0] < LaunchEpoch ||
                       C.ReadEpoch[0] != Epoch
                   ? 0
                   : 1;
  bool Add = C.Reader[R] == A.Thread && C.ReadEpoch[R] == Epoch;
  C.ReadMask[R] = Add ? C.ReadMask[R] | Mask : Mask;
  C.Reader[R] = A.Thread;
  C.ReadEpoch[R] = Epoch;
  C.ReadWarpEpoch[R] = A.WarpEpoch;
  C.ReadProbe[R] = A.Probe;
}

void Machine::noteWrite(const Watched &A, Cell &C, uint8_t Mask,
                        uint8_t Holds) const {
  C.Written = uint8_t(Holds | Mask);
  bool Add = C.Writer == A.Thread && C.WriteEpoch == Epoch && !A.Ordered;
  C.WriteMask = A.Ordered ? 0 : Add ? C.WriteMask | Mask : Mask;
  C.Writer = A.Thread;
  C.WriteEpoch = Epoch;
  C.WriteWarpEpoch = A.WarpEpoch;
  C.WriteProbe = A.Probe;
}

/// The history of each word of the access against it.
void Machine::watch(Watched &A, Cell *Cells, uint64_t Offset) {
  A.Thread = uint32_t(ClusterLinear * Threads + Running->Thread);
  A.Warp = Running->Thread / 32;
  A.WarpEpoch = WarpEpoch[A.Warp];
  A.Ordered = A.Kind == ProbeKind::Atomic || T.Probes[A.Probe].Volatile;
  for (uint64_t At = Offset; At < Offset + A.Bytes;) {
    Cell &C = Cells[At / 4];
    uint64_t Stop = std::min(Offset + A.Bytes, (At / 4 + 1) * 4);
    uint8_t Mask = uint8_t(((1u << (Stop - At)) - 1) << (At % 4));
    uint8_t Holds = A.Shared && C.WriteEpoch < BlockEpoch ? 0
                    : A.In ? C.Written | A.In->Held
                           : C.Written;
    if (Holds & InFlight)
      return tellInFlight(A, C);
    if (A.Kind != ProbeKind::Store && (Holds & Mask) != Mask)
      return tellUninitialised(A, Offset);
    if (!A.Ordered && (C.WriteMask & Mask) &&
        races(A, C.Writer, C.WriteEpoch, C.WriteWarpEpoch) &&
        (A.Kind == ProbeKind::Load || changes(A)))
      return tellRace(A, "write", C.Writer, C.WriteEpoch, C.WriteProbe);
    if (A.Kind == ProbeKind::Store && !A.Ordered)
      for (unsigned R = 0; R < 2; ++R)
        if ((C.ReadMask[R] & Mask) &&
            races(A, C.Reader[R], C.ReadEpoch[R], C.ReadWarpEpoch[R]) &&
            changes(A))
          return tellRace(A, "read", C.Reader[R], C.ReadEpoch[R],
                          C.ReadProbe[R]);
    if (A.Kind != ProbeKind::Store)
      C.Read |= uint8_t(Mask & ~C.Stored);
    if (A.Kind != ProbeKind::Load)
      C.Stored |= Mask;
    if (A.Kind == ProbeKind::Load)
      noteRead(A, C, Mask);
    else
      noteWrite(A, C, Mask, Holds);
    At = Stop;
  }
}

void Machine::range(uint32_t Probe, char *Address, uint64_t Bytes,
                    const char *Source, uint64_t Mask) {
  if (!Bytes)
    return;
  // Word by word, as a copy loop would; what is only counted of a bulk copy
  // goes by whole sectors.
  ProbeKind Kind = T.Probes[Probe].Kind;
  uint64_t Most =
      T.Probes[Probe].Bulk && How == Mode::Profile ? SectorBytes : 4;
  for (uint64_t I = 0; I < Bytes;) {
    uint64_t ToEnd = Most - reinterpret_cast<uint64_t>(Address + I) % Most;
    uint32_t Step = uint32_t(std::min(Bytes - I, Most > 4 ? ToEnd : Most));
    touch(Probe, Address + I, Step, Kind,
          Source ? Source + (I & Mask) : nullptr);
    I += Step;
  }
}

void Machine::local(uint32_t Probe, const char *Base, uint64_t Size,
                    const char *Address, uint32_t Bytes) {
  if (Address >= Base && Address + Bytes <= Base + Size) {
    // Word W of every lane's array lies in one line, as on a GPU.
    if (How == Mode::Profile)
      trace(Probe,
            LocalBegin +
                (uint64_t(Address - Base) / 4 * 32 + Running->Thread % 32) * 4);
    return;
  }
  finding(FindingKind::OutOfBounds,
          "out-of-bounds local " + std::string(verb(T.Probes[Probe].Kind)) +
              " of " + std::to_string(Bytes) + " bytes by " + here(Probe) +
              ": byte " + std::to_string(Address - Base) +
              " of a local array of " + std::to_string(Size) + " bytes");
}
