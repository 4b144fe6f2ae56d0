// Transpose that reads neighbours and writes a whole column apart.

#include <cuda_runtime.h>

__global__ void transpose_naive_kernel(const float *x, float *y, int rows,
                                       int cols) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < cols)
    y[column * rows + row] = x[row * cols + column];
}

void transpose_naive(const float *x, float *y, int rows, int cols,
                     cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  transpose_naive_kernel<<<grid, block, 0, stream>>>(x, y, rows, cols);
}
