// The host's interface reaches the primitives with the right arguments, and an
// error of one is the call's error.
// RUN: %sim-host-pass -O1 -emit-obj %s -o %t.o
// RUN: %sim-cxx %S/Inputs/device.cpp %t.o -o %t
// RUN: %t | FileCheck %s

#include <cstdio>
#include <cuda_fp16.h>
#include <vector>

__constant__ float Weights[4];
__global__ void kernel(int x, float *) {}

static const char *name(cudaError_t error) { return cudaGetErrorName(error); }

int main() {
  // CHECK: launch 7,2,1 of 32,4,1 with 48: 5
  kernel<<<dim3(7, 2), dim3(32, 4), 48>>>(5, nullptr);
  // CHECK: together: launch 3,1,1 of 64,1,1 with 0: 6
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {3, 64, 0, nullptr, &together, 1};
  cudaLaunchKernelEx(&config, kernel, 6, nullptr);
  // CHECK: clusters of 3: launch 3,1,1 of 64,1,1 with 0: 7
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 3;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  cudaLaunchKernelEx(&config, kernel, 7, nullptr);
  // CHECK: launch 1,1,1 of 1,1,1 with 8: 9
  int nine = 9;
  float *none = nullptr;
  void *arguments[] = {&nine, &none};
  cudaLaunchKernel(kernel, 1, 1, arguments, 8, nullptr);

  // CHECK: too large: cudaErrorMemoryAllocation, out of memory
  float *x = nullptr;
  cudaError_t error = cudaMalloc(&x, 1 << 30);
  std::printf("too large: %s, %s\n", name(error), cudaGetErrorString(error));
  // CHECK: last: cudaErrorMemoryAllocation, cudaErrorMemoryAllocation, cudaSuccess
  const char *peeked = name(cudaPeekAtLastError());
  const char *got = name(cudaGetLastError());
  std::printf("last: %s, %s, %s\n", peeked, got, name(cudaGetLastError()));

  // CHECK: rows: 1 2 0 4 5 0, cudaErrorInvalidPitchValue
  float from[] = {1, 2, 3, 4, 5, 6}, to[6] = {};
  cudaMalloc(&x, sizeof(from));
  cudaMemcpy(x, from, sizeof(from), cudaMemcpyHostToDevice);
  cudaMemcpy2D(to, 12, x, 12, 8, 2, cudaMemcpyDeviceToHost);
  std::printf("rows: %g %g %g %g %g %g, %s\n", to[0], to[1], to[2], to[3],
              to[4], to[5],
              name(cudaMemcpy2D(to, 4, x, 12, 8, 2, cudaMemcpyDeviceToHost)));
  // CHECK: symbol: 2, cudaErrorInvalidValue
  cudaMemcpyToSymbol(Weights, from, 8, 4);
  float second = 0;
  cudaMemcpyFromSymbol(&second, Weights, 4, 8);
  std::printf("symbol: %g, %s\n", second,
              name(cudaMemcpyToSymbol(Weights, from, 8, 12)));

  // 1638 threads a multiprocessor: 17 blocks of 96 keep 1632 resident.
  // CHECK: occupancy: 1, 544 x 396
  int blocks = 0, grid = 0, block = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel);
  std::printf("occupancy: %d, %d x %d\n", blocks, block, grid);

  // CHECK: device: 132 9 1048576000 cudaErrorInvalidDevice
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("device: %d %d %zu %s\n", properties.multiProcessorCount,
              properties.major, properties.totalGlobalMem,
              name(cudaSetDevice(1)));
  // CHECK: attribute: cudaSuccess cudaErrorInvalidValue, 100 101 104
  const char *set = name(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  const char *refused = name(cudaFuncSetAttribute(
      (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
      300000));
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel);
  std::printf("attribute: %s %s, %zu %d %d\n", set, refused,
              attributes.sharedSizeBytes, attributes.numRegs,
              attributes.maxDynamicSharedSizeBytes);

  // No time passes between events; one that was not recorded is an error.
  // CHECK: elapsed: 0, cudaErrorInvalidResourceHandle
  cudaEvent_t start, stop, never;
  float ms = -1;
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&stop, cudaEventBlockingSync);
  cudaEventCreate(&never);
  cudaEventRecord(start);
  cudaEventRecord(stop, 0);
  cudaEventElapsedTime(&ms, start, stop);
  std::printf("elapsed: %g, %s\n", ms,
              name(cudaEventElapsedTime(&ms, start, never)));
  // CHECK: unsupported: cudaMallocArray
  // CHECK: array: cudaErrorNotSupported
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  std::printf("array: %s\n", name(cudaMallocArray(&array, &format, 4, 4)));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaEventDestroy(never);
  return cudaFree(x);
}
