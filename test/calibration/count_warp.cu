// Counts positive elements: a vote and an atomic addition for each warp.

#include <cuda_runtime.h>

__global__ void count_warp_kernel(const float *x, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned votes = __ballot_sync(0xffffffffu, i < n && x[i] > 0.0f);
  if (threadIdx.x % 32 == 0)
    atomicAdd(count, __popc(votes));
}

void count_warp(const float *x, int *count, int n, cudaStream_t stream) {
  cudaMemsetAsync(count, 0, sizeof(int), stream);
  count_warp_kernel<<<(n + 1023) / 1024, 1024, 0, stream>>>(x, count, n);
}
