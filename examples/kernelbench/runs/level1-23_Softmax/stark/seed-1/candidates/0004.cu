// Model of 23_Softmax.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cmath>
#include <cooperative_groups.h>

namespace {

constexpr int kRows = 4096;
constexpr int kCols = 393216;
constexpr int kCluster = 8;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;           // 16
constexpr int kSlice = kCols / kCluster;        // 49152 floats
constexpr int kChunks = 6;
constexpr int kVecPerChunk = 4;                 // float4 a thread and chunk
constexpr int kVec = kChunks * kVecPerChunk;    // 24
constexpr int kChunkFloats = kSlice / kChunks;  // 8192
constexpr int kChunkBytes = kChunkFloats * 4;   // 32768
constexpr int kSmemBytes = kSlice * 4;          // 196608

// Long runs of rows first, short ones last: few restarts, an even finish.
constexpr int kBigRows = 16;
constexpr int kBigClusters = 224;
constexpr int kSmallRows = 4;
constexpr int kSmallClusters = 128;

constexpr float kLog2e = 1.4426950408889634f;

static_assert(kThreads * kVec * 4 == kSlice, "slice");
static_assert(kThreads * kVecPerChunk * 4 == kChunkFloats, "chunk");
static_assert(kBigRows * kBigClusters + kSmallRows * kSmallClusters == kRows, "rows");

__device__ __forceinline__ unsigned smem_u32(const void *p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void mbar_wait(unsigned bar, unsigned parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  }
}

// one thread: arm the chunk's mbarrier and request the chunk
__device__ __forceinline__ void issue_chunk(const float *src, unsigned dst, unsigned bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(bar), "r"(static_cast<unsigned>(kChunkBytes))
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(dst), "l"(reinterpret_cast<unsigned long long>(src)),
        "r"(static_cast<unsigned>(kChunkBytes)), "r"(bar)
      : "memory");
}

__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
softmax_cluster_kernel(const float *__restrict__ x, float *__restrict__ out) {
  namespace cg = cooperative_groups;
  extern __shared__ __align__(128) unsigned char softmax_smem[];
  __shared__ __align__(8) unsigned long long full[kChunks];
  __shared__ float2 part[2][kCluster * kWarps];

  cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int tid = static_cast<int>(threadIdx.x);
  const int lane = tid & 31;
  const int warp = tid >> 5;

  const int cid = static_cast<int>(blockIdx.x) / kCluster;
  int row0, rows;
  if (cid < kBigClusters) {
    row0 = cid * kBigRows;
    rows = kBigRows;
  } else {
    row0 = kBigClusters * kBigRows + (cid - kBigClusters) * kSmallRows;
    rows = kSmallRows;
  }

  const size_t base =
      static_cast<size_t>(row0) * kCols + static_cast<size_t>(rank) * kSlice;
  const float *src = x + base;
  float4 *dst = reinterpret_cast<float4 *>(out + base) + tid;
  const unsigned buf = smem_u32(softmax_smem);
  const unsigned bars = smem_u32(full);
  const float4 *sm = reinterpret_cast<const float4 *>(softmax_smem) + tid;

  if (tid == 0) {
#pragma unroll 1
    for (int c = 0; c < kChunks; ++c)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bars + 8u * c) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    // only barriers of this block: may start before the cluster is in step
#pragma unroll 1
    for (int c = 0; c < kChunks; ++c)
      issue_chunk(src + c * kChunkFloats, buf + static_cast<unsigned>(c * kChunkBytes),
                  bars + 8u * c);
  }
  cluster.sync();

#pragma unroll 1
  for (int it = 0; it < rows; ++it) {
    src += kCols;  // the row that is requested while this one is worked on
    const bool refill = tid == 0 && it + 1 < rows;

    float4 v[kVec];
    float m = -INFINITY;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      mbar_wait(bars + 8u * c, static_cast<unsigned>(it & 1));
#pragma unroll
      for (int j = 0; j < kVecPerChunk; ++j) {
        const int k = c * kVecPerChunk + j;
        v[k] = sm[k * kThreads];
        m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
      }
      __syncthreads();  // the chunk is in registers: its buffer is free
      if (refill) {
        asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
        issue_chunk(src + c * kChunkFloats, buf + static_cast<unsigned>(c * kChunkBytes),
                    bars + 8u * c);
      }
    }

    // exps relative to the thread's own maximum
    const float mL = m * kLog2e;
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      v[k].x = ex2(fmaf(v[k].x, kLog2e, -mL));
      s0 += v[k].x;
      v[k].y = ex2(fmaf(v[k].y, kLog2e, -mL));
      s1 += v[k].y;
      v[k].z = ex2(fmaf(v[k].z, kLog2e, -mL));
      s2 += v[k].z;
      v[k].w = ex2(fmaf(v[k].w, kLog2e, -mL));
      s3 += v[k].w;
    }

    // warp
    float M = mL;
#pragma unroll
    for (int o = 16; o; o >>= 1)
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
    float S = ((s0 + s1) + (s2 + s3)) * ex2(mL - M);
#pragma unroll
    for (int o = 16; o; o >>= 1)
      S += __shfl_xor_sync(0xffffffffu, S, o);

    // cluster: every warp's pair goes to every block
    float2 *mine = part[it & 1];
    if (lane < kCluster) {
      float2 *theirs = cluster.map_shared_rank(mine, lane);
      theirs[rank * kWarps + warp] = make_float2(M, S);
    }
    cluster.sync();

    float2 p[4];
    M = -INFINITY;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      p[i] = mine[lane + 32 * i];
      M = fmaxf(M, p[i].x);
    }
#pragma unroll
    for (int o = 16; o; o >>= 1)
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
    S = 0.f;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      S += p[i].y * ex2(p[i].x - M);
#pragma unroll
    for (int o = 16; o; o >>= 1)
      S += __shfl_xor_sync(0xffffffffu, S, o);
    const float f = ex2(mL - M) / S;

#pragma unroll
    for (int k = 0; k < kVec; ++k)
      __stcs(dst + k * kThreads,
             make_float4(v[k].x * f, v[k].y * f, v[k].z * f, v[k].w * f));
    dst += kCols / 4;
  }
}

}  // namespace

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor softmax = at::empty({4096, 393216}, x.options());
  cudaFuncSetAttribute(softmax_cluster_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kSmemBytes);
  softmax_cluster_kernel<<<(kBigClusters + kSmallClusters) * kCluster, kThreads, kSmemBytes,
                           at::cuda::getCurrentCUDAStream()>>>(
      x.const_data_ptr<float>(), softmax.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return softmax;
}
