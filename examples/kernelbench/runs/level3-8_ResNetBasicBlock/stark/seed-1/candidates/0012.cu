// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

namespace {

constexpr int kImg = 224;
constexpr int kHW = 224 * 224;
constexpr int kTiles = 1960;
constexpr double kN = 501760.0;

// layout of the double statistics
constexpr int kGramStride = 28;            // 27 patch elements and the constant 1
            // 45 packed second moments + 9 sums
constexpr int kGramPitch = 236;            // floats per row of the band in shared memory
  // 162
constexpr int kSum2 = 800;
constexpr int kSq2 = 864;
constexpr int kStats = 928;

// layout of par
constexpr int kParDs = 64;
constexpr int kParDelta = 320;
constexpr int kParSize = 384;

// shared memory of the convolution
constexpr int kW2Bytes = 98304;
constexpr int kHaloBytes = 43520;
constexpr int kPatchBytes = 5184;
constexpr int kHaloOff = kW2Bytes;
constexpr int kW1Off = kHaloOff + 2 * kHaloBytes;
constexpr int kShiftOff = kW1Off + 4096;
constexpr int kKoffOff = kShiftOff + 256;
constexpr int kPatchOff = kKoffOff + 128;
constexpr int kConvSmem = kPatchOff + 2 * kPatchBytes + 128;

struct PrepArgs {
  const float *w1;
  const float *g1;
  const float *b1;
  const float *w2;
  const float *wd;
  const float *gd;
  const float *bd;
  float *rm1;
  float *rv1;
  float *rmd;
  float *rvd;
  int64_t *nb1;
  int64_t *nb2;
  int64_t *nbd;
  const double *stats;
  __half *w2h;
  __half *w1h;
  float *par;
};

}  // namespace

static __device__ __forceinline__ void cp_async4(uint32_t dst, const float *src, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dst), "l"(src), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

static __device__ __forceinline__ void ldsm4(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr));
}

static __device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ uint32_t pack_half2_relu(float lo, float hi) {
  uint32_t d;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}

// One step of a transposing butterfly: afterwards the lanes with the mask's bit own the upper half.
template <int kHalf, int kMask, int kNum>
static __device__ __forceinline__ void fold_step(float (&v)[kNum], int lane) {
  const bool up = (lane & kMask) != 0;
#pragma unroll
  for (int k = 0; k < kHalf; ++k) {
    const float send = up ? v[k] : v[k + kHalf];
    const float keep = up ? v[k + kHalf] : v[k];
    v[k] = keep + __shfl_xor_sync(0xffffffffu, send, kMask);
  }
}

// ---------------------------------------------------------------------------------------------
// 1. second moments of the 3x3x3 patches
// ---------------------------------------------------------------------------------------------

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(bytes)
               : "memory");
}

// f = h + l, both as fp16
static __device__ __forceinline__ void split_half2(float f0, float f1, uint32_t &h, uint32_t &l) {
  const __half2 hh = __floats2half2_rn(f0, f1);
  const float2 g = __half22float2(hh);
  const __half2 ll = __floats2half2_rn(f0 - g.x, f1 - g.y);
  h = *reinterpret_cast<const uint32_t *>(&hh);
  l = *reinterpret_cast<const uint32_t *>(&ll);
}

