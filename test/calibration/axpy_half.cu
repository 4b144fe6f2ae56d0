// y += a * x in half precision, one two-byte element a thread.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void axpy_half_kernel(const __half *x, __half *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __hfma(__float2half(a), x[i], y[i]);
}

void axpy_half(const __half *x, __half *y, float a, int n,
               cudaStream_t stream) {
  axpy_half_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, a, n);
}
