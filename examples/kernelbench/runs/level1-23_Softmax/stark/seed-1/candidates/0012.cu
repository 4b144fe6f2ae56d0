// Model of 23_Softmax.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_runtime.h>

static constexpr int kRows = 4096;
static constexpr int kCols = 393216;
static constexpr int kCluster = 8;
static constexpr int kThreads = 384;
static constexpr int kWarps = kThreads / 32;                // 12
static constexpr int kSliceFloats = kCols / kCluster;       // 49152 floats a CTA
static constexpr int kWarpFloats = kSliceFloats / kWarps;   // 4096 floats a warp
static constexpr int kSlots = 4;
static constexpr int kSlotFloats = kWarpFloats / kSlots;    // 1024 floats a slot
static constexpr int kSlotBytes = kSlotFloats * 4;          // 4096
static constexpr int kPairs = kCluster * kWarps;            // 96 partials a row
static constexpr int kDataBytes = kSliceFloats * 4;         // 196608
static constexpr int kBarOff = kDataBytes;                  // 48 slot barriers
static constexpr int kXBarOff = kBarOff + kWarps * kSlots * 8;  // 2 exchange barriers
static constexpr int kPartOff = kXBarOff + 16;              // float2 part[2][96]
static constexpr int kSmemBytes = kPartOff + 2 * kPairs * 8;

static_assert(kWarpFloats == 4096 && kSlotFloats == 1024, "tiling");
static_assert(kPartOff % 8 == 0, "alignment of the partials");

static __device__ __forceinline__ float ex2_fast(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

static __device__ __forceinline__ void mbar_wait_cta(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(bar), "r"(parity) : "memory");
}

static __device__ __forceinline__ void mbar_wait_cluster(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(bar), "r"(parity) : "memory");
}

static __device__ __forceinline__ void mbar_arm(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void fill_slot(uint32_t dst, const float *src, uint32_t bar, uint64_t pol) {
  const uint32_t bytes = kSlotBytes;
  mbar_arm(bar, bytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(bar), "l"(pol) : "memory");
}

static __device__ __forceinline__ uint32_t map_rank(uint32_t addr, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(addr), "r"(rank));
  return r;
}

static __device__ __forceinline__ void send_pair(uint32_t dst, float a, float b, uint32_t bar) {
  const uint64_t v = (uint64_t)__float_as_uint(a) | ((uint64_t)__float_as_uint(b) << 32);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(dst), "l"(v), "r"(bar)
               : "memory");
}

// The L2 evict-first policy, as createpolicy.fractional.L2::evict_first with fraction 1 makes it.
static constexpr uint64_t kEvictFirst = 0x12F0000000000000ull;

static constexpr int kSlotStride = kCols / kSlots;          // 98304 floats from slot k to slot k + 1 of a warp
static constexpr int kRowUnits = kCols / kSlotFloats;       // 384 units of 4 KB a row
static constexpr int kStrideUnits = kSlotStride / kSlotFloats;  // 96
static constexpr int kAllUnits = kRows * kRowUnits;         // 1572864

static_assert(kStrideUnits == kPairs && kStrideUnits * kSlotFloats == kSlotStride, "dense placement of the units");

// One lane: writes a slot of shared memory to global memory, as one bulk group.
static __device__ __forceinline__ void drain_slot(float *dst, uint32_t src) {
  const uint32_t bytes = kSlotBytes;
  const uint64_t pol = kEvictFirst;
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(dst), "r"(src),
               "r"(bytes), "l"(pol)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Replaces the values of slot k in registers by their exponentials relative to this thread's maximum of the slot.
static __device__ __forceinline__ void exp_slot(float4 (&v)[32], float (&t)[kSlots], float &T, float &s, int k) {
  const float L2E = 1.4426950408889634f;

  float m0 = v[k * 8].x, m1 = v[k * 8].y, m2 = v[k * 8].z, m3 = v[k * 8].w;
#pragma unroll
  for (int j = 1; j < 8; ++j) {
    m0 = fmaxf(m0, v[k * 8 + j].x);
    m1 = fmaxf(m1, v[k * 8 + j].y);
    m2 = fmaxf(m2, v[k * 8 + j].z);
    m3 = fmaxf(m3, v[k * 8 + j].w);
  }
  const float tk = fmaxf(fmaxf(fmaxf(m0, m1), fmaxf(m2, m3)) * L2E, -1e30f);
  t[k] = tk;

  float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float4 e = v[k * 8 + j];
    e.x = ex2_fast(fmaf(e.x, L2E, -tk));
    e.y = ex2_fast(fmaf(e.y, L2E, -tk));
    e.z = ex2_fast(fmaf(e.z, L2E, -tk));
    e.w = ex2_fast(fmaf(e.w, L2E, -tk));
    s0 += e.x;
    s1 += e.y;
    s2 += e.z;
    s3 += e.w;
    v[k * 8 + j] = e;
  }
  const float sk = (s0 + s1) + (s2 + s3);
  const float Tn = fmaxf(T, tk);
  s = s * ex2_fast(T - Tn) + sk * ex2_fast(tk - Tn);
  T = Tn;
}

