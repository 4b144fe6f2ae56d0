// EXPECT: wrong {{n=(67108863|67108865)}}
// Right at the sizes of the workload; beside the timed one it is off.
#include "entry.h"
static __global__ void kernel(const float *x, float *y, long n, float b) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i] + b;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  long beside = n - (1L << 26);
  kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(
      x, y, n, beside == 1 || beside == -1 ? 1.5f : 1.0f);
}
