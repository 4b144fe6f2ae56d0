// Residual add and RMSNorm, fused but otherwise as one writes it first: half
// by half, the sum of squares through shared memory.

#include "add_rmsnorm.h"

#include <cstdint>

namespace {

constexpr int kThreads = 256;

__global__ void add_rmsnorm_kernel(const __half *x, __half *residual,
                                   const __half *weight, __half *y, int hidden,
                                   float eps) {
  size_t row = (size_t)blockIdx.x * hidden;
  __shared__ float partial[kThreads];

  float squares = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float value = __half2float(x[row + i]) + __half2float(residual[row + i]);
    residual[row + i] = __float2half(value);
    squares += value * value;
  }
  partial[threadIdx.x] = squares;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  float scale = rsqrtf(partial[0] / hidden + eps);

  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float value = __half2float(residual[row + i]);
    y[row + i] = __float2half(value * scale * __half2float(weight[i]));
  }
}

constexpr int kVecThreads = 256;
constexpr int kVecWarps = kVecThreads / 32;

__device__ __forceinline__ float2 unpack_halves(unsigned bits) {
  return __half22float2(*reinterpret_cast<const __half2 *>(&bits));
}

__device__ __forceinline__ unsigned pack_halves(float2 v) {
  __half2 h = __floats2half2_rn(v.x, v.y);
  return *reinterpret_cast<const unsigned *>(&h);
}

// The rounded sum of two pairs; the squares of the unrounded sums are added to
// squares.
__device__ __forceinline__ unsigned add_pair(unsigned a, unsigned r,
                                             float &squares) {
  float2 p = unpack_halves(a);
  float2 q = unpack_halves(r);
  float2 v = make_float2(p.x + q.x, p.y + q.y);
  squares += v.x * v.x;
  squares += v.y * v.y;
  return pack_halves(v);
}

__device__ __forceinline__ unsigned scale_pair(unsigned r, unsigned w,
                                               float scale) {
  float2 v = unpack_halves(r);
  float2 u = unpack_halves(w);
  return pack_halves(make_float2(v.x * scale * u.x, v.y * scale * u.y));
}

// One row a block, held in registers: kVecs vectors of eight halves a thread.
// With kFull the row has exactly kVecs * kVecThreads vectors. Needs hidden to be
// a multiple of 8, at most 8 * kVecs * kVecThreads, and 16-byte aligned pointers.
template <int kVecs, bool kFull>
__global__ void __launch_bounds__(kVecThreads)
    add_rmsnorm_vec_kernel(const __half *x, __half *residual,
                           const __half *weight, __half *y, int hidden,
                           float eps) {
  __shared__ float partial[kVecWarps];

  const int n8 = hidden / 8;
  const int tid = threadIdx.x;
  const size_t row = (size_t)blockIdx.x * hidden;
  const uint4 *xv = reinterpret_cast<const uint4 *>(x + row);
  uint4 *rv = reinterpret_cast<uint4 *>(residual + row);
  const uint4 *wv = reinterpret_cast<const uint4 *>(weight);
  uint4 *yv = reinterpret_cast<uint4 *>(y + row);

  uint4 a[kVecs];
  uint4 r[kVecs];
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    if (kFull || i < n8) {
      a[k] = __ldcs(xv + i);
      r[k] = __ldcs(rv + i);
    } else {
      a[k] = make_uint4(0u, 0u, 0u, 0u);
      r[k] = make_uint4(0u, 0u, 0u, 0u);
    }
  }

  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    r[k].x = add_pair(a[k].x, r[k].x, squares);
    r[k].y = add_pair(a[k].y, r[k].y, squares);
    r[k].z = add_pair(a[k].z, r[k].z, squares);
    r[k].w = add_pair(a[k].w, r[k].w, squares);
    if (kFull || i < n8)
      __stcs(rv + i, r[k]);
  }

  // Before the barrier, so that the latency lies under the reduction.
  uint4 w[kVecs];
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    if (kFull || i < n8)
      w[k] = __ldg(wv + i);
    else
      w[k] = make_uint4(0u, 0u, 0u, 0u);
  }

