// Model of 36_RMSNorm_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

static constexpr int kC = 64;
static constexpr int kN = 112;
static constexpr int kHW4 = 512 * 512 / 4;  // float4s in a channel plane
static constexpr int kCluster = 8;              // blocks a cluster
static constexpr int kPer = kC / kCluster;      // channels a block and thread
static constexpr int kThreads = 256;            // float4 columns a tile
static constexpr int kTiles = kHW4 / kThreads;  // tiles (of 256 float4s) an image

static_assert(kThreads == 32 * kCluster, "warp w of a block belongs to rank w");
static_assert(kTiles * kThreads == kHW4, "tiles divide a plane");

static __device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

static __device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

static __device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Stores v at the place that p (in this block's shared memory) has in block `rank` of the cluster.
static __device__ __forceinline__ void store_remote(float4 *p, unsigned rank, float4 v) {
  const unsigned local = (unsigned)__cvta_generic_to_shared(p);
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "f"(v.x),
               "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

static __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256, 4)
rms_norm_fused_kernel(const float4 *__restrict__ x, float4 *__restrict__ out) {
  __shared__ float4 part[kCluster][32];
  __shared__ float4 scale[kThreads];

  // This block runs and its shared memory exists; waited for after the loads.
  cluster_arrive_relaxed();

  const unsigned tid = threadIdx.x;
  const unsigned lane = tid & 31u;
  const unsigned warp = tid >> 5;
  const unsigned rank = blockIdx.x & (unsigned)(kCluster - 1);  // the grid is 1-D
  const unsigned cid = blockIdx.x / (unsigned)kCluster;
  const unsigned image = cid / (unsigned)kTiles;
  const unsigned tile = cid % (unsigned)kTiles;
  const size_t base = ((size_t)image * kC + (size_t)(rank * (unsigned)kPer)) * (size_t)kHW4 +
                      (size_t)(tile * (unsigned)kThreads + tid);
  const float4 *src = x + base;
  float4 *dst = out + base;

  float4 v[kPer];
#pragma unroll
  for (int k = 0; k < kPer; ++k)
    v[k] = __ldcs(src + (size_t)k * kHW4);

  float4 a = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    a.x = fmaf(v[k].x, v[k].x, a.x);
    a.y = fmaf(v[k].y, v[k].y, a.y);
    a.z = fmaf(v[k].z, v[k].z, a.z);
    a.w = fmaf(v[k].w, v[k].w, a.w);
  }

  // Reduce-scatter: the columns of warp R go to rank R.
  cluster_wait();
  store_remote(&part[rank][lane], warp, a);
  cluster_arrive();
  cluster_wait();

  // All warps compute the same 32 columns, those that this block owns.
  float4 r = part[0][lane];
#pragma unroll
  for (int j = 1; j < kCluster; ++j) {
    const float4 p = part[j][lane];
    r.x += p.x;
    r.y += p.y;
    r.z += p.z;
    r.w += p.w;
  }
  r.x = rsqrtf(fmaf(r.x, 1.0f / kC, 1e-5f));
  r.y = rsqrtf(fmaf(r.y, 1.0f / kC, 1e-5f));
  r.z = rsqrtf(fmaf(r.z, 1.0f / kC, 1e-5f));
  r.w = rsqrtf(fmaf(r.w, 1.0f / kC, 1e-5f));

  // All-gather: warp w sends them to rank w.
  store_remote(&scale[rank * 32u + lane], warp, r);
  cluster_arrive();
  cluster_wait();

  const float4 q = scale[tid];
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    float4 o;
    o.x = v[k].x * q.x;
    o.y = v[k].y * q.y;
    o.z = v[k].z * q.z;
    o.w = v[k].w * q.w;
    __stcs(dst + (size_t)k * kHW4, o);
  }
}

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({112, 64, 512, 512}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  rms_norm_fused_kernel<<<kN * kTiles * kCluster, kThreads, 0, stream>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  return out;
}
