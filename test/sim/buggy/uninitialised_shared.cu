// Means of three neighbours; the two beside the block are never stored.

#include <cuda_runtime.h>

__global__ void uninitialised_shared_kernel(const float *x, float *y, int n) {
  __shared__ float stage[258];
  int i = blockIdx.x * 256 + threadIdx.x, at = threadIdx.x + 1;
  stage[at] = i < n ? x[i] : 0.0f;
  __syncthreads();
  float sum = stage[at - 1] + stage[at] + stage[at + 1]; // BUG: uninitialised
  if (i < n)
    y[i] = sum / 3;
}

void uninitialised_shared(const float *x, float *y, int n,
                          cudaStream_t stream) {
  uninitialised_shared_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
