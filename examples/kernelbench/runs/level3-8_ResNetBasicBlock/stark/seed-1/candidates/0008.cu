// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

constexpr int kImg = 224;
constexpr int kPlane = 224 * 224;        // 50176
constexpr double kCount = 501760.0;      // 10 * 224 * 224

// layout of sums (doubles)
constexpr int kSumM = 736;
constexpr int kSumS = 768;
constexpr int kSumQ = 832;

// layout of coef (floats)
constexpr int kCoefMu = 0;
constexpr int kCoefMud = 64;
constexpr int kCoefDs = 128;

constexpr int kPrepBlocks = 64;
constexpr int kGramBlocks = 280;         // 10 images * 28 strips of 8 rows
constexpr int kGramPitch = 236;

constexpr int kTiles = 1960;             // 10 * 28 * 7
constexpr int kActOff = 73728;
constexpr int kActBytes = 43520;         // 340 * 128
constexpr int kXsOff = kActOff + 2 * kActBytes;
constexpr int kXsBytes = 5184;           // 3 * 12 * 36 * 4
constexpr int kStatOff = kXsOff + 2 * kXsBytes;
constexpr int kW1Off = kStatOff + 16384;
constexpr int kBiasOff = kW1Off + 5120;
constexpr int kMuOff = kBiasOff + 256;
constexpr int kSmemBytes = kMuOff + 256; // 193152

struct ConvArgs {
  const float *x;
  const __half *w2s;
  const float *w1;
  const float *g1;
  const float *be1;
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
  float *coef;
  __half *y;
  double *sums;
};

__device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// ---------------------------------------------------------------------------------------------
// Kernel 1: conv2's weights to fp16 in their shared-memory image with the estimated means of the
// channels; moments of the patches of x.
__global__ void __launch_bounds__(192)
gram_prep(const float *__restrict__ x, const float *__restrict__ w2, const float *__restrict__ g1,
          const float *__restrict__ be1, __half *__restrict__ w2s, float *__restrict__ coef,
          double *__restrict__ sums) {
  __shared__ __align__(16) float xs[36 * kGramPitch];
  __shared__ float red[10 * 192];
  __shared__ float ea[64];
  const int tid = threadIdx.x;

  if (blockIdx.x < kPrepBlocks) {
    const int oc = blockIdx.x;
    float wv[3];
#pragma unroll
    for (int k = 0; k < 3; ++k)
      wv[k] = __ldg(w2 + oc * 576 + tid + k * 192);
    if (tid < 64) {
      const float b = be1[tid];
      const float s = fabsf(g1[tid]);
      float e = fmaxf(b, 0.f);
      if (s > 1e-20f) {
        const float z = b / s;
        e = s * 0.39894228f * expf(-0.5f * z * z) + b * normcdff(z);
      }
      ea[tid] = e;
    }
    __syncthreads();
    float p = 0.f, pd = 0.f;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int i = tid + k * 192;
      const int ic = i / 9;
      const int tap = i - ic * 9;
      const __half h = __float2half_rn(wv[k]);
      w2s[(tap * 64 + oc) * 64 + (((ic >> 3) ^ (oc & 7)) << 3) + (ic & 7)] = h;
      p = fmaf(__half2float(h), ea[ic], p);
      pd = fmaf(wv[k], ea[ic], pd);
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
      p += __shfl_xor_sync(0xffffffffu, p, d);
      pd += __shfl_xor_sync(0xffffffffu, pd, d);
    }
    if ((tid & 31) == 0) {
      red[tid >> 5] = p;
      red[8 + (tid >> 5)] = pd;
    }
    __syncthreads();
    if (tid == 0) {
      float sp = 0.f, spd = 0.f;
#pragma unroll
      for (int k = 0; k < 6; ++k) {
        sp += red[k];
        spd += red[8 + k];
      }
      coef[kCoefMu + oc] = sp;
      coef[kCoefMud + oc] = spd;
    }
    return;
  }

  const int b = (int)blockIdx.x - kPrepBlocks;
  const int n = b / 28;
  const int v0 = (b - n * 28) * 8;
  const float *xn = x + (size_t)n * 3 * kPlane;
  const uint32_t xsAddr = (uint32_t)__cvta_generic_to_shared(xs);

  // rows v0-2 .. v0+9 of the three channels; image column v lies at index 4 + v of its row