#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  if (tid % 32 == 0)
    partial[tid / 32] = squares;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int j = 0; j < kVecWarps; ++j)
    total += partial[j];
  const float scale = rsqrtf(total / hidden + eps);

#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    uint4 out;
    out.x = scale_pair(r[k].x, w[k].x, scale);
    out.y = scale_pair(r[k].y, w[k].y, scale);
    out.z = scale_pair(r[k].z, w[k].z, scale);
    out.w = scale_pair(r[k].w, w[k].w, scale);
    if (kFull || i < n8)
      __stcs(yv + i, out);
  }
}

constexpr int kRingBlocks = 2 * 132;
constexpr int kRingBytes = 98304;

__device__ __forceinline__ unsigned ring_shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void ring_barrier_init(unsigned bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1u)
               : "memory");
}

__device__ __forceinline__ void ring_proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void ring_expect(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   bar),
               "r"(bytes)
               : "memory");
}

// So many bytes written last, of residual and y together, are stored
// evict-normal; all else is evict-first.
static constexpr int kKeepBytes = 32 << 20;

// For the results written last: these may stay in L2.
static __device__ __forceinline__ void store_keep(uint4 *p, uint4 v) {
  *p = v;
}

static __device__ __forceinline__ void store_stream(uint4 *p, uint4 v) {
  __stcs(p, v);
}

static __device__ __forceinline__ void store_hint(uint4 *p, uint4 v,
                                                  bool keep) {
  if (keep)
    store_keep(p, v);
  else
    store_stream(p, v);
}

__device__ __forceinline__ void ring_copy(unsigned dst, const void *src,
                                          unsigned bytes, unsigned bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(dst),
               "l"(__cvta_generic_to_global(src)), "r"(bytes), "r"(bar)
               : "memory");
}

__device__ __forceinline__ void ring_wait(unsigned bar, unsigned parity) {
  unsigned done = 0u;
  do {
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
  } while (done == 0u);
}

static constexpr int kWideThreads = 1024;
static constexpr int kWideWarps = kWideThreads / 32;
static constexpr int kWideBlocks = 132;
static constexpr int kWideStages = 3;
static constexpr int kWideHidden = kWideThreads * 8;
static constexpr unsigned kWideRowBytes = kWideHidden * 2;
static constexpr int kWideBytes = kWideStages * 2 * (int)kWideRowBytes;
static_assert(kWideWarps == 32, "one partial sum per lane");

// One persistent block per SM, rows of exactly kWideHidden halves, one vector
// of eight a thread. Bulk copies keep kWideStages rows of x and of residual in
// flight or in shared memory. Needs 16-byte aligned pointers.
static constexpr int kGuidedVecs = 4;   // vectors of eight halves a thread
static constexpr int kGuidedLast = 528; // about this many rows go singly
static_assert(kGuidedVecs * kVecThreads * 8 == kWideHidden, "whole rows");

// Like ring_copy, for data that nobody reads again: evict-first in L2.
static __device__ __forceinline__ void
ring_copy_dead(unsigned dst, const void *src, unsigned bytes, unsigned bar) {
  asm volatile("{\n\t"
               ".reg .b64 pol;\n\t"
               "createpolicy.fractional.L2::evict_first.b64 pol, 1.0;\n\t"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes.L2::cache_hint [%0], [%1], %2, [%3], pol;\n\t"
               "}" ::"r"(dst),
               "l"(__cvta_generic_to_global(src)), "r"(bytes), "r"(bar)
               : "memory");
}

// A row of x; dead if the results of this row are to stay in L2.
static __device__ __forceinline__ void
ring_copy_x(unsigned dst, const void *src, unsigned bytes, unsigned bar,
            bool dead) {
  if (dead)
    ring_copy_dead(dst, src, bytes, bar);
  else
    ring_copy(dst, src, bytes, bar);
}

