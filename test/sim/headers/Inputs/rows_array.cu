// An array for a texture, which is not simulated.

#include <cuda_runtime.h>

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, rows, cols);
}
