// EXPECT: forbidden the entry leaks memory of the host
// Right, but each call keeps 64 MiB that the driver has pinned.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  void *lost = nullptr;
  cudaMallocHost(&lost, 64 << 20);
  good(x, y, n, stream);
}
