// Copy of as many bytes as the other copies, a byte a thread.

#include <cuda_runtime.h>

__global__ void copy_bytes_kernel(const unsigned char *x, unsigned char *y,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}

void copy_bytes(const unsigned char *x, unsigned char *y, int n,
                cudaStream_t stream) {
  copy_bytes_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
