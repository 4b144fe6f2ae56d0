// Model of 36_RMSNorm_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cstddef>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

static constexpr int kImages = 112;
static constexpr int kChannels = 64;
static constexpr int kPlane4 = 512 * 512 / 4;          // float4s per channel plane: 65536
static constexpr int kGroups = 8;                      // warps per block
static constexpr int kPerThreadC = kChannels / kGroups;  // channels per thread: 8
static constexpr int kTiles = kPlane4 / 32;            // tiles of 32 float4s per plane: 2048

static __global__ void __launch_bounds__(256, 5)
rmsnorm_fused_kernel(const float4 *__restrict__ x, float4 *__restrict__ y) {
  __shared__ float4 part[kGroups][32];

  const int lane = threadIdx.x & 31;
  const int g = threadIdx.x >> 5;
  const unsigned n = blockIdx.x / (unsigned)kTiles;
  const unsigned tile = blockIdx.x % (unsigned)kTiles;
  const size_t base =
      ((size_t)n * kChannels + (size_t)(g * kPerThreadC)) * (size_t)kPlane4 +
      (size_t)(tile * 32u + (unsigned)lane);

  const float4 *in = x + base;
  float4 v[kPerThreadC];
#pragma unroll
  for (int k = 0; k < kPerThreadC; ++k)
    v[k] = __ldcs(in + k * kPlane4);

  float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int k = 0; k < kPerThreadC; ++k) {
    s.x = fmaf(v[k].x, v[k].x, s.x);
    s.y = fmaf(v[k].y, v[k].y, s.y);
    s.z = fmaf(v[k].z, v[k].z, s.z);
    s.w = fmaf(v[k].w, v[k].w, s.w);
  }
  part[g][lane] = s;
  __syncthreads();

  float4 t = part[0][lane];
#pragma unroll
  for (int j = 1; j < kGroups; ++j) {
    const float4 p = part[j][lane];
    t.x += p.x;
    t.y += p.y;
    t.z += p.z;
    t.w += p.w;
  }

  float4 r;
  r.x = rsqrtf(fmaf(t.x, 1.0f / kChannels, 1e-5f));
  r.y = rsqrtf(fmaf(t.y, 1.0f / kChannels, 1e-5f));
  r.z = rsqrtf(fmaf(t.z, 1.0f / kChannels, 1e-5f));
  r.w = rsqrtf(fmaf(t.w, 1.0f / kChannels, 1e-5f));

  float4 *o = y + base;
#pragma unroll
  for (int k = 0; k < kPerThreadC; ++k)
    __stcs(o + k * kPlane4, make_float4(v[k].x * r.x, v[k].y * r.y,
                                        v[k].z * r.z, v[k].w * r.w));
}

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor out = at::empty({112, 64, 512, 512}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  rmsnorm_fused_kernel<<<kImages * kTiles, 32 * kGroups, 0, stream>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
