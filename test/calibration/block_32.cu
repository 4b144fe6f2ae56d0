// y = 2 x by blocks of 32 threads.

#include <cuda_runtime.h>

constexpr int kThreads = 32;

__global__ void block_32_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}

void block_32(const float *x, float *y, int n, cudaStream_t stream) {
  int blocks = (n + kThreads - 1) / kThreads;
  block_32_kernel<<<blocks, kThreads, 0, stream>>>(x, y, n);
}
