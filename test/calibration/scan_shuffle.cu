// Prefix sums of rows, a block per row: shuffles in a warp, then over the
// warps' sums.

#include <cuda_runtime.h>

constexpr int kThreads = 256, kWarps = kThreads / 32;

__device__ float scanWarp(float value) {
  int lane = threadIdx.x % 32;
  for (int delta = 1; delta < 32; delta *= 2) {
    float below = __shfl_up_sync(0xffffffffu, value, delta);
    if (lane >= delta)
      value += below;
  }
  return value;
}

__global__ void scan_shuffle_kernel(const float *x, float *y, int cols) {
  __shared__ float sums[kWarps];
  const float *in = x + blockIdx.x * cols;
  float *out = y + blockIdx.x * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before = 0.0f;
  for (int first = 0; first < cols; first += kThreads) {
    int i = first + threadIdx.x;
    float sum = scanWarp(i < cols ? in[i] : 0.0f);
    if (lane == 31)
      sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      float total = scanWarp(lane < kWarps ? sums[lane] : 0.0f);
      if (lane < kWarps)
        sums[lane] = total;
    }
    __syncthreads();
    if (warp > 0)
      sum += sums[warp - 1];
    if (i < cols)
      out[i] = before + sum;
    before += sums[kWarps - 1];
    __syncthreads();
  }
}

void scan_shuffle(const float *x, float *y, int rows, int cols,
                  cudaStream_t stream) {
  scan_shuffle_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
