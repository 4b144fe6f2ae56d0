// Doubles, by blocks of more threads than the kernel says that it is for.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

template <int kMost>
__global__ void __launch_bounds__(kMost)
    bound_too_small_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}

void bound_too_small(const float *x, float *y, int n, cudaStream_t stream) {
  int grid = (n + kThreads - 1) / kThreads;
  bound_too_small_kernel<128><<<grid, kThreads, 0, stream>>>(x, y, n); // BUG: launch
}
