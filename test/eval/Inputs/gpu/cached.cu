// EXPECT: wrong output 'y' is wrong
// Keeps the first output of a size and gives it again.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static float *kept = nullptr;
  static long size = 0;
  if (size != n) {
    cudaFree(kept);
    cudaMalloc(&kept, n * sizeof(float));
    good(x, kept, n, stream);
    size = n;
  }
  cudaMemcpyAsync(y, kept, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
