// A factor made of 64 weights, by every thread for all the elements it scales.

#include <cuda_runtime.h>

__global__ void setup_once_kernel(const float *x, const float *w, float *y,
                                  int n) {
  float squares = 1.0f;
  for (int k = 0; k < 64; ++k)
    squares += w[k] * w[k];
  float factor = rsqrtf(squares);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] = x[i] * factor;
}

void setup_once(const float *x, const float *w, float *y, int n,
                cudaStream_t stream) {
  int blocks = (n + 255) / 256;
  if (blocks > 1056)
    blocks = 1056;
  setup_once_kernel<<<blocks, 256, 0, stream>>>(x, w, y, n);
}
