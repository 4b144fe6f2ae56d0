// Takes the block's sum from each element; in the tree threads add what others
// are changing.

#include <cuda_runtime.h>

__global__ void reduction_race_kernel(const float *x, float *y, int n) {
  __shared__ float partial[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (threadIdx.x + stride < 256)
      partial[threadIdx.x] += partial[threadIdx.x + stride]; // BUG: race
    __syncthreads();
  }
  if (i < n)
    y[i] = x[i] - partial[0];
}

void reduction_race(const float *x, float *y, int n, cudaStream_t stream) {
  reduction_race_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
