// EXPECT: wrong the entry wrote outside 'y'
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
  good(x, y + n, 1, stream);
}
