//===- Buffers.cpp - The arguments of a case on the device ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   red zone | data | red zone | data | red zone, in one piece of memory
///
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "Kernels.h"
#include "stark/Job/Npy.h"
#include "stark/Job/Records.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <utility>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

/// Of each of MostPlaces, so little that L2 stays as cold as it was flushed.
static constexpr uint64_t PlaceBytes = 1024;
static constexpr uint64_t MostUnpinned = uint64_t(64) << 20;

namespace {
/// Read as any type, a NaN or a wild number. Each leaf has another, or an
/// overrun that copies from one zone to another would leave it as it was.
uint32_t zonePattern(size_t Leaf) {
  return 0x7FF90000 | ((uint32_t(Leaf) + 1) * 0x9E37 & 0xFFFF);
}

bool isConst(const Leaf &L) { return L.Use == Role::Input; }
bool isPoisoned(const Leaf &L) {
  return L.Use == Role::Output || L.Use == Role::Scratch;
}
} // namespace

bool Buffers::isGuarded(size_t Leaf) const {
  return Guard && isConst(J.Leaves[Leaf]);
}

char *Buffers::dataOf(size_t Leaf) const {
  if (Bare)
    return Apart[Leaf];
  return (isGuarded(Leaf) ? Guard->Writable : Piece) + Place + Blocks[Leaf].At;
}

Buffers::~Buffers() {
  release();
  releasePristine();
  cudaFree(Counters);
}

void Buffers::release() {
  detach();
  cudaFree(std::exchange(Piece, nullptr));
  cudaFree(std::exchange(Kept, nullptr));
  PieceBytes = KeptBytes = 0;
  for (char *Each : Apart)
    cudaFree(Each);
  Apart.clear();
}

void Buffers::releasePristine() {
  for (void *Each : Pristine)
    cudaFree(Each);
  Pristine.clear();
}

/// Without room for other places where there is too little memory.
cudaError_t Buffers::allocatePiece() {
  if (fits(PieceBytes, J, Current))
    return cudaSuccess;
  release();
  cudaError_t E = cudaSuccess;
  for (uint64_t Bytes : {pieceFor(J, Current), leastPieceFor(J, Current)}) {
    E = cudaMalloc(&Piece, Bytes);
    if (E == cudaSuccess)
      PieceBytes = Bytes;
    if (E != cudaErrorMemoryAllocation)
      return E;
    cudaGetLastError();
  }
  return E;
}

/// Of just its size each, so that a tool sees where it ends.
cudaError_t Buffers::allocateApart() {
  release();
  Apart.assign(J.Leaves.size(), nullptr);
  cudaError_t E = cudaSuccess;
  for (size_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I)
    if (Blocks[I].Has)
      E = cudaMalloc(&Apart[I], Blocks[I].Bytes);
  return E;
}

/// For all that come at this piece.
cudaError_t Buffers::makeRoomToKeep() {
  uint64_t Bytes = 1;
  for (unsigned Case = 0; Case < J.Cases.size(); ++Case)
    if (sharePiece(J, Current, Case))
      Bytes = std::max(Bytes, outputBytes(outputPlaces(J, J.Cases[Case])));
  if (Kept && Bytes <= KeptBytes)
    return cudaSuccess;
  cudaFree(std::exchange(Kept, nullptr));
  cudaError_t E = cudaMalloc(&Kept, Bytes);
  KeptBytes = E == cudaSuccess ? Bytes : 0;
  return E;
}

/// All of the piece that is no buffer's.
cudaError_t Buffers::makeZones() {
  cudaError_t E = cudaSuccess;
  for (size_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I) {
    const Placed &B = Blocks[I];
    if (!B.Has)
      continue;
    E = poison(dataOf(I) - B.Before, B.Before, zonePattern(I), nullptr);
    if (E == cudaSuccess)
      E = poison(dataOf(I) + B.Bytes, B.After, zonePattern(I), nullptr);
  }
  return E;
}

