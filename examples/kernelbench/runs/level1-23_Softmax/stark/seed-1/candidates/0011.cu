// Model of 23_Softmax.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>

static constexpr int kRows = 4096;
static constexpr int kCols = 393216;
static constexpr int kCl = 8;                         // CTAs per cluster
static constexpr int kPerCta = kCols / kCl;           // 49152 floats
static constexpr int kChunk = 4096;                   // floats per chunk
static constexpr int kChunkBytes = kChunk * 4;        // 16384
static constexpr int kCh = kPerCta / kChunk;          // 12 chunks per row and CTA
static constexpr int kKeep = 6;                       // of these, kept in registers
static constexpr int kSlots = 14;
static constexpr int kConsumers = 512;
static constexpr int kConsumerWarps = kConsumers / 32;   // 16
static constexpr int kBlock = kConsumers + 32;           // 544
static constexpr int kRingBytes = kSlots * kChunkBytes;  // 229376
static constexpr int kRedBytes = 2 * kCl * kConsumerWarps * 8;  // 2048
static constexpr int kSmem = kRingBytes + kRedBytes + 256;      // 231680
static constexpr float kLog2e = 1.4426950408889634f;

static_assert(kCh * kChunk * kCl == kCols, "whole chunks");
static_assert(kChunk == kConsumers * 8, "two float4 per thread and chunk");
static_assert((2 * kSlots + 2) * 8 <= 256, "barriers fit");

static __device__ __forceinline__ float sm_ex2(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

static __device__ __forceinline__ void sm_wait_cta(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(ok)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (!ok);
}

static __device__ __forceinline__ void sm_wait_cluster(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(ok)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (!ok);
}

static __device__ __forceinline__ void sm_bar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void sm_bar_arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

static __device__ __forceinline__ void sm_bar_expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void sm_bulk_load(uint32_t dst, const float *src,
                                                    uint32_t bytes, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          dst),
      "l"(__cvta_generic_to_global(src)), "r"(bytes), "r"(bar)
      : "memory");
}

static __device__ __forceinline__ uint32_t sm_mapa(uint32_t addr, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(addr), "r"(rank));
  return r;
}

static __device__ __forceinline__ void sm_online(float &m, float &s, const float4 a,
                                                 const float4 b) {
  float mx = fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)),
                   fmaxf(fmaxf(b.x, b.y), fmaxf(b.z, b.w)));
  float mn = fmaxf(m, mx);
  float c = mn * kLog2e;
  float e0 = sm_ex2(fmaf(a.x, kLog2e, -c));
  float e1 = sm_ex2(fmaf(a.y, kLog2e, -c));
  float e2 = sm_ex2(fmaf(a.z, kLog2e, -c));
  float e3 = sm_ex2(fmaf(a.w, kLog2e, -c));
  float e4 = sm_ex2(fmaf(b.x, kLog2e, -c));
  float e5 = sm_ex2(fmaf(b.y, kLog2e, -c));
  float e6 = sm_ex2(fmaf(b.z, kLog2e, -c));
  float e7 = sm_ex2(fmaf(b.w, kLog2e, -c));
  float sum = ((e0 + e1) + (e2 + e3)) + ((e4 + e5) + (e6 + e7));
  s = fmaf(s, sm_ex2((m - mn) * kLog2e), sum);
  m = mn;
}

static __device__ __forceinline__ float4 sm_normal(const float4 a, float c, float inv) {
  float4 r;
  r.x = sm_ex2(fmaf(a.x, kLog2e, -c)) * inv;
  r.y = sm_ex2(fmaf(a.y, kLog2e, -c)) * inv;
  r.z = sm_ex2(fmaf(a.z, kLog2e, -c)) * inv;
  r.w = sm_ex2(fmaf(a.w, kLog2e, -c)) * inv;
  return r;
}

