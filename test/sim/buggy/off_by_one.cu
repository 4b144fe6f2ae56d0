// Differences of neighbours; the last element has no neighbour.

#include <cuda_runtime.h>

__global__ void off_by_one_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  y[i] = x[i + 1] - x[i]; // BUG: out of bounds
}

void off_by_one(const float *x, float *y, int n, cudaStream_t stream) {
  off_by_one_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