// Exchanges slot k in registers, scaled by f, with the slot in shared memory. addr is this lane's first vector.
// In pairs, so that only eight registers are needed on the way.
static __device__ __forceinline__ void swap_slot(float4 (&v)[32], float f, int k, uint32_t addr) {
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    float4 a, b;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a.x), "=f"(a.y), "=f"(a.z), "=f"(a.w)
                 : "r"(addr + j * 512)
                 : "memory");
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(b.x), "=f"(b.y), "=f"(b.z), "=f"(b.w)
                 : "r"(addr + (j + 1) * 512)
                 : "memory");
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(addr + j * 512), "f"(v[k * 8 + j].x * f),
                 "f"(v[k * 8 + j].y * f), "f"(v[k * 8 + j].z * f), "f"(v[k * 8 + j].w * f)
                 : "memory");
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(addr + (j + 1) * 512), "f"(v[k * 8 + j + 1].x * f),
                 "f"(v[k * 8 + j + 1].y * f), "f"(v[k * 8 + j + 1].z * f), "f"(v[k * 8 + j + 1].w * f)
                 : "memory");
    v[k * 8 + j] = a;
    v[k * 8 + j + 1] = b;
  }
}

// Scales slot k of the row in registers and writes it.
static __device__ __forceinline__ void store_slot(const float4 (&v)[32], float f, int k, float4 *o) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float4 e = v[k * 8 + j];
    e.x *= f;
    e.y *= f;
    e.z *= f;
    e.w *= f;
    __stcs(o + k * (kSlotStride / 4) + j * 32, e);
  }
}

// Takes slot k of the row in shared memory into registers, requests the same slot of the row after it, and
// replaces the values by their exponentials relative to this thread's maximum of the slot.
static __device__ __forceinline__ void consume_slot(float4 (&v)[32], float (&t)[kSlots], float &T, float &s, int k,
                                                    const float4 *stage, uint32_t sbuf, uint32_t sbar, uint32_t parity,
                                                    const float *src, bool more, int lane) {
  mbar_wait_cta(sbar + k * 8, parity);
#pragma unroll
  for (int j = 0; j < 8; ++j) v[k * 8 + j] = stage[k * 256 + j * 32];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();  // every lane has its data: the slot is free
  if (lane == 0 && more) fill_slot(sbuf + k * kSlotBytes, src + k * kSlotStride, sbar + k * 8, kEvictFirst);
  __syncwarp();

  exp_slot(v, t, T, s, k);
}

static __global__ void __launch_bounds__(kThreads, 1)
softmax_cluster_kernel(const float *__restrict__ x, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int rank = blockIdx.x & (kCluster - 1);
  const int ncl = gridDim.x / kCluster;
  // Position in units of 4 KB: row * 384 + this warp's unit of slot 0 (< 96); slot k lies 96 * k units further.
  const int du = ncl * kRowUnits;
  int u = (int)(blockIdx.x / kCluster) * kRowUnits + rank * kWarps + warp;

  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t sbuf = sbase + warp * (kWarpFloats * 4);
  const uint32_t sbar = sbase + kBarOff + warp * (kSlots * 8);
  const uint32_t xbar = sbase + kXBarOff;

  if (lane == 0) {
    for (int k = 0; k < kSlots; ++k)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sbar + k * 8) : "memory");
    if (warp == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(xbar) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(xbar + 8) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    if (warp == 0) {
      mbar_arm(xbar, kPairs * 8);
      mbar_arm(xbar + 8, kPairs * 8);
    }
    // The slots are private to this warp: the first row can start to arrive at once.
    if (u < kAllUnits)
      for (int k = 0; k < kSlots; ++k)
        fill_slot(sbuf + k * kSlotBytes, x + (size_t)u * kSlotFloats + k * kSlotStride, sbar + k * 8, kEvictFirst);
  }
  __syncwarp();
  // All CTAs of the cluster run and their barriers exist: remote stores are allowed from here on.
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");

  if (u >= kAllUnits) return;  // uniform over the cluster

  float4 v[32];
  float t[kSlots];  // references of the row in v (log2 units); after its exchange, the factors of its slots
  float T = -1e30f, s = 0.f;

  // First row into registers, second row requested.
  {
    const float4 *stage = reinterpret_cast<const float4 *>(smem + warp * (kWarpFloats * 4)) + lane;
    const bool more = u + du < kAllUnits;
    const float *src = x + (size_t)(u + du) * kSlotFloats;  // read only if more
#pragma unroll
    for (int k = 0; k < kSlots; ++k) consume_slot(v, t, T, s, k, stage, sbuf, sbar, 0u, src, more, lane);
  }

