// Sums of columns, a block per column: neighbours read a whole row apart.

#include <cuda_runtime.h>

__global__ void colsum_columns_kernel(const float *x, float *y, int rows,
                                      int cols) {
  __shared__ float partial[256];
  int column = blockIdx.x;
  float sum = 0.0f;
  for (int row = threadIdx.x; row < rows; row += 256)
    sum += x[row * cols + column];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[column] = partial[0];
}

void colsum_columns(const float *x, float *y, int rows, int cols,
                    cudaStream_t stream) {
  colsum_columns_kernel<<<cols, 256, 0, stream>>>(x, y, rows, cols);
}
