// Doubles four elements a thread, and beyond the end where n is no multiple
// of 4.

#include <cuda_runtime.h>

__global__ void ragged_tail_kernel(const float *x, float *y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    float4 v = *(const float4 *)(x + i); // BUG: out of bounds
    *(float4 *)(y + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
}

void ragged_tail(const float *x, float *y, int n, cudaStream_t stream) {
  ragged_tail_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, n);
}
