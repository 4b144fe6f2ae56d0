//===- stark_sim_host_launch.h - Launches, attributes of kernels, occupancy
//===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A kernel is named by its host stub's address in every call.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOST_LAUNCH_H
#define STARK_SIM_HOST_LAUNCH_H

template <class T>
STARK_SIM_HOST cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block,
                                            void **arguments, size_t shared = 0,
                                            cudaStream_t stream = nullptr) {
  return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared,
                          stream);
}
template <class T>
STARK_SIM_HOST cudaError_t
cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                            size_t shared = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel((const void *)kernel, grid, block,
                                     arguments, shared, stream);
}
STARK_SIM_HOST cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                               const void *kernel,
                                               void **arguments) {
  bool together = false;
  dim3 cluster(0, 0, 0);
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeCooperative)
      together = config->attrs[i].val.cooperative;
    else if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
      cluster = dim3(config->attrs[i].val.clusterDim.x,
                     config->attrs[i].val.clusterDim.y,
                     config->attrs[i].val.clusterDim.z);
  if (cluster.x)
    return (cudaError_t)__stark_sim_host_launch_in_clusters(
        kernel, config->gridDim, config->blockDim, arguments,
        config->dynamicSmemBytes, config->stream, together, &cluster);
  if (together)
    return cudaLaunchCooperativeKernel(
        kernel, config->gridDim, config->blockDim, arguments,
        config->dynamicSmemBytes, config->stream);
  return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments,
                          config->dynamicSmemBytes, config->stream);
}
template <class... Parameters, class... Arguments>
STARK_SIM_HOST cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                              void (*kernel)(Parameters...),
                                              Arguments &&...arguments) {
  return [&](Parameters... values) {
    void *pointers[] = {(void *)__builtin_addressof(values)..., nullptr};
    return cudaLaunchKernelExC(config, (const void *)kernel, pointers);
  }(static_cast<Arguments &&>(arguments)...);
}

STARK_SIM_HOST cudaError_t cudaFuncSetAttribute(const void *kernel,
                                                cudaFuncAttribute attribute,
                                                int value) {
  return (cudaError_t)__stark_sim_host_func_attribute(kernel, attribute, value);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaFuncSetAttribute(T *kernel,
                                                cudaFuncAttribute attribute,
                                                int value) {
  return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaFuncSetCacheConfig(T *, cudaFuncCache) {
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaFuncSetSharedMemConfig(T *,
                                                      cudaSharedMemConfig) {
  return cudaSuccess;
}
STARK_SIM_HOST cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                 const void *kernel) {
  *attributes = cudaFuncAttributes();
  attributes->sharedSizeBytes = __stark_sim_host_func_attribute(kernel, 100, 0);
  attributes->numRegs = __stark_sim_host_func_attribute(kernel, 101, 0);
  attributes->localSizeBytes = __stark_sim_host_func_attribute(kernel, 102, 0);
  attributes->maxThreadsPerBlock =
      __stark_sim_host_func_attribute(kernel, 103, 0);
  attributes->maxDynamicSharedSizeBytes =
      __stark_sim_host_func_attribute(kernel, 104, 0);
  attributes->constSizeBytes = __stark_sim_host_func_attribute(kernel, 105, 0);
  attributes->preferredShmemCarveout =
      __stark_sim_host_func_attribute(kernel, 107, 0);
  attributes->ptxVersion = attributes->binaryVersion =
      10 * __stark_sim_host_attribute(cudaDevAttrComputeCapabilityMajor) +
      __stark_sim_host_attribute(cudaDevAttrComputeCapabilityMinor);
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                 T *kernel) {
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}

STARK_SIM_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, const void *kernel, int block_size, size_t shared) {
  return (cudaError_t)__stark_sim_host_occupancy(blocks, kernel, block_size,
                                                 shared);
}
template <class T>
STARK_SIM_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, T *kernel, int block_size, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, (const void *)kernel, block_size, shared);
}
template <class T>
STARK_SIM_HOST cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *kernel,
                                                       int block_size,
                                                       size_t shared,
                                                       unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, (const void *)kernel, block_size, shared);
}

template <class T>
STARK_SIM_HOST cudaError_t cudaOccupancyMaxActiveClusters(
    int *clusters, T *kernel, const cudaLaunchConfig_t *config) {
  unsigned long long blocks = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
      blocks = (unsigned long long)config->attrs[i].val.clusterDim.x *
               config->attrs[i].val.clusterDim.y *
               config->attrs[i].val.clusterDim.z;
  int on_one = 0;
  dim3 block = config->blockDim;
  cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &on_one, (const void *)kernel, (int)(block.x * block.y * block.z),
      config->dynamicSmemBytes);
  unsigned long long all =
      (unsigned long long)on_one *
      __stark_sim_host_attribute(cudaDevAttrMultiProcessorCount);
  *clusters = blocks ? (int)(all / blocks) : 0;
  return error;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *blocks, T *kernel, const cudaLaunchConfig_t *) {
  *blocks = __stark_sim_host_func_attribute((const void *)kernel, 106, 0);
  return cudaSuccess;
}

/// The block size, in whole warps, that keeps the most threads resident; the
/// largest of equals. \p shared_of gives a block size's dynamic shared bytes.
template <class Function, class T>
STARK_SIM_HOST cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int *grid, int *block, T *kernel, Function shared_of, int limit = 0) {
  int most = __stark_sim_host_func_attribute((const void *)kernel, 103, 0);
  if (limit > 0 && limit < most)
    most = limit;
  int best_threads = 0, best_blocks = 0;
  *grid = *block = 0;
  for (int size = most / 32 * 32; size > 0; size -= 32) {
    int blocks = 0;
    if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, (const void *)kernel, size, (size_t)shared_of(size)))
      return error;
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      best_blocks = blocks;
      *block = size;
    }
  }
  *grid =
      best_blocks * __stark_sim_host_attribute(cudaDevAttrMultiProcessorCount);
  return cudaSuccess;
}
template <class T>
STARK_SIM_HOST cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int *grid, int *block, T *kernel, size_t shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return shared; }, limit);
}

#endif
