// 64 remainders an element by a power of two that is known at compile time.

#include <cuda_runtime.h>

__global__ void modulo_mask_kernel(const unsigned *x, unsigned *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned value = x[i], sum = 0;
  for (int k = 0; k < 64; ++k)
    sum += (value + 77 * k) % 1024;
  y[i] = sum;
}

void modulo_mask(const unsigned *x, unsigned *y, int n, cudaStream_t stream) {
  modulo_mask_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
