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
constexpr int kPlane = 224 * 224;        // 50176
constexpr double kCount = 501760.0;      // 10 * 224 * 224
constexpr int kSumM = 736;
constexpr int kSumS = 768;
constexpr int kSumQ = 832;

constexpr int kPrepBlocks = 22;
constexpr int kGramBlocks = 280;         // 10 images * 28 strips of 8 rows
constexpr int kGramPitch = 229;

constexpr int kTiles = 1960;             // 10 * 28 * 7
constexpr int kActOff = 73728;
constexpr int kActBytes = 43520;         // 340 * 128
constexpr int kXsOff = kActOff + 2 * kActBytes;
constexpr int kXsBytes = 5184;           // 3 * 12 * 36 * 4
constexpr int kStatOff = kXsOff + 2 * kXsBytes;
constexpr int kSmemBytes = kStatOff + 16384;   // 187520

// ---------------------------------------------------------------------------------------------
// Kernel 1: conv2's weights to fp16 in their shared-memory image; moments of the patches of x.
__global__ void __launch_bounds__(192)
gram_prep(const float *__restrict__ x, const float *__restrict__ w2, __half *__restrict__ w2s,
          double *__restrict__ sums) {
  __shared__ float xs[36 * kGramPitch];
  __shared__ float red[10 * 192];
  const int tid = threadIdx.x;

  if (blockIdx.x < kPrepBlocks) {
    const int p = blockIdx.x * 192 + tid;
    if (p < 4096) {
      const int oc = p >> 6, ic = p & 63;
      const float *src = w2 + p * 9;
      float wv[9];
#pragma unroll
      for (int tap = 0; tap < 9; ++tap)
        wv[tap] = __ldg(src + tap);
      float carry = 0.f;
#pragma unroll
      for (int tap = 0; tap < 9; ++tap) {
        const float v = wv[tap] + carry;
        const __half h = __float2half_rn(v);
        carry = v - __half2float(h);
        w2s[(tap * 64 + oc) * 64 + (((ic >> 3) ^ (oc & 7)) << 3) + (ic & 7)] = h;
      }
    }
    return;
  }

  const int b = blockIdx.x - kPrepBlocks;
  const int n = b / 28;
  const int v0 = (b - n * 28) * 8;
  const float *xn = x + (size_t)n * 3 * kPlane;

  // rows v0-2 .. v0+9 of the three channels, column index = image column + 2
#pragma unroll 14
  for (int it = 0; it < 42; ++it) {
    const int idx = it * 192 + tid;      // < 36 * 224
    const int R = idx / 224;
    const int col = idx - R * 224;
    const int c = R / 12;
    const int row = v0 - 2 + (R - c * 12);
    float v = 0.f;
    if ((unsigned)row < (unsigned)kImg)
      v = __ldg(xn + c * kPlane + row * kImg + col);
    xs[R * kGramPitch + 2 + col] = v;
  }
  if (tid < 144) {
    const int R = tid >> 2, k = tid & 3;
    xs[R * kGramPitch + (k < 2 ? k : 224 + k)] = 0.f;
  }
  __syncthreads();

  {
    const int row = tid & 7, unit = tid >> 3;
    int c, cp, dy;
    if (unit < 9) {
      c = unit / 3;
      cp = c;
      dy = unit - c * 3;
    } else {
      const int u9 = unit - 9;
      const int p = u9 / 5;
      dy = u9 - p * 5 - 2;
      c = (p == 2) ? 1 : 0;
      cp = (p == 0) ? 1 : 2;
    }
    const float *A = xs + (c * 12 + row + 2) * kGramPitch + 2;
    const float *B = xs + (cp * 12 + row + 2 + dy) * kGramPitch + 2;
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f, s4 = 0.f, sa = 0.f;
    float bm2 = B[-2], bm1 = B[-1], b0 = B[0], b1 = B[1];
#pragma unroll 8
    for (int u = 0; u < 224; ++u) {
      const float a = A[u];
      const float b2 = B[u + 2];
      s0 = fmaf(a, bm2, s0);
      s1 = fmaf(a, bm1, s1);
      s2 = fmaf(a, b0, s2);
      s3 = fmaf(a, b1, s3);
      s4 = fmaf(a, b2, s4);
      sa += a;
      bm2 = bm1;
      bm1 = b0;
      b0 = b1;
      b1 = b2;
    }
    red[0 * 192 + tid] = s0;
    red[1 * 192 + tid] = s1;
    red[2 * 192 + tid] = s2;
    red[3 * 192 + tid] = s3;
    red[4 * 192 + tid] = s4;
    red[5 * 192 + tid] = sa;
    red[6 * 192 + tid] = A[0] * B[0];
    red[7 * 192 + tid] = A[223] * B[223];
    red[8 * 192 + tid] = A[0];
    red[9 * 192 + tid] = A[223];
  }
  __syncthreads();

  for (int o = tid; o < 432; o += 192) {
    if (o < 405) {
      const int gp = o / 9;
      const int ss = o - gp * 9;
      const int s = ss / 3;
      const int sp = ss - s * 3;
      int a = 0, rem = gp;
      while (rem >= 9 - a) {
        rem -= 9 - a;
        ++a;
      }
      const int b2 = a + rem;
      const int c = a / 3, r = a - c * 3;
      const int cp = b2 / 3, rp = b2 - cp * 3;
      const int dy = rp - r;
      const int unit = (c == cp) ? (c * 3 + dy) : (9 + (c + cp - 1) * 5 + dy + 2);
      double sum = 0.0;
      for (int row = 0; row < 8; ++row) {
        const int v = v0 + row;
        if ((r == 0 && v == 223) || (r == 2 && v == 0))
          continue;
        const int idx = unit * 8 + row;
        double val = (double)red[(sp - s + 2) * 192 + idx];
        if (s == 0 && sp == 0)
          val -= (double)red[7 * 192 + idx];
        if (s == 2 && sp == 2)
          val -= (double)red[6 * 192 + idx];
        sum += val;
      }
      atomicAdd(sums + (3 * a + s) * 27 + 3 * b2 + sp, sum);
    } else {
      const int k = o - 405;
      const int c = k / 9;
      const int r = (k / 3) % 3;
      const int s = k % 3;
      double sum = 0.0;
      for (int row = 0; row < 8; ++row) {
        const int v = v0 + row;
        if ((r == 0 && v == 223) || (r == 2 && v == 0))
          continue;
        const int idx = c * 24 + row;
        double val = (double)red[5 * 192 + idx];
        if (s == 0)
          val -= (double)red[9 * 192 + idx];
        if (s == 2)
          val -= (double)red[8 * 192 + idx];
        sum += val;
      }
      atomicAdd(sums + kSumM + k, sum);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Kernel 2: bn1 and downsample's batch norm folded into weights and biases.
__device__ __forceinline__ double warp_sum(double v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__device__ __forceinline__ double gram_at(const double *__restrict__ G, int i, int j) {
  return (i / 3 <= j / 3) ? G[i * 27 + j] : G[j * 27 + i];
}

__global__ void __launch_bounds__(32)
fold_bn(const double *__restrict__ sums, const float *__restrict__ w1,
        const float *__restrict__ g1, const float *__restrict__ be1,
        const float *__restrict__ wds, const float *__restrict__ gd,
        const float *__restrict__ bed, float *__restrict__ rm1, float *__restrict__ rv1,
        float *__restrict__ rmd, float *__restrict__ rvd, long long *__restrict__ cnt1,
        long long *__restrict__ cnt2, long long *__restrict__ cntd, __half *__restrict__ w1h,
        float *__restrict__ coef) {
  const int oc = blockIdx.x;
  const int lane = threadIdx.x;
  const double inv = 1.0 / kCount;
  __shared__ double ws[32];
  double wk = 0.0, mk = 0.0;
  if (lane < 27) {
    wk = (double)w1[oc * 27 + lane];
    mk = sums[kSumM + lane] * inv;
  }
  ws[lane] = wk;
  __syncwarp();
  double t = 0.0;
  if (lane < 27) {
#pragma unroll
    for (int j = 0; j < 27; ++j)
      t += gram_at(sums, lane, j) * ws[j];
  }
  const double mean1 = warp_sum(wk * mk);
  const double e1 = warp_sum(wk * t * inv);
  double var1 = e1 - mean1 * mean1;
  if (var1 < 0.0)
    var1 = 0.0;
  const double sc = (double)g1[oc] / sqrt(var1 + 1e-5);
  const __half h = __float2half_rn((float)(wk * sc));
  w1h[oc * 32 + lane] = h;
  const double corr = warp_sum((double)__half2float(h) * mk);

  if (lane == 0) {
    double wd[3], md[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      wd[c] = (double)wds[oc * 3 + c];
      md[c] = sums[kSumM + 4 + 9 * c] * inv;
    }
    double meand = 0.0, ed = 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      meand += wd[c] * md[c];
#pragma unroll
      for (int c2 = 0; c2 < 3; ++c2)
        ed += wd[c] * wd[c2] * gram_at(sums, 4 + 9 * c, 4 + 9 * c2) * inv;
    }
    double vard = ed - meand * meand;
    if (vard < 0.0)
      vard = 0.0;
    const double scd = (double)gd[oc] / sqrt(vard + 1e-5);
    coef[oc * 8 + 0] = (float)((double)be1[oc] - corr);
    coef[oc * 8 + 1] = (float)(wd[0] * scd);
    coef[oc * 8 + 2] = (float)(wd[1] * scd);
    coef[oc * 8 + 3] = (float)(wd[2] * scd);
    coef[oc * 8 + 4] = (float)((double)bed[oc] - meand * scd);
    const double unb = kCount / (kCount - 1.0);
    rm1[oc] = (float)(0.9 * (double)rm1[oc] + 0.1 * mean1);
    rv1[oc] = (float)(0.9 * (double)rv1[oc] + 0.1 * var1 * unb);
    rmd[oc] = (float)(0.9 * (double)rmd[oc] + 0.1 * meand);
    rvd[oc] = (float)(0.9 * (double)rvd[oc] + 0.1 * vard * unb);
    if (oc == 0) {
      cnt1[0] += 1;
      cnt2[0] += 1;
      cntd[0] += 1;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Kernel 3: conv1 + bn1 + relu on the fly, conv2, its statistics.
__device__ __forceinline__ void ldsm_x4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                        uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  const __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<const uint32_t *>(&h);
}

__device__ __forceinline__ void group_barrier(int g) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + g) : "memory");
}

__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ uint32_t act_key(int hc) {
  return (uint32_t)((hc & 1) | (((hc >> 3) & 3) << 1));
}

__device__ __forceinline__ void load_x_tile(const float *__restrict__ x, uint32_t dst, int tile,
                                            int gt) {
  const int n = tile / 196;
  const int rem = tile - n * 196;
  const int ty = rem / 7;
  const int tx = rem - ty * 7;
  const int yb = ty * 8 - 2;
  const int xb = tx * 32 - 2;
  const float *xn = x + (size_t)n * 3 * kPlane;
#pragma unroll 2
  for (int idx = gt; idx < 1296; idx += 128) {
    const int c = idx / 432;
    const int r2 = idx - c * 432;
    const int row = r2 / 36;
    const int col = r2 - row * 36;
    const int iy = yb + row;
    const int ix = xb + col;
    const bool ok = (unsigned)iy < (unsigned)kImg && (unsigned)ix < (unsigned)kImg;
    const float *src = ok ? (xn + c * kPlane + iy * kImg + ix) : x;
    const int sz = ok ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dst + idx * 4), "l"(src),
                 "r"(sz)
                 : "memory");
  }
}

