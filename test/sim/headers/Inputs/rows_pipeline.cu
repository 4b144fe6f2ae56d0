// A warp per row, with copies to shared memory one stage ahead.

#include <cuda_pipeline.h>

__global__ void rows_kernel(const float *x, float *y, int rows, int cols) {
  __shared__ float stage[2][32];
  int lane = threadIdx.x;
  const float *row = x + blockIdx.x * cols;
  float sum = 0.0f;
  if (lane < cols)
    __pipeline_memcpy_async(&stage[0][lane], row + lane, sizeof(float));
  __pipeline_commit();
  for (int first = 0, at = 0; first < cols; first += 32, at ^= 1) {
    int next = first + 32 + lane;
    if (next < cols)
      __pipeline_memcpy_async(&stage[at ^ 1][lane], row + next, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (first + lane < cols)
      sum += stage[at][lane];
  }
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, delta);
  if (lane == 0)
    y[blockIdx.x] = sum;
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  rows_kernel<<<rows, 32, 0, stream>>>(x, y, rows, cols);
}
