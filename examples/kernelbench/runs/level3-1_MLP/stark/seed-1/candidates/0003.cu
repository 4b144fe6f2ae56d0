// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

static constexpr int kRows = 128;               // rows of the activations
static constexpr int kDepth = 16384;            // the reduced dimension, in every layer
static constexpr int kStages = 4;
static constexpr int kWBytes = 256 * 32 * 4;    // 32 KB of fp32 weights a stage
static constexpr int kABytes = 1024 * 16;       // 16 KB of packed activations a stage
static constexpr int kStageBytes = kWBytes + kABytes;
static constexpr int kSmemBytes = kStages * kStageBytes;

// Two floats as bf16 pairs: the rounded values and what rounding left.
static __device__ __forceinline__ void split2(float x, float y, uint32_t &hi, uint32_t &lo) {
  uint32_t h, l;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(y), "f"(x));
  float xr = x - __uint_as_float(h << 16);
  float yr = y - __uint_as_float(h & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(l) : "f"(yr), "f"(xr));
  hi = h;
  lo = l;
}

static __device__ __forceinline__ void mma_zero(float (&d)[4], const uint4 &a, const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]),
        "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
}

static __device__ __forceinline__ void mma_acc(float (&d)[4], const uint4 &a, const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Activations (the sum of S slabs, with bias and ReLU where wanted) into
// pack[kt][mt][plane][lane], the A fragments of m16n8k16 as bf16 hi and lo.
template <int S, bool kBiasRelu>
static __device__ __forceinline__ void pack_body(const float *__restrict__ src,
                                                 const float *__restrict__ bias,
                                                 uint4 *__restrict__ pack) {
  const int kt = blockIdx.x;
  const int mt = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int col = kt * 16 + 4 * t;
  const float *p0 = src + (size_t)(mt * 16 + g) * kDepth + col;
  const float *p1 = p0 + (size_t)8 * kDepth;
  float4 u0[S], u1[S];
#pragma unroll
  for (int s = 0; s < S; ++s) {
    u0[s] = *reinterpret_cast<const float4 *>(p0 + (size_t)s * kRows * kDepth);
    u1[s] = *reinterpret_cast<const float4 *>(p1 + (size_t)s * kRows * kDepth);
  }
  float4 v0 = u0[0], v1 = u1[0];
#pragma unroll
  for (int s = 1; s < S; ++s) {
    v0.x += u0[s].x;
    v0.y += u0[s].y;
    v0.z += u0[s].z;
    v0.w += u0[s].w;
    v1.x += u1[s].x;
    v1.y += u1[s].y;
    v1.z += u1[s].z;
    v1.w += u1[s].w;
  }
  if (kBiasRelu) {
    float4 b = *reinterpret_cast<const float4 *>(bias + col);
    v0.x = fmaxf(v0.x + b.x, 0.f);
    v0.y = fmaxf(v0.y + b.y, 0.f);
    v0.z = fmaxf(v0.z + b.z, 0.f);
    v0.w = fmaxf(v0.w + b.w, 0.f);
    v1.x = fmaxf(v1.x + b.x, 0.f);
    v1.y = fmaxf(v1.y + b.y, 0.f);
    v1.z = fmaxf(v1.z + b.z, 0.f);
    v1.w = fmaxf(v1.w + b.w, 0.f);
  }
  uint4 hi, lo;
  split2(v0.x, v0.y, hi.x, lo.x);
  split2(v1.x, v1.y, hi.y, lo.y);
  split2(v0.z, v0.w, hi.z, lo.z);
  split2(v1.z, v1.w, hi.w, lo.w);
  uint4 *q = pack + (size_t)((kt * 8 + mt) * 2) * 32 + lane;
  q[0] = hi;
  q[32] = lo;
}

static __global__ void __launch_bounds__(256)
pack_input_kernel(const float *__restrict__ src, uint4 *__restrict__ pack) {
  pack_body<1, false>(src, nullptr, pack);
}

static __global__ void __launch_bounds__(256)
pack_hidden_kernel(const float *__restrict__ src, const float *__restrict__ bias,
                   uint4 *__restrict__ pack) {
  pack_body<2, true>(src, bias, pack);
}

// part[split][128][N] = activations * W^T over the split's range of k.
// 256 threads, tile 128 x 256 x 32, warps 2 (m) x 4 (n) of 64 x 64.
static __global__ void __launch_bounds__(256, 1)
gemm_kernel(const uint4 *__restrict__ pack, const float *__restrict__ W,
            float *__restrict__ part, int N, int ntiles, int kIters) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int wm = warp >> 2;
  const int wn = warp & 3;
  const int tile = blockIdx.x % ntiles;
  const int split = blockIdx.x / ntiles;
  const int n0 = tile * 256;
  const int k0 = split * kIters * 32;

  const int lr = tid >> 3;
  const int lc = tid & 7;
  const float *wsrc = W + (size_t)(n0 + lr) * kDepth + k0 + lc * 4;
  const uint4 *asrc = pack + (size_t)(k0 / 16) * 512 + tid;
  const uint32_t smemBase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t wDst = smemBase + (uint32_t)(lr * 8 + (lc ^ ((lr & 1) << 2))) * 16u;
  const uint32_t aDst = smemBase + (uint32_t)kWBytes + (uint32_t)tid * 16u;

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int nt = 0; nt < 8; ++nt)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][nt][e] = 0.f;

  // Prologue: stages 0, 1, 2.
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    const uint32_t off = (uint32_t)(s * kStageBytes);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      cp_async16(wDst + off + (uint32_t)i * 4096u, wsrc + (size_t)i * 32 * kDepth);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      cp_async16(aDst + off + (uint32_t)i * 4096u, asrc + i * 256);
    cp_async_commit();
    wsrc += 32;
    asrc += 1024;
  }

  const int aIdx = wm * 4 * 64 + lane;                 // uint4 index inside the A part
  const int wRow = (wn * 64 + g) * 8;                  // float4 index of the lane's first row
  const int wSw = (g & 1) << 2;

