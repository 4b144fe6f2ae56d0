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
// volatile: the load stays where it is written
static __device__ __forceinline__ float4 attn_ldg4(const float *p) {
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

static constexpr int kBlockK = 32;
static constexpr int kAttnThreads = 128;
static constexpr int kPitch = 208;                      // bytes of a row of shared memory: 104 halves
static constexpr int kQTile = kBlockQ * kPitch;         // bytes
static constexpr int kKTile = kBlockK * kPitch;         // bytes
static constexpr int kOffK = 2 * kQTile;
static constexpr int kOffV = 2 * kQTile + 2 * kKTile;
static constexpr int kAttnSmem = 2 * kQTile + 8 * kKTile; // 106496 bytes: Q, two stages of K and V
static constexpr int kStage = 4 * kKTile;                 // Kh | Kl | Vh | Vl: 26624 bytes
 // 106496 bytes
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

static constexpr int kKP = 2368;               // row of a split operand: lo | hi | bias and padding (64) | hi
static constexpr int kChunks = 96;             // chunks of 8 elements in a row of 768
static constexpr float kInvS = 1.0f / 256.0f;  // undoes the scale of c_attn's weight and bias

// fp32 rows of 768 to fp16 rows of kKP: activations lo | hi | 1, 1, 0... | hi, weights hi | lo | hi(b), lo(b), 0... | hi
template <bool kWeight>
static __global__ void __launch_bounds__(256)
split_rows(const float *__restrict__ in, const float *__restrict__ b, __half *__restrict__ out, int rows, float scale) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  const int row = t / kChunks;
  const int ch = t - row * kChunks;
  if (row >= rows)
    return;
  const float4 *p = reinterpret_cast<const float4 *>(in + (long long)row * 768 + ch * 8);
  const float4 u = p[0];
  const float4 w = p[1];
  uint4 hi, lo;
  attn_split2(u.x * scale, u.y * scale, hi.x, lo.x);
  attn_split2(u.z * scale, u.w * scale, hi.y, lo.y);
  attn_split2(w.x * scale, w.y * scale, hi.z, lo.z);
  attn_split2(w.z * scale, w.w * scale, hi.w, lo.w);
  __half *o = out + (long long)row * kKP + ch * 8;
  *reinterpret_cast<uint4 *>(o) = kWeight ? hi : lo;
  *reinterpret_cast<uint4 *>(o + 768) = kWeight ? lo : hi;
  *reinterpret_cast<uint4 *>(o + 1600) = hi;
  if (ch < 8) { // the 64 columns of bias and padding
    uint4 e = make_uint4(0u, 0u, 0u, 0u);
    if (ch == 0) {
      if (kWeight) {
        const float v = b[row] * scale;
        const __half vh = __float2half_rn(v);
        const __half vl = __float2half_rn(v - __half2float(vh));
        e.x = (unsigned)__half_as_ushort(vh) | ((unsigned)__half_as_ushort(vl) << 16);
      } else {
        e.x = 0x3c003c00u; // two fp16 ones
      }
    }
    *reinterpret_cast<uint4 *>(o + 1536) = e; // o already contains ch * 8
  }
}

static __device__ __forceinline__ void attn_split_store(unsigned char *hi, unsigned char *lo, const float4 &v) {
  uint2 h, l;
  // q, k and v come kS = 256 times too large out of the first product; a power of two: exact
  attn_split2(v.x * kInvS, v.y * kInvS, h.x, l.x);
  attn_split2(v.z * kInvS, v.w * kInvS, h.y, l.y);
  *reinterpret_cast<uint2 *>(hi) = h;
  *reinterpret_cast<uint2 *>(lo) = l;
}

