// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

static constexpr int kWeightBlocks = 288;               // 4*9*64*32 / 256
static constexpr int kDepth = 16384;                    // floats from one depth of x to the next
static constexpr int kChannel = 32 * 16384;             // floats from one channel of x to the next
                // 4 images * 128 rows
static constexpr int kWeightBytes = 36 * 64 * 64;       // 147456
static constexpr int kRowBytes = 18 * 64;               // 1152 = 9 * 128
static constexpr int kSlotBytes = 18 * kRowBytes;       // 20736
static constexpr int kBiasOffset = kWeightBytes + 4 * kSlotBytes;  // 230400
static constexpr int kExchOffset = kBiasOffset + 64 * 4;           // 230656
static constexpr int kSmemBytes = kExchOffset + 128 * 8; // 231680
static constexpr int kTapBytes = 64 * 64;               // 4096
static constexpr int kConvBlocks = 128;

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int srcsize) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(srcsize)
               : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int N>
static __device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}

static __device__ __forceinline__ void ldsm4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                             uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Eight channels of two neighbouring pixels, as halves.
// An item of x: 4 depths (65536 bytes apart) of 2 channels (2097152 bytes apart), v[2 * depth + channel].
// Zero, and no access, where not ok; f0 and f3 say whether the first and the last depth exist.
static __device__ __forceinline__ void load_item8(float (&v)[8], const float *p, int ok, int f0,
                                                  int f3) {
  asm volatile(
      "{\n"
      " .reg .pred p, q, r;\n"
      " setp.ne.s32 p, %9, 0;\n"
      " setp.ne.and.s32 q, %10, 0, p;\n"
      " setp.ne.and.s32 r, %11, 0, p;\n"
      " mov.f32 %0, 0f00000000;\n"
      " mov.f32 %1, 0f00000000;\n"
      " mov.f32 %2, 0f00000000;\n"
      " mov.f32 %3, 0f00000000;\n"
      " mov.f32 %4, 0f00000000;\n"
      " mov.f32 %5, 0f00000000;\n"
      " mov.f32 %6, 0f00000000;\n"
      " mov.f32 %7, 0f00000000;\n"
      " @q ld.global.nc.L1::no_allocate.L2::128B.f32 %0, [%8];\n"
      " @q ld.global.nc.L1::no_allocate.L2::128B.f32 %1, [%8+2097152];\n"
      " @p ld.global.nc.L1::no_allocate.L2::128B.f32 %2, [%8+65536];\n"
      " @p ld.global.nc.L1::no_allocate.L2::128B.f32 %3, [%8+2162688];\n"
      " @p ld.global.nc.L1::no_allocate.L2::128B.f32 %4, [%8+131072];\n"
      " @p ld.global.nc.L1::no_allocate.L2::128B.f32 %5, [%8+2228224];\n"
      " @r ld.global.nc.L1::no_allocate.L2::128B.f32 %6, [%8+196608];\n"
      " @r ld.global.nc.L1::no_allocate.L2::128B.f32 %7, [%8+2293760];\n"
      "}\n"
      : "=&f"(v[0]), "=&f"(v[1]), "=&f"(v[2]), "=&f"(v[3]), "=&f"(v[4]), "=&f"(v[5]), "=&f"(v[6]),
        "=&f"(v[7])
      : "l"(p), "r"(ok), "r"(f0), "r"(f3));
}

static __device__ __forceinline__ void prefetch_l2(const float *p, int ok) {
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.ne.s32 p, %1, 0;\n"
      " @p prefetch.global.L2 [%0];\n"
      "}\n" ::"l"(p),
      "r"(ok));
}

static __device__ __forceinline__ void st_shared32(uint32_t addr, uint32_t val, int ok) {
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.ne.s32 p, %2, 0;\n"
      " @p st.shared.b32 [%0], %1;\n"
      "}\n" ::"r"(addr),
      "r"(val), "r"(ok)
      : "memory");
}