#pragma unroll
  for (int it = 0; it < 11; ++it) {
    const int idx = it * 192 + tid;
    if (idx < 2016) {
      const int R = idx / 56;
      const int c4 = idx - R * 56;
      const int c = R / 12;
      const int row = v0 - 2 + (R - c * 12);
      const bool ok = (unsigned)row < (unsigned)kImg;
      const float *src = ok ? (xn + c * kPlane + row * kImg + c4 * 4) : x;
      cp_async16(xsAddr + (uint32_t)(R * kGramPitch + 4 + c4 * 4) * 4u, src, ok ? 16 : 0);
    }
  }
  for (int i = tid; i < 36 * 12; i += 192) {
    const int R = i / 12;
    const int k = i - R * 12;
    xs[R * kGramPitch + (k < 4 ? k : 224 + k)] = 0.f;
  }
  cp_async_wait();
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
    const float *As = xs + (c * 12 + row + 2) * kGramPitch + 4;
    const float *Bs = xs + (cp * 12 + row + 2 + dy) * kGramPitch + 4;
    const float4 *A = reinterpret_cast<const float4 *>(As);
    const float4 *B = reinterpret_cast<const float4 *>(Bs);
    float s[5] = {0.f, 0.f, 0.f, 0.f, 0.f};
    float sa = 0.f;
    float4 p = B[-1], q = B[0];
#pragma unroll 4
    for (int u = 0; u < 56; ++u) {
      const float4 a4 = A[u];
      const float4 nx = B[u + 1];
      const float a[4] = {a4.x, a4.y, a4.z, a4.w};
      const float w[8] = {p.z, p.w, q.x, q.y, q.z, q.w, nx.x, nx.y};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int d = 0; d < 5; ++d)
          s[d] = fmaf(a[k], w[k + d], s[d]);
      }
      sa += (a[0] + a[1]) + (a[2] + a[3]);
      p = q;
      q = nx;
    }
#pragma unroll
    for (int d = 0; d < 5; ++d)
      red[d * 192 + tid] = s[d];
    red[5 * 192 + tid] = sa;
    red[6 * 192 + tid] = As[0] * Bs[0];
    red[7 * 192 + tid] = As[223] * Bs[223];
    red[8 * 192 + tid] = As[0];
    red[9 * 192 + tid] = As[223];
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
#pragma unroll
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
#pragma unroll
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
// Kernel 2: fold of bn1; conv1 + bn1 + relu on the fly, conv2, its statistics.
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

__device__ __forceinline__ uint32_t b_base(uint32_t act, int w, int lane, int s, int p) {
  const int i = lane & 7;
  const int t = 2 * p + (lane >> 4);
  const uint32_t kh = (uint32_t)((lane >> 3) & 1);
  const int hc = 8 * (i >> 1) + 2 * t + (i & 1) + s;
  return act + (uint32_t)((2 * w * 34 + hc) * 128) + ((kh ^ act_key(hc)) << 4);
}

template <int J>
__device__ __forceinline__ void mma_col(float (&acc)[4][8][4], const uint32_t (&a)[4][4],
                                        const uint32_t (&b)[4][4]) {
#pragma unroll
  for (int mt = 0; mt < 4; ++mt)
    mma_f16(acc[mt][J], a[mt], b[J >> 1][(J & 1) * 2], b[J >> 1][(J & 1) * 2 + 1]);
}

// One k-step of conv2: 32 mma on (a, b), the next step's fragments loaded in between.
__device__ __forceinline__ void conv_step(float (&acc)[4][8][4], const uint32_t (&a)[4][4],
                                          const uint32_t (&b)[4][4], uint32_t (&an)[4][4],
                                          uint32_t (&bn)[4][4], uint32_t na, uint32_t nb0,
                                          uint32_t nb1) {
  ldsm_x4(bn[0], nb0);
  mma_col<0>(acc, a, b);
  ldsm_x4(an[0], na);
  mma_col<1>(acc, a, b);
  ldsm_x4(bn[1], nb1);
  mma_col<2>(acc, a, b);
  ldsm_x4(an[1], na + 2048);
  mma_col<3>(acc, a, b);
  ldsm_x4(bn[2], nb0 + 4352);
  mma_col<4>(acc, a, b);
  ldsm_x4(an[2], na + 4096);
  mma_col<5>(acc, a, b);
  ldsm_x4(bn[3], nb1 + 4352);
  mma_col<6>(acc, a, b);
  ldsm_x4(an[3], na + 6144);
  mma_col<7>(acc, a, b);
}

