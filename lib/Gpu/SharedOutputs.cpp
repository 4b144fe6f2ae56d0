//===- SharedOutputs.cpp - Outputs of another process on the device ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   piece -> handle -> the same memory in another process -> comparison
/// Only the candidate's child shares, and only the source's attaches: nothing
/// that the candidate runs beside holds what is expected of it.
///
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "stark/Job/Records.h"
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
  cudaError_t E = cudaIpcGetMemHandle(&Shared, Piece);
  if (E != cudaSuccess)
    return "the outputs cannot be shared: " + describe(E);
  std::memcpy(Memory.data(), &Shared, sizeof(Shared));
  Bytes = PieceBytes;
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
  if (bytesAround(Attached) >= Bytes) {
    AttachedBytes = Bytes;
    return "";
  }
  detach();
  return "shared outputs are shorter than they should be";
}

/// Field by field: each is copied out of the records on the device. \p Spec: of
/// the whole.
cudaError_t Buffers::compareRecords(const CompareSpec &Spec, uint32_t Leaf,
                                    double Slack, DeviceComparison &Out) {
  const struct Leaf &L = J.Leaves[Leaf];
  const LeafValue &V = J.Cases[Current].Values[Leaf];
  for (size_t I = 0; I < L.Fields.size(); ++I) {
    struct Leaf Of = columnOf(L, I);
    LeafValue Column = columnOf(L, V, I);
    uint64_t Bytes = dtypeBytes(Of.Type) * L.Fields[I].Count;
    void *Copies[2] = {};
    for (int Side : {0, 1}) {
      const void *All = Side ? Spec.Wanted : Spec.Got;
      cudaError_t E =
          Columns[Side].zeroed(Bytes * recordCount(V), Copies[Side]);
      if (E == cudaSuccess)
        E = cudaMemcpy2D(Copies[Side], Bytes,
                         static_cast<const char *>(All) + L.Fields[I].Offset,
                         recordBytes(V), Bytes, recordCount(V),
                         cudaMemcpyDeviceToDevice);
      if (E != cudaSuccess)
        return E;
    }
    // What a call leaves alone holds what the whole was filled with.
    CompareSpec One = {Of.Type,
                       Copies[0],
                       Copies[1],
                       Column.Shape,
                       Of.Tolerance * Slack,
                       Spec.ShareOfWhole,
                       Spec.Scale,
                       Spec.Poison,
                       Spec.Exact,
                       Spec.Blocks};
    DeviceComparison Found;
    if (cudaError_t E = compareOnDevice(One, Scratch, Found); E != cudaSuccess)
      return E;
    Out.Mismatches += Found.Mismatches;
    Out.BadBlocks += Found.BadBlocks;
    Out.WorstError = std::max(Out.WorstError, Found.WorstError);
    Out.Unwritten += dtypeBytes(Of.Type) > 1 ? Found.Unwritten : 0;
    bool First = I == 0;
    auto &All = Out.Wanted;
    All.AllFinite = (First || All.AllFinite) && Found.Wanted.AllFinite;
    All.AllWhole = (First || All.AllWhole) && Found.Wanted.AllWhole;
    All.Least =
        First ? Found.Wanted.Least : std::min(All.Least, Found.Wanted.Least);
    All.Greatest = First ? Found.Wanted.Greatest
                         : std::max(All.Greatest, Found.Wanted.Greatest);
  }
  return cudaSuccess;
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
    Got = ArenaBytes <= AttachedBytes
              ? Attached + placeIn(AttachedBytes, ArenaBytes, R.Seed) + B.At
              : nullptr;
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
  cudaError_t E = L.Fields.empty()
                      ? compareOnDevice(Spec, Scratch, Found)
                      : compareRecords(Spec, R.Leaf, R.Slack, Found);
  if (E != cudaSuccess)
    return "cannot compare output '" + L.Name + "': " + describe(E);
  Out.Count = Found.Mismatches + Found.BadBlocks;
  Out.WorstError = Found.WorstError;
  Out.Wanted = Found.Wanted;
  Out.Unwritten = Found.Unwritten;
  return "";
}
