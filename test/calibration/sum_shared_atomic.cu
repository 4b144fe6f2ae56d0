// Sums of rows: every element is added to its block's sum in shared memory.

#include <cuda_runtime.h>

__global__ void sum_shared_atomic_kernel(const float *x, float *y, int cols) {
  __shared__ float sum;
  if (threadIdx.x == 0)
    sum = 0.0f;
  __syncthreads();
  int row = blockIdx.x, column = blockIdx.y * blockDim.x + threadIdx.x;
  if (column < cols)
    atomicAdd(&sum, x[row * cols + column]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(&y[row], sum);
}

void sum_shared_atomic(const float *x, float *y, int rows, int cols,
                       cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  dim3 grid(rows, (cols + 255) / 256);
  sum_shared_atomic_kernel<<<grid, 256, 0, stream>>>(x, y, cols);
}
