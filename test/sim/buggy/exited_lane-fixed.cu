// Takes from each element the sum of its warp.

#include <cuda_runtime.h>

__global__ void exited_lane_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float value = i < n ? x[i] : 0.0f, sum = value;
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, delta);
  sum = __shfl_sync(0xffffffffu, sum, 0);
  if (i < n)
    y[i] = value - sum;
}

void exited_lane(const float *x, float *y, int n, cudaStream_t stream) {
  exited_lane_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
