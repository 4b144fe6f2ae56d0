// EXPECT: correct
// SPEEDUP: 1.2 1000
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
}
