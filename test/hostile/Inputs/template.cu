// Beside the kernel of base.cu, which is launched no more.
template <int Threads, typename T> __device__ T blockSum(T value) {
  __shared__ T sums[Threads / 32];
  for (int lane = 16; lane > 0; lane /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, lane);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = value;
  __syncthreads();
  value = sums[0];
  for (int warp = 1; warp < Threads / 32; ++warp)
    value += sums[warp];
  return value;
}

template <int Threads, bool Vectors>
__global__ void __launch_bounds__(Threads) norm_rows(const float *x, const float *weight, float *y, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  if constexpr (Vectors) {
    for (int c = threadIdx.x; c < cols / 4; c += Threads) {
      float4 v = reinterpret_cast<const float4 *>(row)[c];
      sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += Threads)
      sum += row[c] * row[c];
  }
  float scale = rsqrtf(blockSum<Threads>(sum) / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += Threads)
    out[c] = row[c] * scale * weight[c];
}
