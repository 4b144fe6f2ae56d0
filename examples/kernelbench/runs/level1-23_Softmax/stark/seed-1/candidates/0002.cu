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

static __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(544, 1)
    softmax_cluster_kernel(const float *__restrict__ x, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t red_addr = base + kRingBytes;
  const uint32_t full = base + kRingBytes + kRedBytes;
  const uint32_t empty = full + 8 * kSlots;
  const uint32_t redbar = empty + 8 * kSlots;  // two of them

  const int rank = blockIdx.x & (kCl - 1);
  const int cid = blockIdx.x / kCl;
  const int ncl = gridDim.x / kCl;
  const int t = threadIdx.x;
  const int w = t >> 5;
  const int l = t & 31;

  if (t == 0) {
    for (int i = 0; i < kSlots; ++i) {
      sm_bar_init(full + 8 * i, 1);
      sm_bar_init(empty + 8 * i, kConsumerWarps);
    }
    sm_bar_init(redbar, kConsumerWarps * kCl);
    sm_bar_init(redbar + 8, kConsumerWarps * kCl);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  cooperative_groups::this_cluster().sync();

  if (w == kConsumerWarps) {
    // Producer warp.
    if (l == 0) {
      int slot = 0;
      uint32_t ph = 0;
      bool first = true;
      for (int row = cid; row < kRows; row += ncl) {
        const float *src = x + (size_t)row * kCols + (size_t)rank * kPerCta;
        for (int c = 0; c < kCh; ++c) {
          if (!first)
            sm_wait_cta(empty + 8 * slot, ph ^ 1u);
          sm_bar_expect(full + 8 * slot, kChunkBytes);
          sm_bulk_load(base + slot * kChunkBytes, src + c * kChunk, kChunkBytes,
                       full + 8 * slot);
          if (++slot == kSlots) {
            slot = 0;
            ph ^= 1u;
            first = false;
          }
        }
      }
    }
    __syncwarp();
  } else {
    // Consumer warps.
    int slot = 0;
    uint32_t ph = 0;
    uint32_t it = 0;
    const float2 *red = reinterpret_cast<const float2 *>(smem + kRingBytes);

    for (int row = cid; row < kRows; row += ncl, ++it) {
      float m = -1e38f;
      float s = 0.0f;
      float4 ka[kKeep];
      float4 kb[kKeep];

      // Pass A, chunks that stay in registers: their slots are released at once.
#pragma unroll
      for (int c = 0; c < kKeep; ++c) {
        sm_wait_cta(full + 8 * slot, ph);
        const float4 *p = reinterpret_cast<const float4 *>(smem + slot * kChunkBytes);
        ka[c] = p[t];
        kb[c] = p[t + kConsumers];
        __syncwarp();
        if (l == 0)
          sm_bar_arrive(empty + 8 * slot);
        sm_online(m, s, ka[c], kb[c]);
        if (++slot == kSlots) {
          slot = 0;
          ph ^= 1u;
        }
      }

      // Pass A, chunks that stay in shared memory.
      int slot_b = slot;
#pragma unroll 2
      for (int c = kKeep; c < kCh; ++c) {
        sm_wait_cta(full + 8 * slot, ph);
        const float4 *p = reinterpret_cast<const float4 *>(smem + slot * kChunkBytes);
        const float4 a = p[t];
        const float4 b = p[t + kConsumers];
        sm_online(m, s, a, b);
        if (++slot == kSlots) {
          slot = 0;
          ph ^= 1u;
        }
      }

      // Warp reduction.
      float wm = m;
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        wm = fmaxf(wm, __shfl_xor_sync(0xffffffffu, wm, o));
      s *= sm_ex2((m - wm) * kLog2e);
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        s += __shfl_xor_sync(0xffffffffu, s, o);

      // Exchange with all CTAs of the cluster.
      const uint32_t par = it & 1u;
      const uint32_t rb_local = redbar + 8 * par;
      if (l < kCl) {
        const uint32_t local =
            red_addr + 8u * (par * (kCl * kConsumerWarps) + rank * kConsumerWarps + w);
        const uint32_t ra = sm_mapa(local, (uint32_t)l);
        const uint32_t rb = sm_mapa(rb_local, (uint32_t)l);
        asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(ra), "f"(wm), "f"(s)
                     : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(rb)
                     : "memory");
      }
      __syncwarp();
      sm_wait_cluster(rb_local, (it >> 1) & 1u);

      const float2 *rp = red + par * (kCl * kConsumerWarps);
      const float2 r0 = rp[l];
      const float2 r1 = rp[l + 32];
      const float2 r2 = rp[l + 64];
      const float2 r3 = rp[l + 96];
      float M = fmaxf(fmaxf(r0.x, r1.x), fmaxf(r2.x, r3.x));
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, o));
      float S = (r0.y * sm_ex2((r0.x - M) * kLog2e) + r1.y * sm_ex2((r1.x - M) * kLog2e)) +
                (r2.y * sm_ex2((r2.x - M) * kLog2e) + r3.y * sm_ex2((r3.x - M) * kLog2e));
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        S += __shfl_xor_sync(0xffffffffu, S, o);
      const float inv = 1.0f / S;
      const float C = M * kLog2e;

      // Pass B: shared memory first, so that its slots are refilled early.
      float4 *dst =
          reinterpret_cast<float4 *>(out + (size_t)row * kCols + (size_t)rank * kPerCta) + t;
#pragma unroll 2
      for (int c = kKeep; c < kCh; ++c) {
        const float4 *p = reinterpret_cast<const float4 *>(smem + slot_b * kChunkBytes);
        const float4 a = p[t];
        const float4 b = p[t + kConsumers];
        __syncwarp();
        if (l == 0)
          sm_bar_arrive(empty + 8 * slot_b);
        __stcs(dst + c * (kChunk / 4), sm_normal(a, C, inv));
        __stcs(dst + c * (kChunk / 4) + kConsumers, sm_normal(b, C, inv));
        if (++slot_b == kSlots)
          slot_b = 0;
      }
#pragma unroll
      for (int c = 0; c < kKeep; ++c) {
        __stcs(dst + c * (kChunk / 4), sm_normal(ka[c], C, inv));
        __stcs(dst + c * (kChunk / 4) + kConsumers, sm_normal(kb[c], C, inv));
      }
    }
    __syncwarp();
  }

  // No CTA leaves while others may still write to its shared memory.
  cooperative_groups::this_cluster().sync();
}

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor out = at::empty({kRows, kCols}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(cudaFuncSetAttribute(softmax_cluster_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));

  // As many clusters as are resident at once.
  cudaLaunchConfig_t cfg = {};
  cfg.gridDim = dim3(16 * kCl);
  cfg.blockDim = dim3(kBlock);
  cfg.dynamicSmemBytes = kSmem;
  cfg.stream = stream;
  cudaLaunchAttribute attr[1];
  attr[0].id = cudaLaunchAttributeClusterDimension;
  attr[0].val.clusterDim.x = kCl;
  attr[0].val.clusterDim.y = 1;
  attr[0].val.clusterDim.z = 1;
  cfg.attrs = attr;
  cfg.numAttrs = 1;
  int ncl = 0;
  cudaError_t err =
      cudaOccupancyMaxActiveClusters(&ncl, (const void *)softmax_cluster_kernel, &cfg);
  if (err != cudaSuccess) {
    (void)cudaGetLastError();
    ncl = 16;
  }
  if (ncl < 1 || ncl > 16)
    ncl = 16;

  softmax_cluster_kernel<<<ncl * kCl, kBlock, kSmem, stream>>>(x.const_data_ptr<float>(),
                                                               out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