__device__ __forceinline__ void load_frags(uint32_t (&a)[4][4], uint32_t (&b)[4][4], uint32_t aa,
                                           uint32_t b0, uint32_t b1) {
  ldsm_x4(b[0], b0);
  ldsm_x4(a[0], aa);
  ldsm_x4(b[1], b1);
  ldsm_x4(a[1], aa + 2048);
  ldsm_x4(b[2], b0 + 4352);
  ldsm_x4(a[2], aa + 4096);
  ldsm_x4(b[3], b1 + 4352);
  ldsm_x4(a[3], aa + 6144);
}

__device__ __forceinline__ uint32_t b_base(uint32_t act, int w, int lane, int s, int p) {
  const int i = lane & 7;
  const int t = 2 * p + (lane >> 4);
  const uint32_t kh = (uint32_t)((lane >> 3) & 1);
  const int hc = 8 * (i >> 1) + 2 * t + (i & 1) + s;
  return act + (uint32_t)((2 * w * 34 + hc) * 128) + ((kh ^ act_key(hc)) << 4);
}

__global__ void __launch_bounds__(256, 1)
conv_main(const float *__restrict__ x, const __half *__restrict__ w2s,
          const __half *__restrict__ w1h, const float *__restrict__ coef,
          __half *__restrict__ y, double *__restrict__ sums) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const int tid = threadIdx.x;
  const int g = tid >> 7;
  const int gt = tid & 127;
  const int w = gt >> 5;
  const int lane = tid & 31;
  const int q = lane & 3;
  const int gr = lane >> 2;

  const uint32_t actAddr = sbase + kActOff + g * kActBytes;
  const uint32_t xsAddr = sbase + kXsOff + g * kXsBytes;
  unsigned char *actPtr = smem + kActOff + g * kActBytes;
  const float *xsPtr = reinterpret_cast<const float *>(smem + kXsOff + g * kXsBytes);
  float *stat = reinterpret_cast<float *>(smem + kStatOff);

  const int step = 2 * (int)gridDim.x;
  int tile = g * (int)gridDim.x + (int)blockIdx.x;

  for (int i = tid; i < 73728 / 16; i += 256) {
    const char *src = reinterpret_cast<const char *>(w2s) + (size_t)i * 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sbase + i * 16), "l"(src)
                 : "memory");
  }
  if (tile < kTiles)
    load_x_tile(x, xsAddr, tile, gt);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    stat[i * 256 + tid] = 0.f;
  cp_async_wait();
  __syncthreads();

  const uint32_t aLane =
      sbase + (uint32_t)((lane & 15) * 128) + (uint32_t)(((lane >> 4) ^ (lane & 7)) << 4);

