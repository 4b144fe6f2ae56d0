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
constexpr int kPhases = 4; // one stage of four phases, handed over one by one
 // stages, each of four phases
constexpr uint32_t kSlotBytes = 16384; // one phase: 128 pixels of 64 channels in fp16
 // one phase: 128 pixels of 64 channels in fp16
constexpr uint32_t kWeightBytes = 98304; // transformed weights of 64 output channels
constexpr uint32_t kOffRing = kWeightBytes;
constexpr uint32_t kOffRaw = kOffRing + kPhases * kSlotBytes; // two rows of 64 channels in fp32
constexpr uint32_t kRawBytes = 65536;
constexpr uint32_t kOffBias = kOffRaw + kRawBytes;
constexpr uint32_t kOffBar = kOffBias + 512;
constexpr uint32_t kSmemBytes = kOffBar + 2 * kPhases * 8 + 16;
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

static __device__ __forceinline__ void mbar_expect_tx(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void bulk_load(uint32_t dst, const float *src, uint32_t bytes,
                                                 uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          dst),
      "l"(src), "r"(bytes), "r"(bar)
      : "memory");
}

static __device__ __forceinline__ void producer_sync() {
  asm volatile("bar.sync 1, 128;" ::: "memory");
}

// Called by a whole producer warp: its sixteen channels of a row pair, one a lane.
static __device__ __forceinline__ void issue_rows(uint32_t dst, const float *src, uint32_t bar,
                                                  int lane) {
  if (lane == 0)
    mbar_expect_tx(bar, 16u * 1024u);
  __syncwarp();
  if (lane < 16)
    bulk_load(dst, src, 1024u, bar);
  __syncwarp();
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
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(1024u) : "memory");
}

// Eight channels of two consecutive rows: v[0..7] the first row, v[8..15] the second.
static __device__ __forceinline__ void load_chunk(float (&v)[16], const float *raw, int c) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    v[e] = raw[(8 * c + e) * 256];
    v[8 + e] = raw[(8 * c + e) * 256 + 128];
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
  const uint32_t empty = full + kPhases * 8;
  const uint32_t rawfull = empty + kPhases * 8;
  const uint32_t stag = rawfull + 8;
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
    for (int i = 0; i < kPhases; ++i) {
      mbar_init(full + i * 8, kProducerWarps);
      mbar_init(empty + i * 8, kConsumerWarps);
    }
    mbar_init(rawfull, kProducerWarps);
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
    const int pw = warp - kConsumerWarps;
    const int t = tid - kConsumerWarps * 32; // pixel
    const uint32_t sw = static_cast<uint32_t>((t ^ (t >> 3)) & 7);
    const uint32_t pix_lane = ring + static_cast<uint32_t>(t) * 128u + (sw << 4);
    const float *rawp = reinterpret_cast<const float *>(smem + kOffRaw) + t;

    // Row pair j of image n starts at n * 2^20 + j * 256 in channel 0; this lane's channels:
    const int cc = pw * 16 + (lane & 15);
    const float *xc = x + static_cast<size_t>(cc) * 16384;
    const uint32_t raw_dst = sbase + kOffRaw + static_cast<uint32_t>(cc) * 1024u;
    const float *xp = x + static_cast<size_t>(hc * 32 + pw * 8 + (lane & 7)) * 16384;

    uint32_t it = 0;
    uint32_t k = 0;
    int R = step_begin;
    issue_rows(raw_dst,
               xc + (static_cast<size_t>(R / 63) << 20) + static_cast<size_t>(R % 63) * 256,
               rawfull, lane);

    while (R < step_end) {
      const int n = R / 63;
      const int pa = R - n * 63;
      const int pb = min(63, pa + (step_end - R));
      const bool more = R + (pb - pa) < step_end; // goes on in the next image (then pb == 63)
      const size_t img = static_cast<size_t>(n) << 20;

      uint32_t d0[32], d1[32];
      mbar_wait(rawfull, it & 1);
      ++it;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        float v[16];
        load_chunk(v, rawp, c);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          d0[4 * c + e] = pack_half2(v[2 * e], v[2 * e + 1]);
          d1[4 * c + e] = pack_half2(v[8 + 2 * e], v[8 + 2 * e + 1]);
        }
      }
      producer_sync();
      issue_rows(raw_dst, xc + img + static_cast<size_t>(pa + 1) * 256, rawfull, lane);
      if (pa + 2 <= pb && lane < 8)
        prefetch_l2(xp + img + static_cast<size_t>(pa + 2) * 256);

