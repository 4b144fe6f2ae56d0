// Row softmax, as one writes it first: a block per row, one pass for the
// maximum, one for the sum, one for the result.

#include "softmax.h"
#include <cfloat>
#include <cstdint>

constexpr int kThreads = 256;

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

// One warp per row of 1024 floats.
static constexpr int kWarpCols = 1024;
static constexpr int kWarpThreads = 128;
static constexpr int kWarpRows = kWarpThreads / 32;

// One persistent block per SM, rows of 32768 floats through a ring of slots.
static constexpr int kRingBlocks = 132;
static constexpr int kRingCols = 32768;
static constexpr int kRingThreads = 512;
static constexpr int kRingWarps = kRingThreads / 32;
static constexpr int kChunkFloats = 4096;
static constexpr int kChunkBytes = kChunkFloats * 4;
static constexpr int kChunksPerRow = kRingCols / kChunkFloats;
static constexpr int kSlots = 13;
static constexpr int kRingBytes = kSlots * kChunkBytes;

static __device__ __forceinline__ uint32_t smem_addr(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void bar_init(uint32_t bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
}

static __device__ __forceinline__ void bulk_load(uint32_t dst, const float *src,
                                                 uint32_t bar) {
  uint32_t bytes = (uint32_t)kChunkBytes;
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
      "r"(bytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];" ::"r"(dst),
      "l"((uint64_t)__cvta_generic_to_global(src)), "r"(bytes), "r"(bar)
      : "memory");
}

static __device__ __forceinline__ void bar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
  } while (!done);
}

static __device__ __forceinline__ float warp_max(float a) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    a = fmaxf(a, __shfl_xor_sync(0xffffffffu, a, offset));
  return a;
}

static __device__ __forceinline__ float warp_sum(float a) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    a += __shfl_xor_sync(0xffffffffu, a, offset);
  return a;
}

// Maximum of N float4 in registers, from -FLT_MAX, in four chains.
template <int N>
static __device__ __forceinline__ float regs_max(const float4 (&v)[N]) {
  float a = -FLT_MAX, b = -FLT_MAX, c = -FLT_MAX, d = -FLT_MAX;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    a = fmaxf(a, v[k].x);
    b = fmaxf(b, v[k].y);
    c = fmaxf(c, v[k].z);
    d = fmaxf(d, v[k].w);
  }
  return fmaxf(fmaxf(a, b), fmaxf(c, d));
}

// v = exp(v - m) in place; the sum of the results.
template <int N>
static __device__ __forceinline__ float regs_exp_sum(float4 (&v)[N], float m) {
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    v[k].x = __expf(v[k].x - m);
    v[k].y = __expf(v[k].y - m);
    v[k].z = __expf(v[k].z - m);
    v[k].w = __expf(v[k].w - m);
    a += v[k].x;
    b += v[k].y;
    c += v[k].z;
    d += v[k].w;
  }
  return (a + b) + (c + d);
}

static __device__ __forceinline__ float4 scaled(float4 v, float f) {
  return make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
}

static __global__ void __launch_bounds__(kWarpThreads, 8)
    softmax_warp_kernel(const float *__restrict__ x, float *__restrict__ y,
                        int rows) {
  const int lane = threadIdx.x & 31;
  const long long row =
      (long long)blockIdx.x * kWarpRows + (int)(threadIdx.x >> 5);
  if (row >= rows)
    return;
  const float4 *src =
      reinterpret_cast<const float4 *>(x + (size_t)row * kWarpCols) + lane;
  float4 *dst = reinterpret_cast<float4 *>(y + (size_t)row * kWarpCols) + lane;

  float4 v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = __ldcs(src + 32 * k);

  const float m = warp_max(regs_max(v));
  const float sum = warp_sum(regs_exp_sum(v, m));
  const float inv = 1.0f / sum;

#pragma unroll
  for (int k = 0; k < 8; ++k)
    __stcs(dst + 32 * k, scaled(v[k], inv));
}

