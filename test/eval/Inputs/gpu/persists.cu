// EXPECT: {{correct|forbidden}}
// LIKE: faster 0.05
// Asks for its inputs to stay in L2 beyond the call: it must gain nothing.
#include "entry.h"
static __global__ void kernel(const float *x, float *y, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long policy;
  float v;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + i), "l"(policy));
  y[i] = 2.0f * v + 1.0f;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