static __global__ void __launch_bounds__(256, 2)
gram_kernel(const float *__restrict__ x, double *__restrict__ stats, const float *__restrict__ w2,
            const float *__restrict__ g1, const float *__restrict__ b1, __half *__restrict__ w2h,
            float *__restrict__ par, int64_t *nb1, int64_t *nb2, int64_t *nbd) {
  __shared__ __align__(16) float buf[3 * 11 * kGramPitch];
  __shared__ float HH[32 * 33];
  __shared__ float HL[32 * 33];
  __shared__ float ea[64];
  __shared__ float redw[8];
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int gq = lane >> 2, q = lane & 3;
  const int y0 = 9 * (int)blockIdx.x, n = blockIdx.y;
  const int bid = (int)blockIdx.y * 25 + (int)blockIdx.x;
  const int rows = min(9, kImg - y0);
  const uint32_t bufs = (uint32_t)__cvta_generic_to_shared(buf);

  // image row y0 - 1 + r of channel ci, image column xx at column xx + 4
#pragma unroll 4
  for (int i = tid; i < 33 * 56; i += 256) {
    const int rr = i / 56;
    const int ch = i - rr * 56;
    const int ci = rr / 11;
    const int r = rr - ci * 11;
    const int yy = y0 - 1 + r;
    const bool in = (unsigned)yy < (unsigned)kImg;
    const float *src = in ? x + ((n * 3 + ci) * kImg + yy) * kImg + ch * 4 : x;
    cp_async16(bufs + (uint32_t)(rr * kGramPitch + 4 + ch * 4) * 4u, src, in ? 16 : 0);
  }
  if (tid < 66)
    buf[(tid >> 1) * kGramPitch + ((tid & 1) ? 228 : 3)] = 0.f;

  if (bid < 64) {
    // Winograd packing of conv2's weights of channel c, behind the loads
    const int c = bid;
    float wg0 = 0.f, wg1 = 0.f, wg2 = 0.f;
    if (tid < 192) {
      const float *ws = w2 + c * 576 + 3 * tid;
      wg0 = __ldg(ws);
      wg1 = __ldg(ws + 1);
      wg2 = __ldg(ws + 2);
    }
    if (tid < 64) {
      // expected activation after ReLU, taking the normalised value as Gaussian
      const float mu = b1[tid], sg = fabsf(g1[tid]);
      float e = fmaxf(mu, 0.f);
      if (sg > 1e-20f) {
        const float z = mu / sg;
        e = sg * 0.3989422804f * expf(-0.5f * z * z) + mu * normcdff(z);
      }
      ea[tid] = e;
    }
    __syncthreads();
    float delta = 0.f;
    if (tid < 192) {
      const int ci = tid / 3, dy = tid - ci * 3;
      const float hs = 0.5f * (wg0 + wg2), hg = 0.5f * wg1;
      const float u1 = hs + hg, u2 = hs - hg;
      const __half h1 = __float2half_rn(u1);
      // only the sum d1 + d2 has a mean
      delta = 2.f * (u1 - __half2float(h1)) * ea[ci];
      __half *o = w2h + dy * 2 * 4096 + c * 64 + (((ci >> 3) ^ (c & 7)) << 3) + (ci & 7);
      o[0] = h1;                             // plane 2 dy:     P
      o[4096] = __float2half_rn(u2);         // plane 2 dy + 1: Q
      o[6 * 4096] = __float2half_rn(wg0);    // plane 6 + 2 dy: y0
      o[7 * 4096] = __float2half_rn(wg2);    // plane 7 + 2 dy: y1
    }
#pragma unroll
    for (int m = 16; m > 0; m >>= 1)
      delta += __shfl_xor_sync(0xffffffffu, delta, m);
    if (lane == 0)
      redw[warp] = delta;
  } else if (bid == 64 && tid == 0) {
    nb1[0] += 1;
    nb2[0] += 1;
    nbd[0] += 1;
  }

  cp_async_wait_all();
  __syncthreads();
  if (bid < 64 && tid == 0) {
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k)
      s += redw[k];
    par[kParDelta + bid] = s;
  }

  float acc[14][4];
#pragma unroll
  for (int t = 0; t < 14; ++t)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      acc[t][k] = 0.f;

  int off[4];
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    const int e = gq + 8 * m;
    off[m] = 3 + 2 * q +
             (e < 27 ? (e / 9) * (11 * kGramPitch) + ((e % 9) / 3) * kGramPitch + e % 3 : 0);
  }
  const bool constant = gq >= 3;             // of m == 3: element 27 is 1, 28..31 are 0
  const float cval = gq == 3 ? 1.f : 0.f;

  const int steps = rows * 14;
  int row = 0, col = warp;
#pragma unroll 2
  for (int s = warp; s < steps; s += 8) {
    const float *b = buf + row * kGramPitch + col * 16;
    col += 8;
    if (col >= 14) {
      col -= 14;
      ++row;
    }
    uint32_t h[4][2], l[4][2];
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const float *bm = b + off[m];
      float f0 = bm[0], f1 = bm[1], f2 = bm[8], f3 = bm[9];
      if (m == 3) {
        f0 = constant ? cval : f0;
        f1 = constant ? cval : f1;
        f2 = constant ? cval : f2;
        f3 = constant ? cval : f3;
      }
      split_half2(f0, f1, h[m][0], l[m][0]);
      split_half2(f2, f3, h[m][1], l[m][1]);
    }
    const uint32_t a0[4] = {h[0][0], h[1][0], h[0][1], h[1][1]};
    const uint32_t a1[4] = {h[2][0], h[3][0], h[2][1], h[3][1]};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      mma16816(acc[j], a0, h[j][0], h[j][1]);
    mma16816(acc[4], a1, h[2][0], h[2][1]);
    mma16816(acc[5], a1, h[3][0], h[3][1]);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      mma16816(acc[6 + j], a0, l[j][0], l[j][1]);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      mma16816(acc[10 + j], a1, l[j][0], l[j][1]);
  }
  __syncthreads();

#pragma unroll
  for (int rd = 0; rd < 2; ++rd) {
#pragma unroll
    for (int tt = 0; tt < 7; ++tt)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        buf[warp * 896 + (tt * 4 + e) * 32 + lane] = acc[rd * 7 + tt][e];
    __syncthreads();
    for (int v = tid; v < 896; v += 256) {
      float s = 0.f;
#pragma unroll
      for (int k = 0; k < 8; ++k)
        s += buf[k * 896 + v];
      const int t = rd * 7 + (v >> 7), e = (v >> 5) & 3, ln = v & 31;
      const int rr = (ln >> 2) + 8 * (e >> 1), cc = 2 * (ln & 3) + (e & 1);
      if (t < 6) {
        const int bi = t >= 4 ? 1 : 0, bj = t < 4 ? t : t - 2;
        HH[(16 * bi + rr) * 33 + 8 * bj + cc] = s;
      } else {
        const int bi = (t - 6) >> 2, bj = (t - 6) & 3;
        HL[(16 * bi + rr) * 33 + 8 * bj + cc] = s;
      }
    }
    __syncthreads();
  }

  for (int i = tid; i < 784; i += 256) {
    const int a = i / kGramStride;
    const int b = i - a * kGramStride;
    if (a <= b && a < 27)
      atomicAdd(stats + i,
                (double)HH[a * 33 + b] + (double)HL[a * 33 + b] + (double)HL[b * 33 + a]);
  }
}

