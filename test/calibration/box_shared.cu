// Mean of 7 x 7 neighbours, read once into a tile in shared memory.

#include <cuda_runtime.h>

constexpr int kRadius = 3, kWide = 32, kHigh = 8;
constexpr int kTileWide = kWide + 2 * kRadius, kTileHigh = kHigh + 2 * kRadius;

__device__ int within(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void box_shared_kernel(const float *x, float *y, int rows,
                                  int cols) {
  __shared__ float tile[kTileHigh][kTileWide];
  int top = blockIdx.y * kHigh - kRadius, first = blockIdx.x * kWide - kRadius;
  for (int v = threadIdx.y; v < kTileHigh; v += kHigh)
    for (int u = threadIdx.x; u < kTileWide; u += kWide)
      tile[v][u] = x[within(top + v, rows) * cols + within(first + u, cols)];
  __syncthreads();
  int row = blockIdx.y * kHigh + threadIdx.y;
  int column = blockIdx.x * kWide + threadIdx.x;
  if (row >= rows || column >= cols)
    return;
  float sum = 0.0f;
  for (int v = 0; v <= 2 * kRadius; ++v)
    for (int u = 0; u <= 2 * kRadius; ++u)
      sum += tile[threadIdx.y + v][threadIdx.x + u];
  y[row * cols + column] = sum / 49.0f;
}

void box_shared(const float *x, float *y, int rows, int cols,
                cudaStream_t stream) {
  dim3 grid((cols + kWide - 1) / kWide, (rows + kHigh - 1) / kHigh);
  box_shared_kernel<<<grid, dim3(kWide, kHigh), 0, stream>>>(x, y, rows, cols);
}
