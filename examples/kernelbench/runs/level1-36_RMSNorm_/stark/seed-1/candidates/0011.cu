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
constexpr int kPlane4 = 512 * 512 / 4;          // float4 in one channel's plane
constexpr int kWarps = 8;
constexpr int kPerThread = 8;                   // channels held by a thread
constexpr int kSlots = kChannels / kPerThread;  // 8 partial sums a pixel
constexpr int kCluster = 4;                     // blocks that share the channels
constexpr int kGroups = kSlots / kCluster;      // 2 channel groups in a block
constexpr int kRow4 = kWarps * 32 / kGroups;    // 128 float4 (2 KB) in a row
constexpr int kTiles = kPlane4 / kRow4;         // 512 cluster tiles in an image

// Stores v at the place in block `rank` of the cluster that corresponds to the
// own shared-memory address `addr`.
__device__ __forceinline__ void store_remote(uint32_t addr, uint32_t rank, float4 v) {
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(addr), "r"(rank));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(remote), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(kWarps * 32, 4)
rmsnorm_fused_kernel(const float4 *__restrict__ x, float4 *__restrict__ out) {
  __shared__ float4 part[kSlots][kRow4];

  // Says "this block has started"; the matching wait comes after the loads.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");

  const int col = (int)threadIdx.x & (kRow4 - 1);
  const int grp = (int)threadIdx.x / kRow4;
  const unsigned rank = blockIdx.x % (unsigned)kCluster;  // rank in the cluster
  const unsigned ctile = blockIdx.x / (unsigned)kCluster;
  const unsigned tile = ctile % (unsigned)kTiles;
  const unsigned image = ctile / (unsigned)kTiles;
  const int slot = (int)rank * kGroups + grp;
  const size_t base =
      ((size_t)image * kChannels + (size_t)(slot * kPerThread)) * (size_t)kPlane4 +
      (size_t)(tile * (unsigned)kRow4 + (unsigned)col);
  const float4 *src = x + base;
  float4 *dst = out + base;

  // All loads first: 8 independent 16-byte loads in flight per thread.
  float4 v[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    v[k] = __ldcs(src + k * kPlane4);

  float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    s.x = fmaf(v[k].x, v[k].x, s.x);
    s.y = fmaf(v[k].y, v[k].y, s.y);
    s.z = fmaf(v[k].z, v[k].z, s.z);
    s.w = fmaf(v[k].w, v[k].w, s.w);
  }

  // All blocks of the cluster have started: their shared memory may be written.
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  const uint32_t addr = (uint32_t)__cvta_generic_to_shared(&part[slot][col]);
#pragma unroll
  for (int i = 1; i < kCluster; ++i)
    store_remote(addr, (rank + (unsigned)i) % (unsigned)kCluster, s);
  part[slot][col] = s;

  // All partial sums are visible in every block of the cluster.
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  float4 t = part[0][col];
#pragma unroll
  for (int w = 1; w < kSlots; ++w) {
    const float4 p = part[w][col];
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

#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    __stcs(dst + k * kPlane4,
           make_float4(v[k].x * rx, v[k].y * ry, v[k].z * rz, v[k].w * rw));
}

}  // namespace

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({112, 64, 512, 512}, x.options());
  rmsnorm_fused_kernel<<<kImages * kTiles * kCluster, kWarps * 32, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
