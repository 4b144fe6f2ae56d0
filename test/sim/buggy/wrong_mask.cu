// Takes from each element the sum of its warp's first 16; the mask of the
// shuffle names lanes that are elsewhere.

#include <cuda_runtime.h>

__global__ void wrong_mask_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float value = i < n ? x[i] : 0.0f, sum = value;
  if (threadIdx.x % 32 < 16) {
    for (int delta = 8; delta > 0; delta /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, delta, 16); // BUG: wrong mask
  }
  sum = __shfl_sync(0xffffffffu, sum, 0);
  if (i < n)
    y[i] = value - sum;
}

void wrong_mask(const float *x, float *y, int n, cudaStream_t stream) {
  wrong_mask_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
