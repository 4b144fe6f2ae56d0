// Beside the kernel of base.cu, which is launched no more.
#include <cstdint>

constexpr int Stage = 2048;

// Rows whose beginning and length are multiples of 16 bytes come by one bulk copy for each 2048 columns.
__global__ void norm_bulk(const float *x, const float *weight, float *y, int cols, bool aligned) {
  __shared__ alignas(128) float stage[Stage];
  __shared__ alignas(8) uint64_t barrier;
  __shared__ float sums[8];
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  uint32_t at = (uint32_t)__cvta_generic_to_shared(&barrier), to = (uint32_t)__cvta_generic_to_shared(stage);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
  __syncthreads();
  float sum = 0.0f;
  for (int from = 0, turn = 0; from < cols; from += Stage, ++turn) {
    int here = min(Stage, cols - from);
    if (aligned) {
      if (threadIdx.x == 0) {
        uint32_t bytes = here * sizeof(float);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(__cvta_generic_to_global(row + from)), "r"(bytes), "r"(at)
                     : "memory");
      }
      uint32_t done = 0;
      while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at), "r"(turn % 2)
                     : "memory");
    } else {
      for (int c = threadIdx.x; c < here; c += blockDim.x)
        stage[c] = row[from + c];
      __syncthreads();
    }
    for (int c = threadIdx.x; c < here; c += blockDim.x)
      sum += stage[c] * stage[c];
    __syncthreads();
  }
  for (int lane = 16; lane > 0; lane /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < 8; ++warp)
    sum += sums[warp];
  float scale = rsqrtf(sum / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = (cols <= Stage ? stage[c] : row[c]) * scale * weight[c];
}
