// A polynomial of degree 256 in float.

#include <cuda_runtime.h>

__global__ void polynomial_float_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = x[i], sum = 0.5f;
#pragma unroll 16
  for (int k = 0; k < 256; ++k)
    sum = sum * value + 0.5f;
  y[i] = sum;
}

void polynomial_float(const float *x, float *y, int n, cudaStream_t stream) {
  polynomial_float_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
