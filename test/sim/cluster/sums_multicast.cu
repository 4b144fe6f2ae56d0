// A cluster of two blocks a row, each of which sends its half to both. Barriers
// are in PTX, the cluster's dimensions stand at the kernel.
#include <cstdint>
#include <cuda_runtime.h>

#ifndef PEER_ARRIVES // tells the other block that its half has been read
#define PEER_ARRIVES 1
#endif
#ifndef MASK
#define MASK 3
#endif

static __device__ uint32_t address(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
static __device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  do
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  while (!done);
}

__global__ void __cluster_dims__(2, 1, 1)
    sums_kernel(const float *x, float *y, int d) {
  __shared__ alignas(16) float row[512];
  __shared__ uint64_t full, read;
  uint32_t rank, of_full = address(&full), of_read = address(&read);
  asm("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  const float *from = x + (size_t)(blockIdx.x / 2) * d;
  float sum = 0.0f;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n" ::"r"(of_full));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;\n" ::"r"(of_read));
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;\n" ::
                   : "memory");
  for (int step = 0; step < d / 512; ++step) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;\n" ::"r"(of_full)
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                   "[%0], [%1], 1024, [%2], %3;\n" ::"r"(address(row) + rank * 1024),
                   "l"(__cvta_generic_to_global(from + step * 512 + rank * 256)), "r"(of_full),
                   "h"((unsigned short)MASK)
                   : "memory");
    }
    wait(of_full, step & 1);
    for (int i = 0; i < 512; ++i)
      sum += row[i];
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(of_read) : "memory");
      asm volatile("{\n.reg .b32 there;\n"
                   "mapa.shared::cluster.u32 there, %0, %1;\n"
                   "mbarrier.arrive.shared::cluster.b64 _, [there];\n}\n" ::"r"(of_read),
                   "r"(PEER_ARRIVES ? rank ^ 1 : rank)
                   : "memory");
    }
    wait(of_read, step & 1);
  }
  for (int i = rank * 128 + threadIdx.x; i < d; i += 256)
    y[(size_t)(blockIdx.x / 2) * d + i] = sum * from[i];
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;\n" ::: "memory");
}

void sums(const float *x, float *y, int rows, int d, cudaStream_t stream) {
  sums_kernel<<<rows * 2, 128, 0, stream>>>(x, y, d);
}
