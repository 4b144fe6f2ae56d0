//===- Measure.cpp - The clock and the device's own figures --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   flush -> gate -> start event -> call -> stop event
/// The start event is queued behind a flush that takes longer than a launch,
/// and behind a gate that the host opens when it has launched all, so what the
/// host needs to launch is not in the time.
///
//===----------------------------------------------------------------------===//

#include "Measure.h"
#include "Buffers.h"
#include <algorithm>
#include <cmath>
#include <cuda_profiler_api.h>

using namespace stark;
using namespace stark::gpu;

namespace {
double medianOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  return Values.empty() ? 0 : Values[Values.size() / 2];
}

std::string versionText(int Version) {
  return std::to_string(Version / 1000) + "." +
         std::to_string(Version % 1000 / 10);
}
/// As nvidia-smi writes it: 8-4-4-4-12 digits.
std::string uuidText(const char (&Bytes)[16]) {
  std::string Text;
  for (unsigned I = 0; I < 16; ++I) {
    if (I == 4 || I == 6 || I == 8 || I == 10)
      Text += '-';
    for (unsigned Digit : {uint8_t(Bytes[I]) / 16u, uint8_t(Bytes[I]) % 16u})
      Text += "0123456789abcdef"[Digit];
  }
  return Text;
}
} // namespace

std::string gpu::openDevice(int Ordinal, DeviceFacts &Facts) {
  int Count = 0;
  cudaError_t E = cudaGetDeviceCount(&Count);
  if (E != cudaSuccess)
    return "no usable GPU: " + describe(E) +
           "; a driver is needed, and the container must be given the GPU";
  if (Ordinal < 0 || Ordinal >= Count)
    return "no GPU " + std::to_string(Ordinal) + ": there are " +
           std::to_string(Count);
  cudaDeviceProp P;
  E = cudaSetDevice(Ordinal);
  if (E == cudaSuccess)
    E = cudaGetDeviceProperties(&P, Ordinal);
  int Driver = 0;
  if (E == cudaSuccess)
    E = cudaDriverGetVersion(&Driver);
  if (E == cudaSuccess)
    E = cudaFree(nullptr); // creates the context
  if (E != cudaSuccess)
    return "GPU " + std::to_string(Ordinal) + " cannot be used: " + describe(E);
  Facts.Devices = unsigned(Count);
  Facts.Name = P.name;
  Facts.Driver = "CUDA " + versionText(Driver);
  Facts.Arch = "sm_" + std::to_string(P.major) + std::to_string(P.minor);
  Facts.MemoryMiB = P.totalGlobalMem >> 20;
  Facts.L2Bytes = uint64_t(std::max(P.l2CacheSize, 0));
  Facts.Id = "GPU-" + uuidText(P.uuid.bytes);
  return "";
}

std::string gpu::keepPool() {
  int Device = 0, Has = 0;
  cudaMemPool_t Pool = nullptr;
  uint64_t All = ~uint64_t(0);
  cudaError_t E = cudaGetDevice(&Device);
  if (E == cudaSuccess)
    E = cudaDeviceGetAttribute(&Has, cudaDevAttrMemoryPoolsSupported, Device);
  if (E == cudaSuccess && !Has)
    return "";
  if (E == cudaSuccess)
    E = cudaDeviceGetDefaultMemPool(&Pool, Device);
  if (E == cudaSuccess)
    E = cudaMemPoolSetAttribute(Pool, cudaMemPoolAttrReleaseThreshold, &All);
  if (E == cudaSuccess)
    E = cudaMemPoolTrimTo(Pool, 0);
  return E == cudaSuccess ? "" : "the pool cannot be set up: " + describe(E);
}

std::string gpu::showKernel() {
  constexpr uint64_t Bytes = uint64_t(1) << 20;
  void *Data = nullptr;
  cudaProfilerStart();
  cudaError_t E = cudaMalloc(&Data, Bytes);
  if (E == cudaSuccess)
    E = poison(Data, Bytes, 0, nullptr);
  if (E == cudaSuccess)
    E = cudaDeviceSynchronize();
  cudaProfilerStop();
  cudaFree(Data);
  return E == cudaSuccess ? "" : "a known kernel failed: " + describe(E);
}

std::string gpu::showFault(Fault What) {
  cudaError_t E = runFault(What);
  return E == cudaSuccess ? "" : "no fault can be shown: " + describe(E);
}

