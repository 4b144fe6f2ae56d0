// EXPECT: crashed {{misaligned|vector access}}
// Loads four at a time wherever the pointers lie.
#include "entry.h"
static __global__ void kernel(const float *x, float *y, long n) {
  long i = ((long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
    float4 v = *(const float4 *)(x + i);
    *(float4 *)(y + i) = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
  } else
    for (; i < n; ++i)
      y[i] = 2.0f * x[i] + 1.0f;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  kernel<<<(unsigned)((n + 1023) / 1024), 256, 0, stream>>>(x, y, n);
}
