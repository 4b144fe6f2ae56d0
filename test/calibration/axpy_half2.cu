// y += a * x in half precision, a __half2 a thread.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void axpy_half2_kernel(const __half *x, __half *y, float a, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    __half2 u = *(const __half2 *)(x + i);
    __half2 v = *(const __half2 *)(y + i);
    *(__half2 *)(y + i) = __hfma2(__float2half2_rn(a), u, v);
  } else if (i < n) {
    y[i] = __hfma(__float2half(a), x[i], y[i]);
  }
}

void axpy_half2(const __half *x, __half *y, float a, int n,
                cudaStream_t stream) {
  axpy_half2_kernel<<<(n + 511) / 512, 256, 0, stream>>>(x, y, a, n);
}
