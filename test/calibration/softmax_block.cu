// Softmax, a block per row.

#include <cuda_runtime.h>

constexpr int kThreads = 256;

template <class Combine>
__device__ float combineBlock(float value, float *partial, Combine combine) {
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] =
          combine(partial[threadIdx.x], partial[threadIdx.x + stride]);
    __syncthreads();
  }
  value = partial[0];
  __syncthreads();
  return value;
}

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

__global__ void softmax_block_kernel(const float *x, float *y, int cols) {
  __shared__ float partial[kThreads];
  const float *in = x + blockIdx.x * cols;
  float *out = y + blockIdx.x * cols;
  float most = in[0];
  for (int i = threadIdx.x; i < cols; i += kThreads)
    most = fmaxf(most, in[i]);
  most = combineBlock(most, partial, Larger());
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += kThreads)
    sum += expf(in[i] - most);
  sum = combineBlock(sum, partial, Sum());
  for (int i = threadIdx.x; i < cols; i += kThreads)
    out[i] = expf(in[i] - most) / sum;
}

void softmax_block(const float *x, float *y, int rows, int cols,
                   cudaStream_t stream) {
  softmax_block_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
