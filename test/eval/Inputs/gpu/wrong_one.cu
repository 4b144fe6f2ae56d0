// EXPECT: wrong 1 of {{[0-9]+}} elements
// One element of millions.
#include "entry.h"
static __global__ void spoil(float *y, long n) { y[n / 3] += 0.5f; }
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
  spoil<<<1, 1, 0, stream>>>(y, n);
}
