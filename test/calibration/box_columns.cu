// Mean of 7 x 7 neighbours, read from global memory by threads that lie in a
// column.

#include <cuda_runtime.h>

constexpr int kRadius = 3;

__device__ int within(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void box_columns_kernel(const float *x, float *y, int rows,
                                   int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= cols)
    return;
  float sum = 0.0f;
  for (int v = -kRadius; v <= kRadius; ++v)
    for (int u = -kRadius; u <= kRadius; ++u)
      sum += x[within(row + v, rows) * cols + within(column + u, cols)];
  y[row * cols + column] = sum / 49.0f;
}

void box_columns(const float *x, float *y, int rows, int cols,
                 cudaStream_t stream) {
  dim3 grid((rows + 31) / 32, (cols + 7) / 8);
  box_columns_kernel<<<grid, dim3(32, 8), 0, stream>>>(x, y, rows, cols);
}
