// As many multiply-adds in four chains that do not wait for each other.

#include <cuda_runtime.h>

__global__ void chain_four_kernel(const float *x, float *y, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float factor = 0.5f * x[i], values[4];
#pragma unroll
  for (int c = 0; c < 4; ++c)
    values[c] = x[i] + c;
  for (int k = 0; k < steps / 4; ++k) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      values[c] = values[c] * factor + 0.25f;
  }
  for (int k = 0; k < steps % 4; ++k)
    values[0] = values[0] * factor + 0.25f;
  y[i] = values[0] + values[1] + values[2] + values[3];
}

void chain_four(const float *x, float *y, int steps, int n,
                cudaStream_t stream) {
  chain_four_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, y, steps, n);
}
