// EXPECT: wrong the entry changed its input 'x'
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
  cudaMemsetAsync((void *)x, 0, 4, stream);
}