// ---------------------------------------------------------------------------------------------
// 2. statistics of the first and the downsampling convolution, packed weights
// ---------------------------------------------------------------------------------------------

namespace {

struct FoldArgs {
  const float *w1;
  const float *g1;
  const float *b1;
  const float *wd;
  const float *gd;
  const float *bd;
  float *rm1;
  float *rv1;
  float *rmd;
  float *rvd;
};

}  // namespace

static __device__ __forceinline__ double quad_sum(double v) {
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __shfl_xor_sync(0xffffffffu, v, 2);
  return v;
}

// Folds BN1 into conv1: weight fragments and shifts into shared memory. Called by all 256 threads of
// a block; the halo area is its scratch. The last block also writes the running statistics and the
// folded downsampling convolution.
static __device__ __forceinline__ void fold_bn1(unsigned char *smem, const FoldArgs &p,
                                                const double *stats, float *par, int tid) {
  constexpr double kInvN = 1.0 / kN;
  double *C = reinterpret_cast<double *>(smem + kHaloOff);           // [27][28], column 27: means
  double *wd1 = reinterpret_cast<double *>(smem + kHaloOff + 6144);  // [64][28], column 27: zero
  const int c = tid >> 2, part = tid & 3;
  const double g = (double)__ldg(p.g1 + c);
  const double bias = (double)__ldg(p.b1 + c);

#pragma unroll
  for (int it = 0; it < 7; ++it) {
    const int i = tid + it * 256;
    const int ch = i / 28;
    const int k = i - ch * 28;
    wd1[i] = k < 27 ? (double)__ldg(p.w1 + ch * 27 + k) : 0.0;
  }
#pragma unroll
  for (int it = 0; it < 3; ++it) {
    const int i = tid + it * 256;
    if (i < 27 * kGramStride) {
      const int a = i / kGramStride;
      const int b = i - a * kGramStride;
      const int lo = min(a, b), hi = max(a, b);
      const double ma = stats[a * kGramStride + 27] * kInvN;
      const double mb = stats[min(b, 26) * kGramStride + 27] * kInvN;
      const double ab = stats[lo * kGramStride + hi] * kInvN;
      C[i] = b == 27 ? ma : ab - ma * mb;
    }
  }
  __syncthreads();

  double wa[7], r[7];
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    const int a = part + 4 * i;
    wa[i] = wd1[c * 28 + a];  // 0 for a == 27
    r[i] = 0.0;
  }
  {
    const double2 *wrow = reinterpret_cast<const double2 *>(wd1 + c * 28);
    const double2 *C2 = reinterpret_cast<const double2 *>(C);
#pragma unroll 2
    for (int b2 = 0; b2 < 14; ++b2) {
      const double2 wb = wrow[b2];
#pragma unroll
      for (int i = 0; i < 7; ++i) {
        const int a = min(part + 4 * i, 26);
        const double2 cv = C2[a * 14 + b2];
        r[i] = fma(cv.x, wb.x, r[i]);
        r[i] = fma(cv.y, wb.y, r[i]);
      }
    }
  }
  double var = 0.0, mean = 0.0;
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    const int a = min(part + 4 * i, 26);
    var = fma(wa[i], r[i], var);
    mean = fma(wa[i], C[a * 28 + 27], mean);
  }
  var = quad_sum(var);
  mean = quad_sum(mean);
  if (var < 0.0)
    var = 0.0;
  const double scale = g / sqrt(var + 1e-5);

  __half *frag = reinterpret_cast<__half *>(smem + kW1Off);
  double corr = 0.0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = part + 4 * i;
    __half h = __float2half_rn(0.f);
    if (i < 7) {
      const int ii = i < 7 ? i : 6;
      const double wp = wa[ii] * scale;  // 0 for k == 27
      h = __float2half_rn((float)wp);
      corr = fma(wp - (double)__half2float(h), C[min(k, 26) * 28 + 27], corr);
    }
    const int ks = k >> 4, kr = k & 15, reg = kr >> 3, qk = (kr & 7) >> 1, e = kr & 1;
    frag[(((ks * 8 + (c >> 3)) * 32 + ((c & 7) * 4 + qk)) * 2 + reg) * 2 + e] = h;
  }
  corr = quad_sum(corr);
  if (part == 0)
    reinterpret_cast<float *>(smem + kShiftOff)[c] = (float)(bias - mean * scale + corr);

  // the last block has the fewest tiles
  if (blockIdx.x == gridDim.x - 1) {
    if (part == 0) {
      p.rm1[c] = (float)(0.9 * (double)p.rm1[c] + 0.1 * mean);
      p.rv1[c] = (float)(0.9 * (double)p.rv1[c] + 0.1 * (var * (kN / (kN - 1.0))));
    } else if (part == 1) {
      const double d0 = p.wd[c * 3], d1 = p.wd[c * 3 + 1], d2 = p.wd[c * 3 + 2];
      const double md = d0 * C[4 * 28 + 27] + d1 * C[13 * 28 + 27] + d2 * C[22 * 28 + 27];
      double vd = d0 * d0 * C[4 * 28 + 4] + d1 * d1 * C[13 * 28 + 13] + d2 * d2 * C[22 * 28 + 22] +
                  2.0 * (d0 * d1 * C[4 * 28 + 13] + d0 * d2 * C[4 * 28 + 22] +
                         d1 * d2 * C[13 * 28 + 22]);
      if (vd < 0.0)
        vd = 0.0;
      const double sd = (double)p.gd[c] / sqrt(vd + 1e-5);
      float *o = par + kParDs + c * 4;
      o[0] = (float)(d0 * sd);
      o[1] = (float)(d1 * sd);
      o[2] = (float)(d2 * sd);
      o[3] = (float)((double)p.bd[c] - md * sd);
      p.rmd[c] = (float)(0.9 * (double)p.rmd[c] + 0.1 * md);
      p.rvd[c] = (float)(0.9 * (double)p.rvd[c] + 0.1 * (vd * (kN / (kN - 1.0))));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// 3. conv1 + BN1 + ReLU into shared memory, conv2, its statistics
// ---------------------------------------------------------------------------------------------

static __device__ __forceinline__ int halo_f(int hc) {
  return ((hc >> 2) ^ ((hc & 3) << 1)) & 7;
}

static __device__ __forceinline__ void group_barrier(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

static __device__ __forceinline__ void issue_patch(const float *__restrict__ x, uint32_t patch_s,
                                                   int t, int gt) {
  const int n = t / 196;
  const int rest = t - n * 196;
  const int ty = rest / 7;
  const int tx = rest - ty * 7;
  const int y0 = ty * 8 - 2, x0 = tx * 32 - 2;
  const float *xn = x + n * 3 * kHW;
#pragma unroll 2
  for (int i = gt; i < 1296; i += 128) {
    const int ci = i / 432;
    const int rem = i - ci * 432;
    const int r = rem / 36;
    const int cc = rem - r * 36;
    const int yy = y0 + r, xx = x0 + cc;
    const bool in = (unsigned)yy < (unsigned)kImg && (unsigned)xx < (unsigned)kImg;
    const float *src = in ? xn + ci * kHW + yy * kImg + xx : x;
    cp_async4(patch_s + (uint32_t)i * 4u, src, in ? 4 : 0);
  }
}

static __device__ __forceinline__ void load_b(uint32_t (&fb)[4][4], uint32_t p) {
  ldsm4(fb[0], p);
  ldsm4(fb[1], p + 2048u);
  ldsm4(fb[2], p + 4096u);
  ldsm4(fb[3], p + 6144u);
}

static __device__ __forceinline__ uint32_t hadd2u(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

static __device__ __forceinline__ uint32_t hsub2u(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

// halo column 4 i + c (c = 0..5), k-step kk: aL serves c < 4, aH serves c = 4, 5
static __device__ __forceinline__ uint32_t col_addr(uint32_t aL, uint32_t aH, int c, int kk) {
  return ((c < 4 ? aL : aH) ^ (uint32_t)(((c & 3) ^ kk) << 5)) + (uint32_t)(c * 128);
}

// 16 mma's: E and O tile, 64 channels, one of the two accumulator sets. Meanwhile the B fragments of
// the next half-step come from pn.
static __device__ __forceinline__ void mma_half(float (&e)[8][4], float (&o)[8][4],
                                                const uint32_t (&fe)[4], const uint32_t (&fo)[4],
                                                const uint32_t (&fb)[4][4],
                                                uint32_t (&fbn)[4][4], uint32_t pn) {
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) {
    ldsm4(fbn[jp], pn + (uint32_t)(jp * 2048));
    mma16816(e[2 * jp], fe, fb[jp][0], fb[jp][1]);
    mma16816(o[2 * jp], fo, fb[jp][0], fb[jp][1]);
    mma16816(e[2 * jp + 1], fe, fb[jp][2], fb[jp][3]);
    mma16816(o[2 * jp + 1], fo, fb[jp][2], fb[jp][3]);
  }
}

static __global__ void __launch_bounds__(256, 1)
conv_kernel(const float *__restrict__ x, const __half *__restrict__ w2h, const FoldArgs fold,
            float *__restrict__ par, __half *__restrict__ y, double *__restrict__ stats) {
  extern __shared__ __align__(128) unsigned char smem_raw[];
  const uint32_t raw = (uint32_t)__cvta_generic_to_shared(smem_raw);
  const uint32_t pad = (128u - (raw & 127u)) & 127u;
  unsigned char *smem = smem_raw + pad;
  const uint32_t sbase = raw + pad;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int w = (tid >> 5) & 3;
  const int group = tid >> 7;
  const int gt = tid & 127;
  const int gq = lane >> 2, q = lane & 3;

  const uint32_t patch_s = sbase + kPatchOff + group * kPatchBytes;
  const float *patch = reinterpret_cast<const float *>(smem + kPatchOff + group * kPatchBytes);
  unsigned char *halo = smem + kHaloOff + group * kHaloBytes;

  const int stride = 2 * gridDim.x;
  int t = blockIdx.x + gridDim.x * group;
  if (t < kTiles)
    issue_patch(x, patch_s, t, gt);

  {
    const uint4 *src = reinterpret_cast<const uint4 *>(w2h);
#pragma unroll 6
    for (int i = tid; i < kW2Bytes / 16; i += 256)
      cp_async16(sbase + (uint32_t)i * 16u, src + i, 16);
    if (tid < 32) {
      // entry [q][ks*4 + s]: k = 16 ks + 2 q + {0, 1, 8, 9}[s]
      const int qq = tid >> 3, ks = (tid >> 2) & 1, s = tid & 3;
      const int k = ks * 16 + 2 * qq + (s & 1) + (s >> 1) * 8;
      const int off = k < 27 ? (k / 9) * 432 + ((k % 9) / 3) * 36 + k % 3 : 0;
      reinterpret_cast<int *>(smem + kKoffOff)[tid] = off;
    }
    fold_bn1(smem, fold, stats, par, tid);
  }
  cp_async_wait_all();
  __syncthreads();

  float run0 = 0.f, run1 = 0.f, run2 = 0.f, run3 = 0.f;

#pragma unroll 1
  for (; t < kTiles; t += stride) {
    const int n = t / 196;
    const int rest = t - n * 196;
    const int ty = rest / 7;
    const int tx = rest - ty * 7;
    const int y0 = ty * 8, x0 = tx * 32;

    cp_async_wait_all();
    group_barrier(group);

    // ---- phase A: conv1 + BN1 + ReLU of the 10x34 halo pixels
    {
      uint2 wb[16];
      const uint2 *w1s = reinterpret_cast<const uint2 *>(smem + kW1Off) + lane;
#pragma unroll
      for (int s = 0; s < 16; ++s)
        wb[s] = w1s[s * 32];
      float2 sh[8];
      const float2 *shs = reinterpret_cast<const float2 *>(smem + kShiftOff) + q;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        sh[j] = shs[j * 4];
      const int4 koA = reinterpret_cast<const int4 *>(smem + kKoffOff)[q * 2];
      const int4 koB = reinterpret_cast<const int4 *>(smem + kKoffOff)[q * 2 + 1];

#pragma unroll 1
      for (int mt = w; mt < 22; mt += 4) {
        const int p0 = mt * 16 + gq, p1 = p0 + 8;
        const int c0 = min(p0, 339), c1 = min(p1, 339);
        const int hr0 = c0 / 34, hr1 = c1 / 34;
        const int hc0 = c0 - hr0 * 34, hc1 = c1 - hr1 * 34;
        const float *b0 = patch + hr0 * 36 + hc0;
        const float *b1 = patch + hr1 * 36 + hc1;
        uint32_t fa0[4], fa1[4];
        fa0[0] = pack_half2(b0[koA.x], b0[koA.y]);
        fa0[1] = pack_half2(b1[koA.x], b1[koA.y]);
        fa0[2] = pack_half2(b0[koA.z], b0[koA.w]);
        fa0[3] = pack_half2(b1[koA.z], b1[koA.w]);
        fa1[0] = pack_half2(b0[koB.x], b0[koB.y]);
        fa1[1] = pack_half2(b1[koB.x], b1[koB.y]);
        fa1[2] = pack_half2(b0[koB.z], b0[koB.w]);
        fa1[3] = pack_half2(b1[koB.z], b1[koB.w]);
        float c[8][4];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          c[j][0] = sh[j].x;
          c[j][1] = sh[j].y;
          c[j][2] = sh[j].x;
          c[j][3] = sh[j].y;
        }
#pragma unroll
        for (int j = 0; j < 8; ++j)
          mma16816(c[j], fa0, wb[j].x, wb[j].y);
#pragma unroll
        for (int j = 0; j < 8; ++j)
          mma16816(c[j], fa1, wb[8 + j].x, wb[8 + j].y);
        const bool in0 = (unsigned)(y0 - 1 + hr0) < (unsigned)kImg &&
                         (unsigned)(x0 - 1 + hc0) < (unsigned)kImg;
        const bool in1 = (unsigned)(y0 - 1 + hr1) < (unsigned)kImg &&
                         (unsigned)(x0 - 1 + hc1) < (unsigned)kImg;
        if (p0 < 340) {
          const uint32_t off = (uint32_t)(p0 * 128 + (halo_f(hc0) << 4) + q * 4);
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            const uint32_t v = pack_half2_relu(c[j][0], c[j][1]);
            *reinterpret_cast<uint32_t *>(halo + (off ^ (uint32_t)(j << 4))) = in0 ? v : 0u;
          }
        }
        if (p1 < 340) {
          const uint32_t off = (uint32_t)(p1 * 128 + (halo_f(hc1) << 4) + q * 4);
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            const uint32_t v = pack_half2_relu(c[j][2], c[j][3]);
            *reinterpret_cast<uint32_t *>(halo + (off ^ (uint32_t)(j << 4))) = in1 ? v : 0u;
          }
        }
      }
    }
    group_barrier(group);
    if (t + stride < kTiles)
      issue_patch(x, patch_s, t + stride, gt);

    // ---- phase B: conv2 as Winograd F(2,3) along x; [E/O][P, then y0 / Q, then y1][n-tile][k]
    float acc[2][2][8][4];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int k = 0; k < 4; ++k)
            acc[m][i][j][k] = 0.f;

    {
      // row r of the fragment C_c: halo row 2 w + (r >> 3) + dy, halo column 4 (r & 7) + c
      const int i8 = lane & 7, h = lane >> 4;
      const uint32_t arow = sbase + kHaloOff + group * kHaloBytes +
                            (uint32_t)((2 * w + ((lane >> 3) & 1)) * 34 + 4 * i8) * 128u;
      const uint32_t aL0 = arow + (uint32_t)((h ^ i8) << 4);
      const uint32_t aH0 = arow + (uint32_t)((h ^ ((i8 + 1) & 7)) << 4);
      const uint32_t bstart = sbase + ((lane & 7) + ((lane >> 4) << 3)) * 128 +
                              ((((lane >> 3) & 1) ^ (lane & 7)) << 4);
      uint32_t aL = aL0, aH = aH0, bb = bstart;
      uint32_t fb[2][4][4];

      // pass 1: P += (d1 + d2) u1, Q += (d2 - d1) u2
      {
        uint32_t ra[4][4];  // C1..C4
#pragma unroll
        for (int c = 0; c < 4; ++c)
          ldsm4(ra[c], col_addr(aL, aH, c + 1, 0));
        load_b(fb[0], bb);

#pragma unroll 1
        for (int dy = 0; dy < 3; ++dy) {
          const uint32_t nL = dy < 2 ? aL + 4352u : aL0;
          const uint32_t nH = dy < 2 ? aH + 4352u : aH0;
          const uint32_t nb = bb + 16384u;  // after dy == 2: plane 6, the first of pass 2
#pragma unroll
          for (int kk = 0; kk < 4; ++kk) {
            uint32_t pe[4], po[4], qe[4], qo[4];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
              pe[r] = hadd2u(ra[0][r], ra[1][r]);
              po[r] = hadd2u(ra[2][r], ra[3][r]);
              qe[r] = hsub2u(ra[1][r], ra[0][r]);
              qo[r] = hsub2u(ra[3][r], ra[2][r]);
            }
#pragma unroll
            for (int c = 0; c < 2; ++c)
              ldsm4(ra[c], kk < 3 ? col_addr(aL, aH, c + 1, kk + 1) : col_addr(nL, nH, c + 1, 0));
            mma_half(acc[0][0], acc[1][0], pe, po, fb[0], fb[1],
                     (bb + 8192u) ^ (uint32_t)(kk << 5));
#pragma unroll
            for (int c = 2; c < 4; ++c)
              ldsm4(ra[c], kk < 3 ? col_addr(aL, aH, c + 1, kk + 1) : col_addr(nL, nH, c + 1, 0));
            mma_half(acc[0][1], acc[1][1], qe, qo, fb[1], fb[0],
                     kk < 3 ? bb ^ (uint32_t)((kk + 1) << 5) : nb);
          }
          aL = nL;
          aH = nH;
          bb = nb;
        }
      }

      // pass 2: y0 = P + Q + (d0 - d2) g0, y1 = P - Q + (d3 - d1) g2
      {
        uint32_t rc[3][4], re[3][4];  // C0, C2, C4 and C1, C3, C5
#pragma unroll
        for (int c = 0; c < 3; ++c)
          ldsm4(rc[c], col_addr(aL, aH, 2 * c, 0));

#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              const float pv = acc[m][0][j][k], qv = acc[m][1][j][k];
              acc[m][0][j][k] = pv + qv;
              acc[m][1][j][k] = pv - qv;
            }

#pragma unroll 1
        for (int dy = 0; dy < 3; ++dy) {
          const uint32_t nL = dy < 2 ? aL + 4352u : aL0;
          const uint32_t nH = dy < 2 ? aH + 4352u : aH0;
          const uint32_t nb = dy < 2 ? bb + 16384u : bstart;  // never beyond the 12 planes
#pragma unroll
          for (int kk = 0; kk < 4; ++kk) {
            uint32_t fe[4], fo[4];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
              fe[r] = hsub2u(rc[0][r], rc[1][r]);
              fo[r] = hsub2u(rc[1][r], rc[2][r]);
            }
#pragma unroll
            for (int c = 0; c < 3; ++c)
              ldsm4(re[c], col_addr(aL, aH, 2 * c + 1, kk));
            mma_half(acc[0][0], acc[1][0], fe, fo, fb[0], fb[1],
                     (bb + 8192u) ^ (uint32_t)(kk << 5));
            uint32_t ge[4], go[4];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
              ge[r] = hsub2u(re[1][r], re[0][r]);
              go[r] = hsub2u(re[2][r], re[1][r]);
            }
#pragma unroll
            for (int c = 0; c < 3; ++c)
              ldsm4(rc[c], kk < 3 ? col_addr(aL, aH, 2 * c, kk + 1) : col_addr(nL, nH, 2 * c, 0));
            mma_half(acc[0][1], acc[1][1], ge, go, fb[1], fb[0],
                     kk < 3 ? bb ^ (uint32_t)((kk + 1) << 5) : nb);
          }
          aL = nL;
          aH = nH;
          bb = nb;
        }
      }
    }

    // ---- epilogue: store y as fp16, sums and sums of squares
    {
      __half *yo = y + ((n * 64 + 2 * q) * kImg + y0 + 2 * w) * kImg + x0 + 4 * gq;
      float v[32];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          float s = 0.f, sq = 0.f;
#pragma unroll
          for (int r2 = 0; r2 < 2; ++r2) {
            const float e0 = acc[0][0][j][2 * r2 + b];
            const float e1 = acc[0][1][j][2 * r2 + b];
            const float e2 = acc[1][0][j][2 * r2 + b];
            const float e3 = acc[1][1][j][2 * r2 + b];
            uint2 o;
            o.x = pack_half2(e0, e1);
            o.y = pack_half2(e2, e3);
            *reinterpret_cast<uint2 *>(yo + (8 * j + b) * kHW + r2 * kImg) = o;
            s += (e0 + e1) + (e2 + e3);
            sq = fmaf(e0, e0, sq);
            sq = fmaf(e1, e1, sq);
            sq = fmaf(e2, e2, sq);
            sq = fmaf(e3, e3, sq);
          }
          v[j * 4 + b * 2] = s;
          v[j * 4 + b * 2 + 1] = sq;
        }
      }
      fold_step<16, 16>(v, lane);
      fold_step<8, 8>(v, lane);
      fold_step<4, 4>(v, lane);
      run0 += v[0];
      run1 += v[1];
      run2 += v[2];
      run3 += v[3];
    }
  }

  __syncthreads();
  float *red = reinterpret_cast<float *>(smem + kHaloOff);
  // the lane owns channels 2*lane and 2*lane+1: index channel*2 + {sum, sum of squares}
  *reinterpret_cast<float4 *>(red + (tid >> 5) * 128 + 4 * lane) =
      make_float4(run0, run1, run2, run3);
  __syncthreads();
  if (tid < 128) {
    double total = 0.0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
      total += (double)red[k * 128 + tid];
    atomicAdd(stats + ((tid & 1) ? kSq2 : kSum2) + (tid >> 1), total);
  }
}

