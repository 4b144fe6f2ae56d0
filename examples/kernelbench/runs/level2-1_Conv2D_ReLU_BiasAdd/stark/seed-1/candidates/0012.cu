// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

namespace {

constexpr int kGrid = 132;
constexpr int kThreads = 256;
constexpr int kPairs = 128 * 63;                   // row pairs of the output
constexpr int kWBytes = 48 * 4 * 32 * 16;          // 98304, transformed weights of 64 channels in fragment order
          // 147456, weights in fragment order
constexpr int kRing = kWBytes;                     // eight rows of fp16 input
                       // ring of input rows
constexpr int kRow = 128 * 128;                    // 16384 bytes: 128 pixels, 64 channels
                  // 16640 bytes a row
constexpr int kRingBytes = 8 * kRow + 256;         // with a guard for pixels 128 and 129 of the last row
       // 83456
constexpr int kBiasOff = kRing + kRingBytes;       // 229632: float cb[64], bs[64]
constexpr int kBarOff = kBiasOff + 512;            // full[8 rows][4 quarters], empty[4 row pairs][4 quarters]
         // float cb[128], bs[128]
static __device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t bar, uint32_t count) {
  asm volatile("{\n\t.reg .b64 st;\n\tmbarrier.arrive.shared::cta.b64 st, [%0], %1;\n\t}"
               :
               : "r"(bar), "r"(count)
               : "memory");
}

// one arrival for the whole warp
static __device__ __forceinline__ void mbar_arrive_warp(uint32_t bar, int lane) {
  __syncwarp();
  if (lane == 0)
    mbar_arrive(bar, 1u);
  __syncwarp();
}

static __device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
  } while (done == 0);
  __syncwarp();
}

// 1024 bytes: two input rows of one channel
static __device__ __forceinline__ void prefetch_l2(const float *p) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(p), "r"(1024) : "memory");
}

constexpr int kSmemBytes = kBarOff + 384;          // 230528
   // 231968: and four mbarriers E[0], E[1], F[0], F[1]
        // 231936
constexpr int kPlane = 128 * 128;                  // floats of one input channel
constexpr int kOutPlane = 126 * 126;               // floats of one output channel

__device__ __forceinline__ uint32_t pack_h2(float lo, float hi) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}

