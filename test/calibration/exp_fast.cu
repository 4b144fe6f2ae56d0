// 64 calls of __expf an element.

#include <cuda_runtime.h>

__global__ void exp_fast_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = x[i], sum = 0.0f;
  for (int k = 0; k < 64; ++k)
    sum += __expf(value * (0.05f * k));
  y[i] = sum;
}

void exp_fast(const float *x, float *y, int n, cudaStream_t stream) {
  exp_fast_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
