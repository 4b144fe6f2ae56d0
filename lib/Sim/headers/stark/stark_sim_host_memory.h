//===- stark_sim_host_memory.h - cudaMalloc, cudaMemcpy and their kin ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Pinned host memory is ordinary memory that threads may touch, too; managed
/// memory is apart from the device's, which the host may not touch.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOST_MEMORY_H
#define STARK_SIM_HOST_MEMORY_H

STARK_SIM_HOST cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return (cudaError_t)__stark_sim_host_malloc(pointer, bytes);
}
STARK_SIM_HOST cudaError_t cudaFree(void *pointer) {
  return (cudaError_t)__stark_sim_host_free(pointer);
}
STARK_SIM_HOST cudaError_t cudaMallocAsync(void **pointer, size_t bytes,
                                           cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
STARK_SIM_HOST cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
  return cudaFree(pointer);
}
STARK_SIM_HOST cudaError_t cudaMallocManaged(void **pointer, size_t bytes,
                                             unsigned = cudaMemAttachGlobal) {
  return (cudaError_t)__stark_sim_host_managed(pointer, bytes);
}
STARK_SIM_HOST cudaError_t cudaMallocPitch(void **pointer, size_t *pitch,
                                           size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
STARK_SIM_HOST cudaError_t cudaMallocHost(void **pointer, size_t bytes,
                                          unsigned = 0) {
  *pointer = ::malloc(bytes ? bytes : 1);
  if (!*pointer)
    return cudaErrorMemoryAllocation;
  __stark_sim_host_map(*pointer, bytes);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaHostAlloc(void **pointer, size_t bytes,
                                         unsigned) {
  return cudaMallocHost(pointer, bytes);
}
STARK_SIM_HOST cudaError_t cudaFreeHost(void *pointer) {
  __stark_sim_host_unmap(pointer);
  ::free(pointer);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaHostRegister(void *pointer, size_t bytes,
                                            unsigned) {
  __stark_sim_host_map(pointer, bytes);
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaHostUnregister(void *pointer) {
  __stark_sim_host_unmap(pointer);
  return cudaSuccess;
}

template <class T> STARK_SIM_HOST cudaError_t cudaMalloc(T **p, size_t bytes) {
  return cudaMalloc((void **)p, bytes);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMallocAsync(T **p, size_t bytes,
                                           cudaStream_t stream) {
  return cudaMallocAsync((void **)p, bytes, stream);
}
template <class T>
STARK_SIM_HOST cudaError_t
cudaMallocManaged(T **p, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void **)p, bytes, flags);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width,
                                           size_t height) {
  return cudaMallocPitch((void **)p, pitch, width, height);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMallocHost(T **p, size_t bytes,
                                          unsigned flags = 0) {
  return cudaMallocHost((void **)p, bytes, flags);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned flags) {
  return cudaHostAlloc((void **)p, bytes, flags);
}

STARK_SIM_HOST cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                                      cudaMemcpyKind kind) {
  return (cudaError_t)__stark_sim_host_copy(to, from, bytes, kind);
}
STARK_SIM_HOST cudaError_t cudaMemcpyAsync(void *to, const void *from,
                                           size_t bytes, cudaMemcpyKind,
                                           cudaStream_t stream = nullptr) {
  return (cudaError_t)__stark_sim_host_copy_in(to, from, bytes, stream, 1);
}
STARK_SIM_HOST cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int,
                                          size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
STARK_SIM_HOST cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from,
                                               int, size_t bytes,
                                               cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
STARK_SIM_HOST cudaError_t cudaMemcpy2D(void *to, size_t to_pitch,
                                        const void *from, size_t from_pitch,
                                        size_t width, size_t height,
                                        cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch)
    return cudaErrorInvalidPitchValue;
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t error =
            cudaMemcpy((char *)to + row * to_pitch,
                       (const char *)from + row * from_pitch, width, kind))
      return error;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch,
                                             const void *from,
                                             size_t from_pitch, size_t width,
                                             size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream = nullptr) {
  if (width > to_pitch || width > from_pitch)
    return cudaErrorInvalidPitchValue;
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t error = cudaMemcpyAsync(
            (char *)to + row * to_pitch, (const char *)from + row * from_pitch,
            width, kind, stream))
      return error;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return (cudaError_t)__stark_sim_host_set(to, value, bytes);
}
STARK_SIM_HOST cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                                           cudaStream_t stream = nullptr) {
  return (cudaError_t)__stark_sim_host_set_in(to, value, bytes, stream);
}
STARK_SIM_HOST cudaError_t cudaMemset2D(void *to, size_t pitch, int value,
                                        size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t error = cudaMemset((char *)to + row * pitch, value, width))
      return error;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value,
                                             size_t width, size_t height,
                                             cudaStream_t stream = nullptr) {
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t error =
            cudaMemsetAsync((char *)to + row * pitch, value, width, stream))
      return error;
  return cudaSuccess;
}

