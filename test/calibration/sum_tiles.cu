// Sums of rows with cooperative groups: 4 elements a thread, then a tile of 32
// adds in global memory.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void sum_tiles_kernel(const float *x, float *y, int cols) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  int row = blockIdx.x, first = blockIdx.y * 1024 + block.thread_rank();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int column = first + 256 * k;
    sum += column < cols ? x[row * cols + column] : 0.0f;
  }
  for (int delta = 16; delta > 0; delta /= 2)
    sum += tile.shfl_down(sum, delta);
  if (tile.thread_rank() == 0)
    atomicAdd(&y[row], sum);
}

void sum_tiles(const float *x, float *y, int rows, int cols,
               cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  dim3 grid(rows, (cols + 1023) / 1024);
  sum_tiles_kernel<<<grid, 256, 0, stream>>>(x, y, cols);
}
