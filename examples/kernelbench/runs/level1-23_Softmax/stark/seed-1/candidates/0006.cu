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

constexpr int kPieces = 3;
constexpr int kPieceVec = 8;                         // float4 a lane and piece
constexpr int kPieceFloats = 1024;
constexpr int kPieceBytes = 4096;
constexpr int kWarpFloats = kPieces * kPieceFloats;  // 3072
constexpr int kPairs = kCluster * kWarps;            // 128
constexpr int kPairBytes = kPairs * 8;               // 1024
constexpr int kMaxClusters = 16;
static_assert(kWarpFloats * kWarps == kSlice, "pieces");

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

__device__ __forceinline__ void mbar_wait_cluster(unsigned bar, unsigned parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  }
}

__device__ __forceinline__ void mbar_arm(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(bar), "r"(bytes)
               : "memory");
}

// one thread: arm the chunk's mbarrier and request the chunk
__device__ __forceinline__ void load_piece(const float *src, unsigned dst, unsigned bar) {
  mbar_arm(bar, static_cast<unsigned>(kPieceBytes));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(dst), "l"(reinterpret_cast<unsigned long long>(src)),
        "r"(static_cast<unsigned>(kPieceBytes)), "r"(bar)
      : "memory");
}

// one thread: send a slot to global memory, as one bulk group. evict_first; the policy is
// made on the spot, so that it occupies no register in the loop.
__device__ __forceinline__ void store_piece(float *dst, unsigned src) {
  asm volatile(
      "{\n\t"
      ".reg .b64 pol;\n\t"
      "createpolicy.fractional.L2::evict_first.b64 pol, 1.0;\n\t"
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, pol;\n\t"
      "cp.async.bulk.commit_group;\n\t"
      "}"
      :
      : "l"(reinterpret_cast<unsigned long long>(dst)), "r"(src),
        "r"(static_cast<unsigned>(kPieceBytes))
      : "memory");
}

__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

__device__ __forceinline__ unsigned map_rank(unsigned addr, unsigned rank) {
  unsigned r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(addr), "r"(rank));
  return r;
}

__device__ __forceinline__ void send_pair(unsigned addr, float a, float b, unsigned bar) {
  const unsigned long long w =
      (static_cast<unsigned long long>(__float_as_uint(b)) << 32) |
      static_cast<unsigned long long>(__float_as_uint(a));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
               :
               : "r"(addr), "l"(w), "r"(bar)
               : "memory");
}

// take the new piece; with kSwap, leave the finished old one (e * f) in its place
template <bool kSwap>
__device__ __forceinline__ void take_piece(float4 *v, float4 *s4, float f) {
#pragma unroll
  for (int j = 0; j < kPieceVec; ++j) {
    const float4 a = s4[32 * j];
    if (kSwap)
      s4[32 * j] = make_float4(v[j].x * f, v[j].y * f, v[j].z * f, v[j].w * f);
    v[j] = a;
  }
}

// exps relative to the thread's own maximum of the piece
__device__ __forceinline__ void exp_piece(float4 *v, float &ref, float &sum) {
  float m = -1e38f;
#pragma unroll
  for (int j = 0; j < kPieceVec; ++j)
    m = fmaxf(m, fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w)));
  const float mm = m * kLog2e;
  float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
  for (int j = 0; j < kPieceVec; ++j) {
    v[j].x = ex2(fmaf(v[j].x, kLog2e, -mm));
    s0 += v[j].x;
    v[j].y = ex2(fmaf(v[j].y, kLog2e, -mm));
    s1 += v[j].y;
    v[j].z = ex2(fmaf(v[j].z, kLog2e, -mm));
    s2 += v[j].z;
    v[j].w = ex2(fmaf(v[j].w, kLog2e, -mm));
    s3 += v[j].w;
  }
  ref = mm;
  sum = (s0 + s1) + (s2 + s3);
}