__device__ __forceinline__ float2 ld_x2(const float *p) {
  float2 v;
  asm volatile("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

__device__ __forceinline__ void lds128(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(addr), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

__device__ __forceinline__ void ldsm4(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// swizzle of the 16-byte chunks within a pixel; period 16 in px
// byte offset of chunk c (= position * 2 + half of the 16 channels) of pixel P in a slot; conflict-free for
// ldmatrix (P = 8 i + m) and for 16-byte stores (P consecutive)
// here: chunk u = channels 8u..8u+7 of pixel P of a row; the stores have P = 2 lane + i
__device__ __forceinline__ uint32_t roff(int P, int u) {
  return (uint32_t)(P * 128 + ((u ^ ((P >> 3) & 7) ^ (P & 6)) << 4));
}

// eight channels of two pixels
__device__ __forceinline__ void load_unit(float2 (&v)[8], const float *p) {
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = ld_x2(p + k * kPlane);
}

__device__ __forceinline__ void store_unit(uint32_t dst, const float2 (&v)[8]) {
  sts128(dst, pack_h2(v[0].x, v[1].x), pack_h2(v[2].x, v[3].x), pack_h2(v[4].x, v[5].x), pack_h2(v[6].x, v[7].x));
  sts128(dst + 128u, pack_h2(v[0].y, v[1].y), pack_h2(v[2].y, v[3].y), pack_h2(v[4].y, v[5].y),
         pack_h2(v[6].y, v[7].y));
}

// first float of row G (counted over all images) of channel 0
__device__ __forceinline__ int row_index(int G) {
  return ((G >> 7) << 20) + ((G & 127) << 7);
}

__device__ __forceinline__ uint32_t hadd2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

__device__ __forceinline__ uint32_t hsub2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

// address of fragments 2i, 2i+1; eA is that of i = 0, eC that of i = 4
__device__ __forceinline__ uint32_t frag_addr(uint32_t eA, uint32_t eC, int i) {
  return i < 4 ? (eA ^ (uint32_t)(i << 5)) + (uint32_t)(i * 256) : eC;
}

// 16 channels of one pass: e = rows d0 (and d1, one row on), f = rows d2 (and d3)
template <int PASS>
__device__ __forceinline__ void mma_stage(float (&acc)[2][2][8][4], uint32_t (&a)[2][2][4], uint32_t eA, uint32_t eC,
                                          uint32_t fA, uint32_t fC, uint32_t acur, uint32_t anext) {
  uint32_t b[2][5][4]; // fragment m: b[p][m >> 1][(m & 1) * 2 + half]
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    uint32_t r1[4], r2[4];
    if (PASS == 0) {
      ldsm4(r1, frag_addr(eA, eC, i) + (uint32_t)kRow); // d1
      ldsm4(r2, frag_addr(fA, fC, i));                  // d2
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        b[0][i][k] = hadd2(r2[k], r1[k]);
        b[1][i][k] = hsub2(r2[k], r1[k]);
      }
    } else {
      ldsm4(r1, frag_addr(eA, eC, i)); // d0
      ldsm4(r2, frag_addr(fA, fC, i)); // d2
#pragma unroll
      for (int k = 0; k < 4; ++k)
        b[0][i][k] = hsub2(r1[k], r2[k]);
    }
  }

#pragma unroll
  for (int p = 0; p < 2; ++p) {
#pragma unroll
    for (int s = 0; s < 3; ++s) {
      const int st = p * 3 + s;
      const int cur = st & 1;
      const int nxt = cur ^ 1;
      const uint32_t an = st < 5 ? acur + (uint32_t)((st + 1) * 2048) : anext;
      lds128(a[nxt][0], an);
      lds128(a[nxt][1], an + 512u);
      if (PASS == 1 && p == 0 && s == 1) {
#pragma unroll
        for (int i = 0; i < 5; ++i) {
          uint32_t r1[4], r2[4];
          ldsm4(r1, frag_addr(fA, fC, i) + (uint32_t)kRow); // d3
          ldsm4(r2, frag_addr(eA, eC, i) + (uint32_t)kRow); // d1
#pragma unroll
          for (int k = 0; k < 4; ++k)
            b[1][i][k] = hsub2(r1[k], r2[k]);
        }
      }
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
        for (int jj = 0; jj < 8; ++jj)
          mma16816(acc[p][mt][jj], a[cur][mt], b[p][(jj + s) >> 1][((jj + s) & 1) * 2],
                   b[p][(jj + s) >> 1][((jj + s) & 1) * 2 + 1]);
      }
    }
  }
}

__device__ __forceinline__ void exchange(float &a, float &b, bool bit, int mask) {
  const float send = bit ? a : b;
  const float recv = __shfl_xor_sync(0xffffffffu, send, mask);
  a = bit ? recv : a;
  b = bit ? b : recv;
}

// 4x4 transposition within a quad: afterwards v[i] of lane q is what v[q] of lane i was
__device__ __forceinline__ void transpose_quad(float (&v)[4][4], int q) {
  const bool b0 = (q & 1) != 0;
  const bool b1 = (q & 2) != 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[1][c], b0, 1);
    exchange(v[2][c], v[3][c], b0, 1);
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[2][c], b1, 2);
    exchange(v[1][c], v[3][c], b1, 2);
  }
}

// Weights [128][64][3][3] -> fp16 fragments [tap*4+cs][mtile][lane]
__global__ void __launch_bounds__(128) weights_kernel(const float *__restrict__ w, uint4 *__restrict__ wf) {
  // Winograd F(2,3) over the filter rows; order [half 2][stage 8][position 2][kw 3][mtile 4][lane 32]
  const int idx = blockIdx.x * 128 + threadIdx.x; // 12288 in all
  const int lane = idx & 31;
  const int mt4 = (idx >> 5) & 3;
  const int rest = idx >> 7; // 0..95
  const int half = rest / 48;
  const int ks = rest - 48 * half; // 0..47
  const int mtile = half * 4 + mt4;
  const int kw = ks % 3;
  const int p = (ks / 3) & 1;
  const int j = ks / 6;
  const int pass = j >> 2, c4 = j & 3;
  const int g = lane >> 2, q = lane & 3;
  const float *w0 = w + ((mtile * 16 + g) * 64 + c4 * 16 + 2 * q) * 9 + kw;
  float u[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    // e: bit 0 = channel + 1, bit 1 = row + 8, bit 2 = channel + 8
    const float *we = w0 + (e & 1) * 9 + ((e >> 1) & 1) * (8 * 64 * 9) + (e >> 2) * (8 * 9);
    const float g0 = we[0], g1 = we[3], g2 = we[6];
    if (pass == 0)
      u[e] = 0.5f * (g0 + g2 + (p ? -g1 : g1));
    else
      u[e] = p ? g2 : g0;
  }
  uint4 f;
  f.x = pack_h2(u[0], u[1]);
  f.y = pack_h2(u[2], u[3]);
  f.z = pack_h2(u[4], u[5]);
  f.w = pack_h2(u[6], u[7]);
  wf[idx] = f;
}

