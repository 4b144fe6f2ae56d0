// Gather by indices that are at random.

#include <cuda_runtime.h>

__global__ void gather_random_kernel(const float *x, const int *from, float *y,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[from[i]];
}

void gather_random(const float *x, const int *from, float *y, int n,
                   cudaStream_t stream) {
  gather_random_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, from, y, n);
}
