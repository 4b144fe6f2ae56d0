// Model of 43_MinGPTCausalAttention.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kC = 768;        // row length of x, y and of the weights
static constexpr int kKP = 2368;      // concatenated K: lo | hi | hi | bias and padding (64)
      // concatenated K: lo | hi | bias and padding (64) | hi
static constexpr int kChunks = 96;    // chunks of 8 elements in a row
static constexpr int kSplitThreads = 256;

static __device__ __forceinline__ void split_pair(float a, float b, unsigned &hi, unsigned &lo) {
  __half ha = __float2half_rn(a);
  __half hb = __float2half_rn(b);
  __half la = __float2half_rn(a - __half2float(ha));
  __half lb = __float2half_rn(b - __half2float(hb));
  hi = (unsigned)__half_as_ushort(ha) | ((unsigned)__half_as_ushort(hb) << 16);
  lo = (unsigned)__half_as_ushort(la) | ((unsigned)__half_as_ushort(lb) << 16);
}

// Writes a row as fp16 high and low parts:
//   activations (kWeight false): lo | hi | 1, 1, 0, ... | hi
//   weights     (kWeight true):  hi | lo | hi(b), lo(b), 0, ... | hi
// The columns in order: three parts of kC, then the 64 of the bias:
//   activations: lo | hi | hi | 1, 1, 0, ...
//   weights:     hi | lo | hi | hi(b), lo(b), 0, ...
template <bool kWeight>
static __global__ void __launch_bounds__(256)
split_rows(const float *__restrict__ in, const float *__restrict__ b, __half *__restrict__ out,
           int rows, float scale) {
  int t = blockIdx.x * kSplitThreads + threadIdx.x;
  int row = t / kChunks;
  int ch = t - row * kChunks;
  if (row >= rows)
    return;
  const float4 *p = reinterpret_cast<const float4 *>(in + (long long)row * kC + ch * 8);
  float4 u = p[0];
  float4 w = p[1];
  uint4 hi, lo;
  split_pair(u.x * scale, u.y * scale, hi.x, lo.x);
  split_pair(u.z * scale, u.w * scale, hi.y, lo.y);
  split_pair(w.x * scale, w.y * scale, hi.z, lo.z);
  split_pair(w.z * scale, w.w * scale, hi.w, lo.w);
  __half *o = out + (long long)row * kKP + ch * 8;
  *reinterpret_cast<uint4 *>(o) = kWeight ? hi : lo;
  *reinterpret_cast<uint4 *>(o + kC) = kWeight ? lo : hi;
  *reinterpret_cast<uint4 *>(o + 2 * kC) = hi;
  if (ch < 8) {
    uint4 e = make_uint4(0u, 0u, 0u, 0u);
    if (ch == 0) {
      if (kWeight) {
        float v = b[row] * scale;
        __half h = __float2half_rn(v);
        __half l = __float2half_rn(v - __half2float(h));
        e.x = (unsigned)__half_as_ushort(h) | ((unsigned)__half_as_ushort(l) << 16);
      } else {
        e.x = 0x3c003c00u; // two fp16 ones
      }
    }
    *reinterpret_cast<uint4 *>(o + 3 * kC) = e;
  }
}

static constexpr int kLd = 104;                                  // halves in a shared row (13 * 16 bytes)
static constexpr int kRowB = kLd * 2;                            // bytes in a shared row
static constexpr int kQLo = 128 * kRowB;                         // from Qh to Ql
static constexpr int kStage0 = 2 * 128 * kRowB;                  // first stage: Kh | Kl | Vh | Vl, 32 rows each
static constexpr int kHiLo = 32 * kRowB;                         // from Kh to Kl, from Vh to Vl
static constexpr int kKtoV = 2 * kHiLo;                          // from Kh to Vh
static constexpr int kStageB = 4 * kHiLo;                        // bytes of a stage
static constexpr int kAttnSmem = kStage0 + 2 * kStageB;          // 106496 bytes
   // 106496 bytes
static constexpr int kQkvLd = 2304;                              // floats in a row of qkv

