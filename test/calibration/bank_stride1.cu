// Reads of shared memory by a warp, each in its own bank.

#include <cuda_runtime.h>

constexpr int kStride = 1, kWords = 1024, kSteps = 256;

__global__ void bank_stride1_kernel(const float *x, float *y, int n) {
  __shared__ float words[kWords];
  for (int i = threadIdx.x; i < kWords; i += blockDim.x)
    words[i] = x[i];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k < kSteps; ++k)
    sum += words[(threadIdx.x * kStride + k) % kWords];
  y[i] = sum;
}

void bank_stride1(const float *x, float *y, int n, cudaStream_t stream) {
  bank_stride1_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
