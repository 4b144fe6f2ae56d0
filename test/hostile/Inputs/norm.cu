#include <cuda_runtime.h>

__global__ void norm_kernel(const float *x, const float *weight, float *y, int cols) {
  __shared__ float sums[256];
  const float *row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += row[c] * row[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(sums[0] / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(size_t)blockIdx.x * cols + c] = row[c] * scale * weight[c];
}

void norm(const float *x, const float *weight, float *y, int rows, int cols, cudaStream_t stream) {
  norm_kernel<<<rows, 256, 0, stream>>>(x, weight, y, cols);
}
