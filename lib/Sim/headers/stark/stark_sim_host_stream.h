//===- stark_sim_host_stream.h - Streams and events ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A stream is a name: its work is done when the call returns. What a kernel
/// costs is modelled when the run is over, so that between two events there is
/// no time at all: a source that times itself is told 0.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOST_STREAM_H
#define STARK_SIM_HOST_STREAM_H

struct CUevent_st {
  bool recorded;
};

STARK_SIM_HOST cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = (cudaStream_t)::malloc(16);
  return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}
STARK_SIM_HOST cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                     unsigned) {
  return cudaStreamCreate(stream);
}
STARK_SIM_HOST cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                        unsigned, int) {
  return cudaStreamCreate(stream);
}
STARK_SIM_HOST cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  ::free(stream);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaDeviceSynchronize();
}
STARK_SIM_HOST cudaError_t cudaStreamQuery(cudaStream_t) {
  return cudaDeviceSynchronize();
}
STARK_SIM_HOST cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority) {
  *priority = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t,
                                               unsigned = 0) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamSetAttribute(cudaStream_t,
                                                  cudaStreamAttrID,
                                                  const cudaStreamAttrValue *) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaCtxResetPersistingL2Cache() {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                 cudaStreamCallback_t call,
                                                 void *data, unsigned) {
  call(stream, cudaDeviceSynchronize(), data);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t call,
                                              void *data) {
  if (cudaError_t error = cudaDeviceSynchronize())
    return error;
  call(data);
  return cudaSuccess;
}

STARK_SIM_HOST cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = (cudaEvent_t)::calloc(1, sizeof(CUevent_st));
  return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}
STARK_SIM_HOST cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned) {
  return cudaEventCreate(event);
}
STARK_SIM_HOST cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event,
                                                    unsigned) {
  return cudaEventCreate(event);
}
STARK_SIM_HOST cudaError_t cudaEventDestroy(cudaEvent_t event) {
  ::free(event);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaEventRecord(cudaEvent_t event,
                                           cudaStream_t = nullptr) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  event->recorded = true;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                    cudaStream_t stream,
                                                    unsigned) {
  return cudaEventRecord(event, stream);
}
STARK_SIM_HOST cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaDeviceSynchronize();
}
STARK_SIM_HOST cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaDeviceSynchronize();
}
STARK_SIM_HOST cudaError_t cudaEventElapsedTime(float *milliseconds,
                                                cudaEvent_t from,
                                                cudaEvent_t to) {
  if (!from || !to || !from->recorded || !to->recorded)
    return cudaErrorInvalidResourceHandle;
  *milliseconds = 0.0f;
  return cudaSuccess;
}

#endif
