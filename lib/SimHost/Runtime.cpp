//===- Runtime.cpp - The CUDA runtime of host code beside ATen ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what host code calls -> a message -> what the simulator answers
/// Named as in the toolkit's headers, which this does not need: the library of
/// a text finds these in the program. What is missing here is missing there,
/// and told by name.
///
//===----------------------------------------------------------------------===//

#include "HostCall.h"
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

using namespace stark::simhost;

#define STARK_RUNTIME extern "C" __attribute__((visibility("default")))

namespace {
/// dim3.
struct Extent {
  unsigned X, Y, Z;
};
constexpr int InvalidValue = 1, InvalidDeviceFunction = 98;
int LastError = 0;

struct Configuration {
  Extent Grid, Block;
  size_t Shared;
};
Configuration Next = {{1, 1, 1}, {1, 1, 1}, 0};

Answer ask(const HostMessage &M) {
  Answer A;
  if (!sendRecord(callSocket(), &M, sizeof(M)) ||
      !receiveRecord(callSocket(), &A, sizeof(A)))
    _exit(0); // the simulator has seen enough
  if (A.Error)
    LastError = A.Error;
  return A;
}

/// The symbol of a kernel's stub; empty when there is none.
const char *symbolOf(const void *Kernel) {
  Dl_info Found = {};
  return dladdr(Kernel, &Found) && Found.dli_saddr == Kernel && Found.dli_sname
             ? Found.dli_sname
             : "";
}

int copy(void *To, const void *From, size_t Bytes) {
  HostMessage M;
  M.What = HostEvent::Copy;
  M.Address = reinterpret_cast<uint64_t>(To);
  M.From = reinterpret_cast<uint64_t>(From);
  M.Bytes = Bytes;
  if (int Error = ask(M).Error)
    return Error;
  std::memmove(To, From, Bytes);
  return 0;
}

int set(void *To, int Value, size_t Bytes) {
  HostMessage M;
  M.What = HostEvent::Set;
  M.Address = reinterpret_cast<uint64_t>(To);
  M.Bytes = Bytes;
  if (int Error = ask(M).Error)
    return Error;
  std::memset(To, Value, Bytes);
  return 0;
}
} // namespace

STARK_RUNTIME unsigned __cudaPushCallConfiguration(Extent Grid, Extent Block,
                                                   size_t Shared, void *) {
  Next = {Grid, Block, Shared};
  return 0;
}

/// What a kernel's stub calls (lib/AST/HalvesStubs.cpp).
STARK_RUNTIME void stark_launch(const void *Kernel, const void *const *Values,
                                const unsigned long *Sizes, unsigned Count) {
  HostMessage M;
  M.What = HostEvent::Launch;
  setText(M.Name, symbolOf(Kernel));
  M.Count = Count;
  for (unsigned I = 0; I < Count; ++I) {
    uint64_t At = (M.DataBytes + 15) / 16 * 16;
    if (I >= MostParameters || At + Sizes[I] > sizeof(M.Data)) {
      LastError = InvalidValue;
      return;
    }
    M.Sizes[I] = uint32_t(Sizes[I]);
    std::memcpy(M.Data + At, Values[I], Sizes[I]);
    M.DataBytes = uint32_t(At + Sizes[I]);
  }
  M.Grid[0] = Next.Grid.X;
  M.Grid[1] = Next.Grid.Y;
  M.Grid[2] = Next.Grid.Z;
  M.Block[0] = Next.Block.X;
  M.Block[1] = Next.Block.Y;
  M.Block[2] = Next.Block.Z;
  M.Bytes = Next.Shared;
  ask(M);
}

STARK_RUNTIME int cudaFuncSetAttribute(const void *Kernel, int Which,
                                       int Value) {
  if (Which != 8) // cudaFuncAttributeMaxDynamicSharedMemorySize
    return 0;
  HostMessage M;
  M.What = HostEvent::AllowShared;
  setText(M.Name, symbolOf(Kernel));
  M.Value = Value;
  return ask(M).Error;
}

STARK_RUNTIME int cudaDeviceGetAttribute(int *Value, int Which, int) {
  HostMessage M;
  M.What = HostEvent::Attribute;
  M.Value = Which;
  *Value = ask(M).Value;
  return 0;
}

STARK_RUNTIME int cudaGetLastError() {
  int E = LastError;
  LastError = 0;
  return E;
}
STARK_RUNTIME int cudaPeekAtLastError() { return LastError; }
STARK_RUNTIME const char *cudaGetErrorString(int E) {
  return E == 0                       ? "no error"
         : E == InvalidDeviceFunction ? "invalid device function"
                                      : "a CUDA error";
}
STARK_RUNTIME int cudaGetDevice(int *Device) { return *Device = 0; }
STARK_RUNTIME int cudaDeviceSynchronize() { return 0; }
STARK_RUNTIME int cudaStreamSynchronize(void *) { return 0; }
STARK_RUNTIME int cudaMemcpy(void *To, const void *From, size_t Bytes, int) {
  return copy(To, From, Bytes);
}
STARK_RUNTIME int cudaMemcpyAsync(void *To, const void *From, size_t Bytes, int,
                                  void *) {
  return copy(To, From, Bytes);
}
STARK_RUNTIME int cudaMemset(void *To, int Value, size_t Bytes) {
  return set(To, Value, Bytes);
}
STARK_RUNTIME int cudaMemsetAsync(void *To, int Value, size_t Bytes, void *) {
  return set(To, Value, Bytes);
}

void stark::simhost::useRuntime() {}
