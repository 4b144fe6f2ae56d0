//===- Cupti.cpp - What the device does for a call, by CUPTI --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   CUPTI is loaded by name, as it is not where only a driver is. A call's
/// work is told by an external correlation: the number of each request to the
/// driver is recorded with it, and every record of the device has that number.
///
//===----------------------------------------------------------------------===//

#include "Cupti.h"

#ifdef STARK_CUPTI

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda_occupancy.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <mutex>
#include <unordered_set>

using namespace stark;
using namespace stark::gpu;

namespace {
/// Of records, which are some 200 bytes each.
constexpr size_t BufferBytes = size_t(1) << 20;
/// Stands for "of the call" among external numbers.
constexpr uint64_t OfCall = 1;
constexpr CUpti_ExternalCorrelationKind Own =
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
/// The last two have to be enabled for the numbers of a call to be recorded.
constexpr CUpti_ActivityKind Recorded[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMORY2,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_RUNTIME};

/// Of the library, by their own names.
struct Functions {
  decltype(&cuptiActivityRegisterCallbacks) Register = nullptr;
  decltype(&cuptiActivityEnable) Enable = nullptr;
  decltype(&cuptiActivityFlushAll) Flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) Next = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) Push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) Pop = nullptr;
  decltype(&cuptiGetResultString) Describe = nullptr;
};
Functions Cupti;

/// What has been recorded. CUPTI may give its buffers on a thread of its own.
struct Records {
  std::mutex Lock;
  std::vector<std::pair<uint32_t, DeviceWork>> Works; ///< by number
  /// Bytes that were taken, below 0: given back; by number.
  std::vector<std::pair<uint32_t, int64_t>> Memory;
  std::unordered_set<uint32_t> OfCall; ///< numbers
};
Records All;

/// Of the process's device. CUPTI's own thread asks the runtime for nothing.
cudaDeviceProp Properties;

std::string problem(CUptiResult R, const char *What) {
  const char *Text = nullptr;
  if (Cupti.Describe(R, &Text) != CUPTI_SUCCESS || !Text)
    Text = "an unknown error";
  return std::string(What) + ": " + Text;
}

template <class T> bool find(void *Library, const char *Name, T &Function) {
  Function = reinterpret_cast<T>(dlsym(Library, Name));
  return Function != nullptr;
}

void setName(DeviceWork &Work, const char *Name) {
  int Status = 0;
  char *Read = abi::__cxa_demangle(Name, nullptr, nullptr, &Status);
  std::strncpy(Work.Name, Read ? Read : Name, sizeof(Work.Name) - 1);
  std::free(Read);
}

/// As far as the toolkit's own calculation knows the device.
BlockLimits limitsOf(const CUpti_ActivityKernel10 &K) {
  cudaOccDeviceProp Device(Properties);
  cudaOccFuncAttributes Function;
  Function.maxThreadsPerBlock = Device.maxThreadsPerBlock;
  Function.numRegs = K.registersPerThread;
  Function.sharedSizeBytes = size_t(K.staticSharedMemory);
  Function.maxDynamicSharedSizeBytes = Device.sharedMemPerBlockOptin;
  cudaOccDeviceState State;
  cudaOccResult Found;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(
          &Found, &Device, &Function, &State, K.blockX * K.blockY * K.blockZ,
          size_t(K.dynamicSharedMemory)) != CUDA_OCC_SUCCESS)
    return {};
  auto Limit = [](int Blocks) { return uint32_t(std::max(Blocks, 0)); };
  return {Limit(Found.blockLimitRegs), Limit(Found.blockLimitSharedMem),
          Limit(Found.blockLimitWarps), Limit(Found.blockLimitBlocks)};
}

DeviceWork kernelOf(const CUpti_ActivityKernel10 &K) {
  DeviceWork Work;
  Work.BeginNs = K.start;
  Work.EndNs = K.end;
  Work.IsKernel = true;
  setName(Work, K.name ? K.name : "");
  const int32_t Grid[] = {K.gridX, K.gridY, K.gridZ},
                Block[] = {K.blockX, K.blockY, K.blockZ};
  std::copy(Grid, Grid + 3, Work.Grid);
  std::copy(Block, Block + 3, Work.Block);
  Work.Registers = K.registersPerThread;
  Work.LocalBytes = K.localMemoryPerThread;
  if (Properties.warpSize > 0) {
    Work.Most = limitsOf(K);
    Work.WarpsOfSm =
        uint32_t(Properties.maxThreadsPerMultiProcessor / Properties.warpSize);
    Work.Sms = uint32_t(Properties.multiProcessorCount);
  }
  return Work;
}

template <class T> DeviceWork moveOf(const T &Record, const char *Name) {
  DeviceWork Work;
  Work.BeginNs = Record.start;
  Work.EndNs = Record.end;
  std::strncpy(Work.Name, Name, sizeof(Work.Name) - 1);
  return Work;
}

template <class T> const T &as(const CUpti_Activity &Record) {
  return reinterpret_cast<const T &>(Record);
}