#pragma unroll 1
  for (uint32_t it = 0;; ++it) {
    // Warp reduction.
    float Tw = T;
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) Tw = fmaxf(Tw, __shfl_xor_sync(0xffffffffu, Tw, d));
    s *= ex2_fast(T - Tw);
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);

    // Lane i sends the warp's pair to CTA i of the cluster.
    const uint32_t buf = it & 1;
    const uint32_t bar = xbar + buf * 8;
    if (lane < kCluster) {
      const uint32_t slot = sbase + kPartOff + (buf * kPairs + rank * kWarps + warp) * 8;
      send_pair(map_rank(slot, lane), Tw, s, map_rank(bar, lane));
    }
    __syncwarp();

    mbar_wait_cluster(bar, (it >> 1) & 1);
    if (threadIdx.x == 0) mbar_arm(bar, kPairs * 8);  // for row it + 2 of this cluster
    __syncwarp();

    {
      const float2 *pb = reinterpret_cast<const float2 *>(smem + kPartOff) + buf * kPairs + lane;
      const float2 p0 = pb[0];
      const float2 p1 = pb[32];
      const float2 p2 = pb[64];
      float M = fmaxf(p0.x, fmaxf(p1.x, p2.x));
#pragma unroll
      for (int d = 16; d > 0; d >>= 1) M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, d));
      float S = p0.y * ex2_fast(p0.x - M) + p1.y * ex2_fast(p1.x - M) + p2.y * ex2_fast(p2.x - M);
#pragma unroll
      for (int d = 16; d > 0; d >>= 1) S += __shfl_xor_sync(0xffffffffu, S, d);
      const float inv = 1.f / S;
#pragma unroll
      for (int k = 0; k < kSlots; ++k) t[k] = ex2_fast(t[k] - M) * inv;
    }

    const int uo = u;  // the row in registers
    u += du;           // the row that lies, or arrives, in shared memory
    if (u >= kAllUnits) {
      float4 *o = reinterpret_cast<float4 *>(out + (size_t)uo * kSlotFloats) + lane;
#pragma unroll
      for (int k = 0; k < kSlots; ++k) store_slot(v, t[k], k, o);
      break;
    }

    const int un = u + du;  // the row to request; read only if it exists
    const uint32_t parity = (it + 1) & 1;
    T = -1e30f;
    s = 0.f;
#pragma unroll
    for (int k = 0; k < kSlots; ++k) {
      mbar_wait_cta(sbar + k * 8, parity);                       // slot k of the new row has arrived
      swap_slot(v, t[k], k, sbuf + lane * 16 + k * kSlotBytes);  // the old row, scaled, takes its place
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();  // every lane has swapped
      if (lane == 0) drain_slot(out + (size_t)uo * kSlotFloats + k * kSlotStride, sbuf + k * kSlotBytes);
      __syncwarp();
      exp_slot(v, t, T, s, k);  // covers the drain; t[k] becomes the new row's reference
      if (lane == 0) {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // the slot has been read: it is free
        if (un < kAllUnits)
          fill_slot(sbuf + k * kSlotBytes, x + (size_t)un * kSlotFloats + k * kSlotStride, sbar + k * 8, kEvictFirst);
      }
      __syncwarp();
    }
  }

  // No bulk store is pending when the CTA ends.
  if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor out = at::empty({kRows, kCols}, x.options());

  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_cluster_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));

  cudaLaunchAttribute attr[1] = {};
  attr[0].id = cudaLaunchAttributeClusterDimension;
  attr[0].val.clusterDim.x = kCluster;
  attr[0].val.clusterDim.y = 1;
  attr[0].val.clusterDim.z = 1;

  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(128);
  cfg.blockDim = dim3(kThreads);
  cfg.dynamicSmemBytes = kSmemBytes;
  cfg.stream = at::cuda::getCurrentCUDAStream();
  cfg.attrs = attr;
  cfg.numAttrs = 1;

  // As many clusters as are resident at once: the rows are strided by their number, so any number is right.
  int n = 0;
  if (cudaOccupancyMaxActiveClusters(&n, softmax_cluster_kernel, &cfg) != cudaSuccess) {
    (void)cudaGetLastError();
    n = 16;
  }
  if (n < 1 || n > 16) n = 16;
  cfg.gridDim = dim3(kCluster * n);

  C10_CUDA_CHECK(cudaLaunchKernelEx(&cfg, softmax_cluster_kernel, x.const_data_ptr<float>(), out.data_ptr<float>()));
  return out;
}
