// EXPECT: unstable second call with the same inputs
// Every other call is a little off.
#include "entry.h"
static __global__ void spoil(float *y, long n) { y[n / 2] += 0.01f; }
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static int calls = 0;
  good(x, y, n, stream);
  if (calls++ % 2)
    spoil<<<1, 1, 0, stream>>>(y, n);
}
