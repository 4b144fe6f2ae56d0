// EXPECT: wrong timed call
// Honest for as many calls as comparisons and warm-up take, then in one of four.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static int calls = 0;
  static unsigned draw = 1;
  draw = draw * 1664525u + 1013904223u;
  if (calls++ < 60 || draw >> 30 == 0)
    good(x, y, n, stream);
}
