// A row of threads per row, each with CUB's collectives of its own: where only
// the width is given, the thread's number is threadIdx.x, whatever the block.

#include <cub/cub.cuh>

/// Width threads in a row, Height rows of them a block.
template <int Width, int Height>
__global__ void rows_kernel(const float *x, float *y, int rows, int cols) {
  typedef cub::BlockReduce<float, Width> Reduce;
  typedef cub::BlockScan<float, Width> Scan;
  __shared__ typename Reduce::TempStorage reduced;
  __shared__ typename Scan::TempStorage scanned;
  int row = blockIdx.x * Height + threadIdx.y;
  float sum = 0.0f;
  for (int i = threadIdx.x; row < rows && i < cols; i += Width)
    sum += x[row * cols + i];
  float before, all, upto[2], two[2] = {sum, sum};
  Scan(scanned).ExclusiveSum(sum, before, all);
  Scan(scanned).InclusiveSum(two, upto);
  sum = Reduce(reduced).Sum(sum);
  // What they make of it is the same; where not, the row is.
  if (row < rows && threadIdx.x == 0 && before == 0.0f && all >= 0.0f)
    y[row] = all > 1.01f * sum || all < 0.99f * sum || upto[1] < 0 ? -1 : sum;
}

/// Threads in three dimensions that are all given.
__global__ void block_kernel(const float *x, float *y, int first, int rows,
                             int cols) {
  typedef cub::BlockReduce<float, 8, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4, 3>
      Reduce;
  typedef cub::BlockLoad<float, 8, 1, cub::BLOCK_LOAD_TRANSPOSE, 4, 3> Load;
  __shared__ typename Reduce::TempStorage reduced;
  __shared__ typename Load::TempStorage loaded;
  int row = first + blockIdx.x;
  float sum = 0.0f, item[1];
  for (int i = 0; i < cols; i += 96) {
    __syncthreads();
    Load(loaded).Load(x + row * cols + i, item, cols - i, 0.0f);
    sum += item[0];
  }
  sum = Reduce(reduced).Sum(sum);
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
    y[row] = sum;
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  int first = rows / 2, half = first / 2, rest = first - half;
  if (half)
    rows_kernel<32, 8>
        <<<(half + 7) / 8, dim3(32, 8), 0, stream>>>(x, y, half, cols);
  if (rest)
    rows_kernel<16, 4><<<(rest + 3) / 4, dim3(16, 4), 0, stream>>>(
        x + half * cols, y + half, rest, cols);
  block_kernel<<<rows - first, dim3(8, 4, 3), 0, stream>>>(x, y, first, rows,
                                                           cols);
}