__global__ void __launch_bounds__(kThreads, 1)
conv_kernel(const float *__restrict__ x, const uint4 *__restrict__ wf, const float *__restrict__ conv_bias,
            const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  float *cb = reinterpret_cast<float *>(smem + kBiasOff);
  float *bs = cb + 64;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int grp = warp >> 2;      // row pairs of this parity
  const int wg = warp & 3;        // warp within the group
  const int wm = (warp >> 1) & 1; // 32 output channels
  const int wn = warp & 1;        // 64 pixels
  const int g = lane >> 2, q = lane & 3;
  const int hb = (int)blockIdx.x & 1; // 64 output channels

  const uint32_t ring = sbase + (uint32_t)kRing;
  const uint32_t full = sbase + (uint32_t)kBarOff; // [row & 7][quarter]: filled
  const uint32_t empty = full + 256u;              // [row pair & 3][quarter]: both rows have been read

  // the weights of this half into shared memory
#pragma unroll 4
  for (int i = 0; i < 24; ++i) {
    const int e = i * kThreads + tid;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(sbase + (uint32_t)e * 16u), "l"(wf + hb * 6144 + e)
                 : "memory");
  }
  if (tid < 64) {
    cb[tid] = conv_bias[hb * 64 + tid];
    bs[tid] = bias[hb * 64 + tid];
  }
  if (tid == 0) {
#pragma unroll 1
    for (int i = 0; i < 32; ++i)
      mbar_init(full + (uint32_t)(i * 8), 4u);
#pragma unroll 1
    for (int i = 0; i < 16; ++i)
      mbar_init(empty + (uint32_t)(i * 8), 8u);
  }

  // Pairs are numbered with 64 an image; the last of an image computes nothing. Pair s uses input rows
  // 2s..2s+3, counted over all images, that is row pairs s and s+1.
  const int kblk = (int)blockIdx.x >> 1;
  const int q0 = kblk * kPairs / (kGrid / 2);
  const int q1 = (kblk + 1) * kPairs / (kGrid / 2) - 1; // the last one
  const int begin = q0 + q0 / 63;
  const int np = q1 + q1 / 63 + 1 - begin; // pairs of this block, row pairs 0..np

  // prefetch of row pairs: one channel a lane, the other block of the pair does the other half
  const float *xpre = x + (32 * hb + lane) * kPlane;
  if (warp == 0) {
#pragma unroll 1
    for (int R = 1; R < 4; ++R)
      if (R <= np)
        prefetch_l2(xpre + row_index(2 * (begin + R)));
  }

  // fragment addresses
  const int P0 = 64 * wn + 8 * (lane & 7) + (lane >> 4);
  const uint32_t oA = roff(P0, (lane >> 3) & 1);
  const uint32_t oC = roff(P0 + 8, (lane >> 3) & 1);
  const uint32_t wlane = sbase + (uint32_t)((wm * 2 * 32 + lane) * 16);

  // production: of a quarter row this warp does 8 of the 16 channels of 64 of the 128 pixels
  const int ppx = 64 * (wg >> 1) + 2 * lane;
  const uint32_t pdst = roff(ppx, wg & 1);
  const float *xthr = x + ((wg & 1) * 8 * kPlane + ppx);

  __syncthreads(); // the barriers are initialised

  // rows 0 and 2 by group 0, rows 1 and 4 by group 1
