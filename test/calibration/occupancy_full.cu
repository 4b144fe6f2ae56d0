// Blocks of 128 threads that pass an element each through 512 bytes of shared
// memory: a multiprocessor holds as many as it has threads for.

#include <cuda_runtime.h>

constexpr int kThreads = 128, kSharedBytes = 512;

__global__ void occupancy_full_kernel(const float *x, float *y, int n) {
  extern __shared__ float stage[];
  int i = blockIdx.x * kThreads + threadIdx.x;
  stage[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  // The neighbour's element, so that the stage is of use.
  float other = stage[threadIdx.x ^ 1];
  if (i < n)
    y[i] = stage[threadIdx.x] - 0.5f * other;
}

void occupancy_full(const float *x, float *y, int n, cudaStream_t stream) {
  cudaFuncSetAttribute(occupancy_full_kernel,
                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kSharedBytes);
  occupancy_full_kernel<<<(n + kThreads - 1) / kThreads, kThreads, kSharedBytes,
                          stream>>>(x, y, n);
}
