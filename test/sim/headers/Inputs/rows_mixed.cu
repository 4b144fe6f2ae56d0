// Much of a CUDA source's furniture: constants and flags in the device's
// memory, dynamic shared memory, a struct and a lambda, printf, events, pairs
// of outputs from one function.

#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float Weights[4];
__device__ int Flag;

struct Factors {
  float Both;
  double Unused;
};

template <class T, class Function>
__device__ T fold(const T *values, int n, Function function) {
  T result = values[0];
  for (int i = 1; i < n; ++i)
    result = function(result, values[i]);
  return result;
}

__global__ void __launch_bounds__(64)
    rows_kernel(const float *__restrict__ x, float *__restrict__ y, int rows,
                int cols, Factors factors) {
  extern __shared__ __align__(16) unsigned char raw[];
  float *tile = reinterpret_cast<float *>(raw);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    sum += __ldg(&x[blockIdx.x * cols + i]) * Weights[1];
  tile[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  sum = fold(tile, 64, [](float a, float b) { return a + b; });
  assert(sum >= 0);
  float sine, cosine;
  sincosf(sum, &sine, &cosine);
  y[blockIdx.x] = sum * factors.Both * (sine * sine + cosine * cosine);
  if (blockIdx.x == 0) {
    printf("%d columns: %s\n", cols, "done");
    Flag = 1;
  }
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  float weights[4] = {0, 1, 0, 0};
  cudaMemcpyToSymbolAsync(Weights, weights, sizeof(weights), 0,
                          cudaMemcpyHostToDevice, stream);
  cudaFuncSetAttribute(rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       65536);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, stream);
  rows_kernel<<<rows, 64, 64 * sizeof(float), stream>>>(x, y, rows, cols,
                                                        Factors{1.0f, 2.0});
  cudaEventRecord(stop, stream);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  int flag = 0;
  cudaMemcpyFromSymbol(&flag, Flag, sizeof(flag));
  if (flag != 1)
    cudaMemset(y, 0, rows * sizeof(float));
}
