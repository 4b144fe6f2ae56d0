// Sums of rows: a tree in shared memory, whose active threads stay together.

#include <cuda_runtime.h>

__global__ void sum_tree_kernel(const float *x, float *y, int cols) {
  __shared__ float partial[256];
  int row = blockIdx.x, column = blockIdx.y * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = column < cols ? x[row * cols + column] : 0.0f;
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(&y[row], partial[0]);
}

void sum_tree(const float *x, float *y, int rows, int cols,
              cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  dim3 grid(rows, (cols + 255) / 256);
  sum_tree_kernel<<<grid, 256, 0, stream>>>(x, y, cols);
}
