// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

constexpr int kThreadsMain = 384;
constexpr int kConsumerWarps = 8;
constexpr int kProducerWarps = 4;
constexpr int kSlots = 2; // stages, each of four phases
constexpr uint32_t kSlotBytes = 16384; // one phase: 128 pixels of 64 channels in fp16
constexpr uint32_t kWeightBytes = 98304; // transformed weights of 64 output channels
constexpr uint32_t kOffRing = kWeightBytes;
constexpr uint32_t kOffBias = kOffRing + kSlots * 4 * kSlotBytes + 256;
constexpr uint32_t kOffBar = kOffBias + 512;
constexpr uint32_t kSmemBytes = kOffBar + 2 * kSlots * 8 + 8;
constexpr int kOutH = 126;
constexpr int kOutW = 126;
constexpr int kPlane = kOutH * kOutW;
constexpr int kRows = 128 * (kOutH / 2); // steps: pairs of output rows

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void mbar_init(uint32_t a, uint32_t cnt) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(cnt) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t a) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t a, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(ok)
        : "r"(a), "r"(parity)
        : "memory");
  } while (!ok);
  __syncwarp();
}

static __device__ __forceinline__ void ldsm_x4(uint32_t &r0, uint32_t &r1, uint32_t &r2,
                                               uint32_t &r3, uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void lds128(uint32_t (&v)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(addr));
}

static __device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c,
                                              uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

static __device__ __forceinline__ float ldg_stream(const float *p) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ float relu_nan(float v) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(0.0f));
  return r;
}

// Exchange across lanes that differ in `mask`: the lane with the bit clear gives b and gets the
// partner's a in its place; the lane with the bit set gives a and gets the partner's b.
static __device__ __forceinline__ void exchange(float &a, float &b, bool bit, int mask) {
  float send = bit ? a : b;
  float recv = __shfl_xor_sync(0xffffffffu, send, mask);
  a = bit ? recv : a;
  b = bit ? b : recv;
}

// Sums and differences of two packed halves.
static __device__ __forceinline__ uint32_t add_h2(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

static __device__ __forceinline__ uint32_t sub_h2(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

static __device__ __forceinline__ void prefetch_l2(const float *p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

// Eight channels of two consecutive rows: v[0..7] the first row, v[8..15] the second.
static __device__ __forceinline__ void load_chunk(float (&v)[16], const float *src, int c) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    v[e] = ldg_stream(src + (8 * c + e) * 16384);
    v[8 + e] = ldg_stream(src + (8 * c + e) * 16384 + 128);
  }
}

// One entry of the transformed filter of F(2,3) along the height.
static __device__ __forceinline__ float wino_u(const float *p, int ph) {
  const float g0 = p[0];
  const float g1 = p[3];
  const float g2 = p[6];
  const float e = g0 + g2;
  float r = g2;
  if (ph == 0)
    r = 0.5f * (e + g1);
  else if (ph == 1)
    r = 0.5f * (e - g1);
  else if (ph == 2)
    r = g0;
  return r;
}

// relu, bias and a 4x4 transposition of float4s within each quad: lane q ends up with columns
// 16 * i + 4 * q .. + 3 in v[i].
static __device__ __forceinline__ void finish_tile(float (&v)[4][4], const float (&acc)[8][4],
                                                   int half, float bv, bool bit0, bool bit1) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      v[k][c] = relu_nan(acc[(k & 1) * 4 + c][half * 2 + (k >> 1)]) + bv;
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[1][c], bit0, 1);
    exchange(v[2][c], v[3][c], bit0, 1);
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[2][c], bit1, 2);
    exchange(v[1][c], v[3][c], bit1, 2);
  }
}

// Weights as fp16 in the order of the A fragments of mma.m16n8k16.
static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  int idx = blockIdx.x * 256 + threadIdx.x;
  if (idx >= 12288)
    return;
  int lane = idx & 31;
  int mt = (idx >> 5) & 3;
  int z = idx >> 7;
  int s = z % 3;
  z /= 3;
  int kc = z & 3;
  int ph = (z >> 2) & 3;
  int hc = z >> 4;
  int g = lane >> 2;
  int q = lane & 3;
  int co = hc * 64 + mt * 16 + g;
  int ci = kc * 16 + 2 * q;
  const float *p0 = w + (co * 64 + ci) * 9 + s;
  const float *p1 = p0 + 8 * 64 * 9;
  uint4 v;
  v.x = pack_half2(wino_u(p0, ph), wino_u(p0 + 9, ph));
  v.y = pack_half2(wino_u(p1, ph), wino_u(p1 + 9, ph));
  v.z = pack_half2(wino_u(p0 + 72, ph), wino_u(p0 + 81, ph));
  v.w = pack_half2(wino_u(p1 + 72, ph), wino_u(p1 + 81, ph));
  packed[idx] = v;
}

