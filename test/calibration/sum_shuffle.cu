// Sums of rows: 16 elements a thread, then shuffles.

#include <cuda_runtime.h>

__global__ void sum_shuffle_kernel(const float *x, float *y, int cols) {
  __shared__ float partial[8];
  int row = blockIdx.x, first = blockIdx.y * 4096 + threadIdx.x;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int column = first + 256 * k;
    sum += column < cols ? x[row * cols + column] : 0.0f;
  }
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, delta);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f;
    for (int delta = 4; delta > 0; delta /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, delta);
    if (threadIdx.x == 0)
      atomicAdd(&y[row], sum);
  }
}

void sum_shuffle(const float *x, float *y, int rows, int cols,
                 cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  dim3 grid(rows, (cols + 4095) / 4096);
  sum_shuffle_kernel<<<grid, 256, 0, stream>>>(x, y, cols);
}