std::string Buffers::guard(const TwoAddresses *Where) {
  Guard = Where && Where->Writable && !Bare && PieceBytes <= Where->Bytes
              ? Where
              : nullptr;
  if (!Guard || std::exchange(GuardHasZones, true))
    return "";
  cudaError_t E =
      poison(Guard->Writable, PieceBytes, zonePattern(Blocks.size()), nullptr);
  if (E == cudaSuccess)
    E = makeZones();
  if (E == cudaSuccess)
    E = cudaDeviceSynchronize();
  return E == cudaSuccess ? "" : "cannot guard the inputs: " + describe(E);
}

/// The array of \p Leaf, on the device.
std::string Buffers::readPristine(uint32_t Leaf, cudaError_t &E) {
  const struct Leaf &L = J.Leaves[Leaf];
  std::string Error;
  std::vector<char> Data =
      readNpy(Folder + "/" + L.Fill.File, L.Type, Scalars[Leaf].Shape, Error);
  if (!Error.empty())
    return Error;
  E = cudaMalloc(&Pristine[Leaf], Blocks[Leaf].Bytes);
  if (E == cudaSuccess)
    E = cudaMemcpy(Pristine[Leaf], Data.data(), Blocks[Leaf].Bytes,
                   cudaMemcpyHostToDevice);
  return "";
}

std::string Buffers::allocate(unsigned CaseIndex, const Placing &Where,
                              uint64_t &Bytes, bool &NoMemory) {
  if (CaseIndex != Current)
    releasePristine();
  Current = CaseIndex;
  Guard = nullptr;
  GuardHasZones = false;
  Scalars = J.Cases[CaseIndex].Values;
  Pristine.resize(J.Leaves.size());
  ArenaBytes = layOut(J, CaseIndex, Where.Common, Blocks);
  uint64_t CounterBytes = (2 * J.Leaves.size() + 4) * sizeof(*Counters);
  cudaError_t E = Bare ? allocateApart() : allocatePiece();
  if (E == cudaSuccess && Keeps)
    E = makeRoomToKeep();
  if (E == cudaSuccess && !Counters)
    E = cudaMalloc(&Counters, CounterBytes);
  if (E == cudaSuccess)
    E = cudaMemset(Counters, 0, CounterBytes);
  if (E == cudaSuccess && !Bare) {
    Place = placeIn(PieceBytes, ArenaBytes, Where.Own);
    widen(Blocks, Place, PieceBytes - Place - ArenaBytes);
    E = makeZones();
  }
  for (size_t I = 0; E == cudaSuccess && I < J.Leaves.size(); ++I)
    if (const Leaf &L = J.Leaves[I]; Blocks[I].Has &&
                                     L.Fill.Kind == InitKind::File &&
                                     !isPoisoned(L) && !Pristine[I])
      if (std::string Error = readPristine(uint32_t(I), E); !Error.empty())
        return Error;
  if (E == cudaSuccess)
    E = cudaDeviceSynchronize();
  Bytes = PieceBytes;
  NoMemory = E == cudaErrorMemoryAllocation;
  return E == cudaSuccess ? ""
                          : "cannot set up the buffers of size '" +
                                J.Cases[Current].Label + "': " + describe(E);
}

/// Each field for itself, the bytes between them with 0.
cudaError_t Buffers::fillRecords(uint32_t Leaf, uint64_t Seed, double Way,
                                 cudaStream_t Stream) {
  const struct Leaf &L = J.Leaves[Leaf];
  const Case &C = J.Cases[Current];
  const LeafValue &V = C.Values[Leaf];
  char *Data = dataOf(Leaf);
  cudaError_t E = cudaMemsetAsync(Data, 0, Blocks[Leaf].Bytes, Stream);
  for (size_t I = 0; E == cudaSuccess && I < L.Fields.size(); ++I) {
    struct Leaf Of = columnOf(L, I);
    LeafValue Column = columnOf(L, V, I);
    E = gpu::fill(Data + L.Fields[I].Offset, Of.Type, Column.Shape,
                  fillOf(Of, Column, C.Filling), judge::mix(Seed + I + 1), Leaf,
                  Way * judge::lastPlace(Of.Type), Stream,
                  {L.Fields[I].Count, recordBytes(V)});
  }
  return E;
}

