// Blocks of 128 threads that ask for 160 KiB of shared memory: a multiprocessor
// holds one at a time.

#include <cuda_runtime.h>

constexpr int kThreads = 128, kSharedBytes = 160 * 1024;

__global__ void occupancy_shared_kernel(const float *x, float *y, int n) {
  extern __shared__ float stage[];
  int i = blockIdx.x * kThreads + threadIdx.x;
  stage[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  // The neighbour's element, so that the stage is of use.
  float other = stage[threadIdx.x ^ 1];
  if (i < n)
    y[i] = stage[threadIdx.x] - 0.5f * other;
}

void occupancy_shared(const float *x, float *y, int n, cudaStream_t stream) {
  cudaFuncSetAttribute(occupancy_shared_kernel,
                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kSharedBytes);
  occupancy_shared_kernel<<<(n + kThreads - 1) / kThreads, kThreads,
                            kSharedBytes, stream>>>(x, y, n);
}
