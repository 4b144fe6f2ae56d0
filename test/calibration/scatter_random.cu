// Scatter to places that are at random, each once.

#include <cuda_runtime.h>

__global__ void scatter_random_kernel(const float *x, const int *to, float *y,
                                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[to[i]] = x[i];
}

void scatter_random(const float *x, const int *to, float *y, int n,
                    cudaStream_t stream) {
  scatter_random_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, to, y, n);
}
