//===- Buffers.cpp - The arguments of a case on the device ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   red zone | data | red zone, a block for each buffer
///
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "Kernels.h"
#include "stark/Job/Npy.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <utility>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

/// Of outputs, few enough that L2 stays as cold as it was flushed.
static constexpr unsigned PlacesLookedAt = 8;
static constexpr uint64_t PlaceBytes = 1024;
static constexpr uint64_t MostUnpinned = uint64_t(64) << 20;

namespace {
constexpr uint64_t ZoneBytes = uint64_t(1) << 20;
/// By which a buffer's beginning moves: no less aligned than an allocation.
constexpr uint64_t Slots = 512;
constexpr uint64_t DriverPage = uint64_t(2) << 20;

/// Read as any type, a NaN or a wild number. Each leaf has another, or an
/// overrun that copies from one zone to another would leave it as it was.
uint32_t zonePattern(size_t Leaf) {
  return 0x7FF90000 | ((uint32_t(Leaf) + 1) * 0x9E37 & 0xFFFF);
}

bool isConst(const Leaf &L) { return L.Use == Role::Input; }
bool isPoisoned(const Leaf &L) {
  return L.Use == Role::Output || L.Use == Role::Scratch;
}
/// What a buffer takes with its red zones.
uint64_t zonedBytes(uint64_t Bytes) {
  return ZoneBytes + (Bytes + 255) / 256 * 256 + ZoneBytes;
}
} // namespace

Buffers::~Buffers() {
  release();
  releasePristine();
}

void Buffers::release() {
  detach();
  for (Block &B : Blocks)
    if (!B.IsOutput)
      cudaFree(B.Base);
  releaseBetween();
  cudaFree(std::exchange(Outputs, nullptr));
  cudaFree(std::exchange(Kept, nullptr));
  cudaFree(Counters);
  Counters = nullptr;
  Blocks.clear();
}

void Buffers::releasePristine() {
  for (void *Piece : Pristine)
    cudaFree(Piece);
  Pristine.clear();
}

/// How many bytes lie before, in and after each buffer, and where the outputs
/// lie in their common piece, which is of whole pages of the driver's: a
/// smaller one may share its page with others, and so be shared with them.
void Buffers::layOut(unsigned CaseIndex, uint64_t Common) {
  Current = CaseIndex;
  const Case &C = J.Cases[CaseIndex];
  Scalars = C.Values;
  Blocks.resize(J.Leaves.size());
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer)
      continue;
    Block &B = Blocks[I];
    B.Bytes = C.Values[I].elements() * dtypeBytes(L.Type);
    uint64_t Shift = C.Shifted ? std::max(4u, dtypeBytes(L.Type)) : 0;
    B.Before = Shift;
    if (Bare)
      continue;
    uint64_t Slot = Common ? judge::mix(Common + I) % (ZoneBytes / Slots) : 0;
    // What looks at whole words needs 4 bytes at least.
    B.Before += ZoneBytes + Slot * Slots;
    B.After =
        zonedBytes(B.Bytes) + (Common ? ZoneBytes : 0) - B.Before - B.Bytes;
  }
  OutputBytes = 0;
  if (Bare)
    return;
  for (const OutputPlace &P : outputPlaces(J, C)) {
    Blocks[P.Leaf].IsOutput = true;
    OutputBytes += Blocks[P.Leaf].all();
  }
  OutputBytes = (OutputBytes + DriverPage - 1) / DriverPage * DriverPage;
}

void Buffers::releaseBetween() {
  for (void *Piece : Between)
    cudaFree(Piece);
  Between.clear();
}

/// What lies between the pieces gives way.
cudaError_t Buffers::allocatePiece(char *&Piece, uint64_t Bytes) {
  cudaError_t E = cudaMalloc(&Piece, Bytes);
  if (E != cudaErrorMemoryAllocation || Between.empty())
    return E;
  cudaGetLastError();
  releaseBetween();
  return cudaMalloc(&Piece, Bytes);
}

