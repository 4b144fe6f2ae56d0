// Reverses the elements of each block by way of shared memory; the copy to it
// is asynchronous.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void unawaited_copy_kernel(const float *x, float *y, int n) {
  __shared__ float tile[256];
  int first = blockIdx.x * 256, i = first + threadIdx.x;
  int count = min(256, n - first);
  if (i < n)
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (i < n)
    y[i] = tile[count - 1 - threadIdx.x];
}

void unawaited_copy(const float *x, float *y, int n, cudaStream_t stream) {
  unawaited_copy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
