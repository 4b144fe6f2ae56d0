// EXPECT: crashed cudaErrorIllegalAddress
#include "entry.h"
static __global__ void far_away(float *y) { y[1l << 40] = 1.0f; }
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
  far_away<<<1, 1, 0, stream>>>(y);
}