static __device__ __forceinline__ void split2(float a, float b, unsigned &hi, unsigned &lo) {
  __half2 h = __floats2half2_rn(a, b);
  __half2 l = __floats2half2_rn(a - __low2float(h), b - __high2float(h));
  hi = *reinterpret_cast<unsigned *>(&h);
  lo = *reinterpret_cast<unsigned *>(&l);
}

static __device__ __forceinline__ float ex2_approx(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

static __device__ __forceinline__ float4 load_f4(const float *p) {
  float4 r;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
               : "l"(p));
  return r;
}

static __device__ __forceinline__ void sts_u2(unsigned addr, unsigned x, unsigned y) {
  asm volatile("st.shared.v2.b32 [%0], {%1,%2};" : : "r"(addr), "r"(x), "r"(y) : "memory");
}

static __device__ __forceinline__ void ldsm4(unsigned (&r)[4], unsigned addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void ldsm4_trans(unsigned (&r)[4], unsigned addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                                unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 64 rows of 96 floats: 24 float4 a row, 12 a thread; 3 * 128 = 16 rows
// Here a tile is 32 rows of K and of V: 6 float4 of each a thread (0..5 K, 6..11 V)
static __device__ __forceinline__ void load_kv(const float *p, float4 (&r)[12]) {
#pragma unroll
  for (int i = 0; i < 12; ++i)
    r[i] = load_f4(p + (i >= 6 ? 768 : 0) + ((i % 6) / 3) * (16 * kQkvLd) + (i % 3) * 32);
}

static __device__ __forceinline__ void store_one(const float4 &v, unsigned hi, unsigned lo) {
  const float sc = 1.0f / 256.0f;
  unsigned h0, l0, h1, l1;
  split2(v.x * sc, v.y * sc, h0, l0);
  split2(v.z * sc, v.w * sc, h1, l1);
  sts_u2(hi, h0, h1);
  sts_u2(lo, l0, l1);
}

// number i of a K/V tile into the stage whose fill address is nf
static __device__ __forceinline__ void store_kv(const float4 (&r)[12], const int i, unsigned nf) {
  const unsigned a =
      nf + (unsigned)((i >= 6 ? kKtoV : 0) + ((i % 6) / 3) * (16 * kRowB) + (i % 3) * 64);
  store_one(r[i], a, a + (unsigned)kHiLo);
}

// Causal attention of one head and 128 query rows; qkv holds 256 times the true values.
// Writes y as fp16 high and low parts into the rows of out: lo | hi | (untouched 64) | hi.
// bias is that of qkv (not scaled): q's is added here, k's does not matter to the softmax, v's is added to y.
// The columns of out: lo | hi | hi | (untouched 64).
static __global__ void __launch_bounds__(128, 2)
attn_split(const float *__restrict__ qkv, const float *__restrict__ bias, __half *__restrict__ out) {
  extern __shared__ __align__(16) unsigned char attn_smem[];
  __half *Qh = reinterpret_cast<__half *>(attn_smem);
  __half *Ql = Qh + 128 * kLd;
  const unsigned smem = (unsigned)__cvta_generic_to_shared(attn_smem);

  const int t = 3 - (int)(blockIdx.x & 3);
  const int head = (int)(blockIdx.x >> 2);
  const int b = head >> 3;
  const int h = head & 7;
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int wr = (tid >> 5) ^ ((head & 1) * 3);
  const int q0 = t * 128;
  const int r0 = q0 + 32 * wr;
  const float *base = qkv + (long long)b * 512 * kQkvLd + h * 96;

  // fill mapping: 8 threads a row and 128 bytes, 16 rows at a time
  const int t8 = tid >> 3;
  const int fcol = tid & 7;
  const int frow = ((t8 & 1) << 2) | ((t8 >> 1) & 3) | (t8 & 8);
  const float *kvsrc = base + 768 + frow * kQkvLd + fcol * 4;
  const unsigned fill = smem + (unsigned)(kStage0 + frow * kRowB + fcol * 8);

  float4 pre[12];
  load_kv(kvsrc, pre);

  // Q with its bias
  {
    const float *qsrc = base + (q0 + frow) * kQkvLd + fcol * 4;
    const unsigned qfill = smem + (unsigned)(frow * kRowB + fcol * 8);
    const float qs = 1.0f / 256.0f;
    float4 bq[3];
#pragma unroll
    for (int c = 0; c < 3; ++c)
      bq[c] = load_f4(bias + h * 96 + fcol * 4 + 32 * c);
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      float4 qr[12];
#pragma unroll
      for (int i = 0; i < 12; ++i)
        qr[i] = load_f4(qsrc + (4 * g + i / 3) * (16 * kQkvLd) + (i % 3) * 32);
#pragma unroll
      for (int i = 0; i < 12; ++i) {
        unsigned h0, l0, h1, l1;
        split2(fmaf(qr[i].x, qs, bq[i % 3].x), fmaf(qr[i].y, qs, bq[i % 3].y), h0, l0);
        split2(fmaf(qr[i].z, qs, bq[i % 3].z), fmaf(qr[i].w, qs, bq[i % 3].w), h1, l1);
        const unsigned a = qfill + (unsigned)((4 * g + i / 3) * (16 * kRowB) + (i % 3) * 64);
        sts_u2(a, h0, h1);
        sts_u2(a + (unsigned)kQLo, l0, l1);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 12; ++i)
    store_kv(pre, i, fill);

  const unsigned qAddr = smem + (unsigned)((32 * wr + (lane & 15)) * kRowB + (lane >> 4) * 16);
  const unsigned kAddr = smem + (unsigned)(kStage0 + ((lane & 7) + ((lane >> 4) << 3)) * kRowB +
                                           ((lane >> 3) & 1) * 16);
  const unsigned vAddr =
      smem + (unsigned)(kStage0 + kKtoV + (lane & 15) * kRowB + (lane >> 4) * 16);

  const float kNegInf = __int_as_float(0xff800000);
  const float sc = (float)(0.10206207261596577 * 1.4426950408889634);

  float o[2][12][4];
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int n = 0; n < 12; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        o[m][n][e] = 0.0f;
  float ms[4], l[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    ms[r] = kNegInf;
    l[r] = 0.0f;
  }

  const int last = 4 * t + 3;
  const int jd = 4 * t + wr; // the warp's diagonal tile

  __syncthreads();

#pragma unroll 1
  for (int j = 0; j <= last; ++j) {
    // the next tile: issued here, used in PV
    if (j < last) {
      kvsrc += 32 * kQkvLd;
      load_kv(kvsrc, pre);
    }
    const unsigned cur = (unsigned)(j & 1) * (unsigned)kStageB;
    const unsigned nf = fill + ((unsigned)kStageB - cur);

    if (j <= jd) {
      const unsigned kc = kAddr + cur;
      const unsigned vc = vAddr + cur;
      unsigned fh[2][4], fl[2][4];

      // S = Q K^T
      float s[2][4][4];
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            s[m][n][e] = 0.0f;

      {
        unsigned ah[2][4], al[2][4];
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          ldsm4(ah[m], qAddr + (unsigned)(m * 16 * kRowB));
          ldsm4(fl[m], kc + (unsigned)(kHiLo + m * 16 * kRowB));
        }
#pragma unroll
        for (int ks = 0; ks < 6; ++ks) {
#pragma unroll
          for (int m = 0; m < 2; ++m)
            ldsm4(fh[m], kc + (unsigned)(m * 16 * kRowB + ks * 32));
#pragma unroll
          for (int m = 0; m < 2; ++m)
            ldsm4(al[m], qAddr + (unsigned)(kQLo + m * 16 * kRowB + ks * 32));

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(s[m][2 * np + n], ah[m], fl[np][2 * n], fl[np][2 * n + 1]);

          if (ks < 5) {
#pragma unroll
            for (int m = 0; m < 2; ++m)
              ldsm4(fl[m], kc + (unsigned)(kHiLo + m * 16 * kRowB + (ks + 1) * 32));
          }

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(s[m][2 * np + n], ah[m], fh[np][2 * n], fh[np][2 * n + 1]);

          if (ks < 5) {
#pragma unroll
            for (int m = 0; m < 2; ++m)
              ldsm4(ah[m], qAddr + (unsigned)(m * 16 * kRowB + (ks + 1) * 32));
          }

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(s[m][2 * np + n], al[m], fh[np][2 * n], fh[np][2 * n + 1]);
        }
      }

      // the first fragments of V arrive during the softmax
#pragma unroll
      for (int u = 0; u < 2; ++u)
        ldsm4_trans(fl[u], vc + (unsigned)(kHiLo + u * 32));

      // causal mask
      if (j == jd) {
        const int rowb = lane >> 2;
        const int keyb = 2 * (lane & 3);
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int n = 0; n < 4; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              if (keyb + 8 * n + (e & 1) > rowb + 16 * m + 8 * (e >> 1))
                s[m][n][e] = kNegInf;
      }

      // online softmax, base 2
      float corr[4];
      bool changed = false;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int m = r >> 1;
        const int e0 = (r & 1) * 2;
        float mx = fmaxf(s[m][0][e0], s[m][0][e0 + 1]);
#pragma unroll
        for (int n = 1; n < 4; ++n)
          mx = fmaxf(mx, fmaxf(s[m][n][e0], s[m][n][e0 + 1]));
        mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 1));
        mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 2));
        float mn = fmaxf(ms[r], mx * sc);
        changed = changed || (mn > ms[r]);
        corr[r] = ex2_approx(ms[r] - mn);
        ms[r] = mn;
      }
      if (__any_sync(0xffffffffu, changed)) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int m = r >> 1;
          const int e0 = (r & 1) * 2;
          l[r] *= corr[r];
