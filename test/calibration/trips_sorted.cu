// Loops of 0 to 63 rounds, neighbours of about as many.

#include <cuda_runtime.h>

__global__ void trips_sorted_kernel(const int *key, float *y, int each, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int rounds = key[i] / each;
  float value = 1.0f;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    value = 0.5f * value + 0.25f;
    value = 0.25f * value * value + 0.5f;
    value = value * (1.0f - 0.5f * value);
  }
  y[i] = value;
}

void trips_sorted(const int *key, float *y, int n, cudaStream_t stream) {
  int each = (n + 63) / 64;
  trips_sorted_kernel<<<(n + 255) / 256, 256, 0, stream>>>(key, y, each, n);
}
