// y += a * x in bfloat16, a __nv_bfloat162 a thread.

#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void axpy_bf162_kernel(const __nv_bfloat16 *x, __nv_bfloat16 *y,
                                  float a, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    __nv_bfloat162 u = *(const __nv_bfloat162 *)(x + i);
    __nv_bfloat162 v = *(const __nv_bfloat162 *)(y + i);
    *(__nv_bfloat162 *)(y + i) = __hfma2(__float2bfloat162_rn(a), u, v);
  } else if (i < n) {
    y[i] = __hfma(__float2bfloat16(a), x[i], y[i]);
  }
}

void axpy_bf162(const __nv_bfloat16 *x, __nv_bfloat16 *y, float a, int n,
                cudaStream_t stream) {
  axpy_bf162_kernel<<<(n + 511) / 512, 256, 0, stream>>>(x, y, a, n);
}
