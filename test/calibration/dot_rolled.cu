// Partial dot products by few threads, one element at a time.

#include <cuda_runtime.h>

__global__ void dot_rolled_kernel(const float *a, const float *b, float *y,
                                  int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int threads = gridDim.x * blockDim.x;
  float sum = 0.0f;
#pragma unroll 1
  for (int i = thread; i < n; i += threads)
    sum += a[i] * b[i];
  y[thread] = sum;
}

void dot_rolled(const float *a, const float *b, float *y, int n,
                cudaStream_t stream) {
  int blocks = (n + 255) / 256;
  if (blocks > 132)
    blocks = 132;
  dot_rolled_kernel<<<blocks, 256, 0, stream>>>(a, b, y, n);
}
