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
// The two halves of the cluster's barrier; all threads, warps converged.
static constexpr int kStreamPrefetchBytes =
    kClusterCols / kStreamWarps * 4 / 2;       // half a warp's slice of a row

// One lane: asks for the first part of a warp's slice of a row in L2. Nothing
// waits for it.
static __device__ __forceinline__ void prefetch_slice(const float *src) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"((unsigned long long)__cvta_generic_to_global(src)),
                 "r"((unsigned)kStreamPrefetchBytes)
               : "memory");
}

static constexpr int kStreamWarpCols = kClusterCols / kStreamWarps;  // two blocks per row
static constexpr int kStreamVecs = kStreamWarpCols / (32 * 4);
static constexpr int kStreamSliceVecs = kStreamWarpCols / 4;
static constexpr int kStreamSliceBytes = kStreamWarpCols * 4;
static constexpr int kStreamStageSteps = 6;         // landing slices of a warp
    // of a warp's 8 steps: stored through the stage
static constexpr int kStreamStageVecs = kStreamStageSteps * 32;  // and its stage
static constexpr int kStreamStageBytes = kStreamStageVecs * 16;  // from one slot's mbarrier to the next

// One lane: starts the store of a warp's stage; evict-first in L2.
static __device__ __forceinline__ void store_stage(float4 *dst, unsigned src) {
  asm volatile(
      "{\n\t"
      ".reg .b64 l2policy;\n\t"
      "createpolicy.fractional.L2::evict_first.b64 l2policy, 1.0;\n\t"
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
      "[%0], [%1], %2, l2policy;\n\t"
      "cp.async.bulk.commit_group;\n\t"
      "}"
      :
      : "l"((unsigned long long)__cvta_generic_to_global(dst)), "r"(src),
        "r"((unsigned)kStreamStageBytes)
      : "memory");
}

static constexpr int kStreamSharedBytes =
    kStreamWarps * (kStreamSliceBytes + kStreamStageBytes);
static constexpr int kStreamMaxBlocks = 132;   // one per SM
static_assert(kStreamPrefetchBytes % 16 == 0 && kStreamPrefetchBytes <= kStreamSliceBytes,
              "the prefetch stays inside the slice");   // one per SM

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
      : "r"(bar), "r"((unsigned)kStreamSliceBytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];"
      :
      : "r"(dst), "l"((unsigned long long)__cvta_generic_to_global(src)),
        "r"((unsigned)kStreamSliceBytes), "r"(bar)
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

// From this many rows on, the stream path hands its rows out by ticket.
static constexpr int kTicketMinRows = 4 * kStreamMaxBlocks;

// One thread, once: the last four elements of y. The counter was there, before
// it the row's maximum and the reciprocal of its sum.
static __device__ __forceinline__ void finish_last(const float *x, float *y, int rows) {
  const size_t at = (size_t)rows * kClusterCols - 4;
  __threadfence();
  const float largest = __ldcg(y + at + 1);
  const float inv = __ldcg(y + at + 2);
  float4 t = *reinterpret_cast<const float4 *>(x + at);
  t.x = __expf(t.x - largest) * inv;
  t.y = __expf(t.y - largest) * inv;
  t.z = __expf(t.z - largest) * inv;
  t.w = __expf(t.w - largest) * inv;
  *reinterpret_cast<float4 *>(y + at) = t;
}

