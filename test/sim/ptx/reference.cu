// What forms.cu computes when all forms agree with C++.
#include <cuda_runtime.h>

__global__ void reference_kernel(const float *x, float *y, int *wrong, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
  if (i == 0)
    *wrong = 0;
}

void forms(const float *x, const int *k, float *y, int *wrong, int n, cudaStream_t stream) {
  reference_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, y, wrong, n);
}
