// EXPECT: wrong 3 elements were never written
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n / 4 * 4, stream);
}