#pragma unroll
          for (int n = 0; n < 12; ++n) {
            o[m][n][e0] *= corr[r];
            o[m][n][e0 + 1] *= corr[r];
          }
        }
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int m = r >> 1;
        const int e0 = (r & 1) * 2;
        const float neg = -ms[r];
        float sum0 = 0.0f, sum1 = 0.0f;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          float p0 = ex2_approx(fmaf(s[m][n][e0], sc, neg));
          float p1 = ex2_approx(fmaf(s[m][n][e0 + 1], sc, neg));
          s[m][n][e0] = p0;
          s[m][n][e0 + 1] = p1;
          sum0 += p0;
          sum1 += p1;
        }
        l[r] += sum0 + sum1;
      }

      // O += P V; the next tile is split and stored in between (in the last iteration stale
      // values go to a stage that nobody reads any more)
#pragma unroll
      for (int kk = 0; kk < 2; ++kk) {
        unsigned ph[2][4], pl[2][4];
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          split2(s[m][2 * kk][0], s[m][2 * kk][1], ph[m][0], pl[m][0]);
          split2(s[m][2 * kk][2], s[m][2 * kk][3], ph[m][1], pl[m][1]);
          split2(s[m][2 * kk + 1][0], s[m][2 * kk + 1][1], ph[m][2], pl[m][2]);
          split2(s[m][2 * kk + 1][2], s[m][2 * kk + 1][3], ph[m][3], pl[m][3]);
        }
