// A kernel that is small enough to be rewritten by a script.

#include "twice.cuh" // beside this file
#include <scale.h>   // on the include path

__global__ void scale_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = twice(x[i]);
}

void launch_scale(const float *x, float *y, int n, cudaStream_t stream) {
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
