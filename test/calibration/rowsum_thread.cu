// Sums of rows, a thread per row: neighbours read a whole row apart.

#include <cuda_runtime.h>

__global__ void rowsum_thread_kernel(const float *x, float *y, int rows,
                                     int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int column = 0; column < cols; ++column)
    sum += x[row * cols + column];
  y[row] = sum;
}

void rowsum_thread(const float *x, float *y, int rows, int cols,
                   cudaStream_t stream) {
  rowsum_thread_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(x, y, rows, cols);
}
