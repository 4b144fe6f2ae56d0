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
static constexpr int kStreamWarpCols = kClusterCols / kStreamWarps;
static constexpr int kStreamVecs = kStreamWarpCols / (32 * 4);
static constexpr int kStreamSliceVecs = kStreamWarpCols / 4;
static constexpr int kStreamSliceBytes = kStreamWarpCols * 4;
static constexpr int kStreamStageSteps = 6;    // of a warp's 8 steps: stored through the stage
static constexpr int kStreamStageVecs = kStreamStageSteps * 32;
static constexpr int kStreamStageBytes = kStreamStageVecs * 16;

// The output of this many last rows may stay in L2 when the kernel ends.
static constexpr int kStreamKeepRows = 192;

// One lane: starts the store of a warp's stage; evict-first in L2.
static __device__ __forceinline__ void store_stage(float4 *dst, unsigned src,
                                                   bool keep) {
  const unsigned long long to = (unsigned long long)__cvta_generic_to_global(dst);
  // Unless the row is one of the last, whose output may stay in L2. Both sides
  // commit exactly one bulk group.
  if (keep) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
        "cp.async.bulk.commit_group;"
        :
        : "l"(to), "r"(src), "r"((unsigned)kStreamStageBytes)
        : "memory");
  } else {
    asm volatile(
        "{\n\t"
        ".reg .b64 l2policy;\n\t"
        "createpolicy.fractional.L2::evict_first.b64 l2policy, 1.0;\n\t"
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
        "[%0], [%1], %2, l2policy;\n\t"
        "cp.async.bulk.commit_group;\n\t"
        "}"
        :
        : "l"(to), "r"(src), "r"((unsigned)kStreamStageBytes)
        : "memory");
  }
}

static constexpr int kStreamSharedBytes =
    kStreamWarps * (kStreamSliceBytes + kStreamStageBytes);
static constexpr int kStreamMaxBlocks = 132;   // one per SM

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

// 32768 columns, 16-byte aligned: a cluster of four blocks per row, each with a
// quarter of the row in registers; the warps exchange (maximum, sum) pairs.
// (Now without clusters: a persistent block per SM streams whole rows. Each warp
// has its slice of the row in registers, and the same slice of the block's next
// row on its way to shared memory.)
static __global__ void __launch_bounds__(1024, 1)
    softmax_stream_kernel(const float *x, float *y, int rows, int by_ticket) {
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
  int row = (int)blockIdx.x;

  if (lane == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    if (row < rows)
      start_slice(dst, bar,
                  x + (size_t)row * kClusterCols + warp * (unsigned)kStreamWarpCols);
  }
  __syncwarp();

  // Block 0 zeroes the counter while the first rows are on their way; nobody
  // draws a ticket before that is visible to the whole grid. Only a cooperative
  // launch sets by_ticket, so every thread of the grid gets here or none does.
  if (by_ticket) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      atomicExch(reinterpret_cast<unsigned *>(y) +
                     ((size_t)rows * kClusterCols - 1),
                 0u);
    cooperative_groups::this_grid().sync();
  }

  // The first two rows of a block are static, the later ones come from tickets
  // if there are enough rows. The counter is the last element of y, zeroed by
  // block 0 before the grid barrier: the last row is given to the block that
  // draws the final ticket, so nobody touches the counter once its real value
  // is written.
  const int last = rows - 1;
  int next = row + step;
  unsigned phase = 0;
#pragma unroll 1
  while (row < rows) {
    // Issued early; the answer is needed only just before the barrier.
    unsigned ticket = 0;
    if (threadIdx.x == 0 && by_ticket && next < last)
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
    if (lane == 0 && next < rows) {
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
      int after = rows;  // none
      if (by_ticket) {
        if (next < last) {
          const int candidate = 2 * step + (int)ticket;
          if (candidate < last)
            after = candidate;
          else if (candidate == last + step - 1)
            after = last;  // the final ticket
        }
      } else if (next < rows) {
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
    const bool keep = row >= rows - kStreamKeepRows;  // uniform over the block
    if (lane == 0)
      store_stage(out, (unsigned)__cvta_generic_to_shared(stage), keep);
    __syncwarp();
    // The end of the slice directly: the last one holds the ticket counter.
    if (keep) {
#pragma unroll
      for (int k = kStreamStageSteps; k < kStreamVecs; ++k)
        out[lane + 32u * k] = v[k];
    } else {
#pragma unroll
      for (int k = kStreamStageSteps; k < kStreamVecs; ++k)
        __stcs(out + lane + 32u * k, v[k]);
    }

    row = next;
    next = tickets[phase];
    phase ^= 1u;
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
    bool launched = false;
    if (rows >= kTicketMinRows) {
      // Rows by ticket; the kernel zeroes the counter before a grid barrier.
      int by_ticket = 1;
      void *args[] = {(void *)&x, (void *)&y, (void *)&rows, (void *)&by_ticket};
      launched = cudaLaunchCooperativeKernel(
                     (const void *)softmax_stream_kernel, dim3(kStreamMaxBlocks),
                     dim3(kStreamThreads), args, (size_t)kStreamSharedBytes,
                     stream) == cudaSuccess;
      if (!launched)
        (void)cudaGetLastError();  // nothing was enqueued
    }
    if (!launched) {
      // As many rows for each block, as far as they divide.
      const int per_block = (rows - 1) / kStreamMaxBlocks + 1;
      const int blocks = (rows - 1) / per_block + 1;
      softmax_stream_kernel<<<blocks, kStreamThreads, kStreamSharedBytes, stream>>>(x, y, rows, 0);
    }
  } else
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