static __global__ void __launch_bounds__(128, 2)
attn_kernel(const float *__restrict__ qkv, __half *__restrict__ ya) {
  extern __shared__ __align__(128) unsigned char attn_smem[];

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int w = tid >> 5; // 0..3
  const int qb = 3 - (int)(blockIdx.x & 3);
  const int bh = (int)(blockIdx.x >> 2);
  const int b = bh >> 3;
  const int h = bh & 7;
  const int q0 = qb * kBlockQ;
  const int r0 = q0 + 32 * w;

  const float *base = qkv + (size_t)b * kSeq * kQkvStride + h * kHeadDim;

  // Fill mapping: 8 lanes take 128 contiguous bytes of a row, 16 rows a step. The rows of two neighbouring groups of
  // eight lanes are 4 apart: their 8-byte stores then fall into different banks.
  const int t8 = tid >> 3; // 0..15
  const int frow = ((t8 & 1) << 2) | ((t8 >> 1) & 3) | (t8 & 8);
  const int fcol = tid & 7; // float4 within 128 bytes
  unsigned char *fill = attn_smem + frow * kPitch + fcol * 8;

  const float *ksrc = base + kEmb + (size_t)frow * kQkvStride + fcol * 4;

  // Q tile: 8 row groups of 16 x 3 column groups
  {
    const float *qsrc = base + (size_t)(q0 + frow) * kQkvStride + fcol * 4;
#pragma unroll
    for (int batch = 0; batch < 2; ++batch) {
      float4 v[12];
#pragma unroll
      for (int j = 0; j < 12; ++j) {
        const int rg = batch * 4 + j / 3;
        const int cg = j % 3;
        v[j] = attn_ldg4(qsrc + rg * 16 * kQkvStride + cg * 32);
      }
#pragma unroll
      for (int j = 0; j < 12; ++j) {
        const int rg = batch * 4 + j / 3;
        const int cg = j % 3;
        unsigned char *p = fill + rg * 16 * kPitch + cg * 64;
        attn_split_store(p, p + kQTile, v[j]);
      }
    }
  }

  // K and V tile 0 to stage 0
  {
    float4 kv[6], vv[6];
#pragma unroll
    for (int j = 0; j < 6; ++j)
      kv[j] = attn_ldg4(ksrc + (j / 3) * 16 * kQkvStride + (j % 3) * 32);
#pragma unroll
    for (int j = 0; j < 6; ++j)
      vv[j] = attn_ldg4(ksrc + kEmb + (j / 3) * 16 * kQkvStride + (j % 3) * 32);
#pragma unroll
    for (int j = 0; j < 6; ++j) {
      unsigned char *p = fill + kOffK + (j / 3) * 16 * kPitch + (j % 3) * 64;
      attn_split_store(p, p + kKTile, kv[j]);
    }
#pragma unroll
    for (int j = 0; j < 6; ++j) {
      unsigned char *p = fill + kOffV + (j / 3) * 16 * kPitch + (j % 3) * 64;
      attn_split_store(p, p + kKTile, vv[j]);
    }
  }

  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(attn_smem);
  const uint32_t aq = sbase + (uint32_t)((32 * w + (lane & 15)) * kPitch + (lane >> 4) * 16);
  const uint32_t ak = sbase + (uint32_t)(kOffK + ((lane & 7) + ((lane >> 4) << 3)) * kPitch + ((lane >> 3) & 1) * 16);
  const uint32_t av = sbase + (uint32_t)(kOffV + ((lane & 7) + ((lane >> 3) & 1) * 8) * kPitch + (lane >> 4) * 16);

  float o[2][12][4];
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
    for (int n = 0; n < 12; ++n) {
      o[mt][n][0] = 0.0f;
      o[mt][n][1] = 0.0f;
      o[mt][n][2] = 0.0f;
      o[mt][n][3] = 0.0f;
    }
  }
  float m[2][2], l[2][2]; // m: running maximum times kScaleLog2e, rounded once
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
    m[mt][0] = -CUDART_INF_F;
    m[mt][1] = -CUDART_INF_F;
    l[mt][0] = 0.0f;
    l[mt][1] = 0.0f;
  }

  const int ntiles = 4 * (qb + 1);

  __syncthreads(); // Q and tile 0 are there

