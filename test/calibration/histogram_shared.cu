// Histogram of 256 bins, counted in each block's shared memory, then added up.

#include <cuda_runtime.h>

__global__ void histogram_shared_kernel(const int *x, int *bins, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&own[x[i] & 255], 1);
  __syncthreads();
  if (own[threadIdx.x] != 0)
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

void histogram_shared(const int *x, int *bins, int n, cudaStream_t stream) {
  cudaMemsetAsync(bins, 0, 256 * sizeof(int), stream);
  int blocks = (n + 255) / 256;
  if (blocks > 1056)
    blocks = 1056;
  histogram_shared_kernel<<<blocks, 256, 0, stream>>>(x, bins, n);
}