static __global__ void __launch_bounds__(kRingThreads, 1)
    softmax_ring_kernel(const float *__restrict__ x, float *__restrict__ y,
                        int rows) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) uint64_t full[kSlots];
  __shared__ float2 part[2][kRingWarps];

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int first = (int)blockIdx.x;
  const int step = (int)gridDim.x;
  const int nrows = (rows - 1 - first) / step + 1;
  const int total = nrows * kChunksPerRow;

  const uint32_t ringBase = smem_addr(ring);
  const uint32_t fullBase = smem_addr(full);

  if (tid == 0) {
    for (int i = 0; i < kSlots; ++i)
      bar_init(fullBase + 8 * i);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  // Used by thread 0 alone: the next chunk to ask for, and its slot.
  int issued = 0;
  int issueSlot = 0;
  if (tid == 0) {
    const int limit = total < kSlots ? total : kSlots;
    for (; issued < limit; ++issued) {
      const size_t row = (size_t)first + (size_t)(issued >> 3) * step;
      bulk_load(ringBase + issueSlot * kChunkBytes,
                x + row * kRingCols + (issued & 7) * kChunkFloats,
                fullBase + 8 * issueSlot);
      if (++issueSlot == kSlots)
        issueSlot = 0;
    }
  }
  __syncwarp();

  int slot = 0;
  uint32_t parity = 0;
  for (int r = 0; r < nrows; ++r) {
    float4 v[2 * kChunksPerRow];
#pragma unroll
    for (int k = 0; k < kChunksPerRow; ++k) {
      bar_wait(fullBase + 8 * slot, parity);
      const float4 *s =
          reinterpret_cast<const float4 *>(ring + slot * kChunkBytes);
      v[2 * k] = s[tid];
      v[2 * k + 1] = s[tid + kRingThreads];
      if (++slot == kSlots) {
        slot = 0;
        parity ^= 1u;
      }
    }

    const float mw = warp_max(regs_max(v));
    const float sw = warp_sum(regs_exp_sum(v, mw));
    if (lane == 0)
      part[r & 1][warp] = make_float2(mw, sw);
    // Publishes the partial results; and all slots of this row have been read.
    __syncthreads();

    if (tid == 0) {
      const int want = kChunksPerRow * (r + 1) + kSlots;
      const int limit = total < want ? total : want;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      for (; issued < limit; ++issued) {
        const size_t row = (size_t)first + (size_t)(issued >> 3) * step;
        bulk_load(ringBase + issueSlot * kChunkBytes,
                  x + row * kRingCols + (issued & 7) * kChunkFloats,
                  fullBase + 8 * issueSlot);
        if (++issueSlot == kSlots)
          issueSlot = 0;
      }
    }
    __syncwarp();

    // The 16 partial results appear twice in the warp: no offset 16.
    const float2 p = part[r & 1][lane & (kRingWarps - 1)];
    float m = p.x;
#pragma unroll
    for (int offset = kRingWarps / 2; offset > 0; offset /= 2)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, offset));
    float sum = p.y * __expf(p.x - m);
#pragma unroll
    for (int offset = kRingWarps / 2; offset > 0; offset /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    const float scale = __expf(mw - m) / sum;

    const size_t row = (size_t)first + (size_t)r * step;
    float4 *dst = reinterpret_cast<float4 *>(y + row * kRingCols) + tid;
#pragma unroll
    for (int k = 0; k < 2 * kChunksPerRow; ++k)
      __stcs(dst + k * kRingThreads, scaled(v[k], scale));
  }
}

void launch_softmax(const float *x, float *y, int rows, int cols,
                    cudaStream_t stream) {
  const bool aligned =
      ((reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) &
       15) == 0;
  if (aligned && cols == kRingCols && rows > 0) {
    cudaFuncSetAttribute(softmax_ring_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kRingBytes);
    const int blocks = rows < kRingBlocks ? rows : kRingBlocks;
    softmax_ring_kernel<<<blocks, kRingThreads, kRingBytes, stream>>>(x, y,
                                                                      rows);
  } else if (aligned && cols == kWarpCols && rows > 0) {
    const int blocks = (rows - 1) / kWarpRows + 1;
    softmax_warp_kernel<<<blocks, kWarpThreads, 0, stream>>>(x, y, rows);
  } else {
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
  }
}
