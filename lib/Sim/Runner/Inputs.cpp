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
#include "stark/Job/Records.h"
#include "stark/Judge/Compare.h"
#include "stark/Judge/Fill.h"
#include <algorithm>
#include <cassert>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;

namespace {
/// Elements that are drawn before they repeat, where a buffer is large.
constexpr uint64_t Tile = uint64_t(1) << 20;
/// What a buffer has room for behind its end.
constexpr uint64_t ApartBytes = 8192, CloseBytes = 512;
/// Of buffers, in TiB.
constexpr uint64_t FirstPlace = 0x10, Places = 32;
/// For arguments that another process reads.
constexpr uint64_t HeaderBytes = uint64_t(1) << 20;
/// Address space for tensors; pages are taken as they are written.
constexpr uint64_t ArenaBytes = uint64_t(64) << 30;
/// Places for what another process maps, too.
constexpr uint64_t FirstSlot = uint64_t(0x10) << 40,
                   SlotBytes = uint64_t(1) << 37, Slots = 256;
} // namespace

void Inputs::release() {
  if (Elsewhere && Shared.Address)
    munmap(reinterpret_cast<void *>(Shared.Address), Shared.Bytes);
  if (File >= 0)
    close(File);
  File = -1;
  Shared = {};
  for (Block &B : Blocks)
    if (B.Data && !Elsewhere)
      munmap(B.Data - B.Shift, B.Mapped);
  Blocks.clear();
}

/// What lies together in a sector or a page is part of a modelled time.
static uint64_t roundedUp(uint64_t Bytes) {
  return (Bytes + 0x3fffff) & ~uint64_t(0x1fffff);
}

/// \p Draw: what says where buffers lie. In calls that are compared they lie in
/// either order, close together or apart, so that code that is right only for
/// one of these is found.
std::string Inputs::mapApart(uint64_t Draw, bool Large) {
  uint64_t Place = (FirstPlace + Draw % Places) << 40;
  bool Backwards = !Large && Draw >> 32 & 1, Close = !Large && Draw >> 33 & 1;
  for (size_t Nth = 0; Nth < J.Leaves.size(); ++Nth) {
    size_t I = Backwards ? J.Leaves.size() - 1 - Nth : Nth;
    Block &B = Blocks[I];
    if (J.Leaves[I].Kind != LeafKind::Buffer)
      continue;
    B.Mapped = B.Bytes + (Close ? CloseBytes : ApartBytes);
    void *Data =
        mmap(reinterpret_cast<void *>(Place), B.Mapped, PROT_READ | PROT_WRITE,
             // A child that only shows its times keeps its writes.
             (Large ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
    if (Data == MAP_FAILED)
      return "no memory for '" + J.Leaves[I].Name + "' of " +
             std::to_string(B.Bytes) + " bytes";
    B.Shift = J.Cases[Case].Shifted ? shiftOf(J.Leaves[I]) : 0;
    B.Data = static_cast<char *>(Data) + B.Shift;
    Place +=
        Close ? (B.Mapped + 0xfff) & ~uint64_t(0xfff) : roundedUp(B.Mapped);
  }
  return "";
}

/// Where nothing lies in the other process either: not in the half of the
/// addresses where the system puts what is not told where to lie.
static void *mapAtSlot(uint64_t Bytes, int File) {
  static uint64_t Next = 0;
  for (uint64_t Tries = 0; Tries < Slots; ++Tries) {
    void *Wanted =
        reinterpret_cast<void *>(FirstSlot + Next++ % Slots * SlotBytes);
    void *Got = mmap(Wanted, Bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, File, 0);
    if (Got == Wanted)
      return Got;
    if (Got != MAP_FAILED) // a kernel that does not know the flag
      munmap(Got, Bytes);
  }
  return nullptr;
}

/// The arguments, the buffers, and room for tensors, in one file.
std::string Inputs::mapTogether() {
  uint64_t Bytes = HeaderBytes;
  for (const Block &B : Blocks)
    Bytes += B.Bytes ? roundedUp(B.Mapped) : 0;
  Shared.Arena = Bytes;
  Bytes += ArenaBytes;
  File = memfd_create("stark-buffers", MFD_CLOEXEC);
  if (File < 0 || ftruncate(File, off_t(Bytes)) != 0)
    return "no memory for buffers of " + std::to_string(Bytes) + " bytes";
  void *Data = mapAtSlot(Bytes, File);
  if (!Data)
    return "no memory for buffers of " + std::to_string(Bytes) + " bytes";
  Shared.Address = reinterpret_cast<uint64_t>(Data);
  Shared.Bytes = Bytes;
  char *At = static_cast<char *>(Data) + HeaderBytes;
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == LeafKind::Buffer) {
      Blocks[I].Data = At;
      At += Blocks[I].Bytes ? roundedUp(Blocks[I].Mapped) : 0;
    }
  putArguments();
  return "";
}

/// As arguments() gives them, but where the other process sees them.
void Inputs::putArguments() {
  char *At = reinterpret_cast<char *>(Shared.Address);
  auto Take = [&](size_t Bytes) {
    char *Taken = At;
    At += (Bytes + 15) / 16 * 16;
    assert(uint64_t(At) - Shared.Address <= HeaderBytes && "too many leaves");
    return Taken;
  };
  auto **Table =
      reinterpret_cast<void **>(Take(J.Leaves.size() * sizeof(void *)));
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const LeafValue &V = Scalars[I];
    Table[I] = Take(sizeof(BufferArgument));
    switch (J.Leaves[I].Kind) {
    case LeafKind::Buffer: {
      size_t Bytes = V.Shape.size() * sizeof(int64_t);
      auto *Shape = reinterpret_cast<int64_t *>(Take(Bytes));
      std::copy(V.Shape.begin(), V.Shape.end(), Shape);
      BufferArgument Buffer = {Blocks[I].Data, Shape, int64_t(V.Shape.size())};
      std::memcpy(Table[I], &Buffer, sizeof(Buffer));
      break;
    }
    case LeafKind::Integer:
      std::memcpy(Table[I], &V.Integer, sizeof(V.Integer));
      break;
    case LeafKind::Real:
      std::memcpy(Table[I], &V.Real, sizeof(V.Real));
      break;
    case LeafKind::Stream:
      break; // zeros
    }
  }
}

