// A polynomial of degree 256 in double.

#include <cuda_runtime.h>

__global__ void polynomial_double_kernel(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double value = x[i], sum = 0.5;
#pragma unroll 16
  for (int k = 0; k < 256; ++k)
    sum = sum * value + 0.5;
  y[i] = sum;
}

void polynomial_double(const double *x, double *y, int n, cudaStream_t stream) {
  polynomial_double_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