__global__ void __launch_bounds__(256, 1) conv_main(const ConvArgs args) {
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
  __half *w1s = reinterpret_cast<__half *>(smem + kW1Off);
  float *biasS = reinterpret_cast<float *>(smem + kBiasOff);
  float *muS = reinterpret_cast<float *>(smem + kMuOff);

  const int step = 2 * (int)gridDim.x;
  int tile = g * (int)gridDim.x + (int)blockIdx.x;

  // ---- prologue: copies
  {
    const char *src = reinterpret_cast<const char *>(args.w2s) + (size_t)tid * 16;
#pragma unroll
    for (int i = 0; i < 18; ++i)
      cp_async16(sbase + (uint32_t)((i * 256 + tid) * 16), src + i * 4096, 16);
  }
  if (tile < kTiles)
    load_x_tile(args.x, xsAddr, tile, gt);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    stat[i * 256 + tid] = 0.f;
  if (tid < 64)
    muS[tid] = args.coef[kCoefMu + tid];

  // ---- prologue: bn1 folded into conv1's weights (doubles in the act area)
  {
    double *Ms = reinterpret_cast<double *>(smem + kActOff);   // 27 (32)
    double *Ws = Ms + 32;                                      // 64 * 27
    double *Cs = Ws + 1728;                                    // 27 * 27
    const double inv = 1.0 / kCount;
    const double *gs = args.sums;
    if (tid < 27)
      Ms[tid] = gs[kSumM + tid] * inv;
#pragma unroll
    for (int it = 0; it < 3; ++it) {
      const int idx = it * 256 + tid;
      if (idx < 729) {
        const int i = idx / 27;
        const int j = idx - i * 27;
        const double gij = gs[(i / 3 <= j / 3) ? (i * 27 + j) : (j * 27 + i)];
        const double mi = gs[kSumM + i] * inv;
        const double mj = gs[kSumM + j] * inv;
        Cs[idx] = gij * inv - mi * mj;
      }
    }
#pragma unroll
    for (int it = 0; it < 7; ++it) {
      const int i = it * 256 + tid;
      if (i < 1728)
        Ws[i] = (double)__ldg(args.w1 + i);
    }
    __syncthreads();

    const int oc = tid >> 2;
    const int part = tid & 3;
    const double *W = Ws + oc * 27;
    const double *C0 = Cs + part * 27;
    const int i6 = min(part + 24, 26);
    const double *C6 = Cs + i6 * 27;
    double t[7];
#pragma unroll
    for (int u = 0; u < 7; ++u)
      t[u] = 0.0;
#pragma unroll 3
    for (int j = 0; j < 27; ++j) {
      const double wj = W[j];
#pragma unroll
      for (int u = 0; u < 6; ++u)
        t[u] = fma(C0[u * 108 + j], wj, t[u]);
      t[6] = fma(C6[j], wj, t[6]);
    }
    double var = 0.0, mean = 0.0;
#pragma unroll
    for (int u = 0; u < 6; ++u) {
      const double wi = W[part + 4 * u];
      var = fma(wi, t[u], var);
      mean = fma(wi, Ms[part + 4 * u], mean);
    }
    if (part < 3) {
      const double wi = W[i6];
      var = fma(wi, t[6], var);
      mean = fma(wi, Ms[i6], mean);
    }
    var += __shfl_xor_sync(0xffffffffu, var, 1);
    mean += __shfl_xor_sync(0xffffffffu, mean, 1);
    var += __shfl_xor_sync(0xffffffffu, var, 2);
    mean += __shfl_xor_sync(0xffffffffu, mean, 2);
    if (var < 0.0)
      var = 0.0;
    const double sc = (double)args.g1[oc] / sqrt(var + 1e-5);
    double corr = 0.0;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int k = part + 4 * u;
      float wf = 0.f;
      double mk = 0.0;
      if (k < 27) {
        wf = (float)(W[k] * sc);
        mk = Ms[k];
      }
      const __half h = __float2half_rn(wf);
      w1s[oc * 40 + k] = h;
      corr = fma((double)__half2float(h), mk, corr);
    }
    corr += __shfl_xor_sync(0xffffffffu, corr, 1);
    corr += __shfl_xor_sync(0xffffffffu, corr, 2);
    if (part == 0)
      biasS[oc] = (float)((double)args.be1[oc] - corr);

    if (blockIdx.x == gridDim.x - 1) {
      const double unb = kCount / (kCount - 1.0);
      if (part == 0) {
        args.rm1[oc] = (float)(0.9 * (double)args.rm1[oc] + 0.1 * mean);
        args.rv1[oc] = (float)(0.9 * (double)args.rv1[oc] + 0.1 * (var * unb));
      } else if (part == 1) {
        double wd[3];
#pragma unroll
        for (int c = 0; c < 3; ++c)
          wd[c] = (double)args.wd[oc * 3 + c];
        double md = 0.0, vd = 0.0;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          md += wd[c] * Ms[4 + 9 * c];
#pragma unroll
          for (int c2 = 0; c2 < 3; ++c2)
            vd += wd[c] * wd[c2] * Cs[(4 + 9 * c) * 27 + 4 + 9 * c2];
        }
        if (vd < 0.0)
          vd = 0.0;
        const double scd = (double)args.gd[oc] / sqrt(vd + 1e-5);
        *reinterpret_cast<float4 *>(args.coef + kCoefDs + oc * 4) =
            make_float4((float)(wd[0] * scd), (float)(wd[1] * scd), (float)(wd[2] * scd),
                        (float)((double)args.bd[oc] - md * scd));
        args.rmd[oc] = (float)(0.9 * (double)args.rmd[oc] + 0.1 * md);
        args.rvd[oc] = (float)(0.9 * (double)args.rvd[oc] + 0.1 * (vd * unb));
      }
      if (tid == 0) {
        args.nb1[0] += 1;
        args.nb2[0] += 1;
        args.nbd[0] += 1;
      }
    }
  }
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

    // ---- conv1 + bn1 + relu into act
    {
      int qq = q;
      asm volatile("" : "+r"(qq));   // keep these values inside the tile loop
      uint32_t bf[8][4];
      float2 bias[8];
      const uint32_t *w1w = reinterpret_cast<const uint32_t *>(w1s);
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        const uint32_t *pr = w1w + (nt * 8 + gr) * 20 + qq;
        bf[nt][0] = pr[0];
        bf[nt][1] = pr[4];
        bf[nt][2] = pr[8];
        bf[nt][3] = pr[12];
        bias[nt] = *reinterpret_cast<const float2 *>(biasS + nt * 8 + 2 * qq);
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
        float c[8][4];
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          c[nt][0] = bias[nt].x;
          c[nt][1] = bias[nt].y;
          c[nt][2] = bias[nt].x;
          c[nt][3] = bias[nt].y;
          mma_f16(c[nt], a[0], bf[nt][0], bf[nt][1]);
        }
