// Transpose through a tile in shared memory whose columns are permuted by the
// row: no padding, no conflicts.

#include <cuda_runtime.h>

constexpr int kTile = 32;

__global__ void transpose_swizzled_kernel(const float *x, float *y, int rows,
                                          int cols) {
  __shared__ float tile[kTile][kTile];
  int column = blockIdx.x * kTile + threadIdx.x;
  int top = blockIdx.y * kTile;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    if (top + i < rows && column < cols)
      tile[i][threadIdx.x ^ i] = x[(top + i) * cols + column];
  __syncthreads();
  int row = top + threadIdx.x;
  int first = blockIdx.x * kTile;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    if (first + i < cols && row < rows)
      y[(first + i) * rows + row] = tile[threadIdx.x][i ^ threadIdx.x];
}

void transpose_swizzled(const float *x, float *y, int rows, int cols,
                        cudaStream_t stream) {
  dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose_swizzled_kernel<<<grid, dim3(kTile, 8), 0, stream>>>(x, y, rows,
                                                                 cols);
}
