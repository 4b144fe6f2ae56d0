// Model of 43_MinGPTCausalAttention.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math_constants.h>

static constexpr int kSeq = 512;
static constexpr int kEmb = 768;
static constexpr int kQkvStride = 2304;
static constexpr int kHeadDim = 96;
static constexpr int kBlockQ = 128;
static constexpr int kBlockK = 64;
static constexpr int kAttnThreads = 256;
static constexpr int kPitch = 208;                      // bytes of a row of shared memory: 104 halves
static constexpr int kQTile = kBlockQ * kPitch;         // bytes
static constexpr int kKTile = kBlockK * kPitch;         // bytes
static constexpr int kOffK = 2 * kQTile;
static constexpr int kOffV = 2 * kQTile + 2 * kKTile;
static constexpr int kAttnSmem = 2 * kQTile + 4 * kKTile; // 106496 bytes
static constexpr float kScaleLog2e = (float)(0.10206207261596577 * 1.4426950408889634);

static __device__ __forceinline__ void attn_ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void attn_ldsm4t(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void attn_mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ float attn_exp2(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// x = hi + lo, both fp16 pairs
static __device__ __forceinline__ void attn_split2(float a, float b, uint32_t &hi, uint32_t &lo) {
  __half2 h = __floats2half2_rn(a, b);
  float2 f = __half22float2(h);
  __half2 l = __floats2half2_rn(a - f.x, b - f.y);
  hi = *reinterpret_cast<uint32_t *>(&h);
  lo = *reinterpret_cast<uint32_t *>(&l);
}

static __device__ __forceinline__ void attn_split_store(unsigned char *hi, unsigned char *lo, const float4 &v) {
  uint2 h, l;
  attn_split2(v.x, v.y, h.x, l.x);
  attn_split2(v.z, v.w, h.y, l.y);
  *reinterpret_cast<uint2 *>(hi) = h;
  *reinterpret_cast<uint2 *>(lo) = l;
}

static __global__ void __launch_bounds__(256, 2)
attn_kernel(const float *__restrict__ qkv, float *__restrict__ y) {
  extern __shared__ __align__(128) unsigned char attn_smem[];

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int w = tid >> 5;
  const int qb = 3 - (int)(blockIdx.x & 3);
  const int bh = (int)(blockIdx.x >> 2);
  const int b = bh >> 3;
  const int h = bh & 7;
  const int q0 = qb * kBlockQ;
  const int r0 = q0 + 16 * w;

  const float *base = qkv + (size_t)b * kSeq * kQkvStride + h * kHeadDim;

  // Fill mapping: 8 lanes take 128 contiguous bytes of a row, 32 rows a step. The rows of two neighbouring groups of
  // eight lanes are 4 apart: their 8-byte stores then fall into different banks.
  const int t8 = tid >> 3;
  const int frow = ((t8 & 1) << 2) | ((t8 >> 1) & 3) | (t8 & 24);
  const int fcol = tid & 7; // float4 within 128 bytes
  unsigned char *fill = attn_smem + frow * kPitch + fcol * 8;

  // Q tile
  {
    const float *qsrc = base + (size_t)(q0 + frow) * kQkvStride + fcol * 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float4 v[6];
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        const int rg = half * 2 + j / 3;
        const int cg = j % 3;
        v[j] = *reinterpret_cast<const float4 *>(qsrc + rg * 32 * kQkvStride + cg * 32);
      }
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        const int rg = half * 2 + j / 3;
        const int cg = j % 3;
        unsigned char *p = fill + rg * 32 * kPitch + cg * 64;
        attn_split_store(p, p + kQTile, v[j]);
      }
    }
  }

  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(attn_smem);
  const uint32_t aq = sbase + (uint32_t)((16 * w + (lane & 15)) * kPitch + (lane >> 4) * 16);
  const uint32_t ak = sbase + (uint32_t)(kOffK + ((lane & 7) + ((lane >> 4) << 3)) * kPitch + ((lane >> 3) & 1) * 16);
  const uint32_t av = sbase + (uint32_t)(kOffV + ((lane & 7) + ((lane >> 3) & 1) * 8) * kPitch + (lane >> 4) * 16);

  float o[12][4];
