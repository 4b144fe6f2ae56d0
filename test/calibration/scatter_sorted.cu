// Scatter to places that are in order, each once.

#include <cuda_runtime.h>

__global__ void scatter_sorted_kernel(const float *x, const int *to, float *y,
                                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[to[i]] = x[i];
}

void scatter_sorted(const float *x, const int *to, float *y, int n,
                    cudaStream_t stream) {
  scatter_sorted_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, to, y, n);
}
