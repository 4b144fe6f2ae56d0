// c = a b on tensor cores, of tiles that lie in shared memory by columns.

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product_kernel(const __half *a, const __half *b, float *c) {
  constexpr int n = 64;
  __shared__ __half at[16][16], bt[16][16]; // by columns
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> ra;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> rb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      at[i % 16][i / 16] = a[(blockIdx.x * 16 + i / 16) * n + k + i % 16];
      bt[i % 16][i / 16] = b[(k + i / 16) * n + blockIdx.y * 16 + i % 16];
    }
    __syncwarp();
    wmma::load_matrix_sync(ra, &at[0][0], 16);
    wmma::load_matrix_sync(rb, &bt[0][0], 16);
    wmma::mma_sync(sum, ra, rb, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c + blockIdx.x * 16 * n + blockIdx.y * 16, sum, n,
                          wmma::mem_row_major);
}

void product(const void *a, const void *b, float *c, cudaStream_t stream) {
  constexpr int n = 64;
  product_kernel<<<dim3(n / 16, n / 16), 32, 0, stream>>>(
      (const __half *)a, (const __half *)b, c);
}
