//===- HostDevice.cpp - A device that is the host ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The parts of the CUDA runtime that stark-worker uses, and its kernels, on
///   host
/// memory: `worker-on-host` is stark-worker linked with these, so that its
/// processes, limits and comparisons can be tested where there is no
/// GPU.
///
//===----------------------------------------------------------------------===//

#include "HostDevice.h"
#include "DeviceCompare.h"
#include "Kernels.h"
#include "ReadOnly.h"
#include "stark/Judge/Compare.h"
#include "stark/Judge/Fill.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

// In a build with the address sanitizer a candidate's crash is still the
// candidate's, and nobody looks for leaks in a process that may make no system
// call for that. A child has no environment to say so.
extern "C" const char *__asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:detect_leaks=0";
}

/// Between any two events: what the host is busy with is in no verdict. Half a
/// microsecond is less than a request takes from one process to another and
/// back on any machine: the supervisor refuses a time that its own clock did
/// not see.
constexpr float BetweenEventsMs = 0.0005f;

/// Where CUDA_DEVICE_ORDER is "OPENS_IN_MS", with a number for MS: a driver
/// that takes so long to open the device, and does that of one process after
/// the other. Meanwhile no time can be taken: events lie by a second.
class SlowDriver {
public:
  void open() {
    const char *Asked = getenv("CUDA_DEVICE_ORDER");
    if (!Asked || std::strncmp(Asked, "OPENS_IN_", 9) != 0 || Lock >= 0)
      return;
    Lock = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    flock(Lock, LOCK_EX);
    usleep(1000 * useconds_t(std::atoi(Asked + 9)));
    flock(Lock, LOCK_UN);
  }
  bool isBusy() const {
    if (Lock < 0)
      return false;
    bool Free = flock(Lock, LOCK_SH | LOCK_NB) == 0;
    if (Free)
      flock(Lock, LOCK_UN);
    return !Free;
  }

private:
  int Lock = -1; ///< what all of its processes can lock
};
static SlowDriver Driver;
static bool TimedWhileBusy = false;

struct CUevent_st {};

DriverCalls gpu::Calls;
uint64_t gpu::LargestPiece = UINT64_MAX;