std::string Inputs::fillBlock(size_t I, uint64_t Seed, bool Large,
                              bool Shaken) {
  const job::Case &C = J.Cases[Case];
  const Leaf &L = J.Leaves[I];
  Block &B = Blocks[I];
  if (L.Fill.Kind == InitKind::File) {
    std::string Error;
    std::vector<char> Bytes =
        readNpy(Folder + "/" + L.Fill.File, L.Type, C.Values[I].Shape, Error);
    if (!Error.empty())
      return Error;
    std::memcpy(B.Data, Bytes.data(), Bytes.size());
  } else {
    bool Fresh = L.Fields.empty() && fillOf(L, C, I).Kind == InitKind::Zeros;
    if (!Fresh) // pages of zeros
      judge::fillLeafOnHost(L, C, I, B.Data,
                            judge::mix(Seed) ^ judge::mix(I + 1),
                            Large ? Tile : ~uint64_t(0), Shaken);
  }
  if (L.Use == Role::InOut && !Large)
    B.Pristine.assign(B.Data, B.Data + B.Bytes);
  return "";
}

std::string Inputs::fill(unsigned CaseIndex, uint64_t Seed, uint64_t WeightSeed,
                         bool Large, bool Shaken) {
  release();
  Case = CaseIndex;
  Scalars = J.Cases[Case].Values;
  Blocks.resize(J.Leaves.size());
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == LeafKind::Buffer) {
      Blocks[I].Bytes = Scalars[I].elements() * dtypeBytes(J.Leaves[I].Type);
      Blocks[I].Mapped = Blocks[I].Bytes + ApartBytes;
    }
  // At the same place in each process, as far as it is free. It does not say
  // whether the call is timed.
  uint64_t Draw = judge::mix(judge::mix(Seed) + 2 * Case + Large);
  if (std::string P = Elsewhere ? mapTogether() : mapApart(Draw, Large);
      !P.empty())
    return P;
  for (size_t I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    if (L.Kind != LeafKind::Buffer ||
        (L.Use != Role::Input && L.Use != Role::InOut))
      continue;
    if (std::string P =
            fillBlock(I, L.Weight ? WeightSeed : Seed, Large, Shaken);
        !P.empty())
      return P;
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
    B.OwnPages = !Elsewhere;
    List.push_back(std::move(B));
  }
  return List;
}
