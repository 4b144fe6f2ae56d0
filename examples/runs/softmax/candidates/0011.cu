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
    out[k * 32] = v[k];
  }
}

static constexpr int kStreamThreads = 1024;    // threads of a block of the stream path
static constexpr int kStreamWarps = kStreamThreads / 32;

// The path for 32768 columns: a block per row, two blocks per SM.
static constexpr int kRowThreads = 512;
static constexpr int kRowWarps = 16;
static constexpr int kRowWarpVecs = 512;       // float4 of a row that a warp has
static constexpr int kRowSharedSteps = 14;     // steps of 32 float4 in shared memory
static constexpr int kRowRegSteps = 2;         // and in registers
static constexpr int kRowSharedVecs = 448;     // 14 * 32
static constexpr int kRowCopyBytes = 7168;     // 448 * 16
static constexpr int kRowSharedBytes = 114688; // 16 * 7168

// One lane: starts the store of a warp's shared part; evict-first in L2.
static __device__ __forceinline__ void store_stage(float4 *dst, unsigned src) {
  const unsigned long long to = (unsigned long long)__cvta_generic_to_global(dst);
  asm volatile(
      "{\n\t"
      ".reg .b64 l2policy;\n\t"
      "createpolicy.fractional.L2::evict_first.b64 l2policy, 1.0;\n\t"
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
      "[%0], [%1], %2, l2policy;\n\t"
      "cp.async.bulk.commit_group;\n\t"
      "}"
      :
      : "l"(to), "r"(src), "r"((unsigned)kRowCopyBytes)
      : "memory");
}

static_assert(kStreamWarps == 32, "each lane merges exactly one pair");

// One lane: arms the mbarrier and starts the copy of a warp's slice of a row.
static __device__ __forceinline__ void start_slice(unsigned dst, unsigned bar,
                                                   const float *src) {
  asm volatile(
      "{\n\t"
      ".reg .b64 state;\n\t"
      "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n\t"
      "}"
      :
      : "r"(bar), "r"((unsigned)kRowCopyBytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];"
      :
      : "r"(dst), "l"((unsigned long long)__cvta_generic_to_global(src)),
        "r"((unsigned)kRowCopyBytes), "r"(bar)
      : "memory");
}

// Waits until the phase with this parity of the mbarrier is complete.
static __device__ __forceinline__ void wait_slice(unsigned bar, unsigned parity) {
  unsigned done = 0;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (!done);
}

// 32768 columns, 16-byte aligned: a block per row, two blocks per SM. Each warp
// has 2048 columns, 7/8 of them in shared memory, the rest in registers.
static __global__ void __launch_bounds__(512, 2)
    softmax_stream_kernel(const float *x, float *y) {
  extern __shared__ __align__(128) float4 slices[];
  __shared__ __align__(8) unsigned long long full[kRowWarps];
  __shared__ float2 pairs[kRowWarps];

  const unsigned lane = threadIdx.x & 31u;
  const unsigned warp = threadIdx.x >> 5;
  const size_t base =
      (size_t)blockIdx.x * kClusterCols + warp * (unsigned)(kRowWarpVecs * 4);
  float4 *slice = slices + warp * (unsigned)kRowSharedVecs;
  const unsigned addr = (unsigned)__cvta_generic_to_shared(slice);
  const unsigned bar = (unsigned)__cvta_generic_to_shared(&full[warp]);

  if (lane == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    start_slice(addr, bar, x + base);
  }
  __syncwarp();

  // The end of the warp's columns goes to registers, in flight with the copy.
  float4 v[kRowRegSteps];
  const float4 *in =
      reinterpret_cast<const float4 *>(x + base) + kRowSharedVecs + lane;
#pragma unroll
  for (int k = 0; k < kRowRegSteps; ++k)
    v[k] = __ldcs(in + 32 * k);

  wait_slice(bar, 0u);

  // The warp's own maximum.
  float m = -FLT_MAX;
#pragma unroll 7
  for (int k = 0; k < kRowSharedSteps; ++k) {
    const float4 t = slice[lane + 32u * k];
    m = fmaxf(m, fmaxf(fmaxf(t.x, t.y), fmaxf(t.z, t.w)));
  }
  m = fmaxf(tile_max(v), warp_max(m));

  // exp in place, relative to it; four partial sums. Each lane touches only its
  // own elements of the slice until the bulk store.
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll 7
  for (int k = 0; k < kRowSharedSteps; ++k) {
    float4 t = slice[lane + 32u * k];
    t.x = __expf(t.x - m);
    t.y = __expf(t.y - m);
    t.z = __expf(t.z - m);
    t.w = __expf(t.w - m);
    s0 += t.x;
    s1 += t.y;
    s2 += t.z;
    s3 += t.w;
    slice[lane + 32u * k] = t;
  }
  const float s = tile_exp_sum(v, m) + warp_sum((s0 + s1) + (s2 + s3));
  if (lane == 0)
    pairs[warp] = make_float2(m, s);
  __syncthreads();

  // 16 pairs: both halves of the warp see them, only one half counts in the sum.
  const float2 p = pairs[lane & (unsigned)(kRowWarps - 1)];
  const float largest = warp_max(p.x);
  const float sum =
      warp_sum(lane < (unsigned)kRowWarps ? p.y * __expf(p.x - largest) : 0.0f);
  const float scale = __expf(m - largest) / sum;

#pragma unroll 7
  for (int k = 0; k < kRowSharedSteps; ++k) {
    float4 t = slice[lane + 32u * k];
    t.x *= scale;
    t.y *= scale;
    t.z *= scale;
    t.w *= scale;
    slice[lane + 32u * k] = t;
  }
  // Every lane makes its writes visible to the async proxy, then one stores.
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncwarp();
  float4 *out = reinterpret_cast<float4 *>(y + base);
  if (lane == 0)
    store_stage(out, addr);
  __syncwarp();

#pragma unroll
  for (int k = 0; k < kRowRegSteps; ++k) {
    v[k].x *= scale;
    v[k].y *= scale;
    v[k].z *= scale;
    v[k].w *= scale;
    __stcs(out + kRowSharedVecs + lane + 32u * k, v[k]);
  }

  // The shared memory must outlive the read of the bulk store.
  if (lane == 0)
    asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
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
  else if (aligned && cols == kClusterCols) {
    cudaFuncSetAttribute(softmax_stream_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize, kRowSharedBytes);
    softmax_stream_kernel<<<rows, kRowThreads, kRowSharedBytes, stream>>>(x, y);
  } else
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