std::string gpu::selfTest() {
  constexpr uint64_t Bytes = (1 << 20) + 3;
  char *Data = nullptr;
  unsigned long long *Counter = nullptr, Changed[2] = {};
  cudaError_t E = cudaMalloc(&Data, Bytes);
  if (E == cudaSuccess)
    E = cudaMalloc(&Counter, sizeof(Changed));
  if (E == cudaSuccess)
    E = cudaMemset(Counter, 0, sizeof(Changed));
  if (E == cudaSuccess)
    E = poison(Data, Bytes, 0x01020304, nullptr);
  if (E == cudaSuccess)
    E = countChanged(Data, Bytes, 0x01020304, Counter, nullptr);
  if (E == cudaSuccess)
    E = cudaMemset(Data + 777, 0xEE, 5);
  if (E == cudaSuccess)
    E = countChanged(Data, Bytes, 0x01020304, Counter + 1, nullptr);
  if (E == cudaSuccess)
    E = cudaMemcpy(Changed, Counter, sizeof(Changed), cudaMemcpyDeviceToHost);
  cudaFree(Data);
  cudaFree(Counter);
  if (E != cudaSuccess)
    return "the GPU fails a known kernel: " + describe(E);
  if (Changed[0] != 0 || Changed[1] != 5)
    return "the GPU gives a wrong answer to a known kernel: got " +
           std::to_string(Changed[0]) + " and " + std::to_string(Changed[1]) +
           ", wanted 0 and 5";
  return "";
}

/// What is larger is called with inputs that can be written to.
TwoAddresses gpu::openReadOnly(const DeviceFacts &Facts) {
  constexpr uint64_t Looked = uint64_t(1) << 20, Most = MostShared + MostSpare;
  constexpr uint32_t Pattern = 0x05060708;
  TwoAddresses Both = mapTwice(std::min(Most, (Facts.MemoryMiB << 20) / 4));
  if (!Both.Writable || Both.Bytes < Looked)
    return {};
  unsigned long long *Counter = nullptr, Changed = 1;
  cudaError_t E = cudaMalloc(&Counter, sizeof(Changed));
  if (E == cudaSuccess)
    E = cudaMemset(Counter, 0, sizeof(Changed));
  if (E == cudaSuccess)
    E = poison(Both.Writable, Looked, Pattern, nullptr);
  if (E == cudaSuccess)
    E = countChanged(Both.ReadOnly, Looked, Pattern, Counter, nullptr);
  if (E == cudaSuccess)
    E = cudaMemcpy(&Changed, Counter, sizeof(Changed), cudaMemcpyDeviceToHost);
  cudaFree(Counter);
  cudaGetLastError();
  return E == cudaSuccess && !Changed ? Both : TwoAddresses();
}

