// Transpose that writes neighbours and reads a whole row apart.

#include <cuda_runtime.h>

__global__ void transpose_reads_kernel(const float *x, float *y, int rows,
                                       int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < cols)
    y[column * rows + row] = x[row * cols + column];
}

void transpose_reads(const float *x, float *y, int rows, int cols,
                     cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid((rows + 31) / 32, (cols + 7) / 8);
  transpose_reads_kernel<<<grid, block, 0, stream>>>(x, y, rows, cols);
}