template <class T>
STARK_SIM_HOST cudaError_t cudaGetSymbolAddress(void **address,
                                                const T &symbol) {
  return (cudaError_t)__stark_sim_host_symbol((const void *)&symbol, address);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaGetSymbolSize(size_t *size, const T &) {
  *size = sizeof(T);
  return cudaSuccess;
}
/// Where \p bytes of \p symbol from \p offset on lie, if it has as many.
template <class T>
STARK_SIM_HOST cudaError_t __stark_sim_symbol_part(void **part, const T &symbol,
                                                   size_t bytes,
                                                   size_t offset) {
  if (cudaError_t error = cudaGetSymbolAddress(part, symbol))
    return error;
  if (offset > sizeof(T) || bytes > sizeof(T) - offset)
    return cudaErrorInvalidValue;
  *part = (char *)*part + offset;
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMemcpyToSymbol(
    const T &symbol, const void *from, size_t bytes, size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  void *part = nullptr;
  cudaError_t error = __stark_sim_symbol_part(&part, symbol, bytes, offset);
  return error ? error : cudaMemcpy(part, from, bytes, kind);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMemcpyToSymbolAsync(
    const T &symbol, const void *from, size_t bytes, size_t offset,
    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  void *part = nullptr;
  cudaError_t error = __stark_sim_symbol_part(&part, symbol, bytes, offset);
  return error ? error : cudaMemcpyAsync(part, from, bytes, kind, stream);
}
template <class T>
STARK_SIM_HOST cudaError_t
cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                     cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  void *part = nullptr;
  cudaError_t error = __stark_sim_symbol_part(&part, symbol, bytes, offset);
  return error ? error : cudaMemcpy(to, part, bytes, kind);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMemcpyFromSymbolAsync(
    void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
    cudaStream_t stream = nullptr) {
  void *part = nullptr;
  cudaError_t error = __stark_sim_symbol_part(&part, symbol, bytes, offset);
  return error ? error : cudaMemcpyAsync(to, part, bytes, kind, stream);
}

STARK_SIM_HOST cudaError_t cudaHostGetDevicePointer(void **device, void *host,
                                                    unsigned) {
  *device = host;
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaHostGetDevicePointer(T **device, void *host,
                                                    unsigned) {
  *device = (T *)host;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemPrefetchAsync(const void *, size_t, int,
                                                cudaStream_t = nullptr) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise,
                                         int) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *,
                                                    size_t = 0, unsigned = 0) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *,
                                                    const void *) {
  __stark_sim_host_unsupported("cudaPointerGetAttributes");
  return cudaErrorNotSupported;
}
// There is one pool, the device's memory.
STARK_SIM_HOST cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool,
                                                       int) {
  *pool = nullptr;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t,
                                                   cudaMemPoolAttr, void *) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaMallocFromPoolAsync(T **p, size_t bytes,
                                                   cudaMemPool_t,
                                                   cudaStream_t) {
  return cudaMalloc((void **)p, bytes);
}
STARK_SIM_HOST cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *free = *total = (size_t)__stark_sim_host_attribute(-1) << 20;
  return cudaSuccess;
}

#endif
