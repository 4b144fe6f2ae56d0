// Doubles each element twice, in two streams.

#include <cuda_runtime.h>

__global__ void twice_kernel(const float *from, float *to, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    to[i] = 2.0f * from[i];
}

void missing_event(const float *x, float *y, int n, cudaStream_t stream) {
  float *between;
  cudaMalloc(&between, n * sizeof(float));
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t first, second;
  cudaEventCreate(&first);
  cudaEventCreate(&second);
  int blocks = (n + 255) / 256;
  twice_kernel<<<blocks, 256, 0, stream>>>(x, between, n);
  cudaEventRecord(first, stream);
  cudaStreamWaitEvent(other, first, 0);
  twice_kernel<<<blocks, 256, 0, other>>>(between, y, n);
  cudaEventRecord(second, other);
  cudaStreamWaitEvent(stream, second, 0);
  cudaStreamSynchronize(stream);
  cudaEventDestroy(first);
  cudaEventDestroy(second);
  cudaStreamDestroy(other);
  cudaFree(between);
}
