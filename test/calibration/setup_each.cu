// A factor made of 64 weights, by every thread for the one element it scales.

#include <cuda_runtime.h>

__global__ void setup_each_kernel(const float *x, const float *w, float *y,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float squares = 1.0f;
  for (int k = 0; k < 64; ++k)
    squares += w[k] * w[k];
  y[i] = x[i] * rsqrtf(squares);
}

void setup_each(const float *x, const float *w, float *y, int n,
                cudaStream_t stream) {
  setup_each_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, w, y, n);
}
