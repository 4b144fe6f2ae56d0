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
constexpr int kDiagStride = 54;            // 45 packed second moments + 9 sums
constexpr int kOffBase = 3 * kDiagStride;  // 162
constexpr int kSum2 = 512;
constexpr int kSq2 = 576;
constexpr int kStats = 640;

// layout of par
constexpr int kParDs = 64;
constexpr int kParDelta = 320;
constexpr int kParSize = 384;

// shared memory of the convolution
constexpr int kW2Bytes = 73728;
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

template <bool kDiag>
static __device__ __forceinline__ void gram_warp(const float *pa, const float *pb, double *dst,
                                                 int lane) {
  constexpr int kCount = kDiag ? 64 : 96;
  float v[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k)
    v[k] = 0.f;
  float a[9], b[9];
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    a[i] = pa[(i / 3) * 36 + lane + (i % 3)];
    if (!kDiag)
      b[i] = pb[(i / 3) * 36 + lane + (i % 3)];
  }
#pragma unroll 4
  for (int r = 0; r < 32; ++r) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      a[6 + i] = pa[(r + 2) * 36 + lane + i];
      if (!kDiag)
        b[6 + i] = pb[(r + 2) * 36 + lane + i];
    }
#pragma unroll
    for (int i = 0; i < 9; ++i) {
#pragma unroll
      for (int j = 0; j < 9; ++j) {
        if (kDiag) {
          if (j >= i)
            v[9 * i - i * (i - 1) / 2 + (j - i)] += a[i] * a[j];
        } else {
          v[9 * i + j] += a[i] * b[j];
        }
      }
      if (kDiag)
        v[45 + i] += a[i];
    }
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      a[i] = a[i + 3];
      if (!kDiag)
        b[i] = b[i + 3];
    }
  }
  fold_step<kCount / 2, 16>(v, lane);
  fold_step<kCount / 4, 8>(v, lane);
  fold_step<kCount / 8, 4>(v, lane);
  fold_step<kCount / 16, 2>(v, lane);
  fold_step<kCount / 32, 1>(v, lane);
  constexpr int kOwn = kCount / 32;
  constexpr int kUsed = kDiag ? 54 : 81;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const int idx = lane * kOwn + k;
    if (idx < kUsed)
      atomicAdd(dst + idx, (double)v[k]);
  }
}

static __global__ void __launch_bounds__(192, 2)
gram_kernel(const float *__restrict__ x, double *__restrict__ stats) {
  __shared__ float patch[3 * 34 * 36];
  const int tid = threadIdx.x;
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, n = blockIdx.z;
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(patch);
  for (int i = tid; i < 3 * 34 * 34; i += 192) {
    const int ci = i / (34 * 34);
    const int rem = i - ci * (34 * 34);
    const int r = rem / 34;
    const int cc = rem - r * 34;
    const int yy = y0 - 1 + r, xx = x0 - 1 + cc;
    const bool in = (unsigned)yy < (unsigned)kImg && (unsigned)xx < (unsigned)kImg;
    const float *src = in ? x + ((n * 3 + ci) * kImg + yy) * kImg + xx : x;
    cp_async4(base + (uint32_t)((ci * 34 + r) * 36 + cc) * 4u, src, in ? 4 : 0);
  }
  cp_async_wait_all();
  __syncthreads();
  const int w = tid >> 5, lane = tid & 31;
  constexpr int kPlane = 34 * 36;
  if (w < 3) {
    gram_warp<true>(patch + w * kPlane, patch + w * kPlane, stats + w * kDiagStride, lane);
  } else {
    const int p = w - 3;  // (0,1), (0,2), (1,2)
    const int ca = p == 2 ? 1 : 0;
    const int cb = p == 0 ? 1 : 2;
    gram_warp<false>(patch + ca * kPlane, patch + cb * kPlane, stats + kOffBase + p * 81, lane);
  }
}

// ---------------------------------------------------------------------------------------------
// 2. statistics of the first and the downsampling convolution, packed weights
// ---------------------------------------------------------------------------------------------

