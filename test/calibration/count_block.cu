// Counts positive elements: a counting barrier and an atomic addition for each
// block of 1024.

#include <cuda_runtime.h>

__global__ void count_block_kernel(const float *x, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int votes = __syncthreads_count(i < n && x[i] > 0.0f);
  if (threadIdx.x == 0)
    atomicAdd(count, votes);
}

void count_block(const float *x, int *count, int n, cudaStream_t stream) {
  cudaMemsetAsync(count, 0, sizeof(int), stream);
  count_block_kernel<<<(n + 1023) / 1024, 1024, 0, stream>>>(x, count, n);
}