#pragma unroll
  for (int n = 0; n < 12; ++n) {
    o[n][0] = 0.0f;
    o[n][1] = 0.0f;
    o[n][2] = 0.0f;
    o[n][3] = 0.0f;
  }
  float m0 = -CUDART_INF_F, m1 = -CUDART_INF_F;
  float l0 = 0.0f, l1 = 0.0f;

  const float *ksrc = base + kEmb + (size_t)frow * kQkvStride + fcol * 4;
  const int ntiles = 2 * (qb + 1);

#pragma unroll 1
  for (int jt = 0; jt < ntiles; ++jt) {
    const int j0 = jt * kBlockK;

    {
      float4 kv[6], vv[6];
#pragma unroll
      for (int j = 0; j < 6; ++j)
        kv[j] = *reinterpret_cast<const float4 *>(ksrc + (j / 3) * 32 * kQkvStride + (j % 3) * 32);
#pragma unroll
      for (int j = 0; j < 6; ++j)
        vv[j] = *reinterpret_cast<const float4 *>(ksrc + kEmb + (j / 3) * 32 * kQkvStride + (j % 3) * 32);
      ksrc += (size_t)kBlockK * kQkvStride;

      __syncthreads(); // the previous tile has been consumed

#pragma unroll
      for (int j = 0; j < 6; ++j) {
        unsigned char *p = fill + kOffK + (j / 3) * 32 * kPitch + (j % 3) * 64;
        attn_split_store(p, p + kKTile, kv[j]);
      }
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        unsigned char *p = fill + kOffV + (j / 3) * 32 * kPitch + (j % 3) * 64;
        attn_split_store(p, p + kKTile, vv[j]);
      }

      __syncthreads(); // the tile (and Q, the first time) is there
    }

    if (j0 <= r0 + 15) {
      float s[8][4];
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        s[n][0] = 0.0f;
        s[n][1] = 0.0f;
        s[n][2] = 0.0f;
        s[n][3] = 0.0f;
      }

      // S = Q K^T
#pragma unroll
      for (int kk = 0; kk < 6; ++kk) {
        uint32_t ah[4], al[4];
        attn_ldsm4(ah, aq + kk * 32);
        attn_ldsm4(al, aq + kQTile + kk * 32);
#pragma unroll
        for (int np = 0; np < 4; ++np) {
          uint32_t bhi[4], blo[4];
          attn_ldsm4(bhi, ak + np * 16 * kPitch + kk * 32);
          attn_ldsm4(blo, ak + kKTile + np * 16 * kPitch + kk * 32);
          attn_mma(s[2 * np], al, bhi[0], bhi[1]);
          attn_mma(s[2 * np + 1], al, bhi[2], bhi[3]);
          attn_mma(s[2 * np], ah, blo[0], blo[1]);
          attn_mma(s[2 * np + 1], ah, blo[2], blo[3]);
          attn_mma(s[2 * np], ah, bhi[0], bhi[1]);
          attn_mma(s[2 * np + 1], ah, bhi[2], bhi[3]);
        }
      }

      // causal mask
      if (j0 + kBlockK - 1 > r0) {
        const int key0 = j0 + 2 * (lane & 3);
        const int query0 = r0 + (lane >> 2);
#pragma unroll
        for (int n = 0; n < 8; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = key0 + n * 8 + (e & 1);
            const int query = query0 + ((e >= 2) ? 8 : 0);
            if (key > query)
              s[n][e] = -CUDART_INF_F;
          }
        }
      }

      // online softmax
      float x0 = m0, x1 = m1;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        x0 = fmaxf(x0, fmaxf(s[n][0], s[n][1]));
        x1 = fmaxf(x1, fmaxf(s[n][2], s[n][3]));
      }
      x0 = fmaxf(x0, __shfl_xor_sync(0xffffffffu, x0, 1));
      x1 = fmaxf(x1, __shfl_xor_sync(0xffffffffu, x1, 1));
      x0 = fmaxf(x0, __shfl_xor_sync(0xffffffffu, x0, 2));
      x1 = fmaxf(x1, __shfl_xor_sync(0xffffffffu, x1, 2));

      const float alpha0 = attn_exp2((m0 - x0) * kScaleLog2e);
      const float alpha1 = attn_exp2((m1 - x1) * kScaleLog2e);
      m0 = x0;
      m1 = x1;

      float sum0 = 0.0f, sum1 = 0.0f;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        s[n][0] = attn_exp2((s[n][0] - x0) * kScaleLog2e);
        s[n][1] = attn_exp2((s[n][1] - x0) * kScaleLog2e);
        s[n][2] = attn_exp2((s[n][2] - x1) * kScaleLog2e);
        s[n][3] = attn_exp2((s[n][3] - x1) * kScaleLog2e);
        sum0 += s[n][0] + s[n][1];
        sum1 += s[n][2] + s[n][3];
      }
      l0 = fmaf(l0, alpha0, sum0);
      l1 = fmaf(l1, alpha1, sum1);
