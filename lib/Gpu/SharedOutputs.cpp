//===- SharedOutputs.cpp - Outputs of another process on the device ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   arena -> handle -> the same memory in another process -> comparison
/// Only the candidate's child shares, and only the source's attaches: nothing
/// that the candidate runs beside holds what is expected of it.
///
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "stark/Judge/Judge.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

static_assert(sizeof(Handle) == sizeof(cudaIpcMemHandle_t));

std::string Buffers::share(Handle &Memory, uint64_t &Bytes) const {
  cudaIpcMemHandle_t Shared;
  cudaError_t E = cudaIpcGetMemHandle(&Shared, Arena);
  if (E != cudaSuccess)
    return "the outputs cannot be shared: " + describe(E);
  std::memcpy(Memory.data(), &Shared, sizeof(Shared));
  Bytes = ArenaBytes;
  return "";
}

void Buffers::detach() {
  if (Attached)
    cudaIpcCloseMemHandle(Attached);
  Attached = nullptr;
  AttachedBytes = 0;
}

/// Of the allocation that \p Data points into; 0 when the driver does not say.
/// The runtime has no function for it.
static uint64_t bytesAround(const void *Data) {
  using GetAddressRange =
      int (*)(unsigned long long *, size_t *, unsigned long long);
  void *Driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto *Ask = Driver ? reinterpret_cast<GetAddressRange>(
                           dlsym(Driver, "cuMemGetAddressRange_v2"))
                     : nullptr;
  unsigned long long Base = 0, At = reinterpret_cast<unsigned long long>(Data);
  size_t Size = 0;
  if (!Ask || Ask(&Base, &Size, At) != 0 || Base != At)
    return 0;
  return Size;
}

std::string Buffers::attach(const Handle &Memory, uint64_t Bytes) {
  detach();
  if (!Bytes)
    return "";
  cudaIpcMemHandle_t Shared;
  std::memcpy(&Shared, Memory.data(), sizeof(Shared));
  void *Found = nullptr;
  cudaError_t E =
      cudaIpcOpenMemHandle(&Found, Shared, cudaIpcMemLazyEnablePeerAccess);
  if (E != cudaSuccess) {
    cudaGetLastError();
    return "shared outputs cannot be opened: " + describe(E);
  }
  Attached = static_cast<char *>(Found);
  // Who shares is not trusted: beyond its end there would be a fault.
  AttachedBytes = bytesAround(Attached);
  if (AttachedBytes >= Bytes)
    return "";
  detach();
  return "shared outputs are shorter than they should be";
}

std::string Buffers::compare(const Request &R, Reply &Out) {
  std::vector<OutputPlace> Places = outputPlaces(J, J.Cases[Current]);
  auto Place =
      std::find_if(Places.begin(), Places.end(),
                   [&](const OutputPlace &P) { return P.Leaf == R.Leaf; });
  if (Place == Places.end())
    return "no such output";
  bool Itself = R.Flags & OfItself;
  const char *Own = dataOf(R.Leaf), *Got = Own, *Wanted = Own;
  if (!Itself) {
    const Placed &B = Blocks[R.Leaf];
    Got = B.At + B.Bytes <= AttachedBytes ? Attached + B.At : nullptr;
  }
  if (R.Flags & OfReference)
    Wanted = Kept ? keptOf(*Place) : nullptr;
  if (!Got || !Wanted)
    return "nothing to compare with";
  const Leaf &L = J.Leaves[R.Leaf];
  CompareSpec Spec = {L.Type,
                      Got,
                      Wanted,
                      J.Cases[Current].Values[R.Leaf].Shape,
                      L.Tolerance * R.Slack,
                      judge::shareOfWhole(J),
                      R.Scale,
                      judge::unwrittenPattern(L.Type, R.Round),
                      J.Cases[Current].Filling == Regime::Integers,
                      /*Blocks=*/J.Torch.empty() && !Itself};
  DeviceComparison Found;
  cudaError_t E = compareOnDevice(Spec, Scratch, Found);
  if (E != cudaSuccess)
    return "cannot compare output '" + L.Name + "': " + describe(E);
  Out.Count = Found.Mismatches + Found.BadBlocks;
  Out.WorstError = Found.WorstError;
  Out.Wanted = Found.Wanted;
  Out.Unwritten = Found.Unwritten;
  return "";
}
