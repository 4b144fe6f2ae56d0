// Matrix product with 64 x 64 tiles in shared memory, of which a thread does 4
// x 4 elements in registers.

#include <cuda_runtime.h>

constexpr int kTile = 64, kDepth = 16, kPitch = kTile + 4;

__global__ void matmul_registers_kernel(const float *a, const float *b,
                                        float *c, int m, int n, int k) {
  __shared__ float left[kDepth][kPitch], right[kDepth][kTile];
  int thread = threadIdx.y * 16 + threadIdx.x;
  int top = blockIdx.y * kTile, first = blockIdx.x * kTile;
  float sum[4][4] = {};
  for (int base = 0; base < k; base += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      int row = top + i / kDepth, across = base + i % kDepth;
      left[i % kDepth][i / kDepth] =
          row < m && across < k ? a[row * k + across] : 0.0f;
      int down = base + i / kTile, column = first + i % kTile;
      right[i / kTile][i % kTile] =
          down < k && column < n ? b[down * n + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kDepth; ++i)
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s)
          sum[r][s] +=
              left[i][4 * threadIdx.y + r] * right[i][4 * threadIdx.x + s];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      int row = top + 4 * threadIdx.y + r, column = first + 4 * threadIdx.x + s;
      if (row < m && column < n)
        c[row * n + column] = sum[r][s];
    }
}

void matmul_registers(const float *a, const float *b, float *c, int m, int n,
                      int k, cudaStream_t stream) {
  dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmul_registers_kernel<<<grid, dim3(16, 16), 0, stream>>>(a, b, c, m, n, k);
}