// ---------------------------------------------------------------------------------------------
// 4. BN2 + downsample + add + ReLU
// ---------------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256)
final_kernel(const float *__restrict__ x, const __half *__restrict__ y,
             const double *__restrict__ stats, const float *__restrict__ par,
             const float *__restrict__ g2, const float *__restrict__ b2, float *__restrict__ rm2,
             float *__restrict__ rv2, float *__restrict__ out) {
  __shared__ float4 sd[16];
  __shared__ float ss[16];
  const int tid = threadIdx.x;
  const int cg = blockIdx.x * 16;
  const int n = 9 - (int)blockIdx.z;
  const int p = 4 * ((48 - (int)blockIdx.y) * 256 + tid);

  const __half *yp = y + (n * 64 + cg) * kHW + p;
  const float *xp = x + n * 3 * kHW + p;
  uint2 yv[16];
#pragma unroll
  for (int c = 0; c < 16; ++c)
    yv[c] = __ldcs(reinterpret_cast<const uint2 *>(yp + c * kHW));
  const float4 x0 = __ldg(reinterpret_cast<const float4 *>(xp));
  const float4 x1 = __ldg(reinterpret_cast<const float4 *>(xp + kHW));
  const float4 x2 = __ldg(reinterpret_cast<const float4 *>(xp + 2 * kHW));

  if (tid < 16) {
    const int c = cg + tid;
    const double mean = stats[kSum2 + c] * (1.0 / kN);
    double var = stats[kSq2 + c] * (1.0 / kN) - mean * mean;
    if (var < 0.0)
      var = 0.0;
    const float s2 = g2[c] / sqrtf((float)(var + 1e-5));
    const float4 d = *reinterpret_cast<const float4 *>(par + kParDs + c * 4);
    ss[tid] = s2;
    sd[tid] = make_float4(d.x, d.y, d.z, b2[c] - (float)mean * s2 + d.w);
    if (blockIdx.y == 0 && blockIdx.z == 0) {
      rm2[c] = (float)(0.9 * (double)rm2[c] + 0.1 * (mean + (double)par[kParDelta + c]));
      rv2[c] = (float)(0.9 * (double)rv2[c] + 0.1 * (var * (kN / (kN - 1.0))));
    }
  }
  __syncthreads();

  float *op = out + (n * 64 + cg) * kHW + p;
#pragma unroll
  for (int c = 0; c < 16; ++c) {
    const float4 d = sd[c];
    const float s = ss[c];
    const float2 ya = __half22float2(*reinterpret_cast<const __half2 *>(&yv[c].x));
    const float2 yb = __half22float2(*reinterpret_cast<const __half2 *>(&yv[c].y));
    float4 o;
    o.x = fmaf(ya.x, s, fmaf(d.x, x0.x, fmaf(d.y, x1.x, fmaf(d.z, x2.x, d.w))));
    o.y = fmaf(ya.y, s, fmaf(d.x, x0.y, fmaf(d.y, x1.y, fmaf(d.z, x2.y, d.w))));
    o.z = fmaf(yb.x, s, fmaf(d.x, x0.z, fmaf(d.y, x1.z, fmaf(d.z, x2.z, d.w))));
    o.w = fmaf(yb.y, s, fmaf(d.x, x0.w, fmaf(d.y, x1.w, fmaf(d.z, x2.w, d.w))));
    o.x = fmaxf(o.x, 0.f);
    o.y = fmaxf(o.y, 0.f);
    o.z = fmaxf(o.z, 0.f);
    o.w = fmaxf(o.w, 0.f);
    __stcs(reinterpret_cast<float4 *>(op + c * kHW), o);
  }
}

