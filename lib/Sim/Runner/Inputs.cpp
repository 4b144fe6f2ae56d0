//===- Inputs.cpp - The arguments of a case in host memory ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (seed, leaf, index) -> 64 random bits -> a value of the leaf's
///   distribution
///
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "stark/Job/Npy.h"
#include "stark/Judge/Compare.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;

namespace {
/// Elements that are drawn before they repeat, where a buffer is large.
constexpr uint64_t Tile = uint64_t(1) << 20;

uint64_t mix(uint64_t Z) {
  Z = (Z ^ (Z >> 30)) * 0xBF58476D1CE4E5B9ull;
  Z = (Z ^ (Z >> 27)) * 0x94D049BB133111EBull;
  return Z ^ (Z >> 31);
}

uint64_t draw(uint64_t Key, uint64_t Index) {
  return mix(Key + (Index + 1) * 0x9E3779B97F4A7C15ull);
}

uint16_t bfloatOf(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  return uint16_t((X + 0x7fff + (X >> 16 & 1)) >> 16);
}

bool whole(DType T) {
  return T == DType::I32 || T == DType::I64 || T == DType::U8;
}

template <class T> void putAs(T Value, char *Data, uint64_t I) {
  std::memcpy(Data + I * sizeof(T), &Value, sizeof(T));
}

void put(DType T, char *Data, uint64_t I, double Value) {
  switch (T) {
  case DType::F32:
    return putAs(float(Value), Data, I);
  case DType::F64:
    return putAs(Value, Data, I);
  case DType::F16:
    return putAs(_Float16(float(Value)), Data, I);
  case DType::BF16:
    return putAs(bfloatOf(float(Value)), Data, I);
  case DType::I32:
    return putAs(int32_t(int64_t(Value)), Data, I);
  case DType::I64:
    return putAs(int64_t(Value), Data, I);
  case DType::U8:
    return putAs(uint8_t(int64_t(Value)), Data, I);
  }
}

double valueOf(const Init &Fill, DType T, uint64_t Bits, uint64_t I) {
  switch (Fill.Kind) {
  case InitKind::Normal: {
    double U = (double(Bits >> 40) + 1.0) * 0x1.0p-24,
           V = double(uint32_t(Bits) >> 8) * 0x1.0p-24;
    double Drawn = Fill.Low + Fill.High * std::sqrt(-2 * std::log(U)) *
                                  std::cos(6.283185307179586 * V);
    return whole(T) ? std::rint(Drawn) : Drawn;
  }
  case InitKind::Uniform: {
    double Drawn =
        Fill.Low + (Fill.High - Fill.Low) * (double(Bits >> 11) * 0x1.0p-53);
    return whole(T) ? std::floor(Drawn) : Drawn;
  }
  case InitKind::Arange:
    return Fill.Low + double(I);
  case InitKind::Ones:
    return 1;
  default:
    return 0;
  }
}

void fillWith(const Leaf &L, char *Data, uint64_t Count, uint64_t Key,
              bool Large) {
  if (L.Fill.Kind == InitKind::Zeros)
    return; // fresh pages
  if (L.Fill.Kind == InitKind::Permutation) {
    std::vector<uint64_t> Order(Count);
    std::iota(Order.begin(), Order.end(), 0);
    for (uint64_t I = Count; I > 1; --I)
      std::swap(Order[I - 1], Order[draw(Key, I) % I]);
    for (uint64_t I = 0; I < Count; ++I)
      put(L.Type, Data, I, double(Order[I]));
    return;
  }
  uint64_t Drawn =
      Large && L.Fill.Kind != InitKind::Arange ? std::min(Count, Tile) : Count;
  for (uint64_t I = 0; I < Drawn; ++I)
    put(L.Type, Data, I, valueOf(L.Fill, L.Type, draw(Key, I), I));
  uint64_t Width = dtypeBytes(L.Type);
  for (uint64_t At = Drawn; At < Count; At += Drawn)
    std::memcpy(Data + At * Width, Data, std::min(Drawn, Count - At) * Width);
}
} // namespace

