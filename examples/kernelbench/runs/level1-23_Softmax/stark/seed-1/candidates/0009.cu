// Model of 23_Softmax.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_runtime.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

namespace {

constexpr int kRows = 4096;
constexpr int kCols = 393216;
constexpr int kCluster = 8;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kSlice = kCols / kCluster;     // 49152 floats per CTA
constexpr int kWarpElems = kSlice / kWarps;  // 3072 floats per warp
constexpr int kPieces = 3;
constexpr int kPieceElems = kWarpElems / kPieces;  // 1024
constexpr int kPieceBytes = kPieceElems * 4;       // 4096
constexpr int kVecs = kPieceElems / (4 * 32);      // 8 float4 per lane and piece
constexpr int kSmemBytes = kSlice * 4;             // 196608
constexpr int kParts = kCluster * kWarps;          // 128 (max, sum) pairs per row
constexpr int kPartBytes = kParts * 8;             // 1024
constexpr float kLog2e = 1.4426950408889634f;

static_assert(kSlice * kCluster == kCols, "slices");
static_assert(kWarpElems * kWarps == kSlice, "warps");
static_assert(kPieceElems * kPieces == kWarpElems, "pieces");
static_assert(kVecs * 128 == kPieceElems, "vectors");

__device__ __forceinline__ float ex2(float a) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}

__device__ __forceinline__ unsigned smem_u32(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void expect_bytes(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(bar), "r"(bytes) : "memory");
}

__device__ __forceinline__ void load_piece(unsigned dst, const float *src, unsigned bar) {
  expect_bytes(bar, (unsigned)kPieceBytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :: "r"(dst), "l"(__cvta_generic_to_global(src)), "r"(kPieceBytes), "r"(bar)
      : "memory");
}

__device__ __forceinline__ void wait_full(unsigned bar, unsigned parity) {
  unsigned done;
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

__device__ __forceinline__ unsigned map_rank(unsigned addr, unsigned rank) {
  unsigned r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(addr), "r"(rank));
  return r;
}

__device__ __forceinline__ void send_pair(unsigned addr, float a, float b, unsigned bar) {
  const unsigned long long packed =
      ((unsigned long long)__float_as_uint(b) << 32) | (unsigned long long)__float_as_uint(a);
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
               :: "r"(addr), "l"(packed), "r"(bar) : "memory");
}

__global__ void __launch_bounds__(kThreads, 1)
softmax_cluster_kernel(const float *__restrict__ x, float *__restrict__ out, unsigned *counter) {
  // The row is interleaved over the cluster: piece p of all warps of all CTAs is one dense block.
  constexpr int kBlockElems = kWarps * kPieceElems;     // 16384 floats: one piece of all warps of a CTA
  constexpr int kPieceStride = kCluster * kBlockElems;  // 131072 floats: one piece of the whole cluster
  static_assert(kPieceStride * kPieces == kCols, "interleave");

  extern __shared__ __align__(128) float buf[];
  __shared__ __align__(16) unsigned long long bars[kWarps * kPieces];
  __shared__ __align__(16) unsigned long long stat_bars[2];
  __shared__ __align__(16) int2 next_rows[2];
  __shared__ __align__(16) float2 part[2][kParts];

  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
  // The first two rows of a cluster are fixed, all later ones come from the counter.
  int row = (int)blockIdx.x / kCluster;
  int nrow = row + (int)gridDim.x / kCluster;

  if (threadIdx.x == 0) {
    for (int i = 0; i < kWarps * kPieces; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(smem_u32(&bars[i])) : "memory");
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(smem_u32(&stat_bars[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  // Barriers visible, all CTAs of the cluster running.
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  float *wbuf = buf + warp * kWarpElems;
  const unsigned wbuf_a = smem_u32(wbuf);
  const unsigned bar_a = smem_u32(&bars[warp * kPieces]);
  const unsigned stat_a = smem_u32(&stat_bars[0]);
  const unsigned part_a = smem_u32(&part[0][0]) + (rank * kWarps + (unsigned)warp) * 8u;

  // First element of this warp's piece 0 inside a row; piece p lies p * kPieceStride further on.
  // It is 0 for warp 0 of rank 0 alone: the warp that fetches the row numbers.
  const int off = (int)rank * kBlockElems + warp * kPieceElems;

  if (lane == 0 && row < kRows) {
    const float *src = x + (size_t)row * kCols + off;
    for (int p = 0; p < kPieces; ++p)
      load_piece(wbuf_a + p * kPieceBytes, src + p * kPieceStride, bar_a + 8 * p);
  }
  __syncwarp();

  // The trip count is the same for the whole cluster: all CTAs see the same row numbers.
  for (int it = 0; row < kRows; ++it) {
    const int b = it & 1;
    const bool refill = (lane == 0) && (nrow < kRows);
    if (threadIdx.x == 0) expect_bytes(stat_a + 8 * b, (unsigned)(kPartBytes + 8));
    // The row after the next; its number is sent on after piece 0.
    int nn = kRows;
    if (refill && off == 0)
      nn = 2 * ((int)gridDim.x / kCluster) + (int)atomicInc(counter, 0xffffffffu);
    __syncwarp();

    float4 v[kPieces * kVecs];
    float m2[kPieces];
    float sp[kPieces];
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      wait_full(bar_a + 8 * p, (unsigned)b);
      const float4 *s4 = reinterpret_cast<const float4 *>(wbuf + p * kPieceElems) + lane;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) v[p * kVecs + j] = s4[32 * j];
      float m = -1e38f;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) {
        const float4 a = v[p * kVecs + j];
        m = fmaxf(m, fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)));
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (refill)
        load_piece(wbuf_a + p * kPieceBytes, x + (size_t)nrow * kCols + off + p * kPieceStride,
                   bar_a + 8 * p);
      __syncwarp();

      const float mm = m * kLog2e;
      m2[p] = mm;
      float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) {
        const int k = p * kVecs + j;
        v[k].x = ex2(fmaf(v[k].x, kLog2e, -mm));
        s0 += v[k].x;
        v[k].y = ex2(fmaf(v[k].y, kLog2e, -mm));
        s1 += v[k].y;
        v[k].z = ex2(fmaf(v[k].z, kLog2e, -mm));
        s2 += v[k].z;
        v[k].w = ex2(fmaf(v[k].w, kLog2e, -mm));
        s3 += v[k].w;
      }
      sp[p] = (s0 + s1) + (s2 + s3);

      // One warp of the cluster tells all CTAs the number of the row after the next.
      if (p == 0 && off == 0) {
        nn = __shfl_sync(0xffffffffu, nn, 0);
        if (lane < kCluster) {
          send_pair(map_rank(smem_u32(&next_rows[0]) + 8u * (unsigned)b, (unsigned)lane),
                    __int_as_float(nn), 0.f,
                    map_rank(stat_a + 8u * (unsigned)b, (unsigned)lane));
        }
        __syncwarp();
      }
    }

    // Warp statistics, sent to every CTA of the cluster.
    float wm = fmaxf(fmaxf(m2[0], m2[1]), m2[2]);
#pragma unroll
    for (int o = 16; o; o >>= 1) wm = fmaxf(wm, __shfl_xor_sync(0xffffffffu, wm, o));
    float s = sp[0] * ex2(m2[0] - wm) + sp[1] * ex2(m2[1] - wm) + sp[2] * ex2(m2[2] - wm);
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane < kCluster) {
      send_pair(map_rank(part_a + (unsigned)(b * kPartBytes), (unsigned)lane), wm, s,
                map_rank(stat_a + 8u * (unsigned)b, (unsigned)lane));
    }
    __syncwarp();

    // All 128 pairs of the row and the row number have arrived in this CTA's own shared memory.
    wait_full(stat_a + 8 * b, (unsigned)((it >> 1) & 1));
    float2 q[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) q[j] = part[b][lane + 32 * j];
    float M = fmaxf(fmaxf(q[0].x, q[1].x), fmaxf(q[2].x, q[3].x));