#pragma unroll 1
  for (int it = 0; it < kIters; ++it) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();

    if (it + kStages - 1 < kIters) {
      const uint32_t off = (uint32_t)((it + kStages - 1) & (kStages - 1)) * (uint32_t)kStageBytes;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        cp_async16(wDst + off + (uint32_t)i * 4096u, wsrc + (size_t)i * 32 * kDepth);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        cp_async16(aDst + off + (uint32_t)i * 4096u, asrc + i * 256);
      wsrc += 32;
      asrc += 1024;
    }
    cp_async_commit();

    const unsigned char *stage = smem + (it & (kStages - 1)) * kStageBytes;
    const float4 *sW4 = reinterpret_cast<const float4 *>(stage) + wRow;
    const uint4 *sA = reinterpret_cast<const uint4 *>(stage + kWBytes) + aIdx;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      uint4 ah[4], al[4];
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        ah[mi] = sA[h * 512 + mi * 64];
        al[mi] = sA[h * 512 + mi * 64 + 32];
      }
      const int chunk = (h * 4 + t) ^ wSw;
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        uint32_t bh[4][2], bl[4][2];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float4 w = sW4[(q * 4 + j) * 64 + chunk];
          split2(w.x, w.y, bh[j][0], bl[j][0]);
          split2(w.z, w.w, bh[j][1], bl[j][1]);
        }
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          float d[4][4];
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_zero(d[j], al[mi], bh[j]);
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_acc(d[j], ah[mi], bl[j]);
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_acc(d[j], ah[mi], bh[j]);
#pragma unroll
          for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              acc[mi][q * 4 + j][e] += d[j][e];
        }
      }
    }
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");

  float *dst = part + ((size_t)split * kRows + wm * 64 + g) * N + n0 + wn * 64 + 2 * t;
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    float *d0 = dst + (size_t)(mi * 16) * N;
    float *d1 = d0 + (size_t)8 * N;
#pragma unroll
    for (int nt = 0; nt < 8; ++nt) {
      *reinterpret_cast<float2 *>(d0 + nt * 8) = make_float2(acc[mi][nt][0], acc[mi][nt][1]);
      *reinterpret_cast<float2 *>(d1 + nt * 8) = make_float2(acc[mi][nt][2], acc[mi][nt][3]);
    }
  }
}

// out[128][8192] = the sum of four partials, and the bias.
static __global__ void __launch_bounds__(256)
final_kernel(const float4 *__restrict__ part, const float4 *__restrict__ bias,
             float4 *__restrict__ out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int slab = kRows * 8192 / 4;
  const float4 p0 = part[i];
  const float4 p1 = part[i + slab];
  const float4 p2 = part[i + 2 * slab];
  const float4 p3 = part[i + 3 * slab];
  const float4 b = bias[i & (8192 / 4 - 1)];
  float4 r;
  r.x = ((p0.x + p1.x) + (p2.x + p3.x)) + b.x;
  r.y = ((p0.y + p1.y) + (p2.y + p3.y)) + b.y;
  r.z = ((p0.z + p1.z) + (p2.z + p3.z)) + b.z;
  r.w = ((p0.w + p1.w) + (p2.w + p3.w)) + b.w;
  out[i] = r;
}

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor out = at::empty({128, 8192}, x.options());
  at::Tensor pack_buffer = at::empty({128 * 16384}, x.options());
  at::Tensor part_buffer = at::empty({2 * 128 * 16384}, x.options());
  uint4 *pack = reinterpret_cast<uint4 *>(pack_buffer.data_ptr<float>());
  float *part = part_buffer.data_ptr<float>();

  cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);

  // layer 0
  pack_input_kernel<<<1024, 256, 0, stream>>>(x.const_data_ptr<float>(), pack);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_0_weight.const_data_ptr<float>(), part, 16384, 64, 256);

  // layer 2
  pack_hidden_kernel<<<1024, 256, 0, stream>>>(
      part, network_0_bias.const_data_ptr<float>(), pack);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_2_weight.const_data_ptr<float>(), part, 16384, 64, 256);

  // layer 4
  pack_hidden_kernel<<<1024, 256, 0, stream>>>(
      part, network_2_bias.const_data_ptr<float>(), pack);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_4_weight.const_data_ptr<float>(), part, 8192, 32, 128);

  final_kernel<<<1024, 256, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_4_bias.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  return out;
}