void add(const CUpti_Activity &Record) {
  auto Add = [](uint32_t Number, const DeviceWork &Work) {
    All.Works.push_back({Number, Work});
  };
  switch (Record.kind) {
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
    const auto &K = as<CUpti_ActivityKernel10>(Record);
    return Add(K.correlationId, kernelOf(K));
  }
  case CUPTI_ACTIVITY_KIND_MEMCPY: {
    const auto &M = as<CUpti_ActivityMemcpy6>(Record);
    return Add(M.correlationId, moveOf(M, "copy"));
  }
  case CUPTI_ACTIVITY_KIND_MEMCPY2: {
    const auto &M = as<CUpti_ActivityMemcpyPtoP4>(Record);
    return Add(M.correlationId, moveOf(M, "copy"));
  }
  case CUPTI_ACTIVITY_KIND_MEMSET: {
    const auto &M = as<CUpti_ActivityMemset4>(Record);
    return Add(M.correlationId, moveOf(M, "fill"));
  }
  case CUPTI_ACTIVITY_KIND_MEMORY2: {
    const auto &M = as<CUpti_ActivityMemory4>(Record);
    bool Taken = M.memoryOperationType ==
                 CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    if (Taken ||
        M.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE)
      All.Memory.push_back(
          {M.correlationId, Taken ? int64_t(M.bytes) : -int64_t(M.bytes)});
    return;
  }
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
    const auto &E = as<CUpti_ActivityExternalCorrelation>(Record);
    if (E.externalKind == Own && E.externalId == OfCall)
      All.OfCall.insert(E.correlationId);
    return;
  }
  default:
    return;
  }
}

void CUPTIAPI giveBuffer(uint8_t **Buffer, size_t *Bytes, size_t *MostRecords) {
  *Buffer = static_cast<uint8_t *>(std::aligned_alloc(8, BufferBytes));
  *Bytes = *Buffer ? BufferBytes : 0;
  *MostRecords = 0; // as many as there is room for
}

void CUPTIAPI takeBuffer(CUcontext, uint32_t, uint8_t *Buffer, size_t,
                         size_t Valid) {
  std::lock_guard<std::mutex> Locked(All.Lock);
  for (CUpti_Activity *Record = nullptr;
       Valid && Cupti.Next(Buffer, Valid, &Record) == CUPTI_SUCCESS;)
    add(*Record);
  std::free(Buffer);
}
} // namespace

std::string gpu::openCupti(const std::string &Path) {
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Why = dlerror();
    return std::string("CUPTI cannot be loaded: ") + (Why ? Why : "");
  }
  if (!find(Library, "cuptiActivityRegisterCallbacks", Cupti.Register) ||
      !find(Library, "cuptiActivityEnable", Cupti.Enable) ||
      !find(Library, "cuptiActivityFlushAll", Cupti.Flush) ||
      !find(Library, "cuptiActivityGetNextRecord", Cupti.Next) ||
      !find(Library, "cuptiActivityPushExternalCorrelationId", Cupti.Push) ||
      !find(Library, "cuptiActivityPopExternalCorrelationId", Cupti.Pop) ||
      !find(Library, "cuptiGetResultString", Cupti.Describe))
    return Path + ": is no CUPTI that this knows";
  int Device = 0;
  if (cudaGetDevice(&Device) == cudaSuccess)
    cudaGetDeviceProperties(&Properties, Device);
  CUptiResult R = Cupti.Register(giveBuffer, takeBuffer);
  for (CUpti_ActivityKind Kind : Recorded)
    if (R == CUPTI_SUCCESS)
      R = Cupti.Enable(Kind);
  return R == CUPTI_SUCCESS ? "" : problem(R, "CUPTI records nothing");
}

void gpu::beginTracedCall() {
  Cupti.Flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  {
    std::lock_guard<std::mutex> Locked(All.Lock);
    All.Works.clear();
    All.Memory.clear();
    All.OfCall.clear();
  }
  Cupti.Push(Own, OfCall);
}

void gpu::endTracedCall() {
  uint64_t Last = 0;
  Cupti.Pop(Own, &Last);
}

CallRecord gpu::takeTracedCall() {
  Cupti.Flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::lock_guard<std::mutex> Locked(All.Lock);
  CallRecord Found;
  for (const auto &[Number, Work] : All.Works)
    if (All.OfCall.count(Number))
      Found.Works.push_back(Work);
  std::stable_sort(Found.Works.begin(), Found.Works.end(),
                   [](const DeviceWork &A, const DeviceWork &B) {
                     return A.BeginNs < B.BeginNs;
                   });
  for (const auto &[Number, Bytes] : All.Memory)
    if (All.OfCall.count(Number))
      Found.KeptBytes += Bytes;
  return Found;
}

#else

std::string stark::gpu::openCupti(const std::string &) {
  return "this was built without CUPTI's headers";
}
void stark::gpu::beginTracedCall() {}
void stark::gpu::endTracedCall() {}
stark::gpu::CallRecord stark::gpu::takeTracedCall() { return {}; }

#endif
