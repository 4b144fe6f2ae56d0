// Row softmax, as one writes it first: a block per row, one pass for the
// maximum, one for the sum, one for the result.

#include "softmax.h"
#include <cfloat>
#include <cooperative_groups.h>
#include <cstddef>
#include <cstdint>

constexpr int kThreads = 256;

static constexpr int kWarpCols = 1024;         // columns of the warp-per-row path
static constexpr int kWarpRows = 4;            // rows (warps) per block there
static constexpr int kClusterCols = 32768;     // columns of the cluster path
static constexpr int kClusterBlocks = 4;       // blocks per row there
static constexpr int kClusterThreads = 512;    // threads per block there
static constexpr int kClusterWarps = kClusterThreads / 32;
static constexpr int kBlockCols = kClusterCols / kClusterBlocks;
static constexpr int kWarpVecs = kWarpCols / (32 * 4);
static constexpr int kClusterVecs = kBlockCols / (kClusterThreads * 4);

static_assert(kClusterBlocks * kClusterWarps == 64,
              "each lane merges exactly two pairs");

static __device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, o));
  return value;
}

static __device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    value += __shfl_xor_sync(0xffffffffu, value, o);
  return value;
}

// The maximum over the 4 * N values that each lane of the warp holds.
template <int N>
static __device__ __forceinline__ float tile_max(const float4 (&v)[N]) {
  float m = -FLT_MAX;
#pragma unroll
  for (int k = 0; k < N; ++k)
    m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  return warp_max(m);
}

// Replaces the values by exp(value - m) and returns their sum over the warp.
template <int N>
static __device__ __forceinline__ float tile_exp_sum(float4 (&v)[N], float m) {
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    v[k].x = __expf(v[k].x - m);
    v[k].y = __expf(v[k].y - m);
    v[k].z = __expf(v[k].z - m);
    v[k].w = __expf(v[k].w - m);
    s0 += v[k].x;
    s1 += v[k].y;
    s2 += v[k].z;
    s3 += v[k].w;
  }
  return warp_sum((s0 + s1) + (s2 + s3));
}

// 1024 columns, 16-byte aligned: a warp per row, the row in registers.
static __global__ void __launch_bounds__(kWarpRows * 32)
    softmax_warp_kernel(const float *x, float *y, int rows) {
  const unsigned row = blockIdx.x * (unsigned)kWarpRows + (threadIdx.x >> 5);
  if (row >= (unsigned)rows)
    return;
  const unsigned lane = threadIdx.x & 31u;
  const size_t base = (size_t)row * kWarpCols;
  const float4 *in = reinterpret_cast<const float4 *>(x + base) + lane;
  float4 *out = reinterpret_cast<float4 *>(y + base) + lane;

  float4 v[kWarpVecs];
#pragma unroll
  for (int k = 0; k < kWarpVecs; ++k)
    v[k] = __ldcs(in + k * 32);

  const float m = tile_max(v);
  const float s = tile_exp_sum(v, m);
  const float inv = 1.0f / s;

#pragma unroll
  for (int k = 0; k < kWarpVecs; ++k) {
    v[k].x *= inv;
    v[k].y *= inv;
    v[k].z *= inv;
    v[k].w *= inv;
    __stcs(out + k * 32, v[k]);
  }
}

// 32768 columns, 16-byte aligned: a cluster of four blocks per row, each with a
// quarter of the row in registers; the warps exchange (maximum, sum) pairs.
static __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(512, 3)
    softmax_cluster_kernel(const float *x, float *y) {
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float2 pairs[kClusterBlocks * kClusterWarps];

  // Tells the peers that this block runs, so that they may write its pairs.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::);

  const unsigned rank = cluster.block_rank();
  const unsigned lane = threadIdx.x & 31u;
  const unsigned warp = threadIdx.x >> 5;
  const size_t base = (size_t)(blockIdx.x / (unsigned)kClusterBlocks) * kClusterCols +
                      (size_t)rank * kBlockCols;
  const float4 *in = reinterpret_cast<const float4 *>(x + base) + threadIdx.x;
  float4 *out = reinterpret_cast<float4 *>(y + base) + threadIdx.x;

  float4 v[kClusterVecs];
#pragma unroll
  for (int k = 0; k < kClusterVecs; ++k)
    v[k] = __ldcs(in + k * kClusterThreads);

  // Relative to the warp's own maximum.
  const float m = tile_max(v);
  const float s = tile_exp_sum(v, m);

  // All four blocks have started.
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");

  if (lane < (unsigned)kClusterBlocks) {
    float2 *remote = cluster.map_shared_rank(&pairs[0], (int)lane);
    remote[rank * (unsigned)kClusterWarps + warp] = make_float2(m, s);
  }
  __syncwarp();
  cluster.sync();

  // Only the block's own shared memory is read from here on.
  const float2 a = pairs[lane];
  const float2 b = pairs[lane + 32u];
  const float largest = warp_max(fmaxf(a.x, b.x));
  const float sum =
      warp_sum(a.y * __expf(a.x - largest) + b.y * __expf(b.x - largest));
  const float scale = __expf(m - largest) / sum;

#pragma unroll
  for (int k = 0; k < kClusterVecs; ++k) {
    v[k].x *= scale;
    v[k].y *= scale;
    v[k].z *= scale;
    v[k].w *= scale;
    __stcs(out + k * kClusterThreads, v[k]);
  }
}

__global__ void softmax_kernel(const float *x, float *y, int cols) {
  const float *row = x + (size_t)blockIdx.x * cols;
  float *out = y + (size_t)blockIdx.x * cols;
  __shared__ float partial[kThreads];

  float largest = -FLT_MAX;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] =
          fmaxf(partial[threadIdx.x], partial[threadIdx.x + stride]);
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();

  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    sum += expf(row[i] - largest);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  sum = partial[0];

  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    out[i] = expf(row[i] - largest) / sum;
}

void launch_softmax(const float *x, float *y, int rows, int cols,
                    cudaStream_t stream) {
  if (rows <= 0 || cols <= 0)
    return;
  const bool aligned =
      ((reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) & 15u) == 0;
  if (aligned && cols == kWarpCols)
    softmax_warp_kernel<<<(rows - 1) / kWarpRows + 1, kWarpRows * 32, 0, stream>>>(x, y, rows);
  else if (aligned && cols == kClusterCols && rows <= (1 << 28))
    softmax_cluster_kernel<<<(unsigned)rows * (unsigned)kClusterBlocks, kClusterThreads, 0, stream>>>(x, y);
  else
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