static __device__ __forceinline__ double gram_at(const double *__restrict__ stats, int a, int b) {
  int ca = a / 9, i = a % 9, cb = b / 9, j = b % 9;
  if (ca == cb) {
    const int lo = min(i, j), hi = max(i, j);
    return stats[ca * kDiagStride + 9 * lo - lo * (lo - 1) / 2 + (hi - lo)];
  }
  if (ca > cb) {
    int s = ca;
    ca = cb;
    cb = s;
    s = i;
    i = j;
    j = s;
  }
  return stats[kOffBase + (ca + cb - 1) * 81 + i * 9 + j];
}

static __device__ __forceinline__ double warp_sum(double v) {
#pragma unroll
  for (int m = 16; m > 0; m >>= 1)
    v += __shfl_xor_sync(0xffffffffu, v, m);
  return v;
}

static __global__ void __launch_bounds__(128) prep_kernel(PrepArgs p) {
  __shared__ float ea[64];
  __shared__ float red[4];
  const int c = blockIdx.x, tid = threadIdx.x, lane = tid & 31;

  if (tid < 64) {
    // expected activation after ReLU, taking the normalised value as Gaussian
    const float mu = p.b1[tid], sg = fabsf(p.g1[tid]);
    float e = fmaxf(mu, 0.f);
    if (sg > 1e-20f) {
      const float z = mu / sg;
      e = sg * 0.3989422804f * expf(-0.5f * z * z) + mu * normcdff(z);
    }
    ea[tid] = e;
  }
  __syncthreads();

  float delta = 0.f;
  for (int idx = tid; idx < 576; idx += 128) {
    const int ci = idx / 9, tap = idx - ci * 9;
    const float w = p.w2[c * 576 + idx];
    const __half h = __float2half_rn(w);
    delta += (w - __half2float(h)) * ea[ci];
    p.w2h[tap * 4096 + c * 64 + (((ci >> 3) ^ (c & 7)) << 3) + (ci & 7)] = h;
  }
#pragma unroll
  for (int m = 16; m > 0; m >>= 1)
    delta += __shfl_xor_sync(0xffffffffu, delta, m);
  if (lane == 0)
    red[tid >> 5] = delta;

  if (tid < 32) {
    const int a = lane < 27 ? lane : 26;
    const double wa = lane < 27 ? (double)p.w1[c * 27 + a] : 0.0;
    const double sa = p.stats[(a / 9) * kDiagStride + 45 + a % 9];
    double r = 0.0;
#pragma unroll 9
    for (int b = 0; b < 27; ++b) {
      const double wb = __shfl_sync(0xffffffffu, wa, b);
      r += gram_at(p.stats, a, b) * wb;
    }
    const double mean = warp_sum(wa * sa) / kN;
    const double e2 = warp_sum(wa * r) / kN;
    double var = e2 - mean * mean;
    if (var < 0.0)
      var = 0.0;
    const double scale = (double)p.g1[c] / sqrt(var + 1e-5);
    const double wp = wa * scale;
    const __half h = __float2half_rn((float)wp);
    const double corr = warp_sum((wp - (double)__half2float(h)) * sa) / kN;
    const int k = lane;
    const int ks = k >> 4, kr = k & 15, reg = kr >> 3, q = (kr & 7) >> 1, e = kr & 1;
    p.w1h[(((ks * 8 + (c >> 3)) * 32 + ((c & 7) * 4 + q)) * 2 + reg) * 2 + e] = h;

    if (lane == 0) {
      p.par[c] = (float)((double)p.b1[c] - mean * scale + corr);
      p.rm1[c] = (float)(0.9 * (double)p.rm1[c] + 0.1 * mean);
      p.rv1[c] = (float)(0.9 * (double)p.rv1[c] + 0.1 * (var * (kN / (kN - 1.0))));
    } else if (lane == 1) {
      const double d0 = p.wd[c * 3], d1 = p.wd[c * 3 + 1], d2 = p.wd[c * 3 + 2];
      const double md = (d0 * p.stats[45 + 4] + d1 * p.stats[kDiagStride + 45 + 4] +
                         d2 * p.stats[2 * kDiagStride + 45 + 4]) /
                        kN;
      const double ed = (d0 * d0 * gram_at(p.stats, 4, 4) + d1 * d1 * gram_at(p.stats, 13, 13) +
                         d2 * d2 * gram_at(p.stats, 22, 22) +
                         2.0 * (d0 * d1 * gram_at(p.stats, 4, 13) +
                                d0 * d2 * gram_at(p.stats, 4, 22) +
                                d1 * d2 * gram_at(p.stats, 13, 22))) /
                        kN;
      double vd = ed - md * md;
      if (vd < 0.0)
        vd = 0.0;
      const double sd = (double)p.gd[c] / sqrt(vd + 1e-5);
      float *o = p.par + kParDs + c * 4;
      o[0] = (float)(d0 * sd);
      o[1] = (float)(d1 * sd);
      o[2] = (float)(d2 * sd);
      o[3] = (float)((double)p.bd[c] - md * sd);
      p.rmd[c] = (float)(0.9 * (double)p.rmd[c] + 0.1 * md);
      p.rvd[c] = (float)(0.9 * (double)p.rvd[c] + 0.1 * (vd * (kN / (kN - 1.0))));
    }
  }
  __syncthreads();
  if (tid == 0)
    p.par[kParDelta + c] = red[0] + red[1] + red[2] + red[3];
  if (c == 0 && tid == 64) {
    p.nb1[0] += 1;
    p.nb2[0] += 1;
    p.nbd[0] += 1;
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

static __device__ __forceinline__ void load_frags(uint32_t (&fa)[4][4], uint32_t (&fb)[4][4],
                                                  uint32_t a0, uint32_t a1, uint32_t b0,
                                                  uint32_t kx) {
  const uint32_t p0 = a0 ^ kx, p1 = a1 ^ kx, pb = b0 ^ kx;
  ldsm4(fa[0], p0);
  ldsm4(fb[0], pb);
  ldsm4(fa[1], p1);
  ldsm4(fa[2], p0 + 4352u);
  ldsm4(fa[3], p1 + 4352u);
  ldsm4(fb[1], pb + 2048u);
  ldsm4(fb[2], pb + 4096u);
  ldsm4(fb[3], pb + 6144u);
}

static __global__ void __launch_bounds__(256, 1)
conv_kernel(const float *__restrict__ x, const __half *__restrict__ w2h,
            const __half *__restrict__ w1h, const float *__restrict__ par, __half *__restrict__ y,
            double *__restrict__ stats) {
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
    uint4 *dst = reinterpret_cast<uint4 *>(smem);
#pragma unroll 6
    for (int i = tid; i < kW2Bytes / 16; i += 256)
      dst[i] = src[i];
    reinterpret_cast<uint4 *>(smem + kW1Off)[tid] = reinterpret_cast<const uint4 *>(w1h)[tid];
    if (tid < 64)
      reinterpret_cast<float *>(smem + kShiftOff)[tid] = par[tid];
    if (tid < 32) {
      // entry [q][ks*4 + s]: k = 16 ks + 2 q + {0, 1, 8, 9}[s]
      const int qq = tid >> 3, ks = (tid >> 2) & 1, s = tid & 3;
      const int k = ks * 16 + 2 * qq + (s & 1) + (s >> 1) * 8;
      const int off = k < 27 ? (k / 9) * 432 + ((k % 9) / 3) * 36 + k % 3 : 0;
      reinterpret_cast<int *>(smem + kKoffOff)[tid] = off;
    }
  }
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

    // ---- phase B: conv2
    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k)
          acc[i][j][k] = 0.f;

    {
      const int r = lane & 15;
      const int colb = 4 * (r & 7) + (r >> 3);
      const int h = lane >> 4;
      const uint32_t arow = sbase + kHaloOff + group * kHaloBytes + (uint32_t)(2 * w * 34) * 128u;
      uint32_t a0 = arow + colb * 128 + ((h ^ halo_f(colb)) << 4);
      uint32_t a1 = arow + (colb + 2) * 128 + ((h ^ halo_f(colb + 2)) << 4);
      uint32_t b0 = sbase + ((lane & 7) + ((lane >> 4) << 3)) * 128 +
                    ((((lane >> 3) & 1) ^ (lane & 7)) << 4);
      const uint32_t bstart = b0;

      uint32_t fa[2][4][4], fb[2][4][4];
      load_frags(fa[0], fb[0], a0, a1, b0, 0u);

#pragma unroll 1
      for (int tap = 0; tap < 9; ++tap) {
        const int tn = tap < 8 ? tap + 1 : 0;
        const int dy = (tn * 11) >> 5;
        const int dx = tn - dy * 3;
        const int hc = colb + dx;
        const uint32_t na0 = arow + (dy * 34 + hc) * 128 + ((h ^ halo_f(hc)) << 4);
        const uint32_t na1 = arow + (dy * 34 + hc + 2) * 128 + ((h ^ halo_f(hc + 2)) << 4);
        const uint32_t nb0 = bstart + tn * 8192;
#pragma unroll
        for (int kk = 0; kk < 4; ++kk) {
          if (kk < 3)
            load_frags(fa[(kk + 1) & 1], fb[(kk + 1) & 1], a0, a1, b0, (uint32_t)((kk + 1) << 5));
          else
            load_frags(fa[0], fb[0], na0, na1, nb0, 0u);
#pragma unroll
          for (int jp = 0; jp < 4; ++jp) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              mma16816(acc[i][2 * jp], fa[kk & 1][i], fb[kk & 1][jp][0], fb[kk & 1][jp][1]);
              mma16816(acc[i][2 * jp + 1], fa[kk & 1][i], fb[kk & 1][jp][2], fb[kk & 1][jp][3]);
            }
          }
        }
        a0 = na0;
        a1 = na1;
        b0 = nb0;
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
            const float e0 = acc[2 * r2][j][b];
            const float e1 = acc[2 * r2][j][2 + b];
            const float e2 = acc[2 * r2 + 1][j][b];
            const float e3 = acc[2 * r2 + 1][j][2 + b];
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
  at::Tensor w2h = at::empty({9 * 64 * 64}, x.options().dtype(at::kHalf));
  at::Tensor w1h = at::empty({2048}, x.options().dtype(at::kHalf));
  at::Tensor par = at::empty({kParSize}, x.options());
  at::Tensor y = at::empty({10, 64, 224, 224}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());

  const float *xp = x.const_data_ptr<float>();
  double *sp = stats.data_ptr<double>();
  __half *w2p = static_cast<__half *>(w2h.data_ptr());
  __half *w1p = static_cast<__half *>(w1h.data_ptr());
  __half *yp = static_cast<__half *>(y.data_ptr());
  float *pp = par.data_ptr<float>();

  cudaMemsetAsync(sp, 0, kStats * sizeof(double), stream);

  gram_kernel<<<dim3(7, 7, 10), 192, 0, stream>>>(xp, sp);

  PrepArgs args;
  args.w1 = conv1_weight.const_data_ptr<float>();
  args.g1 = bn1_weight.const_data_ptr<float>();
  args.b1 = bn1_bias.const_data_ptr<float>();
  args.w2 = conv2_weight.const_data_ptr<float>();
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
  args.stats = sp;
  args.w2h = w2p;
  args.w1h = w1p;
  args.par = pp;
  prep_kernel<<<64, 128, 0, stream>>>(args);

  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kConvSmem);
  conv_kernel<<<sms, 256, kConvSmem, stream>>>(xp, w2p, w1p, pp, yp, sp);

  final_kernel<<<dim3(4, 49, 10), 256, 0, stream>>>(
      xp, yp, sp, pp, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
