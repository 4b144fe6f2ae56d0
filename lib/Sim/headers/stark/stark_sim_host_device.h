//===- stark_sim_host_device.h - Devices, their properties, errors -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   There is one device, number 0. What it has is asked of the runtime, which
/// reads the description of the simulated GPU.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOST_DEVICE_H
#define STARK_SIM_HOST_DEVICE_H

STARK_SIM_HOST const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define STARK_SIM_CASE(NAME, VALUE, TEXT)                                      \
  case NAME:                                                                   \
    return #NAME;
    STARK_SIM_ERRORS(STARK_SIM_CASE)
#undef STARK_SIM_CASE
  }
  return "unrecognized error code";
}
STARK_SIM_HOST const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define STARK_SIM_CASE(NAME, VALUE, TEXT)                                      \
  case NAME:                                                                   \
    return TEXT;
    STARK_SIM_ERRORS(STARK_SIM_CASE)
#undef STARK_SIM_CASE
  }
  return "unrecognized error code";
}
STARK_SIM_HOST cudaError_t cudaGetLastError() {
  return (cudaError_t)__stark_sim_host_last_error(1);
}
STARK_SIM_HOST cudaError_t cudaPeekAtLastError() {
  return (cudaError_t)__stark_sim_host_last_error(0);
}

STARK_SIM_HOST cudaError_t cudaDeviceSynchronize() {
  return (cudaError_t)__stark_sim_host_sync();
}
STARK_SIM_HOST cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
STARK_SIM_HOST cudaError_t cudaThreadExit() { return cudaSuccess; }
STARK_SIM_HOST cudaError_t cudaDeviceReset() {
  return (cudaError_t)__stark_sim_host_sync();
}
STARK_SIM_HOST cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaSetDevice(int device) {
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaChooseDevice(int *device,
                                            const cudaDeviceProp *) {
  *device = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
STARK_SIM_HOST cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceGetAttribute(int *value,
                                                  cudaDeviceAttr attribute,
                                                  int device) {
  if (device)
    return cudaErrorInvalidDevice;
  *value = __stark_sim_host_attribute(attribute);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties,
                                                   int device) {
  if (device)
    return cudaErrorInvalidDevice;
  *properties = cudaDeviceProp();
  // "stark-sim", in letters of its own: the host's string functions may be
  // hidden by a source's macros.
  const char name[] = "Stark simulated GPU";
  for (size_t i = 0; i < sizeof(name); ++i)
    properties->name[i] = name[i];
  properties->totalGlobalMem = (size_t)__stark_sim_host_attribute(-1) << 20;
#define STARK_SIM_FIELD(NAME, VALUE, FIELD)                                    \
  properties->FIELD = __stark_sim_host_attribute(NAME);
  STARK_SIM_ATTRIBUTES(STARK_SIM_FIELD)
#undef STARK_SIM_FIELD
  properties->texturePitchAlignment = 32;
  properties->clusterLaunch = properties->major >= 9;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 0;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaErrorInvalidDevice;
}
STARK_SIM_HOST cudaError_t cudaDeviceDisablePeerAccess(int) {
  return cudaErrorInvalidDevice;
}
STARK_SIM_HOST cudaError_t cudaDeviceGetStreamPriorityRange(int *least,
                                                            int *greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t
cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize ? 1024 : 8 << 20;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaProfilerStart() { return cudaSuccess; }
STARK_SIM_HOST cudaError_t cudaProfilerStop() { return cudaSuccess; }

#endif