static constexpr int kGCtas = 128;                     // CTAs, one slice of every row each
static constexpr int kGWarps = 14;                     // warps per CTA, one row each
static constexpr int kGThreads = kGWarps * 32;         // 448
static constexpr int kGSlice = kCols / kGCtas;         // 3072 floats
static constexpr int kGBytes = kGSlice * 4;            // 12288
static constexpr int kGVec = kGSlice / 128;            // 24 float4 per lane
static constexpr int kGBarOff = kGWarps * kGBytes;     // 172032
static constexpr int kGSmem = kGBarOff + 128;          // and the mbarriers
static constexpr int kGXch = 2 * kGWarps * kGCtas;     // 8-byte entries

static_assert(kGSlice * kGCtas == kCols && kGVec * 128 == kGSlice, "slices");
static_assert(kGWarps * 8 <= 128, "barriers of the grid kernel fit");

static __device__ __forceinline__ void sg_store(unsigned long long *p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "l"(v)
               : "memory");
}

static __device__ __forceinline__ unsigned long long sg_load(const unsigned long long *p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];"
               : "=l"(v)
               : "l"(__cvta_generic_to_global(p))
               : "memory");
  return v;
}

static __device__ __forceinline__ void sg_fill(uint32_t dst, const float *src, uint32_t bar,
                                               uint64_t pol) {
  sm_bar_expect(bar, kGBytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], %2, [%3], %4;" ::"r"(dst),
      "l"(__cvta_generic_to_global(src)), "r"((uint32_t)kGBytes), "r"(bar), "l"(pol)
      : "memory");
}

static constexpr int kHCl = 8;                                    // CTAs per cluster
static constexpr int kHWarps = 12;
static constexpr int kHThreads = kHWarps * 32;                    // 384
static constexpr int kHPieces = 4;                                // pieces of a row per warp
static constexpr int kHPiece = 1024;                              // floats
static constexpr int kHPieceBytes = kHPiece * 4;                  // 4096
static constexpr int kHVec = kHPiece / 128;                       // 8 float4 per lane and piece
static constexpr int kHBlock = kHWarps * kHPiece;                 // 12288
static constexpr int kHStride = kHCl * kHBlock;                   // 98304
static constexpr int kHParts = kHCl * kHWarps;                    // 96 pairs per row
static constexpr int kHPartBytes = kHParts * 8;                   // 768
static constexpr int kHSmem = kHWarps * kHPieces * kHPieceBytes;  // 196608

static_assert(kHStride * kHPieces == kCols && kHParts == 96, "interleave");

static __device__ __forceinline__ void sm_send_pair(uint32_t addr, float a, float b,
                                                    uint32_t bar) {
  const unsigned long long v = ((unsigned long long)__float_as_uint(b) << 32) |
                               (unsigned long long)__float_as_uint(a);
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                   addr),
               "l"(v), "r"(bar)
               : "memory");
}

static __device__ __forceinline__ float2 sm_read_pair(uint32_t addr) {
  float2 r;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(r.x), "=f"(r.y)
               : "r"(addr)
               : "memory");
  return r;
}