// the warp's (maximum, sum) to all 8 blocks; dst_pair and bar are addresses in this block
__device__ __forceinline__ void send_stats(const float *t, const float *s, unsigned dst_pair,
                                           unsigned bar, int lane) {
  float wm = fmaxf(fmaxf(t[0], t[1]), t[2]);
#pragma unroll
  for (int o = 16; o; o >>= 1)
    wm = fmaxf(wm, __shfl_xor_sync(0xffffffffu, wm, o));
  float ws = s[0] * ex2(t[0] - wm) + s[1] * ex2(t[1] - wm) + s[2] * ex2(t[2] - wm);
#pragma unroll
  for (int o = 16; o; o >>= 1)
    ws += __shfl_xor_sync(0xffffffffu, ws, o);
  if (lane < kCluster)
    send_pair(map_rank(dst_pair, static_cast<unsigned>(lane)), wm, ws,
              map_rank(bar, static_cast<unsigned>(lane)));
  __syncwarp();
}

// wait for the row's 128 pairs; turns the references t[] into factors
__device__ __forceinline__ void get_factors(float *t, const float2 *pairs, unsigned bar,
                                            unsigned parity, int lane) {
  mbar_wait_cluster(bar, parity);
  float2 q[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    q[i] = pairs[lane + 32 * i];
  float M = fmaxf(fmaxf(q[0].x, q[1].x), fmaxf(q[2].x, q[3].x));
#pragma unroll
  for (int o = 16; o; o >>= 1)
    M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
  float S = 0.f;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    S += q[i].y * ex2(q[i].x - M);
#pragma unroll
  for (int o = 16; o; o >>= 1)
    S += __shfl_xor_sync(0xffffffffu, S, o);
  const float inv = 1.f / S;
#pragma unroll
  for (int p = 0; p < kPieces; ++p)
    t[p] = ex2(t[p] - M) * inv;
}

__global__ void __launch_bounds__(kThreads, 1)
softmax_cluster_kernel(const float *__restrict__ x, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char softmax_smem[];
  __shared__ __align__(8) unsigned long long full[kWarps * kPieces];
  __shared__ __align__(8) unsigned long long stat[2];
  __shared__ __align__(16) float2 part[2][kPairs];

  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int tid = static_cast<int>(threadIdx.x);
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int ncl = static_cast<int>(gridDim.x) / kCluster;
  const int row0 = static_cast<int>(blockIdx.x) / kCluster;
  const int rows = (kRows - row0 + ncl - 1) / ncl;  // >= 1, the same in the whole cluster
  const int step = ncl * kCols;                     // floats, at most 16 * 393216

  const size_t pos = static_cast<size_t>(row0) * kCols + static_cast<size_t>(rank) * kSlice +
                     static_cast<size_t>(warp) * kWarpFloats;
  const float *src = x + pos;  // the row to request next
  float *dst = out + pos;      // the row that is in registers
  float4 *s4 = reinterpret_cast<float4 *>(softmax_smem) + warp * (kWarpFloats / 4) + lane;
  const unsigned slot = smem_u32(s4);  // used by lane 0 only: the start of the warp's slots
  const unsigned bars = smem_u32(full) + static_cast<unsigned>(warp * (kPieces * 8));
  const unsigned stat_a = smem_u32(stat);
  const unsigned pair_a =
      smem_u32(&part[0][0]) + (rank * kWarps + static_cast<unsigned>(warp)) * 8u;

  if (lane == 0) {
#pragma unroll 1
    for (int p = 0; p < kPieces; ++p)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bars + 8u * p) : "memory");
    if (warp == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(stat_a) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(stat_a + 8u) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    fence_async();
    // only barriers of this warp: may start before the cluster is in step
#pragma unroll 1
    for (int p = 0; p < kPieces; ++p)
      load_piece(src + p * kPieceFloats, slot + static_cast<unsigned>(p * kPieceBytes),
                 bars + 8u * p);
    if (warp == 0)
      mbar_arm(stat_a, static_cast<unsigned>(kPairBytes));  // exchange of row 0
  }
  __syncwarp();
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n\t"
      "barrier.cluster.wait.acquire.aligned;"
      :
      :
      : "memory");

  float4 v[kPieces * kPieceVec];
  float t[kPieces], s[kPieces];

  // first row: nothing to store yet
  src += step;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    mbar_wait(bars + 8u * p, 0u);
    take_piece<false>(v + p * kPieceVec, s4 + p * (kPieceFloats / 4), 0.f);
    fence_async();
    __syncwarp();
    if (lane == 0 && rows > 1)
      load_piece(src + p * kPieceFloats, slot + static_cast<unsigned>(p * kPieceBytes),
                 bars + 8u * p);
    __syncwarp();
    exp_piece(v + p * kPieceVec, t[p], s[p]);
  }
  send_stats(t, s, pair_a, stat_a, lane);

