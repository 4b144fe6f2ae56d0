// EXPECT: {{crashed|forbidden}} memory
// Right, but it takes what the device has, a gigabyte a call.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  void *lost = nullptr;
  if (cudaMalloc(&lost, 1l << 30) != cudaSuccess)
    cudaGetLastError();
  good(x, y, n, stream);
}
