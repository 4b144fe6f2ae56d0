// The entry calls what is nowhere.

#include <cuda_runtime.h>

extern int elsewhere(float *x, int n);

void calls_missing(const float *x, float *y, int n, cudaStream_t stream) {
  elsewhere(y, n);
}
