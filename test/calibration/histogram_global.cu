// Histogram of 256 bins, counted in global memory.

#include <cuda_runtime.h>

__global__ void histogram_global_kernel(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] & 255], 1);
}

void histogram_global(const int *x, int *bins, int n, cudaStream_t stream) {
  cudaMemsetAsync(bins, 0, 256 * sizeof(int), stream);
  histogram_global_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, bins, n);
}