static __global__ void __launch_bounds__(kThreadsMain, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ conv_bias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t ring = sbase + kOffRing;
  const uint32_t full = sbase + kOffBar;
  const uint32_t empty = full + kSlots * 8;
  const uint32_t stag = empty + kSlots * 8;
  float *sbias = reinterpret_cast<float *>(smem + kOffBias);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);
  const int hc = blockIdx.x & 1; // half of the output channels

  const uint4 *my_packed = packed + hc * 6144;
#pragma unroll 4
  for (int i = tid; i < 6144; i += kThreadsMain) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sbase + i * 16),
                 "l"(my_packed + i)
                 : "memory");
  }
  if (tid < 64)
    sbias[tid] = conv_bias[hc * 64 + tid];
  else if (tid < 128)
    sbias[tid] = bias[hc * 64 + tid - 64];
  if (tid == 0) {
    for (int i = 0; i < kSlots; ++i) {
      mbar_init(full + i * 8, kProducerWarps);
      mbar_init(empty + i * 8, kConsumerWarps);
    }
    mbar_init(stag, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  const int np = static_cast<int>(gridDim.x >> 1);
  const int pr = static_cast<int>(blockIdx.x >> 1);
  const int step_begin = static_cast<int>(static_cast<long long>(pr) * kRows / np);
  const int step_end = static_cast<int>((static_cast<long long>(pr) + 1) * kRows / np);

  if (warp >= kConsumerWarps) {
    // ---------------------------------------------------------------- producers
    const int t = tid - kConsumerWarps * 32; // pixel
    const uint32_t sw = static_cast<uint32_t>((t ^ (t >> 3)) & 7);
    const uint32_t pix_lane = ring + static_cast<uint32_t>(t) * 128u + (sw << 4);
    uint32_t k = 0;
    int R = step_begin;
    while (R < step_end) {
      const int n = R / 63;
      const int pa = R - n * 63;
      const int pb = min(63, pa + (step_end - R));
      const bool more = R + (pb - pa) < step_end; // goes on in the next image (then pb == 63)
      const float *src = x + (static_cast<size_t>(n) * 64 * 128 + 2 * pa) * 128 + t;
      const float *pfb = x + (static_cast<size_t>(n) * 64 + (t >> 2)) * 16384 + (t & 3) * 32;

      uint32_t cd0[32], cd1[32];
      float v[4][16];
#pragma unroll
      for (int c = 0; c < 64; ++c)
        v[c >> 4][c & 15] = ldg_stream(src + c * 16384);
#pragma unroll
      for (int e = 0; e < 32; ++e)
        cd0[e] = pack_half2(v[e >> 3][(2 * e) & 15], v[e >> 3][(2 * e + 1) & 15]);
#pragma unroll
      for (int c = 0; c < 64; ++c)
        v[c >> 4][c & 15] = ldg_stream(src + c * 16384 + 128);
#pragma unroll
      for (int e = 0; e < 32; ++e)
        cd1[e] = pack_half2(v[e >> 3][(2 * e) & 15], v[e >> 3][(2 * e + 1) & 15]);
      src += 256; // row 2p + 2
#pragma unroll
      for (int c = 0; c < 4; ++c)
        load_chunk(v[c], src, c);

#pragma unroll 1
      for (int p = pa; p < pb; ++p) {
        const int rp = 2 * p + 6 + hc;
        const bool inside = rp < 2 * pb + 2;
        if (inside || more) {
          // Past the image's last row: row rp - 128 of the next image.
          const float *pf = pfb + rp * 128 + (inside ? 0 : 63 * 16384);
          prefetch_l2(pf);
          prefetch_l2(pf + 32 * 16384);
        }
        const bool has_next = p + 1 < pb;
        const uint32_t st = k & 1;
        if (k >= 2)
          mbar_wait(empty + st * 8, ((k >> 1) - 1) & 1);
        const uint32_t pix = pix_lane + st * (4 * kSlotBytes);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          uint32_t o0[4], o1[4], o2[4], o3[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const uint32_t h2 = pack_half2(v[c & 3][2 * e], v[c & 3][2 * e + 1]);
            const uint32_t h3 = pack_half2(v[c & 3][8 + 2 * e], v[c & 3][8 + 2 * e + 1]);
            const uint32_t h0 = cd0[4 * c + e];
            const uint32_t h1 = cd1[4 * c + e];
            o0[e] = add_h2(h1, h2);
            o1[e] = sub_h2(h2, h1);
            o2[e] = sub_h2(h0, h2);
            o3[e] = sub_h2(h3, h1);
            cd0[4 * c + e] = h2;
            cd1[4 * c + e] = h3;
          }
          const uint32_t dst = pix ^ (static_cast<uint32_t>(c) << 4);
          sts128(dst, o0[0], o0[1], o0[2], o0[3]);
          sts128(dst + kSlotBytes, o1[0], o1[1], o1[2], o1[3]);
          sts128(dst + 2 * kSlotBytes, o2[0], o2[1], o2[2], o2[3]);
          sts128(dst + 3 * kSlotBytes, o3[0], o3[1], o3[2], o3[3]);
          if (c < 4) {
            load_chunk(v[c & 3], src, c + 4);
          } else if (has_next) {
            load_chunk(v[c & 3], src + 256, c - 4);
          }
        }
        __syncwarp();
        if (lane == 0)
          mbar_arrive(full + st * 8);
        ++k;
        src += 256;
      }
      R += pb - pa;
    }
  } else {
    // ---------------------------------------------------------------- consumers
    const int wm = warp >> 1;
    const int wn = warp & 1;
    const int g = lane >> 2;
    const int q = lane & 3;
    const uint32_t nn = lane & 7;
    const uint32_t kb = (lane >> 3) & 1;
    const uint32_t hi = lane >> 4;
    const uint32_t pix0 = 64u * static_cast<uint32_t>(wn) + 8u * nn + hi;
    const uint32_t base0 = ring + pix0 * 128u + ((kb ^ hi ^ nn) << 4);
    const uint32_t base4 = ring + (pix0 + 8u) * 128u + ((kb ^ ((hi ^ (nn + 1u)) & 7u)) << 4);
    const uint32_t wlane = sbase + static_cast<uint32_t>(wm * 32 + lane) * 16;
    const bool bit0 = (q & 1) != 0;
    const bool bit1 = (q & 2) != 0;
    const int next_lane = (lane & ~3) | ((q + 1) & 3);
    const float *my_cb = sbias + wm * 16 + g;
    const float *my_b = my_cb + 64;

    // Weights of block 0; the last block of every step loads them again for the next step.
    uint32_t a[2][3][4];
#pragma unroll
    for (int s = 0; s < 3; ++s)
      lds128(a[0][s], wlane + s * 2048);

    // The two warps of a scheduler run half a step apart, so that their epilogues do not coincide.
    if (warp >= 4)
      mbar_wait(stag, 0);

    uint32_t k = 0;
#pragma unroll 1
    for (int R = step_begin; R < step_end; ++R) {
      const uint32_t st = k & 1;

      float acc0[8][4], acc1[8][4];
      {
        const float c0 = my_cb[0];
        const float c1 = my_cb[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          acc0[j][0] = c0;
          acc0[j][1] = c0;
          acc0[j][2] = c1;
          acc0[j][3] = c1;
          acc1[j][0] = 0.0f;
          acc1[j][1] = 0.0f;
          acc1[j][2] = 0.0f;
          acc1[j][3] = 0.0f;
        }
      }

      mbar_wait(full + st * 8, (k >> 1) & 1);

      uint32_t va0 = base0 + st * (4 * kSlotBytes);
      uint32_t va4 = base4 + st * (4 * kSlotBytes);
      uint32_t wa = wlane;

      uint32_t b[2][10][2];
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        const uint32_t addr =
            (i < 4) ? (va0 ^ (static_cast<uint32_t>(i) << 5)) + static_cast<uint32_t>(i) * 256u
                    : va4;
        ldsm_x4(b[0][2 * i][0], b[0][2 * i][1], b[0][2 * i + 1][0], b[0][2 * i + 1][1], addr);
      }

#pragma unroll 1
      for (int pass = 0; pass < 2; ++pass) {
        // Weights of the first block of the next pass or, after the last one, of the next step.
        const uint32_t wa_wrap = (pass == 0) ? wlane + 8u * 6144u : wlane;
#pragma unroll
        for (int blk = 0; blk < 8; ++blk) {
          const int cur = blk & 1;
          const int nxt = cur ^ 1;
          const int nb = blk + 1;
          const uint32_t nkc = static_cast<uint32_t>(nb & 3);
          const uint32_t noff = static_cast<uint32_t>(nb >> 2) * kSlotBytes;
          const uint32_t na = (blk < 7) ? wa + static_cast<uint32_t>(nb) * 6144u : wa_wrap;

          if (blk == 7) {
            if (pass == 0) {
#pragma unroll
              for (int i = 0; i < 5; ++i) {
                const uint32_t addr =
                    (i < 4) ? (va0 ^ ((nkc ^ static_cast<uint32_t>(i)) << 5)) +
                                  (noff + static_cast<uint32_t>(i) * 256u)
                            : (va4 ^ (nkc << 5)) + noff;
                ldsm_x4(b[nxt][2 * i][0], b[nxt][2 * i][1], b[nxt][2 * i + 1][0],
                        b[nxt][2 * i + 1][1], addr);
              }
            }
          }

#pragma unroll
          for (int s = 0; s < 3; ++s) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
              // The eight loads of the next block, spread over the first sixteen mma.
              const int at = s * 8 + j;
              if ((at & 1) == 0 && at < 16) {
                const int l = at >> 1;
                if (l < 5) {
                  if (blk < 7) {
                    const uint32_t addr =
                        (l < 4) ? (va0 ^ ((nkc ^ static_cast<uint32_t>(l)) << 5)) +
                                      (noff + static_cast<uint32_t>(l) * 256u)
                                : (va4 ^ (nkc << 5)) + noff;
                    const int f = (l < 5) ? 2 * l : 0;
                    ldsm_x4(b[nxt][f][0], b[nxt][f][1], b[nxt][f + 1][0], b[nxt][f + 1][1], addr);
                  }
                } else {
                  const int as = (l >= 5) ? l - 5 : 0;
                  lds128(a[nxt][as], na + static_cast<uint32_t>(as) * 2048u);
                }
              }
              if (blk < 4)
                mma16816(acc0[j], a[cur][s], b[cur][j + s]);
              else
                mma16816(acc1[j], a[cur][s], b[cur][j + s]);
            }
          }
        }

        if (pass == 0) {
#pragma unroll
          for (int j = 0; j < 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const float sum = acc0[j][e] + acc1[j][e];
              const float dif = acc0[j][e] - acc1[j][e];
              acc0[j][e] = sum;
              acc1[j][e] = dif;
            }
          }
          if (k == 0 && warp < 4) {
            __syncwarp();
            if (lane == 0)
              mbar_arrive(stag);
          }
        }
        va0 += 2 * kSlotBytes;
        va4 += 2 * kSlotBytes;
        wa += 8u * 6144u;
      }

      __syncwarp();
      if (lane == 0)
        mbar_arrive(empty + st * 8);
      ++k;

      // Epilogue: relu, bias, 4x4 transposition of float4s within each quad, aligned stores.
      const int n = R / 63;
      const int p = R - n * 63;
      float *obase = out +
                     (static_cast<size_t>(n * 128 + hc * 64 + wm * 16 + g) * kOutH + 2 * p) * kOutW +
                     (64 * wn + 4 * q);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float bv = my_b[half * 8];
        float *oc = obase + half * 8 * kPlane;
        float v[4][4];

        // Row 2p starts at a multiple of 16 bytes.
        finish_tile(v, acc0, half, bv, bit0, bit1);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          float *o = oc + 16 * i;
          if (i == 3 && wn == 1 && q == 3) {
            *reinterpret_cast<float2 *>(o) = make_float2(v[i][0], v[i][1]);
          } else {
            *reinterpret_cast<float4 *>(o) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
          }
        }

        // Row 2p + 1 starts at 8 modulo 16 bytes: shift by two columns.
        finish_tile(v, acc1, half, bv, bit0, bit1);
        float *o1 = oc + kOutW;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int in = (i < 3) ? i + 1 : 3;
          float nx[2];
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const float send = (q == 0) ? v[in][c] : v[i][c];
            nx[c] = __shfl_sync(0xffffffffu, send, next_lane);
          }
          float *o = o1 + 16 * i + 2;
          if (i == 3 && q == 3) {
            if (wn == 0)
              *reinterpret_cast<float2 *>(o) = make_float2(v[i][2], v[i][3]);
          } else {
            *reinterpret_cast<float4 *>(o) = make_float4(v[i][2], v[i][3], nx[0], nx[1]);
          }
          if (i == 0 && q == 0)
            *reinterpret_cast<float2 *>(o1) = make_float2(v[0][0], v[0][1]);
        }
      }
      __syncwarp();
    }
  }
}

} // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({98304}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  uint4 *packed_ptr = reinterpret_cast<uint4 *>(packed.data_ptr());
  const int grid = at::cuda::getCurrentDeviceProperties()->multiProcessorCount & ~1;

  pack_weights_kernel<<<48, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed_ptr);

  cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(kSmemBytes));
  conv_relu_bias_kernel<<<grid, kThreadsMain, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed_ptr, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
