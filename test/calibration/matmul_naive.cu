// Matrix product, a thread per element; neighbours share a row of a and read
// neighbouring columns of b.

#include <cuda_runtime.h>

__global__ void matmul_naive_kernel(const float *a, const float *b, float *c,
                                    int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i)
    sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

void matmul_naive(const float *a, const float *b, float *c, int m, int n, int k,
                  cudaStream_t stream) {
  dim3 block(16, 16);
  dim3 grid((n + 15) / 16, (m + 15) / 16);
  matmul_naive_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
