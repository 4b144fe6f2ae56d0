// Two loops of the same cost, chosen by warp.

#include <cuda_runtime.h>

__global__ void branch_uniform_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float value = x[i];
  if (i / 32 % 2 == 0) {
    for (int k = 0; k < 128; ++k)
      value = 0.25f * value * value + 0.125f;
  } else {
    for (int k = 0; k < 128; ++k)
      value = fminf(fabsf(value) * 0.75f - 0.5f, 1.0f);
  }
  y[i] = value;
}

void branch_uniform(const float *x, float *y, int n, cudaStream_t stream) {
  branch_uniform_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
