//===- HostCupti.cpp - CUPTI on a device that is the host -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The parts of CUPTI that a child uses: `libcupti-on-host.so`. For each call
/// it records a kernel of the call and one of somebody else's. The first takes
/// 0.4 us, which is less than HostDevice.cpp has between two events; where
/// CUDA_DEVICE_ORDER is "WORKS_NS", with a number for NS, so long. In each call
/// 512 bytes are taken and given back, or kept where the library sets
/// STAND_IN_KEEPS.
///
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cupti.h>
#include <iterator>

namespace {
CUpti_BuffersCallbackRequestFunc Request = nullptr;
CUpti_BuffersCallbackCompleteFunc Complete = nullptr;
uint64_t Called = 0; ///< the external number
bool IsNew = false;  ///< nobody has asked for its records

struct Recorded {
  CUpti_ActivityExternalCorrelation Number;
  CUpti_ActivityMemory4 Taken, Given;
  CUpti_ActivityKernel10 Own, Other;
};

CUpti_ActivityMemory4 memory(CUpti_ActivityMemoryOperationType What) {
  CUpti_ActivityMemory4 M = {};
  M.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  M.memoryOperationType = What;
  M.correlationId = 7;
  M.bytes = 512;
  return M;
}

uint64_t workNs() {
  const char *Asked = std::getenv("CUDA_DEVICE_ORDER");
  return Asked && !std::strncmp(Asked, "WORKS_", 6) ? std::atoi(Asked + 6)
                                                    : 400;
}

CUpti_ActivityKernel10 kernel(uint32_t Number, const char *Name, uint64_t Ns) {
  CUpti_ActivityKernel10 K = {};
  K.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  K.start = 1000;
  K.end = 1000 + Ns;
  K.correlationId = Number;
  K.name = Name;
  K.gridX = 16;
  K.blockX = 128;
  K.gridY = K.gridZ = K.blockY = K.blockZ = 1;
  K.registersPerThread = 24;
  K.localMemoryPerThread = 8;
  return K;
}
} // namespace

extern "C" {
CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc R,
                               CUpti_BuffersCallbackCompleteFunc C) {
  Request = R;
  Complete = C;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  const char *Asked = std::getenv("CUDA_DEVICE_ORDER");
  return Asked && !std::strcmp(Asked, "NO_RECORDS") ? CUPTI_ERROR_NOT_COMPATIBLE
                                                    : CUPTI_SUCCESS;
}
CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                       uint64_t Number) {
  Called = Number;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                  uint64_t *Number) {
  *Number = Called;
  IsNew = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
  if (!IsNew)
    return CUPTI_SUCCESS;
  IsNew = false;
  uint8_t *Buffer = nullptr;
  size_t Bytes = 0, Most = 0;
  Request(&Buffer, &Bytes, &Most);
  Recorded R = {};
  R.Number.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  R.Number.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  R.Number.externalId = Called;
  R.Number.correlationId = 7;
  R.Taken = memory(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
  if (!std::getenv("STAND_IN_KEEPS"))
    R.Given = memory(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
  if (workNs())
    R.Own = kernel(7, "_Z5scalePKfPfl", workNs());
  R.Other = kernel(8, "_Z5otherv", 900000);
  std::memcpy(Buffer, &R, sizeof(R));
  Complete(nullptr, 0, Buffer, Bytes, sizeof(R));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t *Buffer, size_t,
                                       CUpti_Activity **Record) {
  Recorded *R = reinterpret_cast<Recorded *>(Buffer);
  void *const All[] = {&R->Number, &R->Taken, &R->Given, &R->Own, &R->Other};
  void *const *Last = std::find(std::begin(All), std::end(All), *Record);
  void *const *Next = *Record ? Last + 1 : All;
  if (Next == std::end(All))
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *Record = static_cast<CUpti_Activity *>(*Next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char **Text) {
  *Text = "CUPTI_ERROR_NOT_COMPATIBLE";
  return CUPTI_SUCCESS;
}
}
