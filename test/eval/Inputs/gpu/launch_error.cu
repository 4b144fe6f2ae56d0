// EXPECT: crashed {{cudaErrorInvalid(Configuration|Value)}}
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good_kernel<<<(unsigned)((n + 2047) / 2048), 2048, 0, stream>>>(x, y, n);
}
