// Partial dot products by few threads, eight elements at a time into sums of
// their own.

#include <cuda_runtime.h>

__global__ void dot_unrolled_kernel(const float *a, const float *b, float *y,
                                    int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int threads = gridDim.x * blockDim.x;
  float sums[8] = {};
  int i = thread;
  for (; i + 7 * threads < n; i += 8 * threads) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
      sums[k] += a[i + k * threads] * b[i + k * threads];
  }
  for (; i < n; i += threads)
    sums[0] += a[i] * b[i];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    sum += sums[k];
  y[thread] = sum;
}

void dot_unrolled(const float *a, const float *b, float *y, int n,
                  cudaStream_t stream) {
  int blocks = (n + 255) / 256;
  if (blocks > 132)
    blocks = 132;
  dot_unrolled_kernel<<<blocks, 256, 0, stream>>>(a, b, y, n);
}
