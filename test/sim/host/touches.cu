// The host looks at what lies on the device.

#include <cuda_runtime.h>

__global__ void copy_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}

void touches(const float *x, float *y, int n, cudaStream_t stream) {
  float *between;
  cudaMalloc((void **)&between, n * sizeof(float));
  copy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, between, n);
  cudaStreamSynchronize(stream);
  if (between[3] == between[4])
    n = n / 2;
  copy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(between, y, n);
}
