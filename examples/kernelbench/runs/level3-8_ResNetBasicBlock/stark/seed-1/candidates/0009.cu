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

static constexpr int kN = 10;
static constexpr int kH = 224;
static constexpr int kW = 224;
static constexpr int kHW = kH * kW;
static constexpr double kCnt = 501760.0;

static constexpr int kTiles = 28 * 7 * kN; // 8 x 32 pixels each
static constexpr int kHalo = 340;          // 10 x 34
// relu, rounding to half and the upper bound (65504 inside the image, 0 outside) of two values
static __device__ __forceinline__ uint32_t rb_relu_pack(float e0, float e1, uint32_t hi) {
  uint32_t d;
  asm("{\n"
      ".reg .b32 rbq;\n"
      "cvt.rn.relu.f16x2.f32 rbq, %2, %1;\n"
      "min.f16x2 %0, rbq, %3;\n"
      "}"
      : "=r"(d)
      : "f"(e0), "f"(e1), "r"(hi));
  return d;
}

static __device__ __forceinline__ void rb_sts32(uint32_t addr, uint32_t v) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(addr), "r"(v) : "memory");
}

// conv1's weight in slot i (0..7) of lane t (0..3): the k order of rb_gather
static __device__ __forceinline__ float rb_w1_slot(const float *w1f, int i, int t) {
  if (i < 6)
    return w1f[3 * (4 * (i / 3) + t) + i % 3];
  return (i == 6 && t < 3) ? w1f[24 + t] : 0.f;
}

// Swizzle of the activation tile's 16-byte chunks. Depends on p mod 16 only; all different over 8
// consecutive (aligned) pixels and over b + {0,1,4,5,8,9,12,13} for any b.
static __device__ __forceinline__ int rb_swz(int p) {
  return (p & 1) | (((p >> 2) & 1) << 1) | ((((p >> 3) ^ (p >> 1)) & 1) << 2);
}

// Eight values in 16 bytes: 8 signed 15-bit integers, 2 a word (bits 0..14 and 15..29), and one shared
// 8-bit exponent e, 2 bits a word on top. value = q * 2^(e-140) * 16384/16383.
static __device__ __forceinline__ uint4 rb_encode(const float (&v)[8]) {
  float am = fabsf(v[0]);
#pragma unroll
  for (int i = 1; i < 8; ++i)
    am = fmaxf(am, fabsf(v[i]));
  uint32_t e = __float_as_uint(am) >> 23;
  e = e > 40u ? e : 40u;
  const float sc = __uint_as_float((267u - e) << 23) * (16383.0f / 16384.0f);
  uint32_t w[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t a = __float_as_uint(fmaf(v[2 * k], sc, 12582912.0f));
    const uint32_t b = __float_as_uint(fmaf(v[2 * k + 1], sc, 12582912.0f));
    const uint32_t ab = (a & 0x7fffu) | ((b << 15) & ~0x7fffu);
    w[k] = (ab & 0x3fffffffu) | ((e >> (2 * k)) << 30);
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

static constexpr int kXTile = 3 * 504; // floats: 3 channels of 12 rows of 40, channel pitch 504
 // floats
static constexpr int kGridConv = 132;

static constexpr int kOffW1 = 73728;
static constexpr int kOffB1 = kOffW1 + 4096;
static constexpr int kOffAct = kOffB1 + 256;
static constexpr int kActBytes = kHalo * 128;
static constexpr int kOffX = kOffAct + 2 * kActBytes;
static constexpr int kOffStats = kOffX + 2 * kXTile * 4;
static constexpr int kConvSmem = kOffStats + 8 * 128 * 4;

// ------------------------------------------------------------------ moments of x's patches

static __device__ __forceinline__ void rb_load_row(const float *xb, int r, bool lok, bool rok,
                                                   float (&v)[9]) {
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const float *q = xb + c * kHW + r * kW;
    v[c * 3 + 0] = lok ? __ldg(q - 1) : 0.f;
    v[c * 3 + 1] = __ldg(q);
    v[c * 3 + 2] = rok ? __ldg(q + 1) : 0.f;
  }
}

template <int D>
static __device__ __forceinline__ void rb_gram_body(const float *__restrict__ x,
                                                    double *__restrict__ sums, int kind,
                                                    float *red) {
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int task = blockIdx.x * 4 + warp;
  int n, r0, r1, strip;
  if (kind < 3) {
    n = task / 56;
    const int rem = task - n * 56;
    const int rs = rem / 7;
    strip = rem - rs * 7;
    r0 = rs * 28;
    r1 = min(r0 + 28, kH - D);
  } else {
    const bool active = task < 70;
    n = active ? task / 7 : 0;
    strip = task % 7;
    r0 = (kind == 3) ? 0 : kH - 1;
    r1 = active ? r0 + 1 : r0;
  }
  const int p = strip * 32 + lane;
  const float *xb = x + n * 3 * kHW + p;
  const bool lok = p > 0;
  const bool rok = p < kW - 1;

  // bring the strip's lines (one 128-byte line a row and channel) into L2
  if (kind < 3 && lane < 28 + D && r0 + lane < kH) {
    const float *q = x + n * 3 * kHW + (r0 + lane) * kW + strip * 32;
#pragma unroll
    for (int c = 0; c < 3; ++c)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(q + c * kHW));
  }

  float acc[81];
  float m[9];
#pragma unroll
  for (int i = 0; i < 81; ++i)
    acc[i] = 0.f;
#pragma unroll
  for (int i = 0; i < 9; ++i)
    m[i] = 0.f;

  if (r0 < r1) {
    float v[D + 1][9];
#pragma unroll
    for (int d = 0; d <= D; ++d)
      rb_load_row(xb, r0 + d, lok, rok, v[d]);
#pragma unroll 2
    for (int r = r0; r < r1; ++r) {
      float nx[9];
      rb_load_row(xb, min(r + D + 1, kH - 1), lok, rok, nx);
#pragma unroll
      for (int a = 0; a < 9; ++a) {
#pragma unroll
        for (int b = 0; b < 9; ++b)
          acc[a * 9 + b] = fmaf(v[0][a], v[D][b], acc[a * 9 + b]);
        if (D == 0)
          m[a] += v[0][a];
      }
#pragma unroll
      for (int d = 0; d < D; ++d) {
#pragma unroll
        for (int a = 0; a < 9; ++a)
          v[d][a] = v[d + 1][a];
      }
#pragma unroll
      for (int a = 0; a < 9; ++a)
        v[D][a] = nx[a];
    }
  }

  float *rw = red + warp * (90 * 33) + lane;
#pragma unroll
  for (int i = 0; i < 81; ++i)
    rw[i * 33] = acc[i];
  if (D == 0) {
#pragma unroll
    for (int i = 0; i < 9; ++i)
      rw[(81 + i) * 33] = m[i];
  }
  __syncthreads();
  const int k = threadIdx.x;
  if (k < (D == 0 ? 90 : 81)) {
    double total = 0.0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float *q = red + (w * 90 + k) * 33;
      float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
      for (int i = 0; i < 32; i += 4) {
        s0 += q[i];
        s1 += q[i + 1];
        s2 += q[i + 2];
        s3 += q[i + 3];
      }
      total += ((double)s0 + (double)s1) + ((double)s2 + (double)s3);
    }
    atomicAdd(sums + kind * 90 + k, total);
  }
}