#pragma unroll 1
  for (int r = 0; r < 2; ++r) {
    const int vr = r == 0 ? grp : 2 + 2 * grp;
    const float *src = xthr + row_index(2 * begin + vr);
    float2 buf[4][8];
#pragma unroll
    for (int c = 0; c < 4; ++c)
      load_unit(buf[c], src + c * 16 * kPlane);
    const uint32_t dst = ring + (uint32_t)(vr * kRow) + pdst;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      store_unit(dst ^ (uint32_t)(c << 5), buf[c]);
      mbar_arrive_warp(full + (uint32_t)((vr * 4 + c) * 8), lane);
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  uint32_t a[2][2][4];
  lds128(a[0][0], wlane);
  lds128(a[0][1], wlane + 512u);

  // group 1 starts half a pair later: row 3 is made in the first pass of pair 0
  if (grp == 1)
    mbar_wait(full + (uint32_t)((3 * 4 + 3) * 8), 0u);

  float acc[2][2][8][4];

#pragma unroll 1
  for (int n = grp; n < np; n += 2) {
    const int pair = begin + n;
    const bool live = (pair & 63) != 63;

    if (wg == 0 && n + 4 <= np)
      prefetch_l2(xpre + row_index(2 * (pair + 4)));

    const uint32_t sl0 = ring + (uint32_t)((n & 3) * 2 * kRow);       // d0, d1
    const uint32_t sl1 = ring + (uint32_t)(((n + 1) & 3) * 2 * kRow); // d2, d3
    const uint32_t full0 = full + (uint32_t)((n & 3) * 64);
    const uint32_t full1 = full + (uint32_t)(((n + 1) & 3) * 64);
    const uint32_t par0 = (uint32_t)((n >> 2) & 1);
    const uint32_t par1 = (uint32_t)(((n + 1) >> 2) & 1);

#pragma unroll
    for (int mt = 0; mt < 2; ++mt) {
      const float c0 = cb[wm * 32 + mt * 16 + g];
      const float c1 = cb[wm * 32 + mt * 16 + g + 8];
#pragma unroll
      for (int jj = 0; jj < 8; ++jj) {
        acc[0][mt][jj][0] = c0;
        acc[0][mt][jj][1] = c0;
        acc[0][mt][jj][2] = c1;
        acc[0][mt][jj][3] = c1;
        acc[1][mt][jj][0] = 0.f;
        acc[1][mt][jj][1] = 0.f;
        acc[1][mt][jj][2] = 0.f;
        acc[1][mt][jj][3] = 0.f;
      }
    }

    // pass 0; meanwhile the odd row of row pair n+1 (d3) is made. Its slot is free: the even row, in the same
    // slot, has been written by this warp after the wait for both.
    {
      const float *src = xthr + row_index(2 * (pair + 1) + 1);
#pragma unroll 1
      for (int c4 = 0; c4 < 4; ++c4) {
        const uint32_t sw = (uint32_t)(c4 << 5);
        const uint32_t acur = wlane + (uint32_t)(c4 * 12288);
        float2 buf[8];
        load_unit(buf, src + c4 * 16 * kPlane);
        mbar_wait(full0 + (uint32_t)(32 + c4 * 8), par0); // d1, and d0, which the same warps made before
        mbar_wait(full1 + (uint32_t)(c4 * 8), par1);      // d2
        if (live)
          mma_stage<0>(acc, a, (sl0 + oA) ^ sw, (sl0 + oC) ^ sw, (sl1 + oA) ^ sw, (sl1 + oC) ^ sw, acur,
                       acur + 12288u);
        store_unit((sl1 + (uint32_t)kRow + pdst) ^ sw, buf);
        mbar_arrive_warp(full1 + (uint32_t)(32 + c4 * 8), lane);
      }
    }

    // T1, T2 -> sums of the even and of the odd row
#pragma unroll
    for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
      for (int jj = 0; jj < 8; ++jj) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const float t1 = acc[0][mt][jj][c];
          const float t2 = acc[1][mt][jj][c];
          acc[0][mt][jj][c] = t1 + t2;
          acc[1][mt][jj][c] = t1 - t2;
        }
      }
    }

    // pass 1; meanwhile the even row of row pair n+3 is made
    {
      const int R = n + 3;
      const bool prod = R <= np;
      const float *src = xthr + row_index(2 * (begin + (prod ? R : np)));
      const uint32_t slot = (uint32_t)(R & 3);
      const uint32_t parR = (uint32_t)(((R >> 2) + 1) & 1);
#pragma unroll 1
      for (int c4 = 0; c4 < 4; ++c4) {
        const uint32_t sw = (uint32_t)(c4 << 5);
        const uint32_t acur = wlane + (uint32_t)((4 + c4) * 12288);
        float2 buf[8];
        load_unit(buf, src + c4 * 16 * kPlane);
        mbar_wait(full1 + (uint32_t)(32 + c4 * 8), par1); // d3
        if (live)
          mma_stage<1>(acc, a, (sl0 + oA) ^ sw, (sl0 + oC) ^ sw, (sl1 + oA) ^ sw, (sl1 + oC) ^ sw, acur,
                       c4 == 3 ? wlane : acur + 12288u);
        // this quarter of the four rows has been read; row pair 0 has no other reader
        __syncwarp();
        if (lane == 0) {
          mbar_arrive(empty + (uint32_t)(((n & 3) * 4 + c4) * 8), n == 0 ? 2u : 1u);
          mbar_arrive(empty + (uint32_t)((((n + 1) & 3) * 4 + c4) * 8), 1u);
        }
        __syncwarp();
        if (prod) {
          mbar_wait(empty + (slot * 4u + (uint32_t)c4) * 8u, parR);
          store_unit((ring + slot * (uint32_t)(2 * kRow) + pdst) ^ sw, buf);
          mbar_arrive_warp(full + (slot * 8u + (uint32_t)c4) * 8u, lane);
        }
      }
    }

    if (!live)
      continue;

    // epilogue: per row, channel and lane 16 consecutive pixels; transposed within quads for 64-byte runs
    const int img = pair >> 6;
    const int t = pair & 63;
    float *obase =
        out + (((size_t)(img * 128 + hb * 64 + wm * 32 + g) * 126 + (size_t)(2 * t)) * 126 + (size_t)(64 * wn));
    float *oq = obase + 4 * q;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int cl = mt * 16 + half * 8;
          const float bb = bs[wm * 32 + cl + g];
          float f[18];