// Transforms an item over the depth and stores its two channels to the four planes.
static __device__ __forceinline__ void store_item8(const float (&v)[8], uint32_t addr, int ok) {
  st_shared32(addr, pack_half2(v[2] + v[4], v[3] + v[5]), ok);
  st_shared32(addr + kSlotBytes, pack_half2(v[4] - v[2], v[5] - v[3]), ok);
  st_shared32(addr + 2 * kSlotBytes, pack_half2(v[0] - v[4], v[1] - v[5]), ok);
  st_shared32(addr + 3 * kSlotBytes, pack_half2(v[6] - v[2], v[7] - v[3]), ok);
}

// x: [n][c][d][h][w] f32 -> T: [n][s][q][h][w][c] f16; weights -> U: [q*9 + tap][n][c swizzled] f16.
static __global__ void __launch_bounds__(256)
prep_kernel(const float *__restrict__ w, __half *__restrict__ wh) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int c = i & 31;
  const int n = (i >> 5) & 63;
  const int t = i >> 11;
  const int q = t / 9;
  const int r = t - q * 9;
  const float *p = w + (n * 32 + c) * 27 + r;
  const float g0 = p[0];
  const float g1 = p[9];
  const float g2 = p[18];
  float u;
  if (q == 0)
    u = 0.5f * (g0 + g1 + g2);
  else if (q == 1)
    u = 0.5f * (g0 - g1 + g2);
  else if (q == 2)
    u = g0;
  else
    u = g2;
  wh[t * 2048 + n * 32 + ((((c >> 3) ^ ((n >> 1) & 3)) << 3) | (c & 7))] = __float2half_rn(u);
}

