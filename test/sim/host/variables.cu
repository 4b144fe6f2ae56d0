// Kernels whose results lie in variables of the device, or are printed.
#include <cstdio>

__device__ int count;
__device__ float sums[4];

__global__ void counts(const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0)
    atomicAdd(&count, 1);
  if (i < n && i < 4)
    sums[i] = x[i] + 1.0f;
}

__global__ void greets() {
  __shared__ int said[32];
#ifndef EARLY
  said[threadIdx.x] = threadIdx.x;
  __syncthreads();
#endif
  printf("thread %d\n", said[31 - threadIdx.x]);
}