#pragma unroll 1
  for (; tile < kTiles; tile += step) {
    const int n = tile / 196;
    const int rem = tile - n * 196;
    const int ty = rem / 7;
    const int y0 = ty * 8;
    const int x0 = (rem - ty * 7) * 32;

    cp_async_wait();
    group_barrier(g);

    // conv1 + bn1 + relu into act
    {
      const __half *wp = w1h;
      const float *cf = coef;
      int qq = q;
      asm volatile("" : "+l"(wp), "+l"(cf), "+r"(qq));   // keep these loads inside the tile loop
      uint32_t bf[8][4];
      float bias[8][2];
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        const uint32_t *pr =
            reinterpret_cast<const uint32_t *>(wp + (nt * 8 + gr) * 32 + 2 * qq);
        bf[nt][0] = __ldg(pr);
        bf[nt][1] = __ldg(pr + 4);
        bf[nt][2] = __ldg(pr + 8);
        bf[nt][3] = __ldg(pr + 12);
        bias[nt][0] = __ldg(cf + (nt * 8 + 2 * qq) * 8);
        bias[nt][1] = __ldg(cf + (nt * 8 + 2 * qq) * 8 + 8);
      }
      int off[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int k = 16 * (j >> 2) + 8 * ((j >> 1) & 1) + 2 * qq + (j & 1);
        const int c = k / 9;
        const int k9 = k - c * 9;
        const int r = k9 / 3;
        const int s = k9 - r * 3;
        off[j] = (k < 27) ? (c * 432 + r * 36 + s) : 0;
      }
#pragma unroll 1
      for (int mt = w; mt < 22; mt += 4) {
        int hr0, hc0, hr1, hc1;
        bool st0 = true, st1 = true;
        if (mt < 20) {
          hr0 = mt >> 1;
          hr1 = hr0;
          hc0 = 8 * (gr >> 1) + 4 * (mt & 1) + (gr & 1);
          hc1 = hc0 + 2;
        } else {
          const int j0 = (mt - 20) * 16 + gr;
          const int j1 = j0 + 8;
          st0 = j0 < 20;
          st1 = j1 < 20;
          hr0 = st0 ? (j0 >> 1) : 0;
          hc0 = st0 ? (32 + (j0 & 1)) : 0;
          hr1 = st1 ? (j1 >> 1) : 0;
          hc1 = st1 ? (32 + (j1 & 1)) : 0;
        }
        const float *p0 = xsPtr + hr0 * 36 + hc0;
        const float *p1 = xsPtr + hr1 * 36 + hc1;
        uint32_t a[2][4];
#pragma unroll
        for (int ks = 0; ks < 2; ++ks) {
          a[ks][0] = pack_half2(p0[off[4 * ks + 0]], p0[off[4 * ks + 1]]);
          a[ks][1] = pack_half2(p1[off[4 * ks + 0]], p1[off[4 * ks + 1]]);
          a[ks][2] = pack_half2(p0[off[4 * ks + 2]], p0[off[4 * ks + 3]]);
          a[ks][3] = pack_half2(p1[off[4 * ks + 2]], p1[off[4 * ks + 3]]);
        }
        const bool in0 = (unsigned)(y0 - 1 + hr0) < (unsigned)kImg &&
                         (unsigned)(x0 - 1 + hc0) < (unsigned)kImg;
        const bool in1 = (unsigned)(y0 - 1 + hr1) < (unsigned)kImg &&
                         (unsigned)(x0 - 1 + hc1) < (unsigned)kImg;
        const uint32_t o0 =
            (uint32_t)((hr0 * 34 + hc0) * 128 + 4 * q) + (act_key(hc0) << 4);
        const uint32_t o1 =
            (uint32_t)((hr1 * 34 + hc1) * 128 + 4 * q) + (act_key(hc1) << 4);
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          float c[4] = {bias[nt][0], bias[nt][1], bias[nt][0], bias[nt][1]};
          mma_f16(c, a[0], bf[nt][0], bf[nt][1]);
          mma_f16(c, a[1], bf[nt][2], bf[nt][3]);
          const uint32_t v0 = in0 ? pack_half2(fmaxf(c[0], 0.f), fmaxf(c[1], 0.f)) : 0u;
          const uint32_t v1 = in1 ? pack_half2(fmaxf(c[2], 0.f), fmaxf(c[3], 0.f)) : 0u;
          if (st0)
            *reinterpret_cast<uint32_t *>(actPtr + (o0 ^ (uint32_t)(nt << 4))) = v0;
          if (st1)
            *reinterpret_cast<uint32_t *>(actPtr + (o1 ^ (uint32_t)(nt << 4))) = v1;
        }
      }
    }
    group_barrier(g);

    if (tile + step < kTiles)
      load_x_tile(x, xsAddr, tile + step, gt);

    // conv2
    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k)
          acc[i][j][k] = 0.f;

    {
      uint32_t af[2][4][4];
      uint32_t bq[2][4][4];
      uint32_t ab = aLane;
      uint32_t bb0 = b_base(actAddr, w, lane, 0, 0);
      uint32_t bb1 = b_base(actAddr, w, lane, 0, 1);
      load_frags(af[0], bq[0], ab, bb0, bb1);
#pragma unroll 1
      for (int s = 0; s < 3; ++s) {
#pragma unroll
        for (int st = 0; st < 12; ++st) {
          const int cur = st & 1;
          const int nxt = cur ^ 1;
          if (st < 11) {
            const int r = (st + 1) >> 2;
            const uint32_t kx = (uint32_t)(((st + 1) & 3) << 5);
            load_frags(af[nxt], bq[nxt], (ab ^ kx) + (uint32_t)(r * 24576),
                       (bb0 ^ kx) + (uint32_t)(r * 4352), (bb1 ^ kx) + (uint32_t)(r * 4352));
          } else {
            // first step of the next s; after the last s it reads valid shared memory, unused
            ab += 8192;
            bb0 = b_base(actAddr, w, lane, s + 1, 0);
            bb1 = b_base(actAddr, w, lane, s + 1, 1);
            load_frags(af[nxt], bq[nxt], ab, bb0, bb1);
          }
#pragma unroll
          for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
            for (int nt = 0; nt < 8; ++nt)
              mma_f16(acc[mt][nt], af[cur][mt], bq[cur][nt >> 1][(nt & 1) * 2],
                      bq[cur][nt >> 1][(nt & 1) * 2 + 1]);
          }
        }
      }
    }

    // store y (fp16) and the statistics of the fp32 values
    {
      __half *yp = y + ((size_t)(n * 64 + gr) * kImg + (size_t)(y0 + 2 * w)) * kImg +
                   (size_t)(x0 + 8 * q);
      float *sp = stat + tid;
#pragma unroll
      for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float su = 0.f, sq = 0.f;
#pragma unroll
          for (int rr = 0; rr < 2; ++rr) {
            uint32_t pk[4];
#pragma unroll
            for (int t = 0; t < 4; ++t) {
              const float e0 = acc[mt][rr * 4 + t][2 * h];
              const float e1 = acc[mt][rr * 4 + t][2 * h + 1];
              su += e0 + e1;
              sq = fmaf(e0, e0, sq);
              sq = fmaf(e1, e1, sq);
              pk[t] = pack_half2(e0, e1);
            }
            *reinterpret_cast<uint4 *>(yp + (size_t)(mt * 16 + h * 8) * kPlane + rr * kImg) =
                make_uint4(pk[0], pk[1], pk[2], pk[3]);
          }
          sp[((mt * 2 + h) * 2 + 0) * 256] += su;
          sp[((mt * 2 + h) * 2 + 1) * 256] += sq;
        }
      }
    }
  }

  __syncthreads();
  if (tid < 128) {
    const int oc = tid >> 1;
    const int which = tid & 1;
    const float *sl = stat + ((oc >> 3) * 2 + which) * 256 + (oc & 7) * 4;
    double s = 0.0;
#pragma unroll
    for (int wp = 0; wp < 8; ++wp)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        s += (double)sl[wp * 32 + k];
    atomicAdd(sums + (which ? kSumQ : kSumS) + oc, s);
  }
}

