// Swaps neighbours through shared memory that has room for half of the block.

#include <cuda_runtime.h>

__global__ void shared_too_small_kernel(const float *x, float *y, int n) {
  __shared__ float stage[128];
  int i = blockIdx.x * 256 + threadIdx.x;
  stage[threadIdx.x] = i < n ? x[i] : 0.0f; // BUG: out of bounds
  __syncthreads();
  if (i < n)
    y[i] = stage[threadIdx.x ^ 1];
}

void shared_too_small(const float *x, float *y, int n, cudaStream_t stream) {
  shared_too_small_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