#pragma unroll 1
  for (int n = 1; n < rows; ++n) {
    src += step;
    const bool more = n + 1 < rows;
    const unsigned b = static_cast<unsigned>(n & 1);
    const unsigned pb = b ^ 1u;  // buffer of row n - 1
    get_factors(t, part[pb], stat_a + 8u * pb, static_cast<unsigned>(((n - 1) >> 1) & 1), lane);
    if (tid == 0)
      mbar_arm(stat_a + 8u * b, static_cast<unsigned>(kPairBytes));  // exchange of row n
    __syncwarp();

#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      mbar_wait(bars + 8u * p, b);
      take_piece<true>(v + p * kPieceVec, s4 + p * (kPieceFloats / 4), t[p]);
      fence_async();  // every lane, after its own accesses
      __syncwarp();
      if (lane == 0)
        store_piece(dst + p * kPieceFloats, slot + static_cast<unsigned>(p * kPieceBytes));
      __syncwarp();
      exp_piece(v + p * kPieceVec, t[p], s[p]);  // the new reference replaces the used factor
      if (p > 0) {
        // the slot before has been read out: refill it
        if (lane == 0) {
          asm volatile("cp.async.bulk.wait_group.read 1;" : : : "memory");
          if (more)
            load_piece(src + (p - 1) * kPieceFloats,
                       slot + static_cast<unsigned>((p - 1) * kPieceBytes),
                       bars + 8u * (p - 1));
        }
        __syncwarp();
      }
    }
    // first send, then wait
    send_stats(t, s, pair_a + b * static_cast<unsigned>(kPairBytes), stat_a + 8u * b, lane);
    if (lane == 0) {
      asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
      if (more)
        load_piece(src + (kPieces - 1) * kPieceFloats,
                   slot + static_cast<unsigned>((kPieces - 1) * kPieceBytes),
                   bars + 8u * (kPieces - 1));
    }
    __syncwarp();
    dst += step;
  }

  // last row: straight from the registers
  {
    const int n = rows - 1;
    const unsigned b = static_cast<unsigned>(n & 1);
    get_factors(t, part[b], stat_a + 8u * b, static_cast<unsigned>((n >> 1) & 1), lane);
    float4 *o4 = reinterpret_cast<float4 *>(dst) + lane;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
#pragma unroll
      for (int j = 0; j < kPieceVec; ++j) {
        const float4 a = v[p * kPieceVec + j];
        __stcs(o4 + p * (kPieceFloats / 4) + 32 * j,
               make_float4(a.x * t[p], a.y * t[p], a.z * t[p], a.w * t[p]));
      }
    }
  }
  if (lane == 0)
    asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
}

}  // namespace

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor softmax = at::empty({4096, 393216}, x.options());
  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_cluster_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  cudaLaunchAttribute attr[1] = {};
  attr[0].id = cudaLaunchAttributeClusterDimension;
  attr[0].val.clusterDim.x = kCluster;
  attr[0].val.clusterDim.y = 1;
  attr[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(kMaxClusters * kCluster);
  cfg.blockDim = dim3(kThreads);
  cfg.dynamicSmemBytes = kSmemBytes;
  cfg.stream = at::cuda::getCurrentCUDAStream().stream();
  cfg.attrs = attr;
  cfg.numAttrs = 1;
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, softmax_cluster_kernel, &cfg) != cudaSuccess ||
      clusters < 1) {
    (void)cudaGetLastError();
    clusters = kMaxClusters;
  }
  if (clusters > kMaxClusters)
    clusters = kMaxClusters;
  cfg.gridDim = dim3(static_cast<unsigned>(clusters * kCluster));
  const float *in_ptr = x.const_data_ptr<float>();
  float *out_ptr = softmax.data_ptr<float>();
  C10_CUDA_CHECK(cudaLaunchKernelEx(&cfg, softmax_cluster_kernel, in_ptr, out_ptr));
  return softmax;
}