#pragma unroll 1
      for (int p = pa; p < pb; ++p) {
        uint32_t d2[32], d3[32];
        mbar_wait(rawfull, it & 1);
        ++it;
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          float v[16];
          load_chunk(v, rawp, c);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            d2[4 * c + e] = pack_half2(v[2 * e], v[2 * e + 1]);
            d3[4 * c + e] = pack_half2(v[8 + 2 * e], v[8 + 2 * e + 1]);
          }
        }
        producer_sync(); // all have read the raw buffer

        const bool has_next = p + 1 < pb;
        if (has_next || more) {
          const size_t off =
              has_next ? static_cast<size_t>(p + 2) * 256 : static_cast<size_t>(1048576);
          issue_rows(raw_dst, xc + img + off, rawfull, lane);
        }
        // The row pair after that into L2, half of its channels by each block of the pair.
        const bool inside = p + 3 <= pb;
        if ((inside || more) && lane < 8) {
          const size_t off = inside ? static_cast<size_t>(p + 3) * 256
                                    : static_cast<size_t>(1048576) +
                                          static_cast<size_t>(p + 2 - pb) * 256;
          prefetch_l2(xp + img + off);
        }
        __syncwarp();

#pragma unroll
        for (int ph = 0; ph < 4; ++ph) {
          if (k >= 1)
            mbar_wait(empty + ph * 8, (k - 1) & 1);
#pragma unroll
          for (int c = 0; c < 8; ++c) {
            uint32_t o[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int i = 4 * c + e;
              if (ph == 0)
                o[e] = add_h2(d1[i], d2[i]);
              else if (ph == 1)
                o[e] = sub_h2(d2[i], d1[i]);
              else if (ph == 2)
                o[e] = sub_h2(d0[i], d2[i]);
              else
                o[e] = sub_h2(d3[i], d1[i]);
            }
            sts128((pix_lane ^ (static_cast<uint32_t>(c) << 4)) +
                       static_cast<uint32_t>(ph) * kSlotBytes,
                   o[0], o[1], o[2], o[3]);
          }
          __syncwarp();
          if (lane == 0)
            mbar_arrive(full + ph * 8);
        }
        ++k;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
          d0[i] = d2[i];
          d1[i] = d3[i];
        }
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
      const uint32_t par = k & 1;

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

      mbar_wait(full, par);

      uint32_t va0 = base0;
      uint32_t va4 = base4;
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
        const uint32_t full_odd = full + static_cast<uint32_t>(pass) * 16u + 8u;
        const uint32_t empty_even = empty + static_cast<uint32_t>(pass) * 16u;
#pragma unroll
        for (int blk = 0; blk < 8; ++blk) {
          const int cur = blk & 1;
          const int nxt = cur ^ 1;
          const int nb = blk + 1;
          const uint32_t nkc = static_cast<uint32_t>(nb & 3);
          const uint32_t noff = static_cast<uint32_t>(nb >> 2) * kSlotBytes;
          const uint32_t na = (blk < 7) ? wa + static_cast<uint32_t>(nb) * 6144u : wa_wrap;

          // The loads of this block are the first of the phase 2 * pass + 1.
          if (blk == 3)
            mbar_wait(full_odd, par);

          if (blk == 7) {
            if (pass == 0) {
              mbar_wait(full + 16, par);
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

          // All reads of a phase are complete after its fourth block.
          if (blk == 3) {
            __syncwarp();
            if (lane == 0)
              mbar_arrive(empty_even);
          }
          if (blk == 7) {
            __syncwarp();
            if (lane == 0)
              mbar_arrive(empty_even + 8);
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
