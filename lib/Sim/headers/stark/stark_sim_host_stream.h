//===- stark_sim_host_stream.h - Streams and events ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A stream's work is done when the call returns; the runtime notes what
/// orders it against other streams' work. What a kernel
/// costs is modelled when the run is over, so that between two events there is
/// no time at all: a source that times itself is told 0.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOST_STREAM_H
#define STARK_SIM_HOST_STREAM_H

struct CUevent_st {
  unsigned long long id;
  bool recorded;
};

STARK_SIM_HOST cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                     unsigned flags) {
  *stream = (cudaStream_t)__stark_sim_host_stream_create(flags);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
STARK_SIM_HOST cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                        unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
STARK_SIM_HOST cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  __stark_sim_host_stream_sync(stream);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
STARK_SIM_HOST cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority) {
  *priority = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamWaitEvent(cudaStream_t stream,
                                               cudaEvent_t event,
                                               unsigned = 0) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  __stark_sim_host_event_wait(stream, event->id);
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
  call(stream, cudaStreamSynchronize(stream), data);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaLaunchHostFunc(cudaStream_t stream,
                                              cudaHostFn_t call, void *data) {
  if (cudaError_t error = cudaStreamSynchronize(stream))
    return error;
  call(data);
  return cudaSuccess;
}

STARK_SIM_HOST cudaError_t cudaEventCreate(cudaEvent_t *event) {
  static unsigned long long ids = 0;
  *event = (cudaEvent_t)::calloc(1, sizeof(CUevent_st));
  if (!*event)
    return cudaErrorMemoryAllocation;
  (*event)->id = ++ids;
  return cudaSuccess;
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
                                           cudaStream_t stream = nullptr) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  event->recorded = true;
  __stark_sim_host_event_record(event->id, stream);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                    cudaStream_t stream,
                                                    unsigned) {
  return cudaEventRecord(event, stream);
}
STARK_SIM_HOST cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event)
    return cudaErrorInvalidResourceHandle;
  __stark_sim_host_event_sync(event->id);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
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
