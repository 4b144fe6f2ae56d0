// A polynomial of degree 256 in 32-bit integers.

#include <cuda_runtime.h>

__global__ void polynomial_int_kernel(const unsigned *x, unsigned *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned value = x[i], sum = 5u;
#pragma unroll 16
  for (int k = 0; k < 256; ++k)
    sum = sum * value + 5u;
  y[i] = sum;
}

void polynomial_int(const unsigned *x, unsigned *y, int n,
                    cudaStream_t stream) {
  polynomial_int_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