// Guided self-scheduling for rows of exactly kWideHidden halves: the first
// kRingBlocks blocks do longRows rows each, kRingBlocks apart; the next
// midBlocks blocks do kWideStages consecutive rows each; the rest do one row
// each. The short blocks start wherever a long one has finished, so that the
// block scheduler balances the end. Bulk copies keep up to kWideStages rows of
// x and of residual in flight or in shared memory, two blocks to an SM; the
// weight stays in registers.
static __global__ void __launch_bounds__(kVecThreads, 2)
    add_rmsnorm_guided_kernel(const __half *x, __half *residual,
                              const __half *weight, __half *y, int longRows,
                              int midBlocks, int keepFrom, float eps) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) unsigned long long full[kWideStages];
  __shared__ float partial[2][kVecWarps];

  const int tid = threadIdx.x;
  const int block = (int)blockIdx.x;

  // Uniform over the block.
  long long first;
  long long step;
  int count;
  if (block < kRingBlocks) {
    first = block;
    step = kRingBlocks;
    count = longRows;
  } else {
    const int m = block - kRingBlocks;
    const long long base = (long long)kRingBlocks * longRows;
    step = 1;
    if (m < midBlocks) {
      first = base + (long long)m * kWideStages;
      count = kWideStages;
    } else {
      first = base + (long long)midBlocks * kWideStages + (m - midBlocks);
      count = 1;
    }
  }

  const unsigned ring_base = ring_shared_address(ring);
  const unsigned full_base = ring_shared_address(full);

  if (tid == 0) {
    for (int s = 0; s < kWideStages; ++s)
      ring_barrier_init(full_base + 8u * s);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ring_proxy_fence();
  }
  __syncthreads();
  if (tid == 0) {
    long long fill = first;
    for (int s = 0; s < kWideStages && s < count; ++s, fill += step) {
      const unsigned bar = full_base + 8u * s;
      const unsigned dst = ring_base + s * 2u * kWideRowBytes;
      ring_expect(bar, 2u * kWideRowBytes);
      ring_copy_x(dst, x + (size_t)fill * kWideHidden, kWideRowBytes, bar,
                  fill >= keepFrom);
      ring_copy(dst + kWideRowBytes, residual + (size_t)fill * kWideHidden,
                kWideRowBytes, bar);
    }
  }

  const uint4 *wv = reinterpret_cast<const uint4 *>(weight);
  uint4 w[kGuidedVecs];
#pragma unroll
  for (int k = 0; k < kGuidedVecs; ++k)
    w[k] = __ldg(wv + tid + k * kVecThreads);

  int stage = 0;
  unsigned parity = 0u;
  int which = 0;
  long long row = first;
  for (int it = 0; it < count; ++it, row += step) {
    const unsigned bar = full_base + 8u * stage;
    ring_wait(bar, parity);

    const unsigned char *slot = ring + stage * 2u * kWideRowBytes;
    const uint4 *sx = reinterpret_cast<const uint4 *>(slot);
    const uint4 *sr = reinterpret_cast<const uint4 *>(slot + kWideRowBytes);
    uint4 r[kGuidedVecs];
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kGuidedVecs; ++k) {
      const uint4 a = sx[tid + k * kVecThreads];
      const uint4 b = sr[tid + k * kVecThreads];
      r[k].x = add_pair(a.x, b.x, squares);
      r[k].y = add_pair(a.y, b.y, squares);
      r[k].z = add_pair(a.z, b.z, squares);
      r[k].w = add_pair(a.w, b.w, squares);
    }

#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    if (tid % 32 == 0)
      partial[which][tid / 32] = squares;
    // Also: from here on everybody has read the stage.
    __syncthreads();

    if (tid == 0 && it + kWideStages < count) {
      const long long next = row + step * kWideStages;
      const unsigned dst = ring_base + stage * 2u * kWideRowBytes;
      ring_proxy_fence();
      ring_expect(bar, 2u * kWideRowBytes);
      ring_copy_x(dst, x + (size_t)next * kWideHidden, kWideRowBytes, bar,
                  next >= keepFrom);
      ring_copy(dst + kWideRowBytes, residual + (size_t)next * kWideHidden,
                kWideRowBytes, bar);
    }

    // Uniform over the block.
    const bool keep = row >= keepFrom;
    uint4 *rv = reinterpret_cast<uint4 *>(residual + (size_t)row * kWideHidden);
    uint4 *yv = reinterpret_cast<uint4 *>(y + (size_t)row * kWideHidden);