static __global__ void __launch_bounds__(128)
    rb_gram_kernel(const float *__restrict__ x, double *__restrict__ sums) {
  __shared__ float red[4 * 90 * 33];
  const int kind = blockIdx.y;
  if (kind >= 3 && blockIdx.x * 4 >= 70)
    return;
  if (kind == 1)
    rb_gram_body<1>(x, sums, kind, red);
  else if (kind == 2)
    rb_gram_body<2>(x, sums, kind, red);
  else
    rb_gram_body<0>(x, sums, kind, red);
}

// ------------------------------------------------------------------ statistics, folding, packing

static __device__ __forceinline__ uint32_t rb_pack(float a, float b) {
  __half2 h = __floats2half2_rn(a, b);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __global__ void __launch_bounds__(128) rb_prep_kernel(
    const double *__restrict__ sums, const float *__restrict__ w1, const float *__restrict__ g1,
    const float *__restrict__ be1, const float *__restrict__ w2, const float *__restrict__ wdn,
    const float *__restrict__ gd, const float *__restrict__ bed, float *__restrict__ rm1,
    float *__restrict__ rv1, float *__restrict__ rmd, float *__restrict__ rvd,
    int64_t *__restrict__ nb1, int64_t *__restrict__ nb2, int64_t *__restrict__ nbd,
    uint2 *__restrict__ w2p, uint2 *__restrict__ w1p, float *__restrict__ b1,
    float4 *__restrict__ wdo) {
  __shared__ double S[450];
  __shared__ double m[27];
  __shared__ double redv[4];
  __shared__ double bc;
  __shared__ float w1s[27];
  __shared__ float w2s[576];
  __shared__ float w1f[32];
  const int tid = threadIdx.x;
  const int c = blockIdx.x;
  const int g = c & 7, q = (c >> 3) & 1, j = c >> 4;

  for (int i = tid; i < 450; i += 128)
    S[i] = sums[i];
  for (int i = tid; i < 576; i += 128)
    w2s[i] = w2[c * 576 + i];
  if (tid < 27)
    w1s[tid] = w1[c * 27 + tid];
  if (c == 0 && tid == 96) {
    nb1[0] += 1;
    nb2[0] += 1;
    nbd[0] += 1;
  }
  __syncthreads();

  if (tid < 27) {
    const int a = (tid / 9) * 3 + tid % 3;
    const int ky = (tid / 3) % 3;
    double v = S[81 + a];
    if (ky == 0)
      v -= S[4 * 90 + 81 + a];
    if (ky == 2)
      v -= S[3 * 90 + 81 + a];
    m[tid] = v / kCnt;
  }
  for (int i = tid; i < 144; i += 128) {
    const int s = i >> 2, t = i & 3;
    const int tap = s >> 2;
    const int k = (s & 3) * 16 + 2 * t;
    uint2 o;
    o.x = rb_pack(w2s[k * 9 + tap], w2s[(k + 1) * 9 + tap]);
    o.y = rb_pack(w2s[(k + 8) * 9 + tap], w2s[(k + 9) * 9 + tap]);
    w2p[((s * 4 + j) * 32 + g * 4 + t) * 2 + q] = o;
  }
  __syncthreads();

  double part = 0.0;
  for (int idx = tid; idx < 729; idx += 128) {
    const int i = idx / 27;
    const int k = idx - i * 27;
    const int a = (i / 9) * 3 + i % 3, kyi = (i / 3) % 3;
    const int b = (k / 9) * 3 + k % 3, kyk = (k / 3) % 3;
    double gij;
    if (kyi == kyk) {
      gij = S[a * 9 + b];
      if (kyi == 0)
        gij -= S[4 * 90 + a * 9 + b];
      if (kyi == 2)
        gij -= S[3 * 90 + a * 9 + b];
    } else if (kyk > kyi) {
      gij = S[(kyk - kyi) * 90 + a * 9 + b];
    } else {
      gij = S[(kyi - kyk) * 90 + b * 9 + a];
    }
    part += (double)w1s[i] * (double)w1s[k] * (gij * (1.0 / kCnt) - m[i] * m[k]);
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    part += __shfl_xor_sync(0xffffffffu, part, o);
  if ((tid & 31) == 0)
    redv[tid >> 5] = part;
  __syncthreads();

  if (tid == 0) {
    double var = redv[0] + redv[1] + redv[2] + redv[3];
    if (var < 0.0)
      var = 0.0;
    double mean = 0.0;
    for (int i = 0; i < 27; ++i)
      mean += (double)w1s[i] * m[i];
    bc = (double)g1[c] / sqrt(var + 1e-5);
    rm1[c] = (float)(0.9 * (double)rm1[c] + 0.1 * mean);
    rv1[c] = (float)(0.9 * (double)rv1[c] + 0.1 * (var * (kCnt / (kCnt - 1.0))));
  }
  if (tid == 64) {
    double w[3], mm[3];
    for (int i = 0; i < 3; ++i) {
      w[i] = (double)wdn[c * 3 + i];
      mm[i] = S[81 + i * 3 + 1] / kCnt;
    }
    double mean = 0.0, var = 0.0;
    for (int i = 0; i < 3; ++i) {
      mean += w[i] * mm[i];
      for (int k = 0; k < 3; ++k)
        var += w[i] * w[k] * (S[(i * 3 + 1) * 9 + k * 3 + 1] / kCnt - mm[i] * mm[k]);
    }
    if (var < 0.0)
      var = 0.0;
    const double sd = (double)gd[c] / sqrt(var + 1e-5);
    wdo[c] = make_float4((float)(w[0] * sd), (float)(w[1] * sd), (float)(w[2] * sd),
                         (float)((double)bed[c] - mean * sd));
    rmd[c] = (float)(0.9 * (double)rmd[c] + 0.1 * mean);
    rvd[c] = (float)(0.9 * (double)rvd[c] + 0.1 * (var * (kCnt / (kCnt - 1.0))));
  }
  // the centres that the conv kernel subtracts from x: the channels' means, exact in half
  if (c == 0 && tid >= 96 && tid < 99)
    b1[64 + tid - 96] =
        __half2float(__float2half_rn((float)(S[81 + (tid - 96) * 3 + 1] / kCnt)));
  __syncthreads();

  if (tid < 32) {
    float wf = 0.f;
    double pr = 0.0;
    if (tid < 27) {
      wf = __half2float(__float2half_rn((float)((double)w1s[tid] * bc)));
      const float mc =
          __half2float(__float2half_rn((float)(S[81 + (tid / 9) * 3 + 1] / kCnt)));
      pr = (double)wf * (m[tid] - (double)mc);
    }
    w1f[tid] = wf;
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      pr += __shfl_xor_sync(0xffffffffu, pr, o);
    if (tid == 0)
      b1[c] = (float)((double)be1[c] - pr);
  }
  __syncthreads();
  if (tid < 8) {
    const int s = tid >> 2, t = tid & 3;
    uint2 o;
    o.x = rb_pack(rb_w1_slot(w1f, 4 * s, t), rb_w1_slot(w1f, 4 * s + 1, t));
    o.y = rb_pack(rb_w1_slot(w1f, 4 * s + 2, t), rb_w1_slot(w1f, 4 * s + 3, t));
    w1p[((s * 4 + j) * 32 + g * 4 + t) * 2 + q] = o;
  }
}

// ------------------------------------------------------------------ conv1 + bn1 + relu + conv2

static __device__ __forceinline__ void rb_mma(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2,
                                              uint32_t a3, uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void rb_ldmatrix(uint32_t (&a)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void rb_load_frag(uint32_t (&a)[4][4], uint4 (&b)[4],
                                                    uint32_t ad0, uint32_t ad1, const uint4 *bp) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
    b[j] = bp[j * 32];
  rb_ldmatrix(a[0], ad0);
  rb_ldmatrix(a[1], ad0 + 2048);
  rb_ldmatrix(a[2], ad1);
  rb_ldmatrix(a[3], ad1 + 2048);
}

static __device__ __forceinline__ void rb_group_bar(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// Element (c, r, col) of the tile is float c * 504 + r * 40 + col; col 0 is image column x0 - 4 and row 0
// image row y0 - 2 of the output tile's origin. A chunk of 4 columns is wholly inside or outside the image.
static __device__ __forceinline__ void rb_issue_x(const float *__restrict__ x, uint32_t dst, int t,
                                                  int gtid) {
  const int n = t / 196;
  const int rem = t - n * 196;
  const int ty = rem / 7;
  const int y0 = ty * 8 - 2;
  const int x0 = (rem - ty * 7) * 32 - 4;
  const float *xn = x + n * 3 * kHW;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int idx = i * 128 + gtid;
    if (idx < 360) {
      const int row = idx / 10; // c * 12 + r
      const int q = idx - row * 10;
      const int c = row / 12;
      const int iy = y0 + row - c * 12;
      const int ix = x0 + q * 4;
      const bool ok = (unsigned)iy < (unsigned)kH && (unsigned)ix < (unsigned)kW;
      const float *src = ok ? xn + c * kHW + iy * kW + ix : x;
      const int bytes = ok ? 16 : 0;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst + idx * 16 + c * 96),
                   "l"(src), "r"(bytes)
                   : "memory");
    }
  }
}

static __device__ __forceinline__ void rb_cp16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

// Input row r = 3 * c + ky. Slots 0..2: row t4, kx 0..2; slots 3..5: row 4 + t4, kx 0..2; slot 6: row 8,
// kx = t4 (t4 < 3). Slot 7 is always 0 and not loaded.
static __device__ __forceinline__ void rb_gather(const float *xt, int o0, int o1, int o2, int p,
                                                 float (&v)[7]) {
  const int pc = min(p, kHalo - 1);
  const float *b = xt + 2 + pc + 6 * (pc / 34); // hy * 40 + hx + 2
  const float *r0 = b + o0;
  const float *r1 = b + o1;
  v[0] = r0[0];
  v[1] = r0[1];
  v[2] = r0[2];
  v[3] = r1[0];
  v[4] = r1[1];
  v[5] = r1[2];
  v[6] = b[o2];
}

static __global__ void __launch_bounds__(256, 1)
    rb_conv_kernel(const float *__restrict__ x, const uint4 *__restrict__ w2p,
                   const uint4 *__restrict__ w1p, const float *__restrict__ b1,
                   uint4 *__restrict__ y2, double *__restrict__ sums) {
  extern __shared__ __align__(1024) unsigned char rb_smem[];
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int group = tid >> 7;
  const int gtid = tid & 127;
  const int w = gtid >> 5;
  const int g = lane >> 2, t4 = lane & 3;

  const uint32_t smem0 = (uint32_t)__cvta_generic_to_shared(rb_smem);
  const uint4 *w2s = reinterpret_cast<const uint4 *>(rb_smem) + lane;
  const uint4 *w1s = reinterpret_cast<const uint4 *>(rb_smem + kOffW1) + lane;
  const float *b1s = reinterpret_cast<const float *>(rb_smem + kOffB1);
  const uint32_t actA = smem0 + kOffAct + group * kActBytes;
  const float *xt = reinterpret_cast<const float *>(rb_smem + kOffX) + group * kXTile;
  const uint32_t xtA = smem0 + kOffX + group * (kXTile * 4);
  float *stats = reinterpret_cast<float *>(rb_smem + kOffStats);

  int t = blockIdx.x + kGridConv * group;
  if (t < kTiles)
    rb_issue_x(x, xtA, t, gtid);
  for (int i = tid; i < 4608; i += 256)
    rb_cp16(smem0 + i * 16, w2p + i);
  rb_cp16(smem0 + kOffW1 + tid * 16, w1p + tid);
  if (tid < 16)
    rb_cp16(smem0 + kOffB1 + tid * 16, b1 + tid * 4);
  // the centres of x's channels in the lane's gather slots 0..2, 3..5 and 6
  const float xc0 = b1[64 + t4 / 3];
  const float xc1 = b1[64 + (4 + t4) / 3];
  const float xc2 = b1[66];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  // the lane's offsets into the x tile, see rb_gather
  const int o0 = (t4 / 3) * 504 + (t4 % 3) * 40;
  const int o1 = ((4 + t4) / 3) * 504 + ((4 + t4) % 3) * 40;
  const int o2 = t4 < 3 ? 2 * 504 + 2 * 40 + t4 : 0;

  float st[4] = {0.f, 0.f, 0.f, 0.f};

  // the groups run in anti-phase: group 1 starts when group 0 has done a third of its first conv2
  if (group == 1)
    asm volatile("bar.sync 3, 256;" ::: "memory");

  for (; t < kTiles; t += 2 * kGridConv) {
    const int n = t / 196;
    const int rem = t - n * 196;
    const int ty = rem / 7;
    const int y0 = ty * 8;
    const int x0 = (rem - ty * 7) * 32;

    // a. the x tile is there, and the group no longer reads the activation tile
    asm volatile("cp.async.wait_all;" ::: "memory");
    rb_group_bar(group);

    // b. relu(bn1(conv1)) of the halo tile
    {
      uint4 wf[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        wf[i] = w1s[i * 32];
      float2 bb[8];
#pragma unroll
      for (int nt = 0; nt < 8; ++nt)
        bb[nt] = *reinterpret_cast<const float2 *>(b1s + nt * 8 + 2 * t4);
      const int F = rb_swz(g);
      float v0[7], v1[7];
      rb_gather(xt, o0, o1, o2, w * 16 + g, v0);
      rb_gather(xt, o0, o1, o2, w * 16 + g + 8, v1);
#pragma unroll 1
      for (int mt = w; mt < 22; mt += 4) {
        uint32_t a[2][4];
        a[0][0] = rb_pack(v0[0] - xc0, v0[1] - xc0);
        a[0][1] = rb_pack(v1[0] - xc0, v1[1] - xc0);
        a[0][2] = rb_pack(v0[2] - xc0, v0[3] - xc1);
        a[0][3] = rb_pack(v1[2] - xc0, v1[3] - xc1);
        a[1][0] = rb_pack(v0[4] - xc1, v0[5] - xc1);
        a[1][1] = rb_pack(v1[4] - xc1, v1[5] - xc1);
        a[1][2] = rb_pack(v0[6] - xc2, 0.f);
        a[1][3] = rb_pack(v1[6] - xc2, 0.f);
        const int p0 = mt * 16 + g;
        // the next m-tile's values (clamped, so always in the tile)
        rb_gather(xt, o0, o1, o2, p0 + 64, v0);
        rb_gather(xt, o0, o1, o2, p0 + 72, v1);
        float d[8][4];
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          d[nt][0] = bb[nt].x;
          d[nt][1] = bb[nt].y;
          d[nt][2] = bb[nt].x;
          d[nt][3] = bb[nt].y;
        }
#pragma unroll
        for (int s = 0; s < 2; ++s) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            rb_mma(d[2 * j], a[s][0], a[s][1], a[s][2], a[s][3], wf[s * 4 + j].x, wf[s * 4 + j].y);
            rb_mma(d[2 * j + 1], a[s][0], a[s][1], a[s][2], a[s][3], wf[s * 4 + j].z,
                   wf[s * 4 + j].w);
          }
        }
#pragma unroll
        for (int hh = 0; hh < 2; ++hh) {
          const int p = p0 + hh * 8;
          if (p < kHalo) {
            const int hy = p / 34;
            const int hx = p - hy * 34;
            const bool ok = (unsigned)(y0 - 1 + hy) < (unsigned)kH &&
                            (unsigned)(x0 - 1 + hx) < (unsigned)kW;
            // 65504 twice inside the image, zero outside: conv2's padding
            const uint32_t hi2 = ok ? 0x7bff7bffu : 0u;
            // rb_swz(p) is F ^ (hh << 2), and the tile's base is 128-byte aligned
            const uint32_t da =
                actA + (uint32_t)(p * 128 + ((F ^ (hh << 2)) << 4) + t4 * 4);
#pragma unroll
            for (int nt = 0; nt < 8; ++nt)
              rb_sts32(da ^ (uint32_t)(nt << 4),
                       rb_relu_pack(d[nt][hh * 2 + 0], d[nt][hh * 2 + 1], hi2));
          }
        }
      }
    }
    rb_group_bar(group);

    // the next x tile
    if (t + 2 * kGridConv < kTiles)
      rb_issue_x(x, xtA, t + 2 * kGridConv, gtid);

    // c. conv2: M = channels (4 tiles of 16), N = pixels (8 tiles of 8)
    float acc[4][8][4];
#pragma unroll
    for (int mc = 0; mc < 4; ++mc)
#pragma unroll
      for (int np = 0; np < 8; ++np)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mc][np][e] = 0.f;
    {
      uint32_t fa[2][4][4];
      uint4 fb[2][4];
      // the lane's pixel among 16 columns: a thread ends up with 4 consecutive pixels
      const int px = (((lane & 7) >> 1) << 2) | (((lane >> 3) & 1) << 1) | (lane & 1);
      const int pb = (2 * w) * 34 + px;
      const int h = lane >> 4;
      uint32_t ra0 = actA + (uint32_t)(pb * 128 + ((h ^ rb_swz(pb)) << 4));
      uint32_t ra1 = actA + (uint32_t)((pb + 34) * 128 + ((h ^ rb_swz(pb + 34)) << 4));
      rb_load_frag(fa[0], fb[0], ra0, ra1, w2s);
#pragma unroll 1
      for (int ky = 0; ky < 3; ++ky) {
        // group 0's first tile only: let group 1 begin
        if (ky == 1 && t < kGridConv)
          asm volatile("bar.arrive 3, 256;" ::: "memory");
        const uint4 *bk = w2s + ky * (12 * 128);
#pragma unroll
        for (int i = 0; i < 12; ++i) {
          const int cur = i & 1;
          const int nx = cur ^ 1;
          if (i < 11) {
            const int s = i + 1;
            const int kc = s & 3;
            if (kc == 0) {
              const int p = pb + ky * 34 + (s >> 2);
              const int p2 = p + 34;
              ra0 = actA + (uint32_t)(p * 128 + ((h ^ rb_swz(p)) << 4));
              ra1 = actA + (uint32_t)(p2 * 128 + ((h ^ rb_swz(p2)) << 4));
            }
            rb_load_frag(fa[nx], fb[nx], ra0 ^ (uint32_t)(kc << 5), ra1 ^ (uint32_t)(kc << 5),
                         bk + s * 128);
          } else {
            const int kyn = min(ky + 1, 2); // the last load is not used
            const int p = pb + kyn * 34;
            const int p2 = p + 34;
            ra0 = actA + (uint32_t)(p * 128 + ((h ^ rb_swz(p)) << 4));
            ra1 = actA + (uint32_t)(p2 * 128 + ((h ^ rb_swz(p2)) << 4));
            rb_load_frag(fa[nx], fb[nx], ra0, ra1, w2s + kyn * (12 * 128));
          }
#pragma unroll
          for (int mc = 0; mc < 4; ++mc) {
#pragma unroll
            for (int m = 0; m < 4; ++m) {
              rb_mma(acc[mc][2 * m], fb[cur][mc].x, fb[cur][mc].z, fb[cur][mc].y, fb[cur][mc].w,
                     fa[cur][m][0], fa[cur][m][2]);
              rb_mma(acc[mc][2 * m + 1], fb[cur][mc].x, fb[cur][mc].z, fb[cur][mc].y,
                     fb[cur][mc].w, fa[cur][m][1], fa[cur][m][3]);
            }
          }
        }
      }
    }

    // d. sums of bn2: transposing reduction over the 4 lanes with the same g
    {
      float v[16];
#pragma unroll
      for (int mc = 0; mc < 4; ++mc) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float s = 0.f, q = 0.f;
#pragma unroll
          for (int np = 0; np < 8; ++np) {
            const float u0 = acc[mc][np][2 * e];
            const float u1 = acc[mc][np][2 * e + 1];
            s += u0 + u1;
            q = fmaf(u0, u0, q);
            q = fmaf(u1, u1, q);
          }
          v[mc * 2 + e] = s;
          v[8 + mc * 2 + e] = q;
        }
      }
      const bool up2 = (lane & 2) != 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float send = up2 ? v[i] : v[i + 8];
        const float keep = up2 ? v[i + 8] : v[i];
        v[i] = keep + __shfl_xor_sync(0xffffffffu, send, 2);
      }
      const bool up1 = (lane & 1) != 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float send = up1 ? v[i] : v[i + 4];
        const float keep = up1 ? v[i + 4] : v[i];
        st[i] += keep + __shfl_xor_sync(0xffffffffu, send, 1);
      }
    }

    // e. store: 2 rows x 4 pixels of a channel are one uint4, [n][channel][row pair][column quad]
    {
      uint4 *dst = y2 + ((n * 64 + g) * 112 + (y0 >> 1) + w) * 56 + (x0 >> 2) + t4;
#pragma unroll
      for (int mc = 0; mc < 4; ++mc) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
#pragma unroll
          for (int c16 = 0; c16 < 2; ++c16) {
            float v[8];
            v[0] = acc[mc][2 * c16][2 * e];
            v[1] = acc[mc][2 * c16][2 * e + 1];
            v[2] = acc[mc][2 * c16 + 1][2 * e];
            v[3] = acc[mc][2 * c16 + 1][2 * e + 1];
            v[4] = acc[mc][2 * c16 + 4][2 * e];
            v[5] = acc[mc][2 * c16 + 4][2 * e + 1];
            v[6] = acc[mc][2 * c16 + 5][2 * e];
            v[7] = acc[mc][2 * c16 + 5][2 * e + 1];
            dst[(16 * mc + 8 * e) * 6272 + c16 * 4] = rb_encode(v);
          }
        }
      }
    }
  }

  // the lane holds stat t4>>1 of the channel indices ci = (t4&1)*4 + i
  {
    float *sw = stats + (tid >> 5) * 128 + (t4 >> 1) * 64 + g;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int ci = (t4 & 1) * 4 + i;
      sw[16 * (ci >> 1) + 8 * (ci & 1)] = st[i];
    }
  }
  __syncthreads();
  if (tid < 128) {
    double s = 0.0;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      s += (double)stats[i * 128 + tid];
    atomicAdd(sums + 450 + tid, s);
  }
}

