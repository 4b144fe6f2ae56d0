// Matrix product with 32 x 32 tiles of a and b in shared memory.

#include <cuda_runtime.h>

constexpr int kTile = 32;

__global__ void matmul_tiled_kernel(const float *a, const float *b, float *c,
                                    int m, int n, int k) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y;
  int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int base = 0; base < k; base += kTile) {
    int across = base + threadIdx.x, down = base + threadIdx.y;
    left[threadIdx.y][threadIdx.x] =
        row < m && across < k ? a[row * k + across] : 0.0f;
    right[threadIdx.y][threadIdx.x] =
        down < k && column < n ? b[down * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i)
      sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}

void matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k,
                  cudaStream_t stream) {
  dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmul_tiled_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(a, b, c, m, n,
                                                               k);
}