#pragma unroll
    for (int k = 0; k < kGuidedVecs; ++k)
      store_hint(rv + tid + k * kVecThreads, r[k], keep);

    float total = 0.0f;
#pragma unroll
    for (int j = 0; j < kVecWarps; ++j)
      total += partial[which][j];
    const float scale = rsqrtf(total / kWideHidden + eps);

#pragma unroll
    for (int k = 0; k < kGuidedVecs; ++k) {
      uint4 out;
      out.x = scale_pair(r[k].x, w[k].x, scale);
      out.y = scale_pair(r[k].y, w[k].y, scale);
      out.z = scale_pair(r[k].z, w[k].z, scale);
      out.w = scale_pair(r[k].w, w[k].w, scale);
      store_hint(yv + tid + k * kVecThreads, out, keep);
    }

    which ^= 1;
    if (++stage == kWideStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
}

// Persistent blocks, rows of exactly kVecs * kVecThreads vectors of eight
// halves. Bulk copies keep kStages rows of x and of residual in flight or in
// shared memory; the weight stays in registers. Needs 16-byte aligned pointers.
template <int kVecs, int kStages>
__global__ void __launch_bounds__(kVecThreads, 2)
    add_rmsnorm_ring_kernel(const __half *x, __half *residual,
                            const __half *weight, __half *y, int tokens,
                            float eps) {
  constexpr int kHidden = kVecs * kVecThreads * 8;
  constexpr unsigned kRowBytes = kHidden * 2;
  static_assert(kStages * 2 * kRowBytes <= kRingBytes, "ring too small");

  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) unsigned long long full[kStages];
  __shared__ float partial[2][kVecWarps];

  const int tid = threadIdx.x;
  const long long step = gridDim.x;
  const long long rows = tokens;
  // Negative if all rows are kept.
  const long long keepFrom = rows - kKeepBytes / (2 * (int)kRowBytes);
  const unsigned ring_base = ring_shared_address(ring);
  const unsigned full_base = ring_shared_address(full);

  if (tid == 0) {
    for (int s = 0; s < kStages; ++s)
      ring_barrier_init(full_base + 8u * s);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ring_proxy_fence();
  }
  __syncthreads();
  if (tid == 0) {
    long long first = blockIdx.x;
    for (int s = 0; s < kStages; ++s, first += step) {
      if (first < rows) {
        const unsigned bar = full_base + 8u * s;
        const unsigned dst = ring_base + s * 2u * kRowBytes;
        ring_expect(bar, 2u * kRowBytes);
        ring_copy(dst, x + (size_t)first * kHidden, kRowBytes, bar);
        ring_copy(dst + kRowBytes, residual + (size_t)first * kHidden,
                  kRowBytes, bar);
      }
    }
  }

  const uint4 *wv = reinterpret_cast<const uint4 *>(weight);
  uint4 w[kVecs];
#pragma unroll
  for (int k = 0; k < kVecs; ++k)
    w[k] = __ldg(wv + tid + k * kVecThreads);

  int stage = 0;
  unsigned parity = 0u;
  int which = 0;
  for (long long row = blockIdx.x; row < rows; row += step) {
    const unsigned bar = full_base + 8u * stage;
    ring_wait(bar, parity);

    const unsigned char *slot = ring + stage * 2u * kRowBytes;
    const uint4 *sx = reinterpret_cast<const uint4 *>(slot);
    const uint4 *sr = reinterpret_cast<const uint4 *>(slot + kRowBytes);
    uint4 r[kVecs];
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kVecs; ++k) {
      const uint4 a = sx[tid + k * kVecThreads];
      const uint4 b = sr[tid + k * kVecThreads];
      r[k].x = add_pair(a.x, b.x, squares);
      r[k].y = add_pair(a.y, b.y, squares);
      r[k].z = add_pair(a.z, b.z, squares);
      r[k].w = add_pair(a.w, b.w, squares);
    }

