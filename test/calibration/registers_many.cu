// Sums of a streamed array by threads that keep 160 values for a rare case: so
// many registers that a multiprocessor holds one block of 256 threads.

#include <cuda_runtime.h>

constexpr int kKept = 160, kThreads = 256, kBlocks = 1056;

__global__ void registers_many_kernel(const float *x, const float *w, float *y,
                                      float limit, int n) {
  int thread = blockIdx.x * kThreads + threadIdx.x;
  float kept[kKept];
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    kept[k] = w[(thread + k) % 256];
  float sum = 0.0f;
#pragma unroll 1
  for (int i = thread; i < n; i += gridDim.x * kThreads) {
    float value = x[i];
    sum += value;
    if (value > limit) {
#pragma unroll
      for (int k = 0; k < kKept; ++k)
        kept[k] = kept[k] * value + sum;
    }
  }
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    sum += kept[k];
  y[thread] = sum;
}

void registers_many(const float *x, const float *w, float *y, float limit,
                    int n, cudaStream_t stream) {
  int blocks = (n + kThreads - 1) / kThreads;
  if (blocks > kBlocks)
    blocks = kBlocks;
  registers_many_kernel<<<blocks, kThreads, 0, stream>>>(x, w, y, limit, n);
}