static __global__ void __launch_bounds__(256, 1)
conv_fused_kernel(const float *__restrict__ x, const __half *__restrict__ wh,
                  const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem_raw[];
  const uint32_t wBase = (uint32_t)__cvta_generic_to_shared(smem_raw);
  const uint32_t planes = wBase + kWeightBytes;
  float *sbias = reinterpret_cast<float *>(smem_raw + kBiasOffset);
  float2 *exch = reinterpret_cast<float2 *>(smem_raw + kExchOffset);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int nh = warp & 1;
  const int pg = warp >> 1;
  const int g = lane >> 2;
  const int odd = g & 1;

  const int w0 = (blockIdx.x & 7) * 16;
  const int h0 = ((blockIdx.x >> 3) & 7) * 16;
  const int n0 = blockIdx.x >> 6;

  // All weights, once.
  {
    const char *wsrc = reinterpret_cast<const char *>(wh);
    for (int i = tid; i < kWeightBytes / 16; i += 256)
      cp_async16(wBase + i * 16, wsrc + i * 16, 16);
    cp_async_commit();
    if (tid < 64)
      sbias[tid] = bias[tid];
  }

  // Fragment addresses of the current channel half; ^ 32 is the other half.
  uint32_t aA[3];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int ww = kw + (lane & 15);
    const int chunk = lane >> 4;
    aA[kw] = planes + (uint32_t)(pg * 4 * kRowBytes) +
             (uint32_t)(ww * 64 + ((chunk ^ ((ww >> 1) & 3)) << 4));
  }
  uint32_t wB;
  {
    const int nr = (lane & 7) + ((lane >> 4) << 3);
    const int chunk = (lane >> 3) & 1;
    wB = wBase + (uint32_t)(nh * 2048) +
         (uint32_t)(nr * 64 + ((chunk ^ ((nr >> 1) & 3)) << 4));
  }

  // The producer's side. Items 0..8 of a thread: columns 1..16 of the tile, rows r0 + 2 * i; a warp
  // has 8 pixels and 8 channels. Item 9 (and 10, warp 0 only): columns 0 and 17.
  const int r0 = warp >> 2;
  int loffC, loffE;
  uint32_t dstC, dstE;
  int okTop, okBot, okE9, okE10;
  {
    const int px = lane & 7;
    const int pair = lane >> 3;
    const int hf = warp & 1;
    const int c = (warp >> 1) & 1;
    const int ww = 1 + 8 * hf + px;
    loffC = (n0 * 32 + 8 * c + 2 * pair) * kChannel + (h0 - 1 + r0) * 128 + w0 + 8 * hf + px;
    dstC = planes +
           (uint32_t)(r0 * kRowBytes + ww * 64 + ((c ^ ((ww >> 1) & 3)) << 4) + pair * 4);
    okTop = (h0 == 0 && r0 == 0) ? 0 : 1;
    okBot = (h0 == 112 && r0 == 1) ? 0 : 1;

    const int rowE = tid >> 4;
    const int side = (tid >> 3) & 1;
    const int pr = tid & 7;
    loffE = (n0 * 32 + 2 * pr) * kChannel + (h0 - 1 + rowE) * 128 + (side ? w0 + 16 : w0 - 1);
    dstE = planes +
           (uint32_t)(rowE * kRowBytes + side * (17 * 64) + ((pr >> 2) << 4) + (pr & 3) * 4);
    const bool col = side ? (w0 != 112) : (w0 != 0);
    okE9 = (col && !(h0 == 0 && rowE == 0)) ? 1 : 0;
    okE10 = (col && warp == 0 && !(h0 == 112 && rowE == 1)) ? 1 : 0;
  }

  // The unit whose items are being loaded.
  const float *pc = x;
  const float *ppf = x;
  int uo = 0, f0 = 0, f3 = 0, pf = 0;
  auto target = [&](int t) {
    const int S = t >> 1;
    const int s = S & 15;
    uo = (((S >> 4) << 6) + ((t & 1) << 4)) * kChannel + (2 * s - 1) * kDepth;
    pc = x + (loffC + uo);
    f0 = (s != 0) ? 1 : 0;
    f3 = (s != 15) ? 1 : 0;
    // To L2: the two new depths of the same channels in the next step.
    const int pd = (lane >> 1) & 1;
    const int rel = (s == 15) ? (64 * kChannel - 29 * kDepth) : (4 * kDepth);
    ppf = pc + ((lane & 1) * kChannel + pd * kDepth + rel);
    const bool there = (s == 15) ? (S == 15) : (s + pd <= 14);
    pf = ((lane & 4) == 0 && there) ? 1 : 0;
  };
  auto load_item = [&](float (&v)[8], int i) {
    if (i < 9) {
      const int ok = (i == 0) ? okTop : ((i == 8) ? okBot : 1);
      load_item8(v, pc + i * 256, ok, f0, f3);
      const int pok = (i == 0) ? (pf & r0) : ((i == 8) ? (pf & (r0 ^ 1)) : pf);
      prefetch_l2(ppf + i * 256, pok);
    } else {
      const float *pe = x + (loffE + uo);
      load_item8(v, pe + (i - 9) * 2048, (i == 9) ? okE9 : okE10, f0, f3);
    }
  };
  auto store_item = [&](const float (&v)[8], int i) {
    if (i < 9)
      store_item8(v, dstC + (uint32_t)(i * (2 * kRowBytes)), 1);
    else
      store_item8(v, dstE + (uint32_t)((i - 9) * (16 * kRowBytes)),
                  (i == 9) ? 1 : ((warp == 0) ? 1 : 0));
  };

  // Joins the two channel halves of step S and writes its 64 outputs.
  auto finish = [&](int S) {
    if (lane < 8) {
      const int p = warp * 8 + lane;
      const float2 u = exch[p];
      const float2 v = exch[64 + p];
      const float M = fmaxf(u.x, v.x);
      const float sum = u.y * __expf(u.x - M) + v.y * __expf(v.x - M);
      const int ns = n0 * 16 + ((S >> 4) << 5) + (S & 15);
      out[(ns * 64 + (h0 >> 1) + (p >> 3)) * 64 + (w0 >> 1) + (p & 7)] =
          fmaxf(M + logf(sum), 0.0f);
    }
  };

  // Unit 0 at once, then the first item of unit 1.
  target(0);
  {
    float t[11][8];
#pragma unroll
    for (int i = 0; i < 11; ++i)
      load_item(t[i], i);
#pragma unroll
    for (int i = 0; i < 11; ++i)
      store_item(t[i], i);
  }
  dstC ^= 32u;
  dstE ^= 32u;

  float acc[2][4][4][4];
  uint32_t a[8][4];
  uint32_t b[2][8];
  float xv[2][8];

  target(1);
  load_item(xv[0], 0);

  cp_async_wait<0>();
  __syncthreads();

  // Fragments of the first stage; later ones are fetched ahead. Row r of group G is in a[(6 * G + r) & 7].