// ------------------------------------------------------------------ bn2 + downsample + add + relu

static __global__ void __launch_bounds__(224, 3)
    rb_final_kernel(const float *__restrict__ x, const uint4 *__restrict__ y2,
                    const double *__restrict__ sums, const float4 *__restrict__ wd,
                    const float *__restrict__ g2, const float *__restrict__ be2,
                    float *__restrict__ rm2, float *__restrict__ rv2, float *__restrict__ out) {
  __shared__ float4 prm[8];
  __shared__ float bias[8];
  const int tid = threadIdx.x;
  const int n = kN - 1 - (int)blockIdx.z;
  const int cb = blockIdx.y * 8;
  const int j = blockIdx.x * 224 + tid; // row pair * 56 + column quad, < 6272
  const int yp = j / 56;
  const int xq = j - yp * 56;
  const int pix = yp * 448 + xq * 4;

  const uint4 *yb = y2 + (n * 64 + cb) * 6272 + j;
  uint4 y[8];
#pragma unroll
  for (int k = 0; k < 8; ++k)
    y[k] = __ldcs(yb + k * 6272);
  const float *xp = x + n * 3 * kHW + pix;
  const float4 a0 = __ldg(reinterpret_cast<const float4 *>(xp));
  const float4 a1 = __ldg(reinterpret_cast<const float4 *>(xp + kHW));
  const float4 a2 = __ldg(reinterpret_cast<const float4 *>(xp + 2 * kHW));
  const float4 c0 = __ldg(reinterpret_cast<const float4 *>(xp + kW));
  const float4 c1 = __ldg(reinterpret_cast<const float4 *>(xp + kHW + kW));
  const float4 c2 = __ldg(reinterpret_cast<const float4 *>(xp + 2 * kHW + kW));

  if (tid < 8) {
    const int c = cb + tid;
    const double mean = sums[450 + c] * (1.0 / kCnt);
    double var = sums[450 + 64 + c] * (1.0 / kCnt) - mean * mean;
    if (var < 0.0)
      var = 0.0;
    const float s2 = g2[c] / sqrtf((float)(var + 1e-5));
    const float4 d = wd[c];
    prm[tid] = make_float4(s2 * (16384.0f / 16383.0f), d.x, d.y, d.z);
    bias[tid] = be2[c] - (float)mean * s2 + d.w;
    if (blockIdx.x == 0 && blockIdx.z == 0) {
      rm2[c] = (float)(0.9 * (double)rm2[c] + 0.1 * mean);
      rv2[c] = (float)(0.9 * (double)rv2[c] + 0.1 * (var * (kCnt / (kCnt - 1.0))));
    }
  }
  __syncthreads();

  float *op = out + (n * 64 + cb) * kHW + pix;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float4 q = prm[k];
    const float b = bias[k];
    const uint4 u = y[k];
    // the shared exponent; the integers stand 17 bits up, which the scale takes back
    const uint32_t e =
        (u.x >> 30) | ((u.y >> 30) << 2) | ((u.z >> 30) << 4) | ((u.w >> 30) << 6);
    const float s = __uint_as_float((e - 30u) << 23) * q.x;
    const float q0 = (float)(int)(u.x << 17);
    const float q1 = (float)(int)((u.x << 2) & 0xfffe0000u);
    const float q2 = (float)(int)(u.y << 17);
    const float q3 = (float)(int)((u.y << 2) & 0xfffe0000u);
    const float q4 = (float)(int)(u.z << 17);
    const float q5 = (float)(int)((u.z << 2) & 0xfffe0000u);
    const float q6 = (float)(int)(u.w << 17);
    const float q7 = (float)(int)((u.w << 2) & 0xfffe0000u);
    float4 o;
    o.x = fmaxf(0.f, fmaf(q0, s, fmaf(a0.x, q.y, fmaf(a1.x, q.z, fmaf(a2.x, q.w, b)))));
    o.y = fmaxf(0.f, fmaf(q1, s, fmaf(a0.y, q.y, fmaf(a1.y, q.z, fmaf(a2.y, q.w, b)))));
    o.z = fmaxf(0.f, fmaf(q2, s, fmaf(a0.z, q.y, fmaf(a1.z, q.z, fmaf(a2.z, q.w, b)))));
    o.w = fmaxf(0.f, fmaf(q3, s, fmaf(a0.w, q.y, fmaf(a1.w, q.z, fmaf(a2.w, q.w, b)))));
    __stcs(reinterpret_cast<float4 *>(op + k * kHW), o);
    float4 r;
    r.x = fmaxf(0.f, fmaf(q4, s, fmaf(c0.x, q.y, fmaf(c1.x, q.z, fmaf(c2.x, q.w, b)))));
    r.y = fmaxf(0.f, fmaf(q5, s, fmaf(c0.y, q.y, fmaf(c1.y, q.z, fmaf(c2.y, q.w, b)))));
    r.z = fmaxf(0.f, fmaf(q6, s, fmaf(c0.z, q.y, fmaf(c1.z, q.z, fmaf(c2.z, q.w, b)))));
    r.w = fmaxf(0.f, fmaf(q7, s, fmaf(c0.w, q.y, fmaf(c1.w, q.z, fmaf(c2.w, q.w, b)))));
    __stcs(reinterpret_cast<float4 *>(op + k * kHW + kW), r);
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

  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());
  // 16 bytes for 2 rows x 4 pixels: see rb_encode
  at::Tensor y2t = at::empty({10, 64, 224, 224}, x.options().dtype(at::kHalf));
  at::Tensor sums_t = at::empty({5 * 90 + 128}, x.options().dtype(at::kDouble));
  at::Tensor w2p_t = at::empty({73728}, x.options().dtype(at::kByte));
  at::Tensor w1p_t = at::empty({4096}, x.options().dtype(at::kByte));
  at::Tensor b1_t = at::empty({68}, x.options()); // 64 biases, then the 3 centres of x
  at::Tensor wd_t = at::empty({256}, x.options());

  const float *xp = x.const_data_ptr<float>();
  double *sums = sums_t.data_ptr<double>();
  void *w2p = w2p_t.data_ptr();
  void *w1p = w1p_t.data_ptr();
  float *b1 = b1_t.data_ptr<float>();
  float4 *wd = reinterpret_cast<float4 *>(wd_t.data_ptr<float>());
  uint4 *y2 = reinterpret_cast<uint4 *>(y2t.data_ptr());

  cudaMemsetAsync(sums, 0, (5 * 90 + 128) * sizeof(double), stream);
  rb_gram_kernel<<<dim3(140, 5), 128, 0, stream>>>(xp, sums);
  rb_prep_kernel<<<64, 128, 0, stream>>>(
      sums, conv1_weight.const_data_ptr<float>(), bn1_weight.const_data_ptr<float>(),
      bn1_bias.const_data_ptr<float>(), conv2_weight.const_data_ptr<float>(),
      downsample_0_weight.const_data_ptr<float>(), downsample_1_weight.const_data_ptr<float>(),
      downsample_1_bias.const_data_ptr<float>(), bn1_running_mean.data_ptr<float>(),
      bn1_running_var.data_ptr<float>(), downsample_1_running_mean.data_ptr<float>(),
      downsample_1_running_var.data_ptr<float>(), bn1_num_batches_tracked.data_ptr<int64_t>(),
      bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), reinterpret_cast<uint2 *>(w2p),
      reinterpret_cast<uint2 *>(w1p), b1, wd);
  cudaFuncSetAttribute(rb_conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kConvSmem);
  rb_conv_kernel<<<kGridConv, 256, kConvSmem, stream>>>(
      xp, reinterpret_cast<const uint4 *>(w2p), reinterpret_cast<const uint4 *>(w1p), b1, y2, sums);
  rb_final_kernel<<<dim3(28, 8, 10), 224, 0, stream>>>(
      xp, y2, sums, wd, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(), out.data_ptr<float>());
  return out;
}
