// Model of 36_RMSNorm_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

static constexpr int kHW = 512 * 512;
static constexpr int kHW4 = kHW / 4;             // channel stride in float4
static constexpr int kC = 64;
static constexpr int kN = 112;
static constexpr int kGroups = 8;                // channel groups in a block
static constexpr int kPer = kC / kGroups;        // 8 channels a thread
static constexpr int kTile4 = 64;                // float4 in a tile's row: 256 pixels, 1 KB
static constexpr int kTilesPerImage = kHW4 / kTile4;   // 1024
static constexpr int kTiles = kN * kTilesPerImage;     // 114688
static constexpr int kRowBytes = kTile4 * 16;          // 1024
static constexpr int kStages = 3;
static constexpr int kStage4 = kC * kTile4;            // 4096 float4 = 64 KB
static constexpr int kStageBytes = kStage4 * 16;
static constexpr int kThreads = kGroups * kTile4;      // 512
static constexpr int kBlocks = 132;

static __device__ __forceinline__ unsigned smem_addr(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void wait_full(unsigned bar, unsigned parity) {
  unsigned done = 0;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (done == 0);
}

// Offset, in float4, of the first element of channel 0 of a tile.
static __device__ __forceinline__ long long tile_offset(int tile) {
  const unsigned t = (unsigned)tile;
  return (long long)(t / (unsigned)kTilesPerImage) * ((long long)kC * kHW4) +
         (long long)((t % (unsigned)kTilesPerImage) * (unsigned)kTile4);
}

// Called by all 32 lanes of warp 0: arms the barrier, then every lane copies two rows.
static __device__ __forceinline__ void fill_stage(const float4 *x, int tile, unsigned stage,
                                                  unsigned bar, int lane,
                                                  unsigned long long policy) {
  if (lane == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"((unsigned)kStageBytes)
                 : "memory");
  __syncwarp();
  const float4 *src = x + tile_offset(tile);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int c = lane + 32 * k;
    const unsigned long long from =
        (unsigned long long)__cvta_generic_to_global(src + (long long)c * kHW4);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(stage + (unsigned)(c * kRowBytes)),
        "l"(from), "r"((unsigned)kRowBytes), "r"(bar), "l"(policy)
        : "memory");
  }
}

static __global__ void __launch_bounds__(kThreads, 1)
rmsnorm_fused_kernel(const float4 *__restrict__ x, float4 *__restrict__ out,
                     unsigned int *counter) {
  extern __shared__ __align__(128) float4 ring[];        // [kStages][kC][kTile4]
  __shared__ float4 part[2][kGroups][kTile4];
  __shared__ __align__(8) unsigned long long full[kStages];
  __shared__ int tile_of[kStages];                       // >= kTiles: no tile left

  const int tid = threadIdx.x;
  const int col = tid & (kTile4 - 1);
  const int group = tid / kTile4;                        // channels 8*group .. 8*group+7
  const unsigned ring0 = smem_addr(ring);
  const unsigned bar0 = smem_addr(full);

  if (tid == 0) {
#pragma unroll
    for (int s = 0; s < kStages; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar0 + 8u * s) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  unsigned long long policy = 0;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));

  // The next ticket, meaningful in thread 0 only; its tile is kStages * kBlocks + ticket.
  unsigned int ticket = 0;
  if (tid < 32) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      const int t = (int)blockIdx.x + s * kBlocks;       // always < kTiles
      if (tid == 0)
        tile_of[s] = t;
      fill_stage(x, t, ring0 + (unsigned)(s * kStageBytes), bar0 + 8u * s, tid, policy);
    }
    if (tid == 0)
      ticket = atomicInc(counter, 0xffffffffu);
    __syncwarp();
  }

  float4 *const out_thread = out + (long long)(group * kPer) * kHW4 + col;
  const float4 *const ring_thread = ring + group * kPer * kTile4 + col;

  int stage = 0;
  unsigned parity = 0;
  int buf = 0;
  for (;;) {
    wait_full(bar0 + 8u * stage, parity);
    const int tile = tile_of[stage];
    if (tile >= kTiles)                                  // the same for all threads
      break;

    const float4 *src = ring_thread + stage * kStage4;
    float4 v[kPer];
#pragma unroll
    for (int i = 0; i < kPer; ++i)
      v[i] = src[i * kTile4];

    float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      s.x = fmaf(v[i].x, v[i].x, s.x);
      s.y = fmaf(v[i].y, v[i].y, s.y);
      s.z = fmaf(v[i].z, v[i].z, s.z);
      s.w = fmaf(v[i].w, v[i].w, s.w);
    }
    part[buf][group][col] = s;
    __syncthreads();   // partials are there; the stage and tile_of[stage] are in registers

    if (tid < 32) {
      const int next = kStages * kBlocks + (int)__shfl_sync(0xffffffffu, ticket, 0);
      if (tid == 0)
        tile_of[stage] = next;                           // before the arrive that publishes it
      if (next < kTiles) {
        fill_stage(x, next, ring0 + (unsigned)(stage * kStageBytes), bar0 + 8u * stage, tid,
                   policy);
        if (tid == 0)                                    // used one tile later
          ticket = atomicInc(counter, 0xffffffffu);
      } else if (tid == 0) {
        // No tile left: complete the phase without a copy; the ticket stays past the end.
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar0 + 8u * stage)
                     : "memory");
      }
      __syncwarp();
    }

    float4 t = part[buf][0][col];
#pragma unroll
    for (int j = 1; j < kGroups; ++j) {
      const float4 q = part[buf][j][col];
      t.x += q.x;
      t.y += q.y;
      t.z += q.z;
      t.w += q.w;
    }
    const float rx = rsqrtf(fmaf(t.x, 1.0f / kC, 1e-5f));
    const float ry = rsqrtf(fmaf(t.y, 1.0f / kC, 1e-5f));
    const float rz = rsqrtf(fmaf(t.z, 1.0f / kC, 1e-5f));
    const float rw = rsqrtf(fmaf(t.w, 1.0f / kC, 1e-5f));

    float4 *o = out_thread + tile_offset(tile);
#pragma unroll
    for (int i = 0; i < kPer; ++i)
      __stcs(o + i * kHW4,
             make_float4(v[i].x * rx, v[i].y * ry, v[i].z * rz, v[i].w * rw));

    buf ^= 1;
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
}

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({kN, kC, 512, 512}, x.options());
  at::Tensor counter = at::empty({1}, x.options().dtype(at::kInt));
  unsigned int *const tickets = reinterpret_cast<unsigned int *>(counter.data_ptr<int>());
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  cudaMemsetAsync(tickets, 0, sizeof(unsigned int), stream);
  cudaFuncSetAttribute(rmsnorm_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kStages * kStageBytes);
  rmsnorm_fused_kernel<<<kBlocks, kThreads, kStages * kStageBytes, stream>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()), tickets);
  return out;
}