// ---------------------------------------------------------------------------------------------
// Kernel 4: bn2 + downsample + add + relu.
__global__ void __launch_bounds__(256, 4)
finish_block(const float *__restrict__ x, const __half *__restrict__ y,
             const float *__restrict__ coef, const double *__restrict__ sums,
             const float *__restrict__ g2, const float *__restrict__ be2,
             float *__restrict__ rm2, float *__restrict__ rv2, float *__restrict__ out) {
  __shared__ float4 pa[16];
  __shared__ float pb[16];
  const int tid = threadIdx.x;
  const int b = (int)gridDim.x - 1 - (int)blockIdx.x;
  const int cg = b & 3;
  const int nc = b >> 2;
  const int n = nc / 49;
  const int ch = nc - n * 49;
  const int px = ch * 1024 + tid * 4;

  const size_t base = (size_t)(n * 64 + cg * 16) * kPlane + (size_t)px;
  const __half *yp = y + base;
  float *op = out + base;
  const float *xp = x + (size_t)n * 3 * kPlane + px;

  uint2 v[16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    v[i] = __ldcs(reinterpret_cast<const uint2 *>(yp + (size_t)i * kPlane));
  const float4 xa = __ldg(reinterpret_cast<const float4 *>(xp));
  const float4 xb = __ldg(reinterpret_cast<const float4 *>(xp + kPlane));
  const float4 xc = __ldg(reinterpret_cast<const float4 *>(xp + 2 * kPlane));

  if (tid < 16) {
    const int oc = cg * 16 + tid;
    const double mean = sums[kSumS + oc] * (1.0 / kCount);
    double var = sums[kSumQ + oc] * (1.0 / kCount) - mean * mean;
    if (var < 0.0)
      var = 0.0;
    const double sc = (double)g2[oc] / sqrt(var + 1e-5);
    const float shift = (float)((double)be2[oc] - mean * sc + (double)coef[oc * 8 + 4]);
    pa[tid] = make_float4((float)sc, shift, coef[oc * 8 + 1], coef[oc * 8 + 2]);
    pb[tid] = coef[oc * 8 + 3];
    if (nc == 0) {
      rm2[oc] = (float)(0.9 * (double)rm2[oc] + 0.1 * mean);
      rv2[oc] = (float)(0.9 * (double)rv2[oc] + 0.1 * var * (kCount / (kCount - 1.0)));
    }
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const float4 p = pa[i];
    const float p2 = pb[i];
    const float2 lo = __half22float2(*reinterpret_cast<const __half2 *>(&v[i].x));
    const float2 hi = __half22float2(*reinterpret_cast<const __half2 *>(&v[i].y));
    float4 o;
    o.x = fmaf(p2, xc.x, fmaf(p.w, xb.x, fmaf(p.z, xa.x, fmaf(p.x, lo.x, p.y))));
    o.y = fmaf(p2, xc.y, fmaf(p.w, xb.y, fmaf(p.z, xa.y, fmaf(p.x, lo.y, p.y))));
    o.z = fmaf(p2, xc.z, fmaf(p.w, xb.z, fmaf(p.z, xa.z, fmaf(p.x, hi.x, p.y))));
    o.w = fmaf(p2, xc.w, fmaf(p.w, xb.w, fmaf(p.z, xa.w, fmaf(p.x, hi.y, p.y))));
    o.x = fmaxf(o.x, 0.f);
    o.y = fmaxf(o.y, 0.f);
    o.z = fmaxf(o.z, 0.f);
    o.w = fmaxf(o.w, 0.f);
    __stcs(reinterpret_cast<float4 *>(op + (size_t)i * kPlane), o);
  }
}

}  // namespace

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

  at::Tensor result = at::empty({10, 64, 224, 224}, x.options());
  at::Tensor y = at::empty({10, 64, 224, 224}, x.options().dtype(at::kHalf));
  at::Tensor w2s = at::empty({9 * 64 * 64}, x.options().dtype(at::kHalf));
  at::Tensor w1h = at::empty({64 * 32}, x.options().dtype(at::kHalf));
  at::Tensor sums = at::empty({1024}, x.options().dtype(at::kDouble));
  at::Tensor coef = at::empty({64 * 8}, x.options());

  const float *xp = x.const_data_ptr<float>();
  __half *yp = reinterpret_cast<__half *>(y.data_ptr());
  __half *w2p = reinterpret_cast<__half *>(w2s.data_ptr());
  __half *w1p = reinterpret_cast<__half *>(w1h.data_ptr());
  double *sp = sums.data_ptr<double>();
  float *cp = coef.data_ptr<float>();

  cudaMemsetAsync(sp, 0, 8192, stream);

  gram_prep<<<kPrepBlocks + kGramBlocks, 192, 0, stream>>>(
      xp, conv2_weight.const_data_ptr<float>(), w2p, sp);

  fold_bn<<<64, 32, 0, stream>>>(
      sp, conv1_weight.const_data_ptr<float>(), bn1_weight.const_data_ptr<float>(),
      bn1_bias.const_data_ptr<float>(), downsample_0_weight.const_data_ptr<float>(),
      downsample_1_weight.const_data_ptr<float>(), downsample_1_bias.const_data_ptr<float>(),
      bn1_running_mean.data_ptr<float>(), bn1_running_var.data_ptr<float>(),
      downsample_1_running_mean.data_ptr<float>(), downsample_1_running_var.data_ptr<float>(),
      reinterpret_cast<long long *>(bn1_num_batches_tracked.data_ptr<int64_t>()),
      reinterpret_cast<long long *>(bn2_num_batches_tracked.data_ptr<int64_t>()),
      reinterpret_cast<long long *>(downsample_1_num_batches_tracked.data_ptr<int64_t>()), w1p,
      cp);

  cudaFuncSetAttribute(conv_main, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_main<<<sms, 256, kSmemBytes, stream>>>(xp, w2p, w1p, cp, yp, sp);

  finish_block<<<1960, 256, 0, stream>>>(
      xp, yp, cp, sp, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      result.data_ptr<float>());

  return result;
}