#pragma unroll
          for (int m = 0; m < 16; ++m) {
            const float y = acc[p][mt][m & 7][half * 2 + (m >> 3)];
            f[m] = (y < 0.f ? 0.f : y) + bb;
          }
          float r[4][4];
          if (p == 0) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
              for (int c = 0; c < 4; ++c)
                r[k][c] = f[4 * k + c];
            }
            transpose_quad(r, q);
            float *o = oq + cl * kOutPlane;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              if (i == 3 && q == 3 && wn == 1)
                *reinterpret_cast<float2 *>(o + 16 * i) = make_float2(r[i][0], r[i][1]);
              else
                *reinterpret_cast<float4 *>(o + 16 * i) = make_float4(r[i][0], r[i][1], r[i][2], r[i][3]);
            }
          } else {
            f[16] = __shfl_down_sync(0xffffffffu, f[0], 1);
            f[17] = __shfl_down_sync(0xffffffffu, f[1], 1);
            if (q == 0)
              *reinterpret_cast<float2 *>(obase + cl * kOutPlane + 126) = make_float2(f[0], f[1]);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
              for (int c = 0; c < 4; ++c)
                r[k][c] = f[4 * k + c + 2];
            }
            transpose_quad(r, q);
            float *o = oq + cl * kOutPlane + 128; // next row, two pixels on: 16-byte aligned
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              if (i == 3 && q == 3) {
                if (wn == 0)
                  *reinterpret_cast<float2 *>(o + 16 * i) = make_float2(r[i][0], r[i][1]);
              } else {
                *reinterpret_cast<float4 *>(o + 16 * i) = make_float4(r[i][0], r[i][1], r[i][2], r[i][3]);
              }
            }
          }
        }
      }
    }
  }
}

} // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor wf = at::empty({98304}, x.options().dtype(at::kHalf)); // transformed fp16 weights in fragment order
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  uint4 *wf_ptr = static_cast<uint4 *>(wf.data_ptr());
  weights_kernel<<<96, 128, 0, stream>>>(conv_weight.const_data_ptr<float>(), wf_ptr);
  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<kGrid, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wf_ptr, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
