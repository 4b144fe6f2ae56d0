// A polynomial of degree 256 in pairs of half precision.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void polynomial_half2_kernel(const __half *x, __half *y, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  bool whole = i + 1 < n;
  __half2 value = whole ? *(const __half2 *)(x + i) : __half2half2(x[i]);
  __half2 half = __float2half2_rn(0.5f), sum = half;
#pragma unroll 16
  for (int k = 0; k < 256; ++k)
    sum = __hfma2(sum, value, half);
  if (whole)
    *(__half2 *)(y + i) = sum;
  else
    y[i] = __low2half(sum);
}

void polynomial_half2(const __half *x, __half *y, int n, cudaStream_t stream) {
  polynomial_half2_kernel<<<(n + 511) / 512, 256, 0, stream>>>(x, y, n);
}