#pragma unroll 1
  for (int jt = 0; jt < ntiles; ++jt) {
    const int j0 = jt * kBlockK;
    const uint32_t cur = (uint32_t)((jt & 1) * kStage);
    unsigned char *nxt = fill + ((jt & 1) ^ 1) * kStage;
    const bool more = jt + 1 < ntiles; // the same in the whole block
    const bool active = j0 <= r0;      // the same in the whole warp; both are multiples of 32
    float4 pre[6];
    ksrc += kBlockK * kQkvStride; // now at tile jt + 1

    if (more) {
#pragma unroll
      for (int j = 0; j < 6; ++j)
        pre[j] = attn_ldg4(ksrc + (j / 3) * 16 * kQkvStride + (j % 3) * 32);
    }

    float s[2][4][4];
#pragma unroll
    for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        s[mt][n][0] = 0.0f;
        s[mt][n][1] = 0.0f;
        s[mt][n][2] = 0.0f;
        s[mt][n][3] = 0.0f;
      }
    }

    // S = Q K^T
    if (active) {
      const uint32_t akc = ak + cur;
#pragma unroll
      for (int kk = 0; kk < 6; ++kk) {
        uint32_t ah[2][4], al[2][4], khi[2][4], klo[2][4];
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
          attn_ldsm4(al[mt], aq + kQTile + mt * 16 * kPitch + kk * 32);
#pragma unroll
        for (int np = 0; np < 2; ++np)
          attn_ldsm4(khi[np], akc + np * 16 * kPitch + kk * 32);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
          attn_ldsm4(ah[mt], aq + mt * 16 * kPitch + kk * 32);
#pragma unroll
        for (int np = 0; np < 2; ++np)
          attn_ldsm4(klo[np], akc + kKTile + np * 16 * kPitch + kk * 32);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int np = 0; np < 2; ++np)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              attn_mma(s[mt][2 * np + e], al[mt], khi[np][2 * e], khi[np][2 * e + 1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int np = 0; np < 2; ++np)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              attn_mma(s[mt][2 * np + e], ah[mt], klo[np][2 * e], klo[np][2 * e + 1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int np = 0; np < 2; ++np)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              attn_mma(s[mt][2 * np + e], ah[mt], khi[np][2 * e], khi[np][2 * e + 1]);
      }
    }

    if (more) {
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        unsigned char *p = nxt + kOffK + (j / 3) * 16 * kPitch + (j % 3) * 64;
        attn_split_store(p, p + kKTile, pre[j]);
      }
#pragma unroll
      for (int j = 0; j < 6; ++j)
        pre[j] = attn_ldg4(ksrc + kEmb + (j / 3) * 16 * kQkvStride + (j % 3) * 32);
    }

    if (active) {
      // causal mask: only the diagonal tile needs it
      if (j0 == r0) {
        const int key0 = 2 * (lane & 3);
        const int query0 = lane >> 2;
#pragma unroll
        for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
          for (int n = 0; n < 4; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int key = key0 + n * 8 + (e & 1);
              const int query = query0 + 16 * mt + ((e >= 2) ? 8 : 0);
              if (key > query)
                s[mt][n][e] = -CUDART_INF_F;
            }
          }
        }
      }

      // online softmax
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
        float x0 = fmaxf(s[mt][0][0], s[mt][0][1]);
        float x1 = fmaxf(s[mt][0][2], s[mt][0][3]);
#pragma unroll
        for (int n = 1; n < 4; ++n) {
          x0 = fmaxf(x0, fmaxf(s[mt][n][0], s[mt][n][1]));
          x1 = fmaxf(x1, fmaxf(s[mt][n][2], s[mt][n][3]));
        }
        x0 = fmaxf(x0, __shfl_xor_sync(0xffffffffu, x0, 1));
        x1 = fmaxf(x1, __shfl_xor_sync(0xffffffffu, x1, 1));
        x0 = fmaxf(x0, __shfl_xor_sync(0xffffffffu, x0, 2));
        x1 = fmaxf(x1, __shfl_xor_sync(0xffffffffu, x1, 2));
        // the scale is positive; the product is rounded once and the same number is used everywhere
        x0 = fmaxf(m[mt][0], __fmul_rn(x0, kScaleLog2e));
        x1 = fmaxf(m[mt][1], __fmul_rn(x1, kScaleLog2e));

        const float alpha0 = attn_exp2(m[mt][0] - x0);
        const float alpha1 = attn_exp2(m[mt][1] - x1);
        m[mt][0] = x0;
        m[mt][1] = x1;

        float sum0 = 0.0f, sum1 = 0.0f;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          s[mt][n][0] = attn_exp2(fmaf(s[mt][n][0], kScaleLog2e, -x0));
          s[mt][n][1] = attn_exp2(fmaf(s[mt][n][1], kScaleLog2e, -x0));
          s[mt][n][2] = attn_exp2(fmaf(s[mt][n][2], kScaleLog2e, -x1));
          s[mt][n][3] = attn_exp2(fmaf(s[mt][n][3], kScaleLog2e, -x1));
          sum0 += s[mt][n][0] + s[mt][n][1];
          sum1 += s[mt][n][2] + s[mt][n][3];
        }
        l[mt][0] = fmaf(l[mt][0], alpha0, sum0);
        l[mt][1] = fmaf(l[mt][1], alpha1, sum1);
