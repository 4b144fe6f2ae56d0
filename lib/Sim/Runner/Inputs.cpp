//===- Inputs.cpp - The arguments of a case in host memory ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   case, seed -> a block of memory for each buffer -> arguments
///
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "stark/Job/Npy.h"
#include "stark/Judge/Compare.h"
#include "stark/Judge/Fill.h"
#include <algorithm>
#include <cstring>
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
      const Init &Fill = C.Hardened && L.Hard ? *L.Hard : L.Fill;
      if (Fill.Kind != InitKind::Zeros) // fresh pages
        judge::fillOnHost(L.Type, B.Data, C.Values[I].Shape, Fill,
                          mix(Seed) ^ mix(I + 1), Large ? Tile : ~uint64_t(0));
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
  Pointers.assign(J.Leaves.size(), {});
  Arguments.clear();
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    switch (J.Leaves[I].Kind) {
    case LeafKind::Buffer:
      Pointers[I] = {Blocks[I].Data, Scalars[I].Shape.data(),
                     int64_t(Scalars[I].Shape.size())};
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