#pragma unroll
      for (int n = 0; n < 12; ++n) {
        o[n][0] *= alpha0;
        o[n][1] *= alpha0;
        o[n][2] *= alpha1;
        o[n][3] *= alpha1;
      }

      // O += P V
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
        uint32_t ph[4], pl[4];
        attn_split2(s[2 * kk][0], s[2 * kk][1], ph[0], pl[0]);
        attn_split2(s[2 * kk][2], s[2 * kk][3], ph[1], pl[1]);
        attn_split2(s[2 * kk + 1][0], s[2 * kk + 1][1], ph[2], pl[2]);
        attn_split2(s[2 * kk + 1][2], s[2 * kk + 1][3], ph[3], pl[3]);
#pragma unroll
        for (int dp = 0; dp < 6; ++dp) {
          uint32_t vhi[4], vlo[4];
          attn_ldsm4t(vhi, av + kk * 16 * kPitch + dp * 32);
          attn_ldsm4t(vlo, av + kKTile + kk * 16 * kPitch + dp * 32);
          attn_mma(o[2 * dp], pl, vhi[0], vhi[1]);
          attn_mma(o[2 * dp + 1], pl, vhi[2], vhi[3]);
          attn_mma(o[2 * dp], ph, vlo[0], vlo[1]);
          attn_mma(o[2 * dp + 1], ph, vlo[2], vlo[3]);
          attn_mma(o[2 * dp], ph, vhi[0], vhi[1]);
          attn_mma(o[2 * dp + 1], ph, vhi[2], vhi[3]);
        }
      }
    }
  }

  l0 += __shfl_xor_sync(0xffffffffu, l0, 1);
  l1 += __shfl_xor_sync(0xffffffffu, l1, 1);
  l0 += __shfl_xor_sync(0xffffffffu, l0, 2);
  l1 += __shfl_xor_sync(0xffffffffu, l1, 2);
  const float inv0 = 1.0f / l0;
  const float inv1 = 1.0f / l1;

  float *dst = y + ((size_t)b * kSeq + r0 + (lane >> 2)) * kEmb + h * kHeadDim + 2 * (lane & 3);
#pragma unroll
  for (int n = 0; n < 12; ++n) {
    *reinterpret_cast<float2 *>(dst + n * 8) = make_float2(o[n][0] * inv0, o[n][1] * inv0);
    *reinterpret_cast<float2 *>(dst + 8 * kEmb + n * 8) = make_float2(o[n][2] * inv1, o[n][3] * inv1);
  }
}

at::Tensor MinGPTCausalAttention(
    const at::Tensor &x /* [128, 512, 768] */,
    const at::Tensor &c_attn_weight /* [2304, 768] */,
    const at::Tensor &c_attn_bias /* [2304] */,
    const at::Tensor &c_proj_weight /* [768, 768] */,
    const at::Tensor &c_proj_bias /* [768] */,
    const at::Tensor &bias /* [1, 1, 1024, 1024] */) {
  at::Tensor c_attn = at::linear(x, c_attn_weight, c_attn_bias); // [128, 512, 2304]
  at::Tensor y = at::empty({128, 512, 768}, x.options()); // [128, 512, 768]
  cudaFuncSetAttribute(attn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kAttnSmem);
  attn_kernel<<<128 * 8 * (kSeq / kBlockQ), kAttnThreads, kAttnSmem, at::cuda::getCurrentCUDAStream()>>>(
      c_attn.const_data_ptr<float>(), y.data_ptr<float>());
  return at::linear(y, c_proj_weight, c_proj_bias); // [128, 512, 768]
}
