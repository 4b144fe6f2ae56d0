// Reverses the elements of each block of 256; a bulk copy brings them, and only
// the threads are waited for.

#include <cuda_runtime.h>

__device__ unsigned place(const void *shared) {
  return (unsigned)__cvta_generic_to_shared(shared);
}

__global__ void unawaited_bulk_kernel(const float *x, float *y) {
  __shared__ __align__(16) float tile[256];
  __shared__ unsigned long long barrier;
  int first = blockIdx.x * 256;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
        place(&barrier)));
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(
        place(&barrier)));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [%0], [%1], 1024, [%2];" ::"r"(place(tile)),
                 "l"(__cvta_generic_to_global(x + first)), "r"(place(&barrier)));
  }
  __syncthreads();
  y[first + threadIdx.x] = tile[255 - threadIdx.x]; // BUG: race
}

void unawaited_bulk(const float *x, float *y, int n, cudaStream_t stream) {
  unawaited_bulk_kernel<<<n / 256, 256, 0, stream>>>(x, y);
}