static __global__ void __launch_bounds__(kHThreads, 1)
    softmax_rot_kernel(const float *__restrict__ x, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  __shared__ __align__(16) unsigned long long bars[kHWarps * kHPieces];
  __shared__ __align__(16) unsigned long long stat_bars[2];
  __shared__ __align__(16) float2 part[2 * kHParts];

  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int warp = (int)threadIdx.x >> 5;
  const int lane = (int)threadIdx.x & 31;
  const int stride = (int)gridDim.x / kHCl;
  int row = (int)blockIdx.x / kHCl;

  const uint32_t bars_a = static_cast<uint32_t>(__cvta_generic_to_shared(bars));
  const uint32_t stat = static_cast<uint32_t>(__cvta_generic_to_shared(stat_bars));
  const uint32_t part_base = static_cast<uint32_t>(__cvta_generic_to_shared(part));

  if (threadIdx.x == 0) {
    for (int i = 0; i < kHWarps * kHPieces; ++i)
      sm_bar_init(bars_a + 8u * (uint32_t)i, 1);
    sm_bar_init(stat, 1);
    sm_bar_init(stat + 8u, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  const float4 *stage =
      reinterpret_cast<const float4 *>(smem + warp * (kHPieces * kHPieceBytes)) + lane;
  const uint32_t slot = static_cast<uint32_t>(__cvta_generic_to_shared(smem)) +
                        (uint32_t)(warp * (kHPieces * kHPieceBytes));
  const uint32_t bar = bars_a + (uint32_t)(8 * kHPieces * warp);
  const uint32_t part_a = part_base + (rank * (uint32_t)kHWarps + (uint32_t)warp) * 8u;
  const uint32_t part_r = part_base + (uint32_t)lane * 8u;

  const size_t pos =
      (size_t)row * kCols + (size_t)rank * kHBlock + (size_t)warp * kHPiece;
  const float *src = x + pos;                                   // row whose loads come next
  float4 *dst = reinterpret_cast<float4 *>(out + pos) + lane;   // row that is stored next
  const uint32_t step = (uint32_t)stride * (uint32_t)kCols;     // floats

  if (lane == 0) {
#pragma unroll
    for (int p = 0; p < kHPieces; ++p) {
      sm_bar_expect(bar + 8 * p, kHPieceBytes);
      sm_bulk_load(slot + p * kHPieceBytes, src + p * kHStride, kHPieceBytes, bar + 8 * p);
    }
  }
  src += step;
  __syncwarp();

  float4 v[kHPieces * kHVec];
  float f[kHPieces] = {0.0f, 0.0f, 0.0f, 0.0f};   // factors of the row that v holds

#pragma unroll 1
  for (uint32_t it = 0; row < kRows; row += stride, ++it) {
    const uint32_t b = it & 1u;
    const bool refill = lane == 0 && row + stride < kRows;
    if (threadIdx.x == 0)
      sm_bar_expect(stat + 8u * b, kHPartBytes);
    __syncwarp();

    float m2[kHPieces], sp[kHPieces];
#pragma unroll
    for (int p = 0; p < kHPieces; ++p) {
      // Piece p of the previous row leaves its registers.
      if (it != 0) {
#pragma unroll
        for (int j = 0; j < kHVec; ++j) {
          float4 a = v[p * kHVec + j];
          a.x *= f[p];
          a.y *= f[p];
          a.z *= f[p];
          a.w *= f[p];
          __stcs(dst + p * (kHStride / 4) + 32 * j, a);
        }
      }

      // Piece p of this row takes them, and its slot is refilled.
      sm_wait_cta(bar + 8 * p, b);
#pragma unroll
      for (int j = 0; j < kHVec; ++j)
        v[p * kHVec + j] = stage[p * (kHPiece / 4) + 32 * j];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (refill) {
        sm_bar_expect(bar + 8 * p, kHPieceBytes);
        sm_bulk_load(slot + p * kHPieceBytes, src + p * kHStride, kHPieceBytes, bar + 8 * p);
      }
      __syncwarp();

      // The lane's maximum of the piece, in units of log2.
      float a0 = v[p * kHVec].x, a1 = v[p * kHVec].y;
      float a2 = v[p * kHVec].z, a3 = v[p * kHVec].w;
#pragma unroll
      for (int j = 1; j < kHVec; ++j) {
        a0 = fmaxf(a0, v[p * kHVec + j].x);
        a1 = fmaxf(a1, v[p * kHVec + j].y);
        a2 = fmaxf(a2, v[p * kHVec + j].z);
        a3 = fmaxf(a3, v[p * kHVec + j].w);
      }
      const float t = fmaxf(fmaxf(fmaxf(a0, a1), fmaxf(a2, a3)) * kLog2e, -1e30f);

      // Exponentials relative to it, in place, and their sum.
      float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll
      for (int j = 0; j < kHVec; ++j) {
        float4 a = v[p * kHVec + j];
        a.x = sm_ex2(fmaf(a.x, kLog2e, -t));
        a.y = sm_ex2(fmaf(a.y, kLog2e, -t));
        a.z = sm_ex2(fmaf(a.z, kLog2e, -t));
        a.w = sm_ex2(fmaf(a.w, kLog2e, -t));
        s0 += a.x;
        s1 += a.y;
        s2 += a.z;
        s3 += a.w;
        v[p * kHVec + j] = a;
      }
      m2[p] = t;
      sp[p] = (s0 + s1) + (s2 + s3);
    }
    src += step;
    if (it != 0)
      dst += step / 4;

    // The warp's pair, sent to all CTAs of the cluster.
    float wm = fmaxf(fmaxf(m2[0], m2[1]), fmaxf(m2[2], m2[3]));
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      wm = fmaxf(wm, __shfl_xor_sync(0xffffffffu, wm, o));
    float s = (sp[0] * sm_ex2(m2[0] - wm) + sp[1] * sm_ex2(m2[1] - wm)) +
              (sp[2] * sm_ex2(m2[2] - wm) + sp[3] * sm_ex2(m2[3] - wm));
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane < kHCl)
      sm_send_pair(sm_mapa(part_a + b * (uint32_t)kHPartBytes, (uint32_t)lane), wm, s,
                   sm_mapa(stat + 8u * b, (uint32_t)lane));
    __syncwarp();

    // The pairs of all warps of the cluster, three a lane.
    sm_wait_cluster(stat + 8u * b, (it >> 1) & 1u);
    const uint32_t pr = part_r + b * (uint32_t)kHPartBytes;
    const float2 q0 = sm_read_pair(pr);
    const float2 q1 = sm_read_pair(pr + 32u * 8u);
    const float2 q2 = sm_read_pair(pr + 64u * 8u);
    float M = fmaxf(fmaxf(q0.x, q1.x), q2.x);
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
    float S = q0.y * sm_ex2(q0.x - M) + q1.y * sm_ex2(q1.x - M) + q2.y * sm_ex2(q2.x - M);
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      S += __shfl_xor_sync(0xffffffffu, S, o);
    const float inv = 1.0f / S;
#pragma unroll
    for (int p = 0; p < kHPieces; ++p)
      f[p] = sm_ex2(m2[p] - M) * inv;
  }

  // The last row.
#pragma unroll
  for (int p = 0; p < kHPieces; ++p) {
#pragma unroll
    for (int j = 0; j < kHVec; ++j) {
      float4 a = v[p * kHVec + j];
      a.x *= f[p];
      a.y *= f[p];
      a.z *= f[p];
      a.w *= f[p];
      __stcs(dst + p * (kHStride / 4) + 32 * j, a);
    }
  }
}

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor out = at::empty({kRows, kCols}, x.options());
  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_rot_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kHSmem));

  cudaLaunchAttribute attr[1] = {};
  attr[0].id = cudaLaunchAttributeClusterDimension;
  attr[0].val.clusterDim.x = kHCl;
  attr[0].val.clusterDim.y = 1;
  attr[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(16 * kHCl);
  cfg.blockDim = dim3(kHThreads);
  cfg.dynamicSmemBytes = kHSmem;
  cfg.stream = at::cuda::getCurrentCUDAStream().stream();
  cfg.attrs = attr;
  cfg.numAttrs = 1;

  // As many clusters as are resident at once; each walks over the rows.
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, softmax_rot_kernel, &cfg) != cudaSuccess ||
      clusters < 1) {
    (void)cudaGetLastError();
    clusters = 16;
  }
  if (clusters > 16)
    clusters = 16;
  cfg.gridDim = dim3((unsigned)(clusters * kHCl));
  C10_CUDA_CHECK(cudaLaunchKernelEx(&cfg, softmax_rot_kernel, x.const_data_ptr<float>(),
                                    out.data_ptr<float>()));
  return out;
}
