// Two kernels and their launches, with what real files have around them.
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess)                                                 \
      return status;                                                           \
  } while (0)
#define ROWS(i, n) for (int i = blockIdx.x; i < n; i += gridDim.x)

namespace {

__device__ float square(float v) { return v * v; }

template <int kBlock>
__global__ void __launch_bounds__(kBlock)
    row_norm(const float *__restrict__ x, float *__restrict__ y, int rows,
             int cols) {
  __shared__ float partial[kBlock];
  ROWS(row, rows) {
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols; i += kBlock)
      sum += square(x[(size_t)row * cols + i]);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = kBlock / 2; stride > 0; stride /= 2) {
      if (threadIdx.x < stride)
        partial[threadIdx.x] += partial[threadIdx.x + stride];
      __syncthreads();
    }
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
      y[row] = sqrtf(partial[0]);
#else
    if (threadIdx.x == 0)
      y[row] = __fsqrt_rn(partial[0]);
#endif
    __syncthreads();
  }
}

__global__ void scale(float *x, const float *by, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const char *note = "// <<<IMPROVE BEGIN>>> in a string";
  if (i < rows * cols && note)
    x[i] /= by[i / cols];
}

} // namespace

extern "C" cudaError_t normalize(float *x, float *norms, int rows, int cols,
                                 cudaStream_t stream) {
  constexpr int kBlock = 256;
  int blocks = (rows * cols + kBlock - 1) / kBlock;
  row_norm<kBlock><<<rows, kBlock, 0, stream>>>(x, norms, rows, cols);
  CHECK(cudaGetLastError());
  scale<<<blocks, kBlock, 0, stream>>>(x, norms, rows, cols);
  CHECK(cudaGetLastError());
  return cudaSuccess;
}
