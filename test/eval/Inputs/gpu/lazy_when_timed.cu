// EXPECT: wrong timed call
// Honest while outputs are compared, idle as soon as calls come fast.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static int calls = 0;
  if (calls++ < 40)
    good(x, y, n, stream);
}
