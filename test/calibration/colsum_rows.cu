// Sums of columns by threads that walk down side by side.

#include <cuda_runtime.h>

constexpr int kChunk = 64;

__global__ void colsum_rows_kernel(const float *x, float *y, int rows,
                                   int cols) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= cols)
    return;
  int first = blockIdx.y * kChunk, last = min(first + kChunk, rows);
  float sum = 0.0f;
  for (int row = first; row < last; ++row)
    sum += x[row * cols + column];
  atomicAdd(&y[column], sum);
}

void colsum_rows(const float *x, float *y, int rows, int cols,
                 cudaStream_t stream) {
  cudaMemsetAsync(y, 0, cols * sizeof(float), stream);
  dim3 grid((cols + 255) / 256, (rows + kChunk - 1) / kChunk);
  colsum_rows_kernel<<<grid, 256, 0, stream>>>(x, y, rows, cols);
}