#pragma unroll
  for (int j2 = 0; j2 < 2; ++j2)
    ldsm4(b[0][4 * j2], b[0][4 * j2 + 1], b[0][4 * j2 + 2], b[0][4 * j2 + 3], wB + j2 * 1024);
#pragma unroll
  for (int r = 0; r < 4; ++r)
    ldsm4(a[r][0], a[r][1], a[r][2], a[r][3], aA[0] + r * kRowBytes);

  // Unit u: step u / 2, input channels 16 * (u % 2) ... + 15, all four planes.
#pragma unroll 1
  for (int u = 0; u < 64; ++u) {
    const uint32_t k = (uint32_t)u & 1u;
    if (k == 0) {
#pragma unroll
      for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int m = 0; m < 4; ++m)
#pragma unroll
          for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              acc[t][m][j][e] = 0.0f;
    }
    const float sc = k ? 0.5f : 1.0f;
    // Pair k first, pair k ^ 1 second.
    const uint32_t sl0 = k * (uint32_t)(2 * kSlotBytes);
    const uint32_t sl1 = (k ^ 1u) * (uint32_t)(2 * kSlotBytes);
    const uint32_t wk0 = wB + k * (uint32_t)(18 * kTapBytes);
    const uint32_t wk1 = wB + (k ^ 1u) * (uint32_t)(18 * kTapBytes);
    const uint32_t wnext = (wB ^ 32u) + (k ^ 1u) * (uint32_t)(18 * kTapBytes);
    const uint32_t anext = (aA[0] ^ 32u) + sl1;

#pragma unroll
    for (int st = 0; st < 36; ++st) {
      const int gr = st / 3;
      const int kh = st % 3;
      const int cur = st & 1;
      const int nxt = cur ^ 1;

      // k = 0: m0, m1 -> m0 + m1, m0 - m1; k = 1: back again.
      if (st == 18) {
#pragma unroll
        for (int m = 0; m < 4; ++m)
#pragma unroll
          for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const float t0 = acc[0][m][j][e];
              const float t1 = acc[1][m][j][e] * sc;
              acc[0][m][j][e] = fmaf(t0, sc, t1);
              acc[1][m][j][e] = fmaf(t0, sc, -t1);
            }
      }

      // All A of this unit has been read, all of the next unit has been stored.
      if (st == 34)
        __syncthreads();

      // B of the next stage (of the next unit after the last one).
      {
        const int ns = st + 1;
        const int ngr = ns / 3;
        const int nkh = ns % 3;
        const uint32_t baddr =
            (st == 35) ? wnext
                       : (((ngr >= 6) ? wk1 : wk0) +
                          (uint32_t)(((ngr & 1) * 9 + nkh * 3 + ((ngr % 6) >> 1)) * kTapBytes));
#pragma unroll
        for (int j2 = 0; j2 < 2; ++j2)
          ldsm4(b[nxt][4 * j2], b[nxt][4 * j2 + 1], b[nxt][4 * j2 + 2], b[nxt][4 * j2 + 3],
                baddr + j2 * 1024);
      }
      // A: rows 4, 5 of this group, then rows 0..3 of the next one (of the next unit after the last).
      {
        const int G = (kh == 0) ? gr : gr + 1;
        const uint32_t aaddr =
            (G == 12) ? anext
                      : (((G >= 6) ? sl1 : sl0) + aA[(G % 6) >> 1] +
                         (uint32_t)((G & 1) * kSlotBytes));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int r = (kh == 0) ? (4 + i) : (2 * (kh - 1) + i);
          const int ix = (6 * G + r) & 7;
          ldsm4(a[ix][0], a[ix][1], a[ix][2], a[ix][3], aaddr + r * kRowBytes);
        }
      }

      // Pixels of the next unit: an item is stored six stages after its loads.
      if (st == 0)
        load_item(xv[1], 1);
      if (st > 0 && kh == 0) {
        const int it = gr - 1;
        store_item(xv[it & 1], it);
        if (it + 2 <= 10)
          load_item(xv[it & 1], it + 2);
        if (it == 10) {
          target(u + 2 < 64 ? u + 2 : 63);
          load_item(xv[0], 0);
        }
      }