void Inputs::release() {
  for (Block &B : Blocks)
    if (B.Data)
      munmap(B.Data, B.Mapped);
  Blocks.clear();
}

std::string Inputs::fill(unsigned CaseIndex, uint64_t Seed, bool Large) {
  release();
  Case = CaseIndex;
  const job::Case &C = J.Cases[Case];
  Blocks.resize(J.Leaves.size());
  Scalars = C.Values;
  // At the same place in each process, as far as it is free: what lies together
  // in a sector or a page is part of a modelled time.
  uint64_t Place = (Large ? uint64_t(0x20) : uint64_t(0x10)) << 40;
  Place += uint64_t(Case % 8) << 40;
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer)
      continue;
    Block &B = Blocks[I];
    uint64_t Count = C.Values[I].elements();
    B.Bytes = Count * dtypeBytes(L.Type);
    B.Mapped = B.Bytes + 8192;
    void *Data =
        mmap(reinterpret_cast<void *>(Place), B.Mapped, PROT_READ | PROT_WRITE,
             // A child that only shows its times keeps its writes.
             (Large ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
    if (Data == MAP_FAILED)
      return "no memory for '" + L.Name + "' of " + std::to_string(B.Bytes) +
             " bytes";
    B.Data = static_cast<char *>(Data);
    Place += (B.Mapped + 0x3fffff) & ~uint64_t(0x1fffff);
    if (L.Use != Role::Input && L.Use != Role::InOut)
      continue;
    if (L.Fill.Kind == InitKind::File) {
      std::string Error;
      std::vector<char> Bytes =
          readNpy(Folder + "/" + L.Fill.File, L.Type, C.Values[I].Shape, Error);
      if (!Error.empty())
        return Error;
      std::memcpy(B.Data, Bytes.data(), Bytes.size());
    } else {
      fillWith(L, B.Data, Count, mix(Seed) ^ mix(I + 1), Large);
    }
    if (L.Use == Role::InOut && !Large)
      B.Pristine.assign(B.Data, B.Data + B.Bytes);
  }
  return "";
}

void Inputs::arm(unsigned Round) {
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer)
      continue;
    Block &B = Blocks[I];
    if (L.Use == Role::InOut && !B.Pristine.empty())
      std::memcpy(B.Data, B.Pristine.data(), B.Bytes);
    if (L.Use == Role::Output || L.Use == Role::Scratch) {
      uint32_t Pattern = judge::poisonPattern(L.Type, Round);
      for (uint64_t At = 0; At < B.Bytes; At += 4)
        std::memcpy(B.Data + At, &Pattern, std::min<uint64_t>(4, B.Bytes - At));
    }
  }
}

void **Inputs::arguments() {
  Pointers.assign(J.Leaves.size(), nullptr);
  Arguments.clear();
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    switch (J.Leaves[I].Kind) {
    case LeafKind::Buffer:
      Pointers[I] = Blocks[I].Data;
      Arguments.push_back(&Pointers[I]);
      break;
    case LeafKind::Integer:
      Arguments.push_back(&Scalars[I].Integer);
      break;
    case LeafKind::Real:
      Arguments.push_back(&Scalars[I].Real);
      break;
    case LeafKind::Stream:
      Arguments.push_back(&Stream);
      break;
    }
  return Arguments.data();
}

std::vector<DeviceBuffer> Inputs::buffers() const {
  std::vector<DeviceBuffer> List;
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer)
      continue;
    DeviceBuffer B;
    B.Name = L.Name;
    B.Data = Blocks[I].Data;
    B.Bytes = Blocks[I].Bytes;
    B.ElementBytes = dtypeBytes(L.Type);
    B.Holds = L.Use == Role::Input || L.Use == Role::InOut;
    B.ReadOnly = L.Use == Role::Input;
    List.push_back(std::move(B));
  }
  return List;
}
