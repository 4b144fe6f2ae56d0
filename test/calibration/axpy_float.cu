// y += a * x in float, an element a thread.

#include <cuda_runtime.h>

__global__ void axpy_float_kernel(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}

void axpy_float(const float *x, float *y, float a, int n, cudaStream_t stream) {
  axpy_float_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, a, n);
}
