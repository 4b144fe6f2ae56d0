// c = a b on tensor cores: the copies of a step may still go on.

#include <cuda_fp16.h>

__device__ unsigned place(const void *shared) {
  return (unsigned)__cvta_generic_to_shared(shared);
}

/// A block has 16 rows and 64 columns of c, a warp 8 of the columns.
__global__ void product_kernel(const __half *a, const __half *b, float *c) {
  constexpr int n = 64;
  __shared__ __align__(16) __half rows[2][16][24];
  __shared__ __align__(16) __half columns[2][16][72];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int first = blockIdx.x * 16;
  auto fetch = [&](int stage, int k) {
    if (thread < 32)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                       place(&rows[stage][thread / 2][thread % 2 * 8])),
                   "l"(&a[(first + thread / 2) * n + k + thread % 2 * 8]));
    if (thread < 128)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       place(&columns[stage][thread / 8][thread % 8 * 8])),
                   "l"(&b[(k + thread / 8) * n + thread % 8 * 8]));
    asm volatile("cp.async.commit_group;");
  };
  float sum[4] = {};
  fetch(0, 0);
  for (int k = 0; k < n; k += 16) {
    int stage = k / 16 % 2;
    if (k + 16 < n)
      fetch(stage ^ 1, k + 16);
    else
      asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 2;");
    __syncthreads();
    unsigned ra[4], rb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
                 "[%4];" // BUG: they are not awaited
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(place(&rows[stage][lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, "
                 "[%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(place(&columns[stage][lane % 16][warp * 8])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]),
                   "r"(rb[1]));
    __syncthreads();
  }
  int row = first + lane / 4, col = warp * 8 + lane % 4 * 2;
  c[row * n + col] = sum[0];
  c[row * n + col + 1] = sum[1];
  c[(row + 8) * n + col] = sum[2];
  c[(row + 8) * n + col + 1] = sum[3];
}

void product(const void *a, const void *b, float *c, cudaStream_t stream) {
  constexpr int n = 64;
  product_kernel<<<n / 16, 256, 0, stream>>>((const __half *)a,
                                             (const __half *)b, c);
}