#pragma unroll
        for (int g = 0; g < 3; ++g) {
          const int step = 3 * kk + g;
#pragma unroll
          for (int u = 0; u < 2; ++u)
            ldsm4_trans(fh[u], vc + (unsigned)(kk * 16 * kRowB + (2 * g + u) * 32));

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int u = 0; u < 2; ++u)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(o[m][4 * g + 2 * u + n], ph[m], fl[u][2 * n], fl[u][2 * n + 1]);

          if (step < 5) {
#pragma unroll
            for (int u = 0; u < 2; ++u)
              ldsm4_trans(fl[u], vc + (unsigned)(kHiLo + ((step + 1) / 3) * 16 * kRowB +
                                                 (2 * ((step + 1) % 3) + u) * 32));
          }
          store_kv(pre, 2 * step, nf);

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int u = 0; u < 2; ++u)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(o[m][4 * g + 2 * u + n], pl[m], fh[u][2 * n], fh[u][2 * n + 1]);

          store_kv(pre, 2 * step + 1, nf);

#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int u = 0; u < 2; ++u)
#pragma unroll
              for (int n = 0; n < 2; ++n)
                mma16816(o[m][4 * g + 2 * u + n], ph[m], fh[u][2 * n], fh[u][2 * n + 1]);
        }
      }
    } else if (j < last) {
#pragma unroll
      for (int i = 0; i < 12; ++i)
        store_kv(pre, i, nf);
    }
    __syncthreads();
  }

  // epilogue: y = o / l + b_v, split, staged in the warp's own rows of Qh and Ql
  __syncwarp();
  float inv[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float sum = l[r];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    inv[r] = 1.0f / sum;
  }
  const float *bvp = bias + 1536 + h * 96 + 2 * (lane & 3);
  const int off0 = (32 * wr + (lane >> 2)) * kLd + 2 * (lane & 3);
