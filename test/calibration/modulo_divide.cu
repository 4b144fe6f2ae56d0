// 64 remainders an element by a number that is known at run time.

#include <cuda_runtime.h>

__global__ void modulo_divide_kernel(const unsigned *x, unsigned *y, unsigned m,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned value = x[i], sum = 0;
  for (int k = 0; k < 64; ++k)
    sum += (value + 77 * k) % m;
  y[i] = sum;
}

void modulo_divide(const unsigned *x, unsigned *y, unsigned m, int n,
                   cudaStream_t stream) {
  modulo_divide_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, m, n);
}
