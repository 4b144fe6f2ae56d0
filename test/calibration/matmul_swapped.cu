// Matrix product, a thread per element; neighbours are in one column of c, so
// that they read a and write c a whole row apart.

#include <cuda_runtime.h>

__global__ void matmul_swapped_kernel(const float *a, const float *b, float *c,
                                      int m, int n, int k) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i)
    sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

void matmul_swapped(const float *a, const float *b, float *c, int m, int n,
                    int k, cudaStream_t stream) {
  dim3 block(16, 16);
  dim3 grid((m + 15) / 16, (n + 15) / 16);
  matmul_swapped_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