extern "C" {
cudaError_t cudaMalloc(void **Data, size_t Bytes) {
  ++Calls.Allocations;
  if (Bytes > LargestPiece)
    return cudaErrorMemoryAllocation;
  *Data = std::aligned_alloc(256, (Bytes + 255) / 256 * 256);
  return *Data ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *Data) {
  Calls.Frees += Data != nullptr;
  std::free(Data);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *To, const void *From, size_t Bytes,
                       cudaMemcpyKind) {
  std::memcpy(To, From, Bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Bytes,
                            cudaMemcpyKind, cudaStream_t) {
  // As after a candidate that broke its own process.
  if (getenv("STAND_IN_FAILS"))
    return cudaErrorIllegalAddress;
  std::memcpy(To, From, Bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                         size_t FromPitch, size_t Width, size_t Height,
                         cudaMemcpyKind) {
  for (size_t Row = 0; Row < Height; ++Row)
    std::memcpy(static_cast<char *>(To) + Row * ToPitch,
                static_cast<const char *>(From) + Row * FromPitch, Width);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *Data, int Value, size_t Bytes) {
  std::memset(Data, Value, Bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *Data, int Value, size_t Bytes, cudaStream_t) {
  std::memset(Data, Value, Bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Stream, unsigned) {
  *Stream = reinterpret_cast<cudaStream_t>(std::malloc(1));
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t Stream) {
  std::free(Stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t E) {
  return E == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                            : "an error";
}
const char *cudaGetErrorName(cudaError_t E) {
  return E == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
                                            : "cudaErrorUnknown";
}
cudaError_t cudaGetDeviceCount(int *Count) {
  // libtorch's threads wait for each other longer than they work where others
  // use the host, too. Nothing has loaded it yet.
  setenv("OMP_NUM_THREADS", "1", 1);
  *Count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  Driver.open();
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *P, int) {
  *P = {};
  std::strcpy(P->name, "host");
  P->totalGlobalMem = size_t(256) << 20;
  P->l2CacheSize = 1 << 20;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *Device) {
  *Device = 0;
  return cudaSuccess;
}
/// It has no pools.
cudaError_t cudaDeviceGetAttribute(int *Value, cudaDeviceAttr, int) {
  *Value = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *, int) {
  return cudaErrorNotSupported;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
  return cudaErrorNotSupported;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return cudaErrorNotSupported;
}
/// Of a device whose memory nobody takes.
cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  *Free = *Total = size_t(256) << 20;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *Version) {
  *Version = 13000;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *Event) {
  *Event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t Event) {
  delete Event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  TimedWhileBusy |= Driver.isBusy();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *Ms, cudaEvent_t, cudaEvent_t) {
  *Ms = std::exchange(TimedWhileBusy, false) ? 1000 : BetweenEventsMs;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **Data, size_t Bytes, unsigned) {
  *Data = std::calloc(1, Bytes);
  return *Data ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
cudaError_t cudaFreeHost(void *Data) {
  std::free(Data);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void *, size_t, unsigned) {
  return cudaErrorNotSupported;
}
cudaError_t cudaHostUnregister(void *) { return cudaErrorNotSupported; }
// No process has another one's memory here: the host compares.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *) {
  return cudaErrorNotSupported;
}
cudaError_t cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned) {
  return cudaErrorNotSupported;
}
cudaError_t cudaIpcCloseMemHandle(void *) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
}

bool gpu::onGpu() { return false; }

cudaError_t gpu::fill(void *Data, DType Type, const std::vector<int64_t> &Shape,
                      const Init &Fill, uint64_t Seed, uint32_t Leaf,
                      double Shake, cudaStream_t, Spacing Lie) {
  uint64_t Bytes = dtypeBytes(Type);
  for (int64_t Extent : Shape)
    Bytes *= uint64_t(Extent);
  std::vector<char> Values(Bytes);
  judge::fillOnHost(Type, Values.data(), Shape, Fill,
                    judge::mix(Seed + judge::mix(Leaf + 1)), ~uint64_t(0),
                    Shake);
  uint64_t Run = Lie.Run ? Lie.Run * dtypeBytes(Type) : Bytes;
  char *To = static_cast<char *>(Data);
  for (uint64_t At = 0; At < Bytes; At += Run, To += Lie.StrideBytes)
    std::memcpy(To, Values.data() + At, Run);
  return cudaSuccess;
}

namespace {
/// What poison() puts at addresses that divide by 4. A job's piece of memory
/// has tens of MiB, which are looked at after each call.
struct PatternPage {
  explicit PatternPage(uint32_t Pattern) {
    std::fill(std::begin(Words), std::end(Words), Pattern);
  }
  /// From \p At on, as long as it is the same as at \p At.
  std::pair<const unsigned char *, uint64_t> at(const void *At,
                                                uint64_t Bytes) const {
    uint64_t Skipped = reinterpret_cast<uintptr_t>(At) & 3;
    return {reinterpret_cast<const unsigned char *>(Words) + Skipped,
            std::min<uint64_t>(Bytes, sizeof(Words) - Skipped)};
  }
  uint32_t Words[4096];
};
} // namespace

cudaError_t gpu::poison(void *Data, uint64_t Bytes, uint32_t Pattern,
                        cudaStream_t) {
  PatternPage Page(Pattern);
  auto *At = static_cast<unsigned char *>(Data);
  for (uint64_t Done = 0; Done < Bytes;) {
    auto [From, Count] = Page.at(At + Done, Bytes - Done);
    std::memcpy(At + Done, From, Count);
    Done += Count;
  }
  return cudaSuccess;
}

cudaError_t gpu::countChanged(const void *Data, uint64_t Bytes,
                              uint32_t Pattern, unsigned long long *Changed,
                              cudaStream_t) {
  PatternPage Page(Pattern);
  auto *At = static_cast<const unsigned char *>(Data);
  for (uint64_t Done = 0; Done < Bytes;) {
    auto [Wanted, Count] = Page.at(At + Done, Bytes - Done);
    if (std::memcmp(At + Done, Wanted, Count) != 0)
      for (uint64_t I = 0; I < Count; ++I)
        *Changed += At[Done + I] != Wanted[I];
    Done += Count;
  }
  return cudaSuccess;
}

cudaError_t gpu::fingerprint(const void *Data, uint64_t Bytes,
                             unsigned long long *Sum, cudaStream_t) {
  auto *At = static_cast<const unsigned char *>(Data);
  for (uint64_t I = 0; I < Bytes; I += 8) {
    uint64_t Word = 0;
    std::memcpy(&Word, At + I, std::min<uint64_t>(8, Bytes - I));
    *Sum += judge::mix(judge::mix(Word) + I);
  }
  return cudaSuccess;
}

cudaError_t gpu::fingerprint(const Places &Of, unsigned long long *Sum,
                             cudaStream_t Stream) {
  for (unsigned I = 0; I < Of.Count; ++I)
    fingerprint(Of.Each[I].Data, Of.Each[I].Bytes, Sum, Stream);
  return cudaSuccess;
}

TwoAddresses gpu::mapTwice(uint64_t Bytes) {
  void *First = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (First == MAP_FAILED)
    return {};
  // Of no bytes of a shared mapping: the same pages once more.
  void *Second = mremap(First, 0, Bytes, MREMAP_MAYMOVE);
  if (Second == MAP_FAILED || mprotect(Second, Bytes, PROT_READ) != 0)
    return {};
  return {static_cast<char *>(First), static_cast<char *>(Second), Bytes};
}

/// What finds no fault on a host is a sanitizer that does not work.
cudaError_t gpu::runFault(Fault) { return cudaSuccess; }

cudaError_t gpu::hold(const volatile uint32_t *, uint32_t, uint64_t,
                      cudaStream_t) {
  return cudaSuccess;
}

cudaError_t gpu::flush(void *, uint64_t, unsigned long long *, cudaStream_t) {
  return cudaSuccess;
}

CompareScratch::~CompareScratch() { std::free(Data); }

cudaError_t CompareScratch::zeroed(uint64_t Bytes, void *&Found) {
  if (Bytes > Size) {
    std::free(Data);
    Data = std::malloc(Bytes);
    Size = Bytes;
  }
  Found = std::memset(Data, 0, Bytes);
  return cudaSuccess;
}

cudaError_t gpu::compareOnDevice(const CompareSpec &Spec, CompareScratch &,
                                 DeviceComparison &Out) {
  uint64_t Count = 1;
  for (int64_t Extent : Spec.Shape)
    Count *= uint64_t(Extent);
  double Least = Spec.ShareOfWhole > 0
                     ? Spec.ShareOfWhole *
                           judge::rootMeanSquare(Spec.Type, Spec.Wanted, Count)
                     : 0;
  judge::Extremes Seen = judge::extremes(Spec.Type, Spec.Wanted, Count);
  bool Exact = Spec.Exact && judge::isExact(Spec.Type, Seen);
  judge::Comparison Found = judge::compare(
      Spec.Type, Spec.Got, Spec.Wanted, Spec.Shape, Exact ? 0 : Spec.Tolerance,
      Spec.Poison, {Least, Spec.Scale});
  bool Bad = Spec.Blocks &&
             judge::compareBlocks(Spec.Type, Spec.Got, Spec.Wanted, Spec.Shape,
                                  Exact ? 0 : Spec.Tolerance);
  Out = {Found.Mismatches, Bad, Found.WorstError, Seen,
         judge::countPoison(Spec.Type, Spec.Wanted, Count, Spec.Poison)};
  return cudaSuccess;
}
