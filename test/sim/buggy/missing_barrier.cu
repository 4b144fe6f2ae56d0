// Mirrors each block's elements in place; a thread stores before another has
// read.

#include <cuda_runtime.h>

__global__ void missing_barrier_kernel(const float *x, float *y, int n) {
  __shared__ float stage[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  stage[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  stage[threadIdx.x] = stage[255 - threadIdx.x]; // BUG: race
  if (i < n)
    y[i] = stage[threadIdx.x];
}

void missing_barrier(const float *x, float *y, int n, cudaStream_t stream) {
  missing_barrier_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
