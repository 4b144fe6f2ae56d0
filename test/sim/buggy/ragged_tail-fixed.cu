// Doubles four elements a thread, and the ragged tail one by one.

#include <cuda_runtime.h>

__global__ void ragged_tail_kernel(const float *x, float *y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    float4 v = *(const float4 *)(x + i);
    *(float4 *)(y + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  } else {
    for (; i < n; ++i)
      y[i] = 2 * x[i];
  }
}

void ragged_tail(const float *x, float *y, int n, cudaStream_t stream) {
  ragged_tail_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, n);
}
