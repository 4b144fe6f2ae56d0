// Through halves and bfloat16s, each with the rest that it could not hold.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void rows_kernel(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x, lane = threadIdx.x;
  float sum = 0.0f;
  for (int i = lane; i < cols; i += 32) {
    // Two halves hold a float well enough: its rounded value and the rest.
    __half high = __float2half_rn(x[row * cols + i]);
    __half low = __float2half_rn(x[row * cols + i] - __half2float(high));
    __half2 both = __hmul2(__halves2half2(high, low), __float2half2_rn(1.0f));
    float2 back = __half22float2(both);
    sum += back.x + back.y;
  }
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes >>= 1)
    sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  __nv_bfloat162 top = __floats2bfloat162_rn(sum, 0.0f);
  float rest = sum - __low2float(top);
  if (lane == 0)
    y[row] = __bfloat1622float2(top).x + rest;
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  rows_kernel<<<rows, 32, 0, stream>>>(x, y, rows, cols);
}
