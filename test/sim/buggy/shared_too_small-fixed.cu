// Swaps neighbours through shared memory.

#include <cuda_runtime.h>

__global__ void shared_too_small_kernel(const float *x, float *y, int n) {
  __shared__ float stage[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  stage[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n)
    y[i] = stage[threadIdx.x ^ 1];
}

void shared_too_small(const float *x, float *y, int n, cudaStream_t stream) {
  shared_too_small_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