std::string Buffers::fill(uint64_t Seed, uint64_t WeightSeed, uint32_t Round,
                          unsigned Shake, cudaStream_t Stream) {
  // Odd ones move to the other side, later ones further.
  double Way = Shake ? (Shake % 2 ? 1 : -1) * (1 + (Shake - 1) / 2 * 0.5) : 0;
  const Case &C = J.Cases[Current];
  cudaError_t E = cudaSuccess;
  for (uint32_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I) {
    const Placed &B = Blocks[I];
    const Leaf &L = J.Leaves[I];
    if (!B.Has || (Bare && isPoisoned(L)))
      continue;
    if (isPoisoned(L))
      E = poison(dataOf(I), B.Bytes, judge::poisonPattern(L.Type, Round),
                 Stream);
    else if (Pristine[I] && L.isAsGivenIn(C.Filling))
      E = cudaMemcpyAsync(dataOf(I), Pristine[I], B.Bytes,
                          cudaMemcpyDeviceToDevice, Stream);
    else if (!L.Fields.empty())
      E = fillRecords(I, Seed, Way, Stream);
    else
      E = gpu::fill(dataOf(I), L.Type, C.Values[I].Shape, fillOf(L, C, I),
                    L.Weight ? WeightSeed : Seed, I,
                    Way * judge::lastPlace(L.Type), Stream);
  }
  return E == cudaSuccess ? "" : "cannot fill the buffers: " + describe(E);
}

std::string Buffers::fingerprintInputs(cudaStream_t Stream) {
  uint64_t Bytes = 2 * J.Leaves.size() * sizeof(*Counters);
  cudaError_t E = cudaMemsetAsync(Counters, 0, Bytes, Stream);
  for (uint32_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I)
    if (Blocks[I].Has && isConst(J.Leaves[I]))
      E = fingerprint(dataOf(I), Blocks[I].Bytes, Counters + 2 * I, Stream);
  return E == cudaSuccess ? "" : "cannot hash the inputs: " + describe(E);
}

std::string Buffers::arm(cudaStream_t Stream) {
  if (std::string P = fingerprintInputs(Stream); !P.empty())
    return P;
  Before.assign(2 * J.Leaves.size(), 0);
  cudaError_t E = cudaMemcpyAsync(Before.data(), Counters,
                                  Before.size() * sizeof(Before[0]),
                                  cudaMemcpyDeviceToHost, Stream);
  if (E == cudaSuccess)
    E = cudaStreamSynchronize(Stream);
  return E == cudaSuccess ? "" : "cannot hash the inputs: " + describe(E);
}

std::string Buffers::inspect(cudaStream_t Stream, Reply &R) {
  if (std::string P = fingerprintInputs(Stream); !P.empty())
    return P;
  cudaError_t E = cudaSuccess;
  for (uint32_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I) {
    const Placed &B = Blocks[I];
    if (!B.Has)
      continue;
    unsigned long long *Changed = Counters + 2 * I + 1;
    E = countChanged(dataOf(I) - B.Before, B.Before, zonePattern(I), Changed,
                     Stream);
    if (E == cudaSuccess)
      E = countChanged(dataOf(I) + B.Bytes, B.After, zonePattern(I), Changed,
                       Stream);
  }
  std::vector<unsigned long long> After(2 * J.Leaves.size());
  if (E == cudaSuccess)
    E = cudaMemcpyAsync(After.data(), Counters, After.size() * sizeof(After[0]),
                        cudaMemcpyDeviceToHost, Stream);
  if (E == cudaSuccess)
    E = cudaStreamSynchronize(Stream);
  if (E != cudaSuccess)
    return "cannot inspect the buffers: " + describe(E);
  for (uint32_t I = 0; I < Blocks.size(); ++I) {
    if (After[2 * I + 1]) {
      R.What = Status::OutOfBounds;
      R.Leaf = I;
      R.Count = After[2 * I + 1];
      return "";
    }
    if (After[2 * I] != Before[2 * I] && R.What == Status::Ok) {
      R.What = Status::InputChanged;
      R.Leaf = I;
    }
  }
  return "";
}

std::string Buffers::fingerprintOutputs(cudaStream_t Stream, bool Late) {
  unsigned long long *Sum = Counters + 2 * J.Leaves.size() + Late;
  cudaError_t E = cudaMemsetAsync(Sum, 0, sizeof(*Sum), Stream);
  for (const OutputPlace &P : outputPlaces(J, J.Cases[Current]))
    if (E == cudaSuccess)
      E = fingerprint(dataOf(P.Leaf), P.Bytes, Sum, Stream);
  return E == cudaSuccess ? "" : "cannot hash the outputs: " + describe(E);
}

