// Prefix sums of rows, a block per row: doubling steps in shared memory with a
// barrier each.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void scan_shared_kernel(const float *x, float *y, int cols) {
  __shared__ float sums[2][kThreads];
  const float *in = x + blockIdx.x * cols;
  float *out = y + blockIdx.x * cols;
  int thread = threadIdx.x;
  float before = 0.0f;
  for (int first = 0; first < cols; first += kThreads) {
    int i = first + thread;
    int now = 0;
    sums[now][thread] = i < cols ? in[i] : 0.0f;
    __syncthreads();
    for (int delta = 1; delta < kThreads; delta *= 2) {
      float sum = sums[now][thread];
      if (thread >= delta)
        sum += sums[now][thread - delta];
      now = 1 - now;
      sums[now][thread] = sum;
      __syncthreads();
    }
    if (i < cols)
      out[i] = before + sums[now][thread];
    before += sums[now][kThreads - 1];
    __syncthreads();
  }
}

void scan_shared(const float *x, float *y, int rows, int cols,
                 cudaStream_t stream) {
  scan_shared_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
