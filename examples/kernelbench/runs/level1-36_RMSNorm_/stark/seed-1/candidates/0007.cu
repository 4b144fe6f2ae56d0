// Model of 36_RMSNorm_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

namespace {

constexpr int kChannels = 64;
constexpr int kImages = 112;
constexpr int kPlane = 512 * 512;                    // floats in one channel's plane
constexpr int kTilePx = 256;                         // pixels of a tile: rows of 1 KB
constexpr int kTilesPerImage = kPlane / kTilePx;     // 1024
constexpr int kNumTiles = kImages * kTilesPerImage;  // 114688
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;                // 16
constexpr int kRowsPerWarp = kChannels / kWarps;     // 4 rows copied by each issuing lane
constexpr int kRow4 = kTilePx / 4;                   // 64 float4 in a row
constexpr int kGroups = kThreads / kRow4;            // 8 channel groups
constexpr int kPerThread = kChannels / kGroups;      // 8 channels held by a thread
constexpr int kStages = 3;
constexpr int kRowBytes = kTilePx * 4;               // 1024
constexpr int kStageBytes = kChannels * kRowBytes;   // 65536
constexpr int kPartOff = kStages * kStageBytes;      // 196608
constexpr int kBarOff = kPartOff + kGroups * kRow4 * 16;
constexpr int kSmemBytes = kBarOff + 64;             // 204864
constexpr int kGrid = 132;

__device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

__device__ __forceinline__ void mbar_expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
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

__device__ __forceinline__ void bulk_load(uint32_t dst, const float *src, uint32_t bytes,
                                          uint32_t bar, uint64_t pol) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(dst),
      "l"(reinterpret_cast<uint64_t>(src)), "r"(bytes), "r"(bar), "l"(pol)
      : "memory");
}

__device__ __forceinline__ void bulk_store(float *dst, uint32_t src, uint32_t bytes,
                                           uint64_t pol) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
          reinterpret_cast<uint64_t>(dst)),
      "r"(src), "r"(bytes), "l"(pol)
      : "memory");
}

// Offset, in floats, of one row (channel) of a tile.
__device__ __forceinline__ size_t tile_row(int tile, int row) {
  const unsigned t = (unsigned)tile;
  return ((size_t)(t / (unsigned)kTilesPerImage) * (size_t)kChannels + (size_t)row) *
             (size_t)kPlane +
         (size_t)(t % (unsigned)kTilesPerImage) * (size_t)kTilePx;
}

__global__ void __launch_bounds__(kThreads, 1)
rmsnorm_ring_kernel(const float *__restrict__ x, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float4 *part = reinterpret_cast<float4 *>(smem + kPartOff);
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t bars = sbase + (uint32_t)kBarOff;

  const int tid = (int)threadIdx.x;
  const int first = (int)blockIdx.x;
  const int stride = (int)gridDim.x;
  const int col4 = tid & (kRow4 - 1);
  const int grp = tid / kRow4;
  const bool issuer = (tid & 31) == 0;
  const int row0 = (tid >> 5) * kRowsPerWarp;

  uint64_t pol;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(pol));

  if (tid == 0) {
    for (int s = 0; s < kStages; ++s)
      mbar_init(bars + 8u * (uint32_t)s, (uint32_t)kWarps);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  // Called by the issuing lanes only: each loads its own rows of the tile.
  auto load_tile = [&](int tile, int s) {
    const uint32_t bar = bars + 8u * (uint32_t)s;
    mbar_expect(bar, (uint32_t)(kRowsPerWarp * kRowBytes));
    const float *src = x + tile_row(tile, row0);
    const uint32_t dst = sbase + (uint32_t)(s * kStageBytes + row0 * kRowBytes);
#pragma unroll
    for (int r = 0; r < kRowsPerWarp; ++r)
      bulk_load(dst + (uint32_t)(r * kRowBytes), src + (size_t)r * (size_t)kPlane,
                (uint32_t)kRowBytes, bar, pol);
  };

  if (issuer) {
    for (int j = 0; j < kStages - 1; ++j) {
      const int t = first + j * stride;
      if (t < kNumTiles)
        load_tile(t, j);
    }
  }
  __syncwarp();

  int stage = 0;
  uint32_t phase = 0;
  for (int tile = first; tile < kNumTiles; tile += stride) {
    mbar_wait(bars + 8u * (uint32_t)stage, phase);
    float4 *buf = reinterpret_cast<float4 *>(smem + stage * kStageBytes) +
                  grp * kPerThread * kRow4 + col4;

    float4 v[kPerThread];
#pragma unroll
    for (int k = 0; k < kPerThread; ++k)
      v[k] = buf[k * kRow4];

    float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      s.x = fmaf(v[k].x, v[k].x, s.x);
      s.y = fmaf(v[k].y, v[k].y, s.y);
      s.z = fmaf(v[k].z, v[k].z, s.z);
      s.w = fmaf(v[k].w, v[k].w, s.w);
    }
    part[grp * kRow4 + col4] = s;
    __syncthreads();  // the partial sums are visible

    float4 t = part[col4];
#pragma unroll
    for (int g = 1; g < kGroups; ++g) {
      const float4 p = part[g * kRow4 + col4];
      t.x += p.x;
      t.y += p.y;
      t.z += p.z;
      t.w += p.w;
    }

    const float inv = 1.0f / (float)kChannels;
    const float rx = rsqrtf(fmaf(t.x, inv, 1e-5f));
    const float ry = rsqrtf(fmaf(t.y, inv, 1e-5f));
    const float rz = rsqrtf(fmaf(t.z, inv, 1e-5f));
    const float rw = rsqrtf(fmaf(t.w, inv, 1e-5f));

    // In place: the same thread wrote to the same addresses that it read.
#pragma unroll
    for (int k = 0; k < kPerThread; ++k)
      buf[k * kRow4] =
          make_float4(v[k].x * rx, v[k].y * ry, v[k].z * rz, v[k].w * rw);

    // Every thread orders its accesses before the bulk copies that follow the barrier.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    if (issuer) {
      float *dst = out + tile_row(tile, row0);
      const uint32_t src = sbase + (uint32_t)(stage * kStageBytes + row0 * kRowBytes);
#pragma unroll
      for (int r = 0; r < kRowsPerWarp; ++r)
        bulk_store(dst + (size_t)r * (size_t)kPlane, src + (uint32_t)(r * kRowBytes),
                   (uint32_t)kRowBytes, pol);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");

      const int next = tile + (kStages - 1) * stride;
      if (next < kNumTiles) {
        // The stores of the previous tile have read the stage that is refilled now.
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        load_tile(next, stage == 0 ? kStages - 1 : stage - 1);
      }
    }
    __syncwarp();

    if (++stage == kStages) {
      stage = 0;
      phase ^= 1u;
    }
  }

  if (issuer)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({112, 64, 512, 512}, x.options());
  C10_CUDA_CHECK(cudaFuncSetAttribute(
      rmsnorm_ring_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  rmsnorm_ring_kernel<<<kGrid, kThreads, kSmemBytes, at::cuda::getCurrentCUDAStream()>>>(
      x.const_data_ptr<float>(), out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
