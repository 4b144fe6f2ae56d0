#include <cuda_runtime.h>
@INCLUDE@
@TOP@
__global__ void norm_kernel(const float *x, const float *weight, float *y, int cols) {
  __shared__ float sums[8];
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  @KERNEL@
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < 8; ++warp)
    sum += sums[warp];
  float scale = rsqrtf(sum / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float value = row[c] * scale * weight[c];
    @STORE@
    out[c] = value;
  }
  @END@
}
@BEFORE@
void norm(const float *x, const float *weight, float *y, int rows, int cols, cudaStream_t stream) {
  @HOST@
  norm_kernel<<<rows, 256, 0, stream>>>(x, weight, y, cols);
  @AFTER@
}
