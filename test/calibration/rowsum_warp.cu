// Sums of rows, a warp per row.

#include <cuda_runtime.h>

__global__ void rowsum_warp_kernel(const float *x, float *y, int rows,
                                   int cols) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int column = lane; column < cols; column += 32)
    sum += x[row * cols + column];
  for (int delta = 16; delta > 0; delta /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, delta);
  if (lane == 0)
    y[row] = sum;
}

void rowsum_warp(const float *x, float *y, int rows, int cols,
                 cudaStream_t stream) {
  rowsum_warp_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(x, y, rows, cols);
}