/// One for the outputs, and one for each other buffer. With \p Own in an order,
/// and with pieces of memory between them, that follow from it.
cudaError_t Buffers::allocatePieces(uint64_t Own) {
  constexpr size_t OfOutputs = SIZE_MAX;
  constexpr uint64_t MostBetween = 16; // of DriverPage
  std::vector<size_t> Order;
  if (!Bare)
    Order.push_back(OfOutputs);
  for (size_t I = 0; I < Blocks.size(); ++I)
    if (J.Leaves[I].Kind == LeafKind::Buffer && !Blocks[I].IsOutput)
      Order.push_back(I);
  for (size_t I = Order.size(); Own && I > 1; --I)
    std::swap(Order[I - 1], Order[judge::mix(Own + I) % I]);
  for (size_t I : Order) {
    if (Own) {
      void *Piece = nullptr;
      uint64_t Pages = 1 + judge::mix(Own ^ I << 8) % MostBetween;
      if (cudaMalloc(&Piece, Pages * DriverPage) == cudaSuccess)
        Between.push_back(Piece);
      else // it works without
        cudaGetLastError();
    }
    cudaError_t E = I == OfOutputs
                        ? allocatePiece(Outputs, OutputBytes)
                        : allocatePiece(Blocks[I].Base, Blocks[I].all());
    if (E == cudaSuccess && I == OfOutputs && Keeps)
      E = allocatePiece(Kept, OutputBytes);
    if (E != cudaSuccess)
      return E;
  }
  if (Bare)
    return cudaSuccess;
  char *At = Outputs;
  for (const OutputPlace &P : outputPlaces(J, J.Cases[Current])) {
    Blocks[P.Leaf].Base = At;
    At += Blocks[P.Leaf].all();
  }
  return cudaSuccess;
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

std::string Buffers::allocate(unsigned CaseIndex, uint64_t Own, uint64_t Common,
                              bool &NoMemory) {
  release();
  if (CaseIndex != Current)
    releasePristine();
  layOut(CaseIndex, Common);
  Pristine.resize(J.Leaves.size());
  cudaError_t E =
      cudaMalloc(&Counters, (2 * J.Leaves.size() + 4) * sizeof(*Counters));
  if (E == cudaSuccess)
    E = cudaMemset(Counters, 0, (2 * J.Leaves.size() + 4) * sizeof(*Counters));
  if (E == cudaSuccess)
    E = allocatePieces(Own);
  for (size_t I = 0; E == cudaSuccess && I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    Block &B = Blocks[I];
    if (L.Kind != LeafKind::Buffer)
      continue;
    B.Data = B.Base + B.Before;
    if (!Bare)
      E = poison(B.Base, B.Before, zonePattern(I), nullptr);
    if (E == cudaSuccess && !Bare)
      E = poison(B.Data + B.Bytes, B.After, zonePattern(I), nullptr);
    if (E == cudaSuccess && L.Fill.Kind == InitKind::File && !isPoisoned(L) &&
        !Pristine[I])
      if (std::string Error = readPristine(uint32_t(I), E); !Error.empty())
        return Error;
  }
  if (E == cudaSuccess)
    E = cudaDeviceSynchronize();
  NoMemory = E == cudaErrorMemoryAllocation;
  return E == cudaSuccess ? ""
                          : "cannot set up the buffers of size '" +
                                J.Cases[Current].Label + "': " + describe(E);
}

std::string Buffers::fill(uint64_t Seed, uint64_t WeightSeed, uint32_t Round,
                          unsigned Shake, cudaStream_t Stream) {
  // Odd ones move to the other side, later ones further.
  double Way = Shake ? (Shake % 2 ? 1 : -1) * (1 + (Shake - 1) / 2 * 0.5) : 0;
  const Case &C = J.Cases[Current];
  cudaError_t E = cudaSuccess;
  for (uint32_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I) {
    const Block &B = Blocks[I];
    const Leaf &L = J.Leaves[I];
    if (!B.Base || (Bare && isPoisoned(L)))
      continue;
    if (isPoisoned(L))
      E = poison(B.Data, B.Bytes, judge::poisonPattern(L.Type, Round), Stream);
    else if (Pristine[I] && L.isAsGivenIn(C.Filling))
      E = cudaMemcpyAsync(B.Data, Pristine[I], B.Bytes,
                          cudaMemcpyDeviceToDevice, Stream);
    else
      E = gpu::fill(B.Data, L.Type, C.Values[I].Shape, fillOf(L, C, I),
                    L.Weight ? WeightSeed : Seed, I,
                    Way * judge::lastPlace(L.Type), Stream);
  }
  return E == cudaSuccess ? "" : "cannot fill the buffers: " + describe(E);
}

std::string Buffers::fingerprintInputs(cudaStream_t Stream) {
  uint64_t Bytes = 2 * J.Leaves.size() * sizeof(*Counters);
  cudaError_t E = cudaMemsetAsync(Counters, 0, Bytes, Stream);
  for (uint32_t I = 0; E == cudaSuccess && I < Blocks.size(); ++I)
    if (Blocks[I].Base && isConst(J.Leaves[I]))
      E = fingerprint(Blocks[I].Data, Blocks[I].Bytes, Counters + 2 * I,
                      Stream);
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
    const Block &B = Blocks[I];
    if (!B.Base)
      continue;
    unsigned long long *Changed = Counters + 2 * I + 1;
    E = countChanged(B.Base, B.Before, zonePattern(I), Changed, Stream);
    if (E == cudaSuccess)
      E = countChanged(B.Data + B.Bytes, B.After, zonePattern(I), Changed,
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
      E = fingerprint(Blocks[P.Leaf].Data, P.Bytes, Sum, Stream);
  return E == cudaSuccess ? "" : "cannot hash the outputs: " + describe(E);
}

std::string Buffers::fingerprintPlaces(cudaStream_t Stream, uint64_t Draw,
                                       bool Late) {
  unsigned long long *Sum = Counters + 2 * J.Leaves.size() + 2 + Late;
  cudaError_t E = cudaMemsetAsync(Sum, 0, sizeof(*Sum), Stream);
  std::vector<OutputPlace> All = outputPlaces(J, J.Cases[Current]);
  for (unsigned I = 0; !All.empty() && I < PlacesLookedAt; ++I) {
    const OutputPlace &P = All[I % All.size()];
    uint64_t Bytes = std::min(P.Bytes, PlaceBytes),
             At = judge::mix(Draw + I) % (P.Bytes - Bytes + 1) / 16 * 16;
    if (E == cudaSuccess && Bytes)
      E = fingerprint(Blocks[P.Leaf].Data + At, Bytes, Sum, Stream);
  }
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
  if (OutputBytes <= MostUnpinned)
    return false;
  if (cudaHostRegister(Shared, SharedBytes, 0) != cudaSuccess)
    cudaGetLastError();
  return true;
}

std::string Buffers::exportTo(char *Shared, bool FromKept) const {
  for (const OutputPlace &P : outputPlaces(J, J.Cases[Current])) {
    const char *From = FromKept ? inOutputs(Kept, P.Leaf) : Blocks[P.Leaf].Data;
    if (cudaError_t E = cudaMemcpy(Shared + P.Offset, From, P.Bytes,
                                   cudaMemcpyDeviceToHost);
        E != cudaSuccess)
      return "cannot copy output '" + J.Leaves[P.Leaf].Name +
             "' to the host: " + describe(E);
  }
  return "";
}

std::string Buffers::keep() {
  cudaError_t E = Kept ? cudaSuccess : cudaMalloc(&Kept, OutputBytes);
  if (E == cudaSuccess)
    E = cudaMemcpy(Kept, Outputs, OutputBytes, cudaMemcpyDeviceToDevice);
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
      Pointers[I] = {Blocks[I].Data, Scalars[I].Shape.data(),
                     int64_t(Scalars[I].Shape.size())};
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
