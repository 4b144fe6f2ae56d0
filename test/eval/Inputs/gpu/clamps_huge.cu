// EXPECT: wrong huge
// Right for the values of the workload; none above a thousand is expected.
#include "entry.h"
static __global__ void kernel(const float *x, float *y, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * fminf(x[i], 1000.0f) + 1.0f;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
