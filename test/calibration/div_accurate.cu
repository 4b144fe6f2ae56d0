// 64 divisions an element, rounded as IEEE wants.

#include <cuda_runtime.h>

__global__ void div_accurate_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = x[i], sum = 0.0f;
  for (int k = 0; k < 64; ++k)
    sum += value / (value + k);
  y[i] = sum;
}

void div_accurate(const float *x, float *y, int n, cudaStream_t stream) {
  div_accurate_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