#pragma unroll
        for (int nt = 0; nt < 8; ++nt)
          mma_f16(c[nt], a[1], bf[nt][2], bf[nt][3]);
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          const uint32_t v0 =
              in0 ? pack_half2(fmaxf(c[nt][0], 0.f), fmaxf(c[nt][1], 0.f)) : 0u;
          const uint32_t v1 =
              in1 ? pack_half2(fmaxf(c[nt][2], 0.f), fmaxf(c[nt][3], 0.f)) : 0u;
          if (st0)
            *reinterpret_cast<uint32_t *>(actPtr + (o0 ^ (uint32_t)(nt << 4))) = v0;
          if (st1)
            *reinterpret_cast<uint32_t *>(actPtr + (o1 ^ (uint32_t)(nt << 4))) = v1;
        }
      }
    }
    group_barrier(g);

    if (tile + step < kTiles)
      load_x_tile(args.x, xsAddr, tile + step, gt);

    // put the groups out of phase, once: group 1 waits until group 0 is well inside conv2
    if (g == 1 && tile < step)
      asm volatile("bar.sync 3, 256;" ::: "memory");

    // ---- conv2
    float acc[4][8][4];
#pragma unroll
    for (int mt = 0; mt < 4; ++mt) {
      const float m0 = -muS[mt * 16 + gr];
      const float m1 = -muS[mt * 16 + 8 + gr];
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        acc[mt][nt][0] = m0;
        acc[mt][nt][1] = m0;
        acc[mt][nt][2] = m1;
        acc[mt][nt][3] = m1;
      }
    }

    {
      uint32_t af[2][4][4];
      uint32_t bq[2][4][4];
      uint32_t ab = aLane;
      uint32_t bb0 = b_base(actAddr, w, lane, 0, 0);
      uint32_t bb1 = b_base(actAddr, w, lane, 0, 1);
      ldsm_x4(bq[0][0], bb0);
      ldsm_x4(af[0][0], ab);
      ldsm_x4(af[0][1], ab + 2048);
      ldsm_x4(af[0][2], ab + 4096);
      ldsm_x4(af[0][3], ab + 6144);
      ldsm_x4(bq[0][1], bb1);
      ldsm_x4(bq[0][2], bb0 + 4352);
      ldsm_x4(bq[0][3], bb1 + 4352);
#pragma unroll 1
      for (int s = 0; s < 3; ++s) {
#pragma unroll
        for (int st = 0; st < 12; ++st) {
          const int cur = st & 1;
          const int nxt = cur ^ 1;
          if (st < 11) {
            const int r = (st + 1) >> 2;
            const uint32_t kx = (uint32_t)(((st + 1) & 3) << 5);
            conv_step(acc, af[cur], bq[cur], af[nxt], bq[nxt],
                      (ab ^ kx) + (uint32_t)(r * 24576), (bb0 ^ kx) + (uint32_t)(r * 4352),
                      (bb1 ^ kx) + (uint32_t)(r * 4352));
          } else {
            // first step of the next s; after the last s it reads valid shared memory, unused
            ab += 8192;
            bb0 = b_base(actAddr, w, lane, s + 1, 0);
            bb1 = b_base(actAddr, w, lane, s + 1, 1);
            conv_step(acc, af[cur], bq[cur], af[nxt], bq[nxt], ab, bb0, bb1);
          }
        }
        if (s == 1 && g == 0 && tile < step)
          asm volatile("bar.arrive 3, 256;" ::: "memory");
      }
    }

    // ---- store y - mu (fp16) and the statistics of the fp32 values
    {
      __half *yp = args.y + ((size_t)(n * 64 + gr) * kImg + (size_t)(y0 + 2 * w)) * kImg +
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
    atomicAdd(args.sums + (which ? kSumQ : kSumS) + oc, s);
  }
}

