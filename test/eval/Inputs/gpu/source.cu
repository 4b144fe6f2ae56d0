// The source: right, and slow, since neighbours read far apart.
#include "entry.h"
static __global__ void kernel(const float *x, float *y, long n) {
  long threads = (long)gridDim.x * blockDim.x;
  long each = (n + threads - 1) / threads;
  long begin = ((long)blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (long i = begin; i < begin + each && i < n; ++i)
    y[i] = 2.0f * x[i] + 1.0f;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  kernel<<<1024, 256, 0, stream>>>(x, y, n);
}