std::string Buffers::fingerprintPlaces(cudaStream_t Stream, uint64_t Draw,
                                       bool Late) {
  unsigned long long *Sum = Counters + 2 * J.Leaves.size() + 2 + Late;
  cudaError_t E = cudaMemsetAsync(Sum, 0, sizeof(*Sum), Stream);
  std::vector<OutputPlace> All = outputPlaces(J, J.Cases[Current]);
  Places Of;
  for (unsigned I = 0; !All.empty() && I < MostPlaces; ++I) {
    const OutputPlace &P = All[I % All.size()];
    uint64_t Bytes = std::min(P.Bytes, PlaceBytes),
             At = judge::mix(Draw + I) % (P.Bytes - Bytes + 1) / 16 * 16;
    Of.Each[Of.Count++] = {dataOf(P.Leaf) + At, Bytes};
  }
  if (E == cudaSuccess)
    E = fingerprint(Of, Sum, Stream);
  return E == cudaSuccess ? "" : "cannot hash the outputs: " + describe(E);
}

std::string Buffers::settled(bool &Agree) {
  unsigned long long Sums[4] = {};
  // The stream does not block the default one, on which the copy is made.
  cudaError_t E = cudaDeviceSynchronize();
  if (E == cudaSuccess)
    E = cudaMemcpy(Sums, Counters + 2 * J.Leaves.size(), sizeof(Sums),
                   cudaMemcpyDeviceToHost);
  Agree = Sums[0] == Sums[1] && Sums[2] == Sums[3];
  return E == cudaSuccess ? "" : "cannot hash the outputs: " + describe(E);
}

bool Buffers::pin(char *Shared, uint64_t SharedBytes) const {
  if (outputBytes(outputPlaces(J, J.Cases[Current])) <= MostUnpinned)
    return false;
  if (cudaHostRegister(Shared, SharedBytes, 0) != cudaSuccess)
    cudaGetLastError();
  return true;
}

std::string Buffers::exportTo(char *Shared, bool FromKept) const {
  for (const OutputPlace &P : outputPlaces(J, J.Cases[Current])) {
    const char *From = FromKept ? keptOf(P) : dataOf(P.Leaf);
    if (cudaError_t E = cudaMemcpy(Shared + P.Offset, From, P.Bytes,
                                   cudaMemcpyDeviceToHost);
        E != cudaSuccess)
      return "cannot copy output '" + J.Leaves[P.Leaf].Name +
             "' to the host: " + describe(E);
  }
  return "";
}

std::string Buffers::keep() {
  cudaError_t E = makeRoomToKeep();
  for (const OutputPlace &P : outputPlaces(J, J.Cases[Current]))
    if (E == cudaSuccess)
      E = cudaMemcpy(keptOf(P), dataOf(P.Leaf), P.Bytes,
                     cudaMemcpyDeviceToDevice);
  return E == cudaSuccess ? "" : "cannot keep the outputs: " + describe(E);
}

void **Buffers::arguments(cudaStream_t Stream) {
  // Scalars and pointers are given afresh, should a call have changed them.
  Scalars = J.Cases[Current].Values;
  StreamValue.assign(1, Stream);
  Pointers.assign(J.Leaves.size(), {});
  Arguments.assign(J.Leaves.size(), nullptr);
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    switch (J.Leaves[I].Kind) {
    case LeafKind::Buffer:
      Pointers[I] = {isGuarded(I) ? Guard->ReadOnly + Place + Blocks[I].At
                                  : dataOf(I),
                     Scalars[I].Shape.data(), int64_t(Scalars[I].Shape.size())};
      Arguments[I] = &Pointers[I];
      break;
    case LeafKind::Integer:
      Arguments[I] = &Scalars[I].Integer;
      break;
    case LeafKind::Real:
      Arguments[I] = &Scalars[I].Real;
      break;
    case LeafKind::Stream:
      Arguments[I] = StreamValue.data();
      break;
    }
  }
  return Arguments.data();
}