// ---------------------------------------------------------------------------------------------
// Kernel 3: bn2 + downsample + add + relu.
__global__ void __launch_bounds__(256, 3)
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
    const double mean = sums[kSumS + oc] * (1.0 / kCount);   // of the shifted values
    double var = sums[kSumQ + oc] * (1.0 / kCount) - mean * mean;
    if (var < 0.0)
      var = 0.0;
    const float s2 = g2[oc] / sqrtf((float)(var + 1e-5));
    const float4 d = *reinterpret_cast<const float4 *>(coef + kCoefDs + oc * 4);
    const float shift = (float)((double)be2[oc] - mean * (double)s2 + (double)d.w);
    pa[tid] = make_float4(s2, shift, d.x, d.y);
    pb[tid] = d.z;
    if (nc == 0) {
      rm2[oc] = (float)(0.9 * (double)rm2[oc] + 0.1 * (mean + (double)coef[kCoefMud + oc]));
      rv2[oc] = (float)(0.9 * (double)rv2[oc] + 0.1 * (var * (kCount / (kCount - 1.0))));
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
  at::Tensor w2s = at::empty({36864}, x.options().dtype(at::kHalf));
  at::Tensor sums = at::empty({1024}, x.options().dtype(at::kDouble));
  at::Tensor coef = at::empty({512}, x.options());

  const float *xp = x.const_data_ptr<float>();
  __half *yp = static_cast<__half *>(y.data_ptr());
  __half *w2p = static_cast<__half *>(w2s.data_ptr());
  double *sp = sums.data_ptr<double>();
  float *cp = coef.data_ptr<float>();

  cudaMemsetAsync(sp, 0, 8192, stream);

  gram_prep<<<kPrepBlocks + kGramBlocks, 192, 0, stream>>>(
      xp, conv2_weight.const_data_ptr<float>(), bn1_weight.const_data_ptr<float>(),
      bn1_bias.const_data_ptr<float>(), w2p, cp, sp);

  ConvArgs args;
  args.x = xp;
  args.w2s = w2p;
  args.w1 = conv1_weight.const_data_ptr<float>();
  args.g1 = bn1_weight.const_data_ptr<float>();
  args.be1 = bn1_bias.const_data_ptr<float>();
  args.wd = downsample_0_weight.const_data_ptr<float>();
  args.gd = downsample_1_weight.const_data_ptr<float>();
  args.bd = downsample_1_bias.const_data_ptr<float>();
  args.rm1 = bn1_running_mean.data_ptr<float>();
  args.rv1 = bn1_running_var.data_ptr<float>();
  args.rmd = downsample_1_running_mean.data_ptr<float>();
  args.rvd = downsample_1_running_var.data_ptr<float>();
  args.nb1 = bn1_num_batches_tracked.data_ptr<int64_t>();
  args.nb2 = bn2_num_batches_tracked.data_ptr<int64_t>();
  args.nbd = downsample_1_num_batches_tracked.data_ptr<int64_t>();
  args.coef = cp;
  args.y = yp;
  args.sums = sp;

  cudaFuncSetAttribute(conv_main, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_main<<<sms, 256, kSmemBytes, stream>>>(args);

  finish_block<<<1960, 256, 0, stream>>>(
      xp, yp, cp, sp, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      result.data_ptr<float>());

  return result;
}