#pragma unroll
  for (int n = 0; n < 12; ++n) {
    const float2 bv = *reinterpret_cast<const float2 *>(bvp + 8 * n);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int m = r >> 1;
      const int e0 = (r & 1) * 2;
      const int off = off0 + (16 * m + 8 * (r & 1)) * kLd + 8 * n;
      unsigned hi, lo;
      split2(fmaf(o[m][n][e0], inv[r], bv.x), fmaf(o[m][n][e0 + 1], inv[r], bv.y), hi, lo);
      *reinterpret_cast<unsigned *>(Qh + off) = hi;
      *reinterpret_cast<unsigned *>(Ql + off) = lo;
    }
  }
  __syncwarp();
  __half *ob = out + ((long long)b * 512 + r0) * kKP + h * 96;
#pragma unroll 4
  for (int i = 0; i < 12; ++i) {
    int idx = lane + 32 * i;
    int row = idx / 12;
    int ch = idx - row * 12;
    int off = (32 * wr + row) * kLd + ch * 8;
    uint4 hi = *reinterpret_cast<const uint4 *>(Qh + off);
    uint4 lo = *reinterpret_cast<const uint4 *>(Ql + off);
    __half *op = ob + row * kKP + ch * 8;
    *reinterpret_cast<uint4 *>(op) = lo;
    *reinterpret_cast<uint4 *>(op + kC) = hi;
    *reinterpret_cast<uint4 *>(op + 2 * kC) = hi;
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
  at::Tensor a = at::empty({65536, 2368}, ho);  // the split x, later the split y
  at::Tensor w1 = at::empty({2304, 2368}, ho);
  at::Tensor w2 = at::empty({768, 2368}, ho);
  __half *ap = reinterpret_cast<__half *>(a.data_ptr<at::Half>());
  __half *w1p = reinterpret_cast<__half *>(w1.data_ptr<at::Half>());
  __half *w2p = reinterpret_cast<__half *>(w2.data_ptr<at::Half>());

  split_rows<true><<<2304 * 96 / 256, 256, 0, stream>>>(
      c_attn_weight.const_data_ptr<float>(), c_attn_bias.const_data_ptr<float>(), w1p, 2304, 256.0f);
  split_rows<true><<<768 * 96 / 256, 256, 0, stream>>>(
      c_proj_weight.const_data_ptr<float>(), c_proj_bias.const_data_ptr<float>(), w2p, 768, 1.0f);
  split_rows<false><<<65536 * 96 / 256, 256, 0, stream>>>(
      x.const_data_ptr<float>(), nullptr, ap, 65536, 1.0f);

  // [65536, 2304]: 256 * x w^T, fp32, without the bias (the attention kernel applies it); the
  // operands are views with a row pitch of 2368
  at::Tensor qkv = at::mm(a.narrow(1, 0, 2304), w1.narrow(1, 0, 2304).t(), at::kFloat);

  // attention; y goes, split, into the columns 0..2303 of a (the other 64 are the same for x and y)
  cudaFuncSetAttribute(attn_split, cudaFuncAttributeMaxDynamicSharedMemorySize, kAttnSmem);
  attn_split<<<4096, 128, kAttnSmem, stream>>>(qkv.const_data_ptr<float>(),
                                               c_attn_bias.const_data_ptr<float>(), ap);

  return at::mm(a, w2.t(), at::kFloat).view({128, 512, 768});
}
