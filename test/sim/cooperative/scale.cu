// Divides by the sum of all: every block adds up a part, all meet, every block reads all parts. The grid's size is what
// the GPU can hold at once, but for the macro.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

#ifndef GRID
#define GRID min(per_sm * sms, 20)
#endif
#ifndef MEET
#define MEET cg::this_grid().sync()
#endif
#ifndef READ
#define READ gridDim.x
#endif

__global__ void scale_kernel(const float *x, float *y, float *parts, int n) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
    sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    parts[blockIdx.x] = part[0];
  MEET;
  sum = 0;
  for (int b = 0; b < READ; ++b)
    sum += parts[b];
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
    y[i] = x[i] / sum;
}

void scale(const float *x, float *y, float *parts, int n, cudaStream_t stream) {
  int device = 0, sms = 0, per_sm = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, scale_kernel, 128, 0);
  void *arguments[] = {&x, &y, &parts, &n};
#ifdef PLAIN
  scale_kernel<<<GRID, 128, 0, stream>>>(x, y, parts, n);
#else
  cudaLaunchCooperativeKernel((const void *)scale_kernel, dim3(GRID), dim3(128), arguments, 0, stream);
#endif
}
