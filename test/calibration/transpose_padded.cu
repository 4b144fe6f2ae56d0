// Transpose through a tile in shared memory whose rows are padded, so that a
// column lies in 32 banks.

#include <cuda_runtime.h>

constexpr int kTile = 32;

__global__ void transpose_padded_kernel(const float *x, float *y, int rows,
                                        int cols) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x;
  int top = blockIdx.y * kTile;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    if (top + i < rows && column < cols)
      tile[i][threadIdx.x] = x[(top + i) * cols + column];
  __syncthreads();
  int row = top + threadIdx.x;
  int first = blockIdx.x * kTile;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    if (first + i < cols && row < rows)
      y[(first + i) * rows + row] = tile[threadIdx.x][i];
}

void transpose_padded(const float *x, float *y, int rows, int cols,
                      cudaStream_t stream) {
  dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose_padded_kernel<<<grid, dim3(kTile, 8), 0, stream>>>(x, y, rows,
                                                               cols);
}