#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int m = 0; m < 4; ++m)
          mma16816(acc[gr & 1][m][j], a[(6 * gr + m + kh) & 7], b[cur][2 * j], b[cur][2 * j + 1]);
    }

    aA[0] ^= 32u;
    aA[1] ^= 32u;
    aA[2] ^= 32u;
    wB ^= 32u;
    dstC ^= 32u;
    dstE ^= 32u;

    if (k == 0) {
      if (u > 0)
        finish((u >> 1) - 1);
      continue;
    }

    // m0, m1 -> m0 + m1, m0 - m1
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float t = acc[0][m][j][e];
          acc[0][m][j][e] = t + acc[1][m][j][e];
          acc[1][m][j][e] = t - acc[1][m][j][e];
        }

    // Epilogue, part 1: max pool, bias, max and sum of exponentials over this warp's 32 channels.
#pragma unroll
    for (int pr = 0; pr < 2; ++pr) {
      float v[8];
      float M = -3.402823466e+38f;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 bv =
            *reinterpret_cast<const float2 *>(sbias + 32 * nh + 8 * j + 2 * (lane & 3));
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float lo = fmaxf(fmaxf(acc[0][2 * pr][j][e], acc[1][2 * pr][j][e]),
                                 fmaxf(acc[0][2 * pr + 1][j][e], acc[1][2 * pr + 1][j][e]));
          const float hi =
              fmaxf(fmaxf(acc[0][2 * pr][j][2 + e], acc[1][2 * pr][j][2 + e]),
                    fmaxf(acc[0][2 * pr + 1][j][2 + e], acc[1][2 * pr + 1][j][2 + e]));
          const float keep = odd ? hi : lo;
          const float send = odd ? lo : hi;
          const float t =
              fmaxf(keep, __shfl_xor_sync(0xffffffffu, send, 4)) + (e ? bv.y : bv.x);
          v[2 * j + e] = t;
          M = fmaxf(M, t);
        }
      }
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, 1));
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, 2));
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum += __expf(v[i] - M);
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if ((lane & 3) == 0)
        exch[nh * 64 + (2 * pg + pr) * 8 + (odd ? 4 : 0) + (g >> 1)] = make_float2(M, sum);
    }
  }

  __syncthreads();
  finish(31);
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor wh_t = at::empty({36 * 64 * 32}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  __half *wh = reinterpret_cast<__half *>(wh_t.data_ptr<at::Half>());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  prep_kernel<<<kWeightBlocks, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), wh);

  cudaFuncSetAttribute(conv_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_fused_kernel<<<kConvBlocks, 256, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wh, conv_bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