#pragma unroll
    for (int o = 16; o; o >>= 1) M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
    float S = 0.f;
#pragma unroll
    for (int j = 0; j < 4; ++j) S += q[j].y * ex2(q[j].x - M);
#pragma unroll
    for (int o = 16; o; o >>= 1) S += __shfl_xor_sync(0xffffffffu, S, o);
    const float inv = __fdividef(1.0f, S);  // 1 <= S <= 393216

    float4 *o4 = reinterpret_cast<float4 *>(out + (size_t)row * kCols + off) + lane;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const float f = ex2(m2[p] - M) * inv;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) {
        float4 a = v[p * kVecs + j];
        a.x *= f;
        a.y *= f;
        a.z *= f;
        a.w *= f;
        __stcs(o4 + p * (kPieceStride / 4) + 32 * j, a);
      }
    }

    // Read after the stores, where the data registers are free again.
    row = nrow;
    nrow = *reinterpret_cast<volatile int *>(&next_rows[b].x);
  }
}

}  // namespace

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor softmax = at::empty({kRows, kCols}, x.options()); // [4096, 393216]
  at::Tensor counter = at::empty({1}, x.options().dtype(at::kInt));
  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_cluster_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  cudaLaunchAttribute attr[1];
  attr[0].id = cudaLaunchAttributeClusterDimension;
  attr[0].val.clusterDim.x = kCluster;
  attr[0].val.clusterDim.y = 1;
  attr[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(16 * kCluster);
  cfg.blockDim = dim3(kThreads);
  cfg.dynamicSmemBytes = kSmemBytes;
  cfg.stream = at::cuda::getCurrentCUDAStream().stream();
  cfg.attrs = attr;
  cfg.numAttrs = 1;
  // How many clusters are resident together: the kernel is persistent, so no more than these are launched.
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, softmax_cluster_kernel, &cfg) != cudaSuccess ||
      clusters < 1) {
    (void)cudaGetLastError();
    clusters = 16;
  }
  if (clusters > 16) clusters = 16;
  cfg.gridDim = dim3((unsigned)(clusters * kCluster));
  const float *in_ptr = x.const_data_ptr<float>();
  float *out_ptr = softmax.data_ptr<float>();
  // The row counter of this call, cleared on the stream before the kernel.
  unsigned *counter_ptr = reinterpret_cast<unsigned *>(counter.data_ptr<int>());
  C10_CUDA_CHECK(cudaMemsetAsync(counter_ptr, 0, sizeof(unsigned), cfg.stream));
  C10_CUDA_CHECK(cudaLaunchKernelEx(&cfg, softmax_cluster_kernel, in_ptr, out_ptr, counter_ptr));
  return softmax;
}