#pragma unroll
        for (int n = 0; n < 12; ++n) {
          o[mt][n][0] *= alpha0;
          o[mt][n][1] *= alpha0;
          o[mt][n][2] *= alpha1;
          o[mt][n][3] *= alpha1;
        }
      }

      // O += P V
      const uint32_t avc = av + cur;
#pragma unroll
      for (int kk = 0; kk < 2; ++kk) {
        uint32_t ph[2][4], pl[2][4];
#pragma unroll
        for (int mt = 0; mt < 2; ++mt) {
          attn_split2(s[mt][2 * kk][0], s[mt][2 * kk][1], ph[mt][0], pl[mt][0]);
          attn_split2(s[mt][2 * kk][2], s[mt][2 * kk][3], ph[mt][1], pl[mt][1]);
          attn_split2(s[mt][2 * kk + 1][0], s[mt][2 * kk + 1][1], ph[mt][2], pl[mt][2]);
          attn_split2(s[mt][2 * kk + 1][2], s[mt][2 * kk + 1][3], ph[mt][3], pl[mt][3]);
        }
#pragma unroll
        for (int dq = 0; dq < 3; ++dq) {
          uint32_t vhi[2][4], vlo[2][4];
#pragma unroll
          for (int d = 0; d < 2; ++d)
            attn_ldsm4t(vhi[d], avc + kk * 16 * kPitch + (2 * dq + d) * 32);
#pragma unroll
          for (int d = 0; d < 2; ++d)
            attn_ldsm4t(vlo[d], avc + kKTile + kk * 16 * kPitch + (2 * dq + d) * 32);
#pragma unroll
          for (int mt = 0; mt < 2; ++mt)
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                attn_mma(o[mt][2 * (2 * dq + d) + e], pl[mt], vhi[d][2 * e], vhi[d][2 * e + 1]);
#pragma unroll
          for (int mt = 0; mt < 2; ++mt)
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                attn_mma(o[mt][2 * (2 * dq + d) + e], ph[mt], vlo[d][2 * e], vlo[d][2 * e + 1]);
#pragma unroll
          for (int mt = 0; mt < 2; ++mt)
#pragma unroll
            for (int d = 0; d < 2; ++d)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                attn_mma(o[mt][2 * (2 * dq + d) + e], ph[mt], vhi[d][2 * e], vhi[d][2 * e + 1]);
        }
      }
    }

    if (more) {
#pragma unroll
      for (int j = 0; j < 6; ++j) {
        unsigned char *p = nxt + kOffV + (j / 3) * 16 * kPitch + (j % 3) * 64;
        attn_split_store(p, p + kKTile, pre[j]);
      }
    }
    __syncthreads(); // the next tile is there, and this one has been consumed
  }

  // The output goes through the warp's own 32 rows of the Q tile (no other warp reads them) and leaves as the split A
  // operand of the second product: lo | hi | (bias columns, kept) | hi.
  __syncwarp();
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
    float l0 = l[mt][0], l1 = l[mt][1];
    l0 += __shfl_xor_sync(0xffffffffu, l0, 1);
    l1 += __shfl_xor_sync(0xffffffffu, l1, 1);
    l0 += __shfl_xor_sync(0xffffffffu, l0, 2);
    l1 += __shfl_xor_sync(0xffffffffu, l1, 2);
    const float inv0 = 1.0f / l0;
    const float inv1 = 1.0f / l1;

    unsigned char *st = attn_smem + (32 * w + 16 * mt + (lane >> 2)) * kPitch + (lane & 3) * 4;