// 32768 columns, 16-byte aligned: a cluster of four blocks per row, each with a
// quarter of the row in registers; the warps exchange (maximum, sum) pairs.
// (Now without clusters: a persistent block per SM streams whole rows. Each warp
// has its slice of the row in registers, and the same slice of the block's next
// row on its way to shared memory.)
static __global__ void __launch_bounds__(1024, 1)
    softmax_stream_kernel(const float *x, float *y, int rows) {
  // The landing slices of all warps, then their stages for the output.
  extern __shared__ __align__(128) float4 slices[];
  __shared__ __align__(8) unsigned long long full[kStreamWarps];
  __shared__ float2 pairs[2][kStreamWarps];
  __shared__ int tickets[2];

  const unsigned lane = threadIdx.x & 31u;
  const unsigned warp = threadIdx.x >> 5;
  float4 *slice = slices + warp * (unsigned)kStreamSliceVecs;
  float4 *stage = slices + kStreamWarps * kStreamSliceVecs +
                  warp * (unsigned)kStreamStageVecs;
  const unsigned dst = (unsigned)__cvta_generic_to_shared(slice);
  const unsigned bar = (unsigned)__cvta_generic_to_shared(&full[warp]);
  const int step = (int)gridDim.x;
  // With tickets, the last rows (those that do not divide by the number of
  // blocks, at least one) are split over the warps of the whole grid.
  const bool by_ticket = rows >= kTicketMinRows;
  const int split = by_ticket ? (rows - 1) % step + 1 : 0;
  const int main_rows = rows - split;
  int row = (int)blockIdx.x;
  int next = row + step;

  if (lane == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    if (row < main_rows)
      start_slice(dst, bar,
                  x + (size_t)row * kClusterCols + warp * (unsigned)kStreamWarpCols);
    if (next < main_rows)
      prefetch_slice(x + (size_t)next * kClusterCols + warp * (unsigned)kStreamWarpCols);
  }
  __syncwarp();

  // The split rows, while the first full row is on its way. The pairs travel
  // through y: each part of a row finds all 32 pairs in its own region, which
  // only its own warp overwrites afterwards.
  if (by_ticket) {  // the same for all threads of the grid
    const int piece = (int)warp * step + (int)blockIdx.x;
    const bool has_piece = piece < split * kStreamWarps;  // the same for a warp
    const unsigned part = (unsigned)piece % (unsigned)kStreamWarps;
    const size_t base =
        (size_t)(main_rows + piece / kStreamWarps) * kClusterCols;
    float4 v[kStreamVecs];
    float m = 0.0f;
    if (has_piece) {
      const float4 *in = reinterpret_cast<const float4 *>(
                             x + base + part * (unsigned)kStreamWarpCols) +
                         lane;
#pragma unroll
      for (int k = 0; k < kStreamVecs; ++k)
        v[k] = __ldcs(in + 32 * k);
      m = tile_max(v);
      const float s = tile_exp_sum(v, m);
      // Lane j leaves the pair in the region of part j.
      *reinterpret_cast<float2 *>(y + base + lane * (unsigned)kStreamWarpCols +
                                  2u * part) = make_float2(m, s);
    }
    // The ticket counter is the last element of y, beyond the pairs.
    if (blockIdx.x == 0 && threadIdx.x == 0)
      reinterpret_cast<unsigned *>(y)[(size_t)rows * kClusterCols - 1] = 0u;

    cooperative_groups::this_grid().sync();

    if (has_piece) {
      float *own = y + base + part * (unsigned)kStreamWarpCols;
      const float2 p = __ldcg(reinterpret_cast<const float2 *>(own) + lane);
      const float largest = warp_max(p.x);
      const float sum = warp_sum(p.y * __expf(p.x - largest));
      const float scale = __expf(m - largest) / sum;
      const bool holds_counter = piece == split * kStreamWarps - 1;
      // All lanes have read their pairs: the region may be overwritten.
      __syncwarp();
      float4 *out = reinterpret_cast<float4 *>(own) + lane;
#pragma unroll
      for (int k = 0; k < kStreamVecs; ++k) {
        v[k].x *= scale;
        v[k].y *= scale;
        v[k].z *= scale;
        v[k].w *= scale;
        if (!(k == kStreamVecs - 1 && holds_counter && lane == 31u))
          __stcs(out + 32 * k, v[k]);
      }
      if (holds_counter && lane == 31u) {
        // Not the last element: blocks draw from it already.
        own[kStreamWarpCols - 3] = largest;
        own[kStreamWarpCols - 2] = 1.0f / sum;
        __threadfence();
      }
    }
    __syncthreads();
    // What was parked comes before this block's draws.
    if (threadIdx.x == 0)
      __threadfence();
  }

  // The first two rows of a block are static, the later ones come from tickets
  // if there are enough rows. Every block draws until its first failure; the
  // block with the last failure of all writes the end of y, where the counter
  // was.
  unsigned phase = 0;
#pragma unroll 1
  while (row < main_rows) {
    // Issued early; the answer is needed only just before the barrier.
    unsigned ticket = 0;
    if (threadIdx.x == 0 && by_ticket && next < main_rows)
      ticket = atomicAdd(reinterpret_cast<unsigned *>(y) +
                             ((size_t)rows * kClusterCols - 1),
                         1u);

    wait_slice(bar, phase);

    float4 v[kStreamVecs];
#pragma unroll
    for (int k = 0; k < kStreamVecs; ++k)
      v[k] = slice[lane + 32u * k];

    // All lanes have read the slice: the next row may land there.
    __syncwarp();
    if (lane == 0 && next < main_rows) {
      asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
      start_slice(dst, bar,
                  x + (size_t)next * kClusterCols + warp * (unsigned)kStreamWarpCols);
    }
    __syncwarp();

    // Relative to the warp's own maximum.
    const float m = tile_max(v);
    const float s = tile_exp_sum(v, m);
    if (lane == 0)
      pairs[phase][warp] = make_float2(m, s);
    if (threadIdx.x == 0) {
      int after = main_rows;  // none
      if (by_ticket) {
        if (next < main_rows) {
          const int candidate = 2 * step + (int)ticket;
          if (candidate < main_rows)
            after = candidate;
          else if (candidate == main_rows + step - 1)
            after = main_rows + 1;  // none, and it was the final ticket
        }
      } else if (next < main_rows) {
        after = next + step;
      }
      tickets[phase] = after;
    }
    __syncthreads();

    const float2 p = pairs[phase][lane];
    const float largest = warp_max(p.x);
    const float sum = warp_sum(p.y * __expf(p.x - largest));
    const float scale = __expf(m - largest) / sum;

    // The bulk store of the block's previous row must have read the stage.
    if (lane == 0)
      asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kStreamVecs; ++k) {
      v[k].x *= scale;
      v[k].y *= scale;
      v[k].z *= scale;
      v[k].w *= scale;
      if (k < kStreamStageSteps)
        stage[lane + 32u * k] = v[k];
    }
    // Every lane makes its writes visible to the async proxy, then one stores.
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncwarp();

    float4 *out = reinterpret_cast<float4 *>(y + (size_t)row * kClusterCols) +
                  warp * (unsigned)kStreamSliceVecs;
    row = next;
    next = tickets[phase];
    phase ^= 1u;
    if (lane == 0) {
      store_stage(out, (unsigned)__cvta_generic_to_shared(stage));
      // The row that is copied in the next iteration: half of it into L2 now.
      if (next < main_rows)
        prefetch_slice(x + (size_t)next * kClusterCols + warp * (unsigned)kStreamWarpCols);
    }
    __syncwarp();
    // The end of the slice directly: the stage has no room for it.
#pragma unroll
    for (int k = kStreamStageSteps; k < kStreamVecs; ++k)
      __stcs(out + lane + 32u * k, v[k]);

    // In one iteration of one block: nobody draws any more.
    if (threadIdx.x == 0 && by_ticket && next == main_rows + 1)
      finish_last(x, y, rows);
    __syncwarp();
  }

  // The stage must outlive the stores that read it.
  if (lane == 0)
    asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
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
  else if (aligned && cols == kClusterCols && rows <= (1 << 28)) {
    cudaFuncSetAttribute(softmax_stream_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize, kStreamSharedBytes);
    if (rows >= kTicketMinRows) {
      // All blocks are resident at once: the prologue has a barrier of the grid.
      void *args[] = {&x, &y, &rows};
      if (cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(softmax_stream_kernel),
                                      dim3(kStreamMaxBlocks), dim3(kStreamThreads), args,
                                      (size_t)kStreamSharedBytes, stream) != cudaSuccess) {
        (void)cudaGetLastError();  // fewer SMs than blocks
        softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
      }
    } else {
      // As many rows for each block, as far as they divide.
      const int per_block = (rows - 1) / kStreamMaxBlocks + 1;
      const int blocks = (rows - 1) / per_block + 1;
      softmax_stream_kernel<<<blocks, kStreamThreads, kStreamSharedBytes, stream>>>(x, y, rows);
    }
  } else
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
