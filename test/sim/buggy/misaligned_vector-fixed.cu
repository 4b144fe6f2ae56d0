// Shifts by one, four elements a thread.

#include <cuda_runtime.h>

__global__ void misaligned_vector_kernel(const float *x, float *y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 < n) {
    float4 v = make_float4(x[i + 1], x[i + 2], x[i + 3], x[i + 4]);
    *(float4 *)(y + i) = v;
  } else {
    for (; i < n; ++i)
      y[i] = i + 1 < n ? x[i + 1] : 0.0f;
  }
}

void misaligned_vector(const float *x, float *y, int n, cudaStream_t stream) {
  misaligned_vector_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, n);
}
