// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i)
    sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
