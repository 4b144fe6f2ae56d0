// Rows of 16, times ones: tensor-core fragments have all their elements.

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void rows_kernel(const float *x, float *y, int rows, int cols) {
  __shared__ __half tile[16 * 16];
  __shared__ float sums[16 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> ones;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::fill_fragment(ones, __float2half(0.5f));
  for (int first = 0; first < cols; first += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      int row = blockIdx.x * 16 + i / 16, col = first + i % 16;
      tile[i] = __float2half(row < rows && col < cols ? x[row * cols + col] : 0.0f);
    }
    __syncwarp();
    wmma::load_matrix_sync(a, tile, 16);
    wmma::mma_sync(sum, a, ones, sum);
    __syncwarp();
  }
  for (int i = 0; i < sum.num_elements; ++i)
    sum.x[i] *= 2.0f;
  wmma::store_matrix_sync(sums, sum, 16, wmma::mem_col_major);
  int row = blockIdx.x * 16 + threadIdx.x;
  if (threadIdx.x < 16 && row < rows)
    y[row] = sums[5 * 16 + threadIdx.x];
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  rows_kernel<<<(rows + 15) / 16, 32, 0, stream>>>(x, y, rows, cols);
}
