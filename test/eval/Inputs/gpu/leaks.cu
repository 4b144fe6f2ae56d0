// EXPECT: forbidden the entry leaks memory of the device
// Right, but each call keeps 64 KiB.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  void *lost = nullptr;
  cudaMalloc(&lost, 1 << 16);
  good(x, y, n, stream);
}
