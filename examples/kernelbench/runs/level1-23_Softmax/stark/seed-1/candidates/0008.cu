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

static __global__ void __launch_bounds__(kGThreads, 1)
    softmax_grid_kernel(const float *__restrict__ x, float *__restrict__ out,
                        unsigned long long *xch) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(smem));

  const int w = threadIdx.x >> 5;
  const int l = threadIdx.x & 31;
  const uint32_t slot = base + (uint32_t)(w * kGBytes);
  const uint32_t bar = base + (uint32_t)(kGBarOff + 8 * w);
  const size_t col = (size_t)blockIdx.x * kGSlice;
  const float4 *stage = reinterpret_cast<const float4 *>(smem + w * kGBytes) + l;

  uint64_t pol;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(pol));

  int row = w;
  if (l == 0) {
    sm_bar_init(bar, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    sg_fill(slot, x + (size_t)row * kCols + col, bar, pol);
  }
  __syncwarp();

#pragma unroll 1
  for (uint32_t it = 0; row < kRows; row += kGWarps, ++it) {
    float4 v[kGVec];
    sm_wait_cta(bar, it & 1u);

    // Slot to registers; then the slot is refilled at once.
#pragma unroll
    for (int j = 0; j < kGVec; ++j)
      v[j] = stage[j * 32];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (l == 0 && row + kGWarps < kRows)
      sg_fill(slot, x + (size_t)(row + kGWarps) * kCols + col, bar, pol);
    __syncwarp();

    // The lane's maximum, in units of log2.
    float m0 = v[0].x, m1 = v[0].y, m2 = v[0].z, m3 = v[0].w;
#pragma unroll
    for (int j = 1; j < kGVec; ++j) {
      m0 = fmaxf(m0, v[j].x);
      m1 = fmaxf(m1, v[j].y);
      m2 = fmaxf(m2, v[j].z);
      m3 = fmaxf(m3, v[j].w);
    }
    const float t = fmaxf(fmaxf(fmaxf(m0, m1), fmaxf(m2, m3)) * kLog2e, -1e30f);

    // Exponentials relative to it, in place, and their sum.
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll
    for (int j = 0; j < kGVec; ++j) {
      v[j].x = sm_ex2(fmaf(v[j].x, kLog2e, -t));
      v[j].y = sm_ex2(fmaf(v[j].y, kLog2e, -t));
      v[j].z = sm_ex2(fmaf(v[j].z, kLog2e, -t));
      v[j].w = sm_ex2(fmaf(v[j].w, kLog2e, -t));
      s0 += v[j].x;
      s1 += v[j].y;
      s2 += v[j].z;
      s3 += v[j].w;
    }
    float s = (s0 + s1) + (s2 + s3);

    // Warp reduction.
    float T = t;
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      T = fmaxf(T, __shfl_xor_sync(0xffffffffu, T, o));
    s *= sm_ex2(t - T);
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, o);

    // Publish: value and phase in one 8-byte store.
    const uint32_t want = ((it >> 1) & 1u) ^ 1u;
    unsigned long long *e = xch + (size_t)((it & 1u) * kGWarps + (uint32_t)w) * kGCtas;
    if (l == 0) {
      const uint32_t sb = (__float_as_uint(s) & ~1u) | want;
      sg_store(e + blockIdx.x,
               ((unsigned long long)sb << 32) | (unsigned long long)__float_as_uint(T));
    }
    __syncwarp();

    // Collect the pairs of all CTAs, four a lane.
    const unsigned long long *q = e + l;
    unsigned long long p0 = sg_load(q);
    unsigned long long p1 = sg_load(q + 32);
    unsigned long long p2 = sg_load(q + 64);
    unsigned long long p3 = sg_load(q + 96);
#pragma unroll 1
    for (;;) {
      const bool b0 = ((uint32_t)(p0 >> 32) & 1u) != want;
      const bool b1 = ((uint32_t)(p1 >> 32) & 1u) != want;
      const bool b2 = ((uint32_t)(p2 >> 32) & 1u) != want;
      const bool b3 = ((uint32_t)(p3 >> 32) & 1u) != want;
      if (__all_sync(0xffffffffu, !(b0 || b1 || b2 || b3)))
        break;
      __nanosleep(100);
      if (b0)
        p0 = sg_load(q);
      if (b1)
        p1 = sg_load(q + 32);
      if (b2)
        p2 = sg_load(q + 64);
      if (b3)
        p3 = sg_load(q + 96);
    }

    const float t0 = __uint_as_float((uint32_t)p0);
    const float t1 = __uint_as_float((uint32_t)p1);
    const float t2 = __uint_as_float((uint32_t)p2);
    const float t3 = __uint_as_float((uint32_t)p3);
    float M = fmaxf(fmaxf(t0, t1), fmaxf(t2, t3));
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
    float S = (__uint_as_float((uint32_t)(p0 >> 32)) * sm_ex2(t0 - M) +
               __uint_as_float((uint32_t)(p1 >> 32)) * sm_ex2(t1 - M)) +
              (__uint_as_float((uint32_t)(p2 >> 32)) * sm_ex2(t2 - M) +
               __uint_as_float((uint32_t)(p3 >> 32)) * sm_ex2(t3 - M));
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      S += __shfl_xor_sync(0xffffffffu, S, o);
    const float f = sm_ex2(t - M) * (1.0f / S);

    // Scale and store.
    float4 *o4 = reinterpret_cast<float4 *>(out + (size_t)row * kCols + col) + l;
#pragma unroll
    for (int j = 0; j < kGVec; ++j) {
      float4 r;
      r.x = v[j].x * f;
      r.y = v[j].y * f;
      r.z = v[j].z * f;
      r.w = v[j].w * f;
      __stcs(o4 + j * 32, r);
    }
  }
}

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor out = at::empty({kRows, kCols}, x.options());
  at::Tensor scratch = at::empty({(int64_t)kGXch}, x.options().dtype(at::kLong));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned long long *xch =
      reinterpret_cast<unsigned long long *>(scratch.data_ptr<int64_t>());
  C10_CUDA_CHECK(cudaMemsetAsync(xch, 0, sizeof(unsigned long long) * kGXch, stream));
  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_grid_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kGSmem));

  // Cooperative: all CTAs are resident at once, as the exchange needs.
  cudaLaunchAttribute attr[1] = {};
  attr[0].id = cudaLaunchAttributeCooperative;
  attr[0].val.cooperative = 1;
  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(kGCtas);
  cfg.blockDim = dim3(kGThreads);
  cfg.dynamicSmemBytes = kGSmem;
  cfg.stream = stream;
  cfg.attrs = attr;
  cfg.numAttrs = 1;
  C10_CUDA_CHECK(cudaLaunchKernelEx(&cfg, softmax_grid_kernel, x.const_data_ptr<float>(),
                                    out.data_ptr<float>(), xch));
  return out;
}