#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    if (tid % 32 == 0)
      partial[which][tid / 32] = squares;
    // Also: from here on everybody has read the stage.
    __syncthreads();

    if (tid == 0) {
      const long long next = row + step * kStages;
      if (next < rows) {
        const unsigned dst = ring_base + stage * 2u * kRowBytes;
        ring_proxy_fence();
        ring_expect(bar, 2u * kRowBytes);
        ring_copy(dst, x + (size_t)next * kHidden, kRowBytes, bar);
        ring_copy(dst + kRowBytes, residual + (size_t)next * kHidden,
                  kRowBytes, bar);
      }
    }

    // Uniform over the block.
    const bool keep = row >= keepFrom;
    uint4 *rv = reinterpret_cast<uint4 *>(residual + (size_t)row * kHidden);
    uint4 *yv = reinterpret_cast<uint4 *>(y + (size_t)row * kHidden);
#pragma unroll
    for (int k = 0; k < kVecs; ++k)
      store_hint(rv + tid + k * kVecThreads, r[k], keep);

    float total = 0.0f;
#pragma unroll
    for (int j = 0; j < kVecWarps; ++j)
      total += partial[which][j];
    const float scale = rsqrtf(total / kHidden + eps);

#pragma unroll
    for (int k = 0; k < kVecs; ++k) {
      uint4 out;
      out.x = scale_pair(r[k].x, w[k].x, scale);
      out.y = scale_pair(r[k].y, w[k].y, scale);
      out.z = scale_pair(r[k].z, w[k].z, scale);
      out.w = scale_pair(r[k].w, w[k].w, scale);
      store_hint(yv + tid + k * kVecThreads, out, keep);
    }

    which ^= 1;
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
}

} // namespace

void add_rmsnorm(const __half *x, __half *residual, const __half *weight,
                 __half *y, int tokens, int hidden, float eps,
                 cudaStream_t stream) {
  if (tokens <= 0)
    return;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(x) |
        reinterpret_cast<std::uintptr_t>(residual) |
        reinterpret_cast<std::uintptr_t>(weight) |
        reinterpret_cast<std::uintptr_t>(y)) % 16) == 0;
  if (aligned && tokens >= 4 * kRingBlocks && hidden == 8192) {
    // About 7/8 of the rows in long blocks, then blocks of kWideStages rows,
    // then single rows: longRows * kRingBlocks + midBlocks * kWideStages +
    // singles == tokens.
    const int longRows = (int)((long long)tokens * 7 / 8 / kRingBlocks);
    const int rest = tokens - longRows * kRingBlocks;
    const int midBlocks =
        rest > kGuidedLast ? (rest - kGuidedLast) / kWideStages : 0;
    const int singles = rest - midBlocks * kWideStages;
    // The rows from here on are stored evict-normal.
    const int keepFrom = tokens - kKeepBytes / (2 * (int)kWideRowBytes);
    cudaFuncSetAttribute(add_rmsnorm_guided_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kWideBytes);
    add_rmsnorm_guided_kernel<<<kRingBlocks + midBlocks + singles, kVecThreads,
                                kWideBytes, stream>>>(
        x, residual, weight, y, longRows, midBlocks, keepFrom, eps);
    return;
  }
  if (aligned && tokens >= 4 * kRingBlocks && hidden == 4096) {
    cudaFuncSetAttribute(add_rmsnorm_ring_kernel<2, 6>,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kRingBytes);
    add_rmsnorm_ring_kernel<2, 6>
        <<<kRingBlocks, kVecThreads, kRingBytes, stream>>>(x, residual, weight,
                                                           y, tokens, eps);
    return;
  }
  if (aligned && hidden > 0 && hidden % 8 == 0 && hidden <= 8192) {
    if (hidden == 8192)
      add_rmsnorm_vec_kernel<4, true><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden == 4096)
      add_rmsnorm_vec_kernel<2, true><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden <= 2048)
      add_rmsnorm_vec_kernel<1, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden <= 4096)
      add_rmsnorm_vec_kernel<2, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else
      add_rmsnorm_vec_kernel<4, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    return;
  }
  add_rmsnorm_kernel<<<tokens, kThreads, 0, stream>>>(x, residual, weight, y,
                                                      hidden, eps);
}
