// y += a * x in float, four elements a thread by 16-byte accesses.

#include <cuda_runtime.h>

__global__ void axpy_float4_kernel(const float *x, float *y, float a, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    float4 u = *(const float4 *)(x + i);
    float4 v = *(const float4 *)(y + i);
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    *(float4 *)(y + i) = v;
  } else {
    for (; i < n; ++i)
      y[i] += a * x[i];
  }
}

void axpy_float4(const float *x, float *y, float a, int n,
                 cudaStream_t stream) {
  axpy_float4_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, a, n);
}