at::Tensor ResNetBasicBlock(
    const at::Tensor &x /* [10, 3, 224, 224] */,
    const at::Tensor &conv1_weight /* [64, 3, 3, 3] */,
    const at::Tensor &bn1_weight /* [64] */,
    const at::Tensor &bn1_bias /* [64] */,
    const at::Tensor &conv2_weight /* [64, 64, 3, 3] */,
    const at::Tensor &bn2_weight /* [64] */,
    const at::Tensor &bn2_bias /* [64] */,
    const at::Tensor &downsample_0_weight /* [64, 3, 1, 1] */,
    const at::Tensor &downsample_1_weight /* [64] */,
    const at::Tensor &downsample_1_bias /* [64] */,
    const at::Tensor &bn1_running_mean /* [64], changed */,
    const at::Tensor &bn1_running_var /* [64], changed */,
    const at::Tensor &bn1_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &bn2_running_mean /* [64], changed */,
    const at::Tensor &bn2_running_var /* [64], changed */,
    const at::Tensor &bn2_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &downsample_1_running_mean /* [64], changed */,
    const at::Tensor &downsample_1_running_var /* [64], changed */,
    const at::Tensor &downsample_1_num_batches_tracked /* i64 [], changed */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  const int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;

  at::Tensor stats = at::empty({kStats}, x.options().dtype(at::kDouble));
  at::Tensor w2h = at::empty({12 * 64 * 64}, x.options().dtype(at::kHalf));
  at::Tensor par = at::empty({kParSize}, x.options());
  at::Tensor y = at::empty({10, 64, 224, 224}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());

  const float *xp = x.const_data_ptr<float>();
  double *sp = stats.data_ptr<double>();
  __half *w2p = static_cast<__half *>(w2h.data_ptr());
  __half *yp = static_cast<__half *>(y.data_ptr());
  float *pp = par.data_ptr<float>();

  cudaMemsetAsync(sp, 0, kStats * sizeof(double), stream);

  gram_kernel<<<dim3(25, 10), 256, 0, stream>>>(
      xp, sp, conv2_weight.const_data_ptr<float>(), bn1_weight.const_data_ptr<float>(),
      bn1_bias.const_data_ptr<float>(), w2p, pp, bn1_num_batches_tracked.data_ptr<int64_t>(),
      bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>());

  FoldArgs fold;
  fold.w1 = conv1_weight.const_data_ptr<float>();
  fold.g1 = bn1_weight.const_data_ptr<float>();
  fold.b1 = bn1_bias.const_data_ptr<float>();
  fold.wd = downsample_0_weight.const_data_ptr<float>();
  fold.gd = downsample_1_weight.const_data_ptr<float>();
  fold.bd = downsample_1_bias.const_data_ptr<float>();
  fold.rm1 = bn1_running_mean.data_ptr<float>();
  fold.rv1 = bn1_running_var.data_ptr<float>();
  fold.rmd = downsample_1_running_mean.data_ptr<float>();
  fold.rvd = downsample_1_running_var.data_ptr<float>();

  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kConvSmem);
  conv_kernel<<<sms, 256, kConvSmem, stream>>>(xp, w2p, fold, pp, yp, sp);

  final_kernel<<<dim3(4, 49, 10), 256, 0, stream>>>(
      xp, yp, sp, pp, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