#pragma unroll
    for (int n = 0; n < 12; ++n) {
      uint32_t hi, lo;
      attn_split2(o[mt][n][0] * inv0, o[mt][n][1] * inv0, hi, lo);
      *reinterpret_cast<uint32_t *>(st + n * 16) = hi;
      *reinterpret_cast<uint32_t *>(st + kQTile + n * 16) = lo;
      attn_split2(o[mt][n][2] * inv1, o[mt][n][3] * inv1, hi, lo);
      *reinterpret_cast<uint32_t *>(st + 8 * kPitch + n * 16) = hi;
      *reinterpret_cast<uint32_t *>(st + kQTile + 8 * kPitch + n * 16) = lo;
    }
  }
  __syncwarp();

  __half *dst = ya + ((size_t)b * kSeq + r0) * kKP + h * kHeadDim;
#pragma unroll
  for (int j = 0; j < 12; ++j) { // 32 rows x 12 chunks of 16 bytes = 384 = 12 x 32
    const int i = lane + 32 * j;
    const int row = i / 12;
    const int c = i - row * 12;
    const unsigned char *p = attn_smem + (32 * w + row) * kPitch + c * 16;
    const uint4 hi = *reinterpret_cast<const uint4 *>(p);
    const uint4 lo = *reinterpret_cast<const uint4 *>(p + kQTile);
    __half *d = dst + (size_t)row * kKP + c * 8;
    *reinterpret_cast<uint4 *>(d) = lo;
    *reinterpret_cast<uint4 *>(d + 768) = hi;
    *reinterpret_cast<uint4 *>(d + 1600) = hi;
  }
}

at::Tensor MinGPTCausalAttention(
    const at::Tensor &x /* [128, 512, 768] */,
    const at::Tensor &c_attn_weight /* [2304, 768] */,
    const at::Tensor &c_attn_bias /* [2304] */,
    const at::Tensor &c_proj_weight /* [768, 768] */,
    const at::Tensor &c_proj_bias /* [768] */,
    const at::Tensor &bias /* [1, 1, 1024, 1024] */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto ho = x.options().dtype(at::kHalf);
  at::Tensor a = at::empty({65536, kKP}, ho);  // split x, later split y
  at::Tensor w1 = at::empty({2304, kKP}, ho);
  at::Tensor w2 = at::empty({768, kKP}, ho);
  __half *ap = reinterpret_cast<__half *>(a.data_ptr<at::Half>());
  __half *w1p = reinterpret_cast<__half *>(w1.data_ptr<at::Half>());
  __half *w2p = reinterpret_cast<__half *>(w2.data_ptr<at::Half>());

  split_rows<false><<<65536 * kChunks / 256, 256, 0, stream>>>(
      x.const_data_ptr<float>(), nullptr, ap, 65536, 1.0f);
  split_rows<true><<<768 * kChunks / 256, 256, 0, stream>>>(
      c_proj_weight.const_data_ptr<float>(), c_proj_bias.const_data_ptr<float>(), w2p, 768, 1.0f);
  split_rows<true><<<2304 * kChunks / 256, 256, 0, stream>>>(
      c_attn_weight.const_data_ptr<float>(), c_attn_bias.const_data_ptr<float>(), w1p, 2304, 256.0f);

  at::Tensor qkv = at::mm(a, w1.t(), at::kFloat); // [65536, 2304], 256 * (x w^T + b)
  cudaFuncSetAttribute(attn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kAttnSmem);
  attn_kernel<<<128 * 8 * (kSeq / kBlockQ), kAttnThreads, kAttnSmem, stream>>>(
      qkv.const_data_ptr<float>(), ap);
  return at::mm(a, w2.t(), at::kFloat).view({128, 512, 768}); // [128, 512, 768]
}
