// c = a b on tensor cores, in the fragments of wmma.

#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product_kernel(const __half *a, const __half *b, float *c) {
  constexpr int n = 64;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> ra;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> rb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(ra, a + blockIdx.x * 16 * n + k, n);
    wmma::load_matrix_sync(rb, b + k * n + blockIdx.y * 16, n);
    wmma::mma_sync(sum, ra, rb, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.x * 16 * n + blockIdx.y * 16, sum, n,
                          wmma::mem_row_major);
}

void product(const void *a, const void *b, float *c, cudaStream_t stream) {
  constexpr int n = 64;
  product_kernel<<<dim3(n / 16, n / 16), 32, 0, stream>>>(
      (const __half *)a, (const __half *)b, c);
}