std::string gpu::calibrate(DeviceFacts &Facts) {
  // Large beside L2, small beside the memory.
  uint64_t Bytes = std::min<uint64_t>(
      std::max<uint64_t>(uint64_t(1) << 30, 8 * Facts.L2Bytes),
      (Facts.MemoryMiB << 20) / 16);
  char *From = nullptr, *To = nullptr;
  cudaEvent_t Begin = nullptr, End = nullptr;
  cudaError_t E = cudaMalloc(&From, Bytes);
  if (E == cudaSuccess)
    E = cudaMalloc(&To, Bytes);
  if (E == cudaSuccess)
    E = cudaEventCreate(&Begin);
  if (E == cudaSuccess)
    E = cudaEventCreate(&End);
  std::vector<double> Pairs, Copies;
  auto Time = [&](std::vector<double> &Into, bool Copy) {
    cudaEventRecord(Begin);
    if (Copy)
      cudaMemcpyAsync(To, From, Bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(End);
    float Ms = 0;
    E = cudaEventSynchronize(End);
    if (E == cudaSuccess)
      E = cudaEventElapsedTime(&Ms, Begin, End);
    Into.push_back(Ms * 1000.0);
  };
  for (unsigned I = 0; E == cudaSuccess && I < 101; ++I)
    Time(Pairs, false);
  for (unsigned I = 0; E == cudaSuccess && I < 12; ++I)
    Time(Copies, true);
  cudaFree(From);
  cudaFree(To);
  if (Begin)
    cudaEventDestroy(Begin);
  if (End)
    cudaEventDestroy(End);
  if (E != cudaSuccess)
    return "cannot measure the device: " + describe(E);
  Copies.erase(Copies.begin(), Copies.begin() + 2); // warm-up
  Facts.EventPairUs = medianOf(Pairs);
  Facts.CopyGBs = 2.0 * double(Bytes) / medianOf(Copies) * 1e-3;
  return "";
}

uint64_t gpu::freeMemory() {
  size_t Free = 0, Total = 0;
  return cudaMemGetInfo(&Free, &Total) == cudaSuccess ? Free : 0;
}

/// A host that was kept from its work for longer is in the time. Less than what
/// a call may take outside of the events (lib/Judge/Race.cpp), since an entry
/// that waits for the device has to wait for this as well.
static constexpr uint64_t MostHeldNs = 150000;
/// An entry that waits for its stream waits for so long where nothing is timed.
static constexpr uint64_t StandsStillNs = 1500000;

Stopwatch::~Stopwatch() {
  if (Begin)
    cudaEventDestroy(Begin);
  if (End)
    cudaEventDestroy(End);
  cudaFree(Trash);
  cudaFree(Sink);
  cudaFreeHost(const_cast<uint32_t *>(Gate));
}

std::string Stopwatch::open(uint64_t L2Bytes) {
  TrashBytes = std::max<uint64_t>(2 * L2Bytes, uint64_t(256) << 20);
  cudaError_t E = cudaMalloc(&Trash, TrashBytes);
  if (E == cudaSuccess)
    E = cudaMalloc(&Sink, sizeof(*Sink));
  void *Shared = nullptr;
  if (E == cudaSuccess)
    E = cudaHostAlloc(&Shared, sizeof(*Gate), cudaHostAllocMapped);
  Gate = static_cast<volatile uint32_t *>(Shared);
  if (Gate)
    *Gate = Ticket;
  if (E == cudaSuccess)
    E = cudaEventCreate(&Begin);
  if (E == cudaSuccess)
    E = cudaEventCreate(&End);
  return E == cudaSuccess ? "" : "cannot set up the clock: " + describe(E);
}

std::string Stopwatch::start(cudaStream_t Stream) {
  // Lines that a former call made persistent would survive the flush.
  if (cudaCtxResetPersistingL2Cache() != cudaSuccess)
    cudaGetLastError();
  cudaError_t E = flush(Trash, TrashBytes, Sink, Stream);
  if (E == cudaSuccess)
    E = gpu::hold(Gate, ++Ticket, MostHeldNs, Stream);
  return E == cudaSuccess ? "" : "cannot start the clock: " + describe(E);
}

std::string Stopwatch::begin(cudaStream_t Stream) {
  cudaError_t E = cudaEventRecord(Begin, Stream);
  // The other streams that there are begin no earlier: nothing is made ready
  // there while this one is held. (They wait for the default one by
  // themselves.)
  for (cudaStream_t Other : {cudaStreamLegacy, cudaStreamPerThread})
    if (Stream && E == cudaSuccess)
      E = cudaStreamWaitEvent(Other, Begin, 0);
  return E == cudaSuccess ? "" : "cannot start the clock: " + describe(E);
}

std::string Stopwatch::hold(cudaStream_t Stream) {
  cudaError_t E = gpu::hold(Gate, ++Ticket, StandsStillNs, Stream);
  return E == cudaSuccess ? "" : "cannot hold the stream: " + describe(E);
}

void Stopwatch::release() { *Gate = Ticket; }

std::string Stopwatch::stop(cudaStream_t Stream) {
  cudaError_t E = cudaEventRecord(End, Stream);
  release();
  return E == cudaSuccess ? "" : "cannot stop the clock: " + describe(E);
}

std::string Stopwatch::read(double &Us) {
  float Ms = 0;
  cudaError_t E = cudaEventElapsedTime(&Ms, Begin, End);
  Us = Ms * 1000.0;
  return E == cudaSuccess ? "" : "cannot read the clock: " + describe(E);
}

uint64_t gpu::leakIn(const std::array<uint64_t, Quarters> &Free) {
  unsigned Losses = 0, Gains = 0;
  for (unsigned Q = 1; Q < Quarters; ++Q) {
    Losses += Free[Q] < Free[Q - 1];
    Gains += Free[Q] > Free[Q - 1];
  }
  return Losses >= 2 && !Gains ? Free[0] - Free[Quarters - 1] : 0;
}

uint64_t gpu::growthOf(const std::array<uint64_t, Quarters> &Sizes) {
  constexpr uint64_t Least = uint64_t(16) << 20;
  for (unsigned Q = 1; Q < Quarters; ++Q)
    if (Sizes[Q] <= Sizes[Q - 1])
      return 0;
  uint64_t Grown = Sizes[Quarters - 1] - Sizes[0];
  return Grown >= Least ? Grown : 0;
}
