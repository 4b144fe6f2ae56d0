// Sixteen counters a thread, each compared with the data: an array in
// registers.

#include <cuda_runtime.h>

constexpr int kBins = 16, kThreads = 256, kEach = 64;

__global__ void bins_registers_kernel(const unsigned *x, int *y, int n) {
  int first = blockIdx.x * kThreads * kEach + threadIdx.x;
  int bins[kBins];
#pragma unroll
  for (int b = 0; b < kBins; ++b)
    bins[b] = 0;
  for (int k = 0; k < kEach; ++k) {
    int i = first + k * kThreads;
    if (i >= n)
      break;
#pragma unroll
    for (int b = 0; b < kBins; ++b)
      bins[b] += x[i] % kBins == b;
  }
  int most = 0;
#pragma unroll
  for (int b = 0; b < kBins; ++b)
    most = max(most, bins[b]);
  y[blockIdx.x * kThreads + threadIdx.x] = most;
}

void bins_registers(const unsigned *x, int *y, int n, cudaStream_t stream) {
  int blocks = (n + kThreads * kEach - 1) / (kThreads * kEach);
  bins_registers_kernel<<<blocks, kThreads, 0, stream>>>(x, y, n);
}
