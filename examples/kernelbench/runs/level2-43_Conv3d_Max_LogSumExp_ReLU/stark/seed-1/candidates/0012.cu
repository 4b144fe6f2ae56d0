// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

static __device__ __forceinline__ uint32_t hadd2_u(uint32_t x, uint32_t y) {
  uint32_t r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

static __device__ __forceinline__ uint32_t hsub2_u(uint32_t x, uint32_t y) {
  uint32_t r;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

// p = p + q, q = q - p (of the old p)
static __device__ __forceinline__ void sum_diff(uint32_t (&p)[4], uint32_t (&q)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = hadd2_u(p[i], q[i]);
    q[i] = hsub2_u(q[i], p[i]);
    p[i] = s;
  }
}

// p = p - q
static __device__ __forceinline__ void diff_only(uint32_t (&p)[4], const uint32_t (&q)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    p[i] = hsub2_u(p[i], q[i]);
}

constexpr int kPackBlocks = 144;          // 36864 u32 of packed weights / 256
          // 27648 u32 of packed weights / 256
constexpr int kWeightBytes = 147456;      // 72 half-steps of 2048 bytes
constexpr int kRowBytes = 1152;           // 18 positions x 64 bytes
constexpr int kPlaneBytes = 18 * kRowBytes;
constexpr int kSmemBytes = kWeightBytes + 4 * kPlaneBytes + 1024 + 64;   // 231488
   // 193536
constexpr int kPlaneChunks = 18 * 18 * 4;                    // 1296
constexpr int kStepBytes = 2048;

__device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

// Packs the weights in the order of the half-steps.
__global__ void __launch_bounds__(256)
prep_kernel(const float *__restrict__ x, const float *__restrict__ W,
            __half *__restrict__ xh, uint32_t *__restrict__ wp) {
  const int tid = threadIdx.x;
  if (blockIdx.x < kPackBlocks) {
    const int i = blockIdx.x * 256 + tid;
    const int e = i & 3;
    const int lane = (i >> 2) & 31;
    const int q = (i >> 7) & 3;
    const int hs = i >> 9;   // 0..71
    int st, u;
    if (hs < 18) {           // phase 2a: g0 / 2
      st = hs;
      u = 0;
    } else if (hs < 54) {    // phase 1: U1 and U2 alternate
      st = (hs - 18) >> 1;
      u = 1 + ((hs - 18) & 1);
    } else {                 // phase 2b: g2
      st = hs - 54;
      u = 3;
    }
    const int kh = st % 3;
    const int ks = (st / 3) & 1;
    const int kw = st / 6;
    const int co = (2 * q + (e >> 1)) * 8 + (lane >> 2);
    const int k = ks * 16 + (e & 1) * 8 + (lane & 3) * 2;
    const float *p = W + co * 864 + k * 27 + kh * 3 + kw;
    float r[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const float g0 = __ldg(p + c * 27);
      const float g1 = __ldg(p + c * 27 + 9);
      const float g2 = __ldg(p + c * 27 + 18);
      float val;
      if (u == 0)
        val = 0.5f * g0;
      else if (u == 3)
        val = g2;
      else
        val = 0.5f * ((g0 + g2) + (u == 1 ? g1 : -g1));
      r[c] = val;
    }
    wp[i] = pack_half2(r[0], r[1]);
  }
}

__device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int sz) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(sz)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&a)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void lds128(uint32_t (&b)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies input plane p (with its halo, zero-filled outside the tensor) into its slot of the ring.
// A plane is 1296 chunks (8 channels of one position); thread i of 256 has chunks i + 256*round.

// d = a * b + c, with c left as it is
static __device__ __forceinline__ void mma16816_dc(float (&d)[4], float c0, float c1, float c2,
                                                   float c3, const uint32_t (&a)[4], uint32_t b0,
                                                   uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c0), "f"(c1), "f"(c2),
        "f"(c3));
}

static __device__ __forceinline__ void mbar_init(uint32_t addr, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(addr), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive_if(uint32_t addr, bool on) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.s32 p, %1, 0;\n"
      "@p mbarrier.arrive.shared::cta.b64 _, [%0];\n"
      "}\n" ::"r"(addr),
      "r"((int)on)
      : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t addr, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(addr), "r"(parity)
        : "memory");
  } while (done == 0);
}

// Eight channels of one position; s points to the fifth of them (so that all offsets fit 24 bits).
static __device__ __forceinline__ void ldg8(float (&v)[8], const float *s, bool ok) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.s32 p, %9, 0;\n"
      "mov.f32 %0, 0f00000000;\n"
      "mov.f32 %1, 0f00000000;\n"
      "mov.f32 %2, 0f00000000;\n"
      "mov.f32 %3, 0f00000000;\n"
      "mov.f32 %4, 0f00000000;\n"
      "mov.f32 %5, 0f00000000;\n"
      "mov.f32 %6, 0f00000000;\n"
      "mov.f32 %7, 0f00000000;\n"
      "@p ld.global.nc.f32 %0, [%8+-8388608];\n"
      "@p ld.global.nc.f32 %1, [%8+-6291456];\n"
      "@p ld.global.nc.f32 %2, [%8+-4194304];\n"
      "@p ld.global.nc.f32 %3, [%8+-2097152];\n"
      "@p ld.global.nc.f32 %4, [%8];\n"
      "@p ld.global.nc.f32 %5, [%8+2097152];\n"
      "@p ld.global.nc.f32 %6, [%8+4194304];\n"
      "@p ld.global.nc.f32 %7, [%8+6291456];\n"
      "}\n"
      : "=&f"(v[0]), "=&f"(v[1]), "=&f"(v[2]), "=&f"(v[3]), "=&f"(v[4]), "=&f"(v[5]), "=&f"(v[6]),
        "=&f"(v[7])
      : "l"(s), "r"((int)ok));
}

// What the feeding of the ring needs to know of the present column and tile.
struct Feed {
  const float *xcol;   // channel 4, depth 0, row h0-1, position w0-1 of the image
  uint32_t ring;
  uint32_t bars;       // full[4], then empty[4]
  int tid;
  int h1;              // h0 - 1
  int w1;              // w0 - 1
  int t;               // tile of the column
  int F;               // fill number of its plane P0
};

static __device__ __forceinline__ uint32_t full_bar(uint32_t bars, int f) {
  return bars + (uint32_t)(f & 3) * 8u;
}

static __device__ __forceinline__ uint32_t empty_bar(uint32_t bars, int f) {
  return bars + 32u + (uint32_t)(f & 3) * 8u;
}

static __device__ __forceinline__ void wait_full(uint32_t bars, int f) {
  mbar_wait(full_bar(bars, f), (uint32_t)(f >> 2) & 1u);
}

// The first four fills find parity 1 of a fresh barrier and pass at once.
static __device__ __forceinline__ void wait_empty(uint32_t bars, int f) {
  mbar_wait(empty_bar(bars, f), ((uint32_t)(f >> 2) & 1u) ^ 1u);
}

static __device__ __forceinline__ int opaque_int(int v) {
  int r;
  // opaque, so that the addresses are computed here and not kept in registers over the main loop
  asm volatile("mov.u32 %0, %1;\n" : "=r"(r) : "r"(v));
  return r;
}

static __device__ __forceinline__ void load_chunk(float (&v)[8], const Feed &fd, int p, int round) {
  const int i = opaque_int(fd.tid) + 256 * round;
  const int c = (i * 12946) >> 22;        // i / 324
  const int pos = i - 324 * c;
  const int hl = (pos * 3641) >> 16;      // pos / 18
  const int ww = pos - 18 * hl;
  const bool ok = (unsigned)p < 32u && (round < 5 || i < kPlaneChunks) &&
                  (unsigned)(fd.h1 + hl) < 128u && (unsigned)(fd.w1 + ww) < 128u;
  const int off = c * 4194304 + p * 16384 + hl * 128 + ww;
  ldg8(v, fd.xcol + off, ok);
}

static __device__ __forceinline__ void store_chunk(const float (&v)[8], const Feed &fd, int f,
                                                   int round, bool on) {
  const int i = opaque_int(fd.tid) + 256 * round;
  const int c = (i * 12946) >> 22;
  const int pos = i - 324 * c;
  const int hl = (pos * 3641) >> 16;
  const int ww = pos - 18 * hl;
  const bool ok = on && (round < 5 || i < kPlaneChunks);
  const uint32_t dst = fd.ring + (uint32_t)(f & 3) * kPlaneBytes + hl * kRowBytes +
                       (ww >> 1) * 128 + (((((ww & 1) << 2) | c) ^ ((ww >> 1) & 7)) << 4);
  const uint32_t o0 = pack_half2(v[0], v[1]);
  const uint32_t o1 = pack_half2(v[2], v[3]);
  const uint32_t o2 = pack_half2(v[4], v[5]);
  const uint32_t o3 = pack_half2(v[6], v[7]);
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.s32 p, %5, 0;\n"
      "@p st.shared.v4.b32 [%0], {%1,%2,%3,%4};\n"
      "}\n" ::"r"(dst),
      "r"(o0), "r"(o1), "r"(o2), "r"(o3), "r"((int)ok)
      : "memory");
}

// One lane of the warp arrives for all of it.
static __device__ __forceinline__ void warp_arrive(uint32_t bar, int tid, bool on) {
  __syncwarp();
  mbar_arrive_if(bar, on && (tid & 31) == 0);
}

// This thread's share of the feeding at half-step hs (a constant): every five half-steps the chunk
// that was loaded five half-steps ago is stored, and the next one is loaded.
static __device__ __forceinline__ void feed_step(float (&v)[8], const Feed &fd, int hs) {
  if (hs >= 2 && hs <= 62 && (hs - 2) % 5 == 0) {
    const int k = (hs - 2) / 5;   // 0..12
    if (k >= 1 && k <= 6) {
      const int f = fd.F + 3;
      if (k == 1)
        wait_empty(fd.bars, f);
      store_chunk(v, fd, f, k - 1, true);
      if (k == 6)
        warp_arrive(full_bar(fd.bars, f), fd.tid, true);
    } else if (k >= 7) {
      const int f = fd.F + 4;
      const bool on = fd.t < 15;
      if (k == 7) {
        if (on)
          wait_empty(fd.bars, f);
      }
      store_chunk(v, fd, f, k - 7, on);
      if (k == 12)
        warp_arrive(full_bar(fd.bars, f), fd.tid, on);
    }
    if (k < 6)
      load_chunk(v, fd, 2 * fd.t + 2, k);
    else if (k < 12)
      load_chunk(v, fd, 2 * fd.t + 3, k - 6);   // plane 33 of the last tile: no loads
  }
}

// Row s = 6*g + r of the A window (r of plane row 4*rg + r) lies in slot s % 5.
static __device__ __forceinline__ void load_row(uint32_t (&a)[2][5][4],
                                                const uint32_t (&offA)[3][2], uint32_t baseX,
                                                uint32_t baseY, int s) {
  const int g = s / 6;
  const uint32_t o = offA[g >> 1][g & 1] + (uint32_t)((s % 6) * kRowBytes);
  ldmatrix_x4(a[0][s % 5], baseX + o);
  ldmatrix_x4(a[1][s % 5], baseY + o);
}

// kHs0 = 0:  acc[0] = (X-Y)*g0/2                                       (X = P0, Y = P2)
// kHs0 = 18: acc[1] = acc[0] + (X+Y)*U1, acc[0] += (Y-X)*U2            (X = P1, Y = P2)
// kHs0 = 54: acc[0], acc[1] = acc[0]+acc[1], acc[1]-acc[0]; acc[1] += (X-Y)*g2   (X = P3, Y = P1)
template <bool kDual, int kD, int kHs0>
static __device__ __forceinline__ void conv_phase(float (&acc)[2][4][4][4], uint32_t (&b)[2][2][4],
                                                  float (&v)[8], const uint32_t (&offA)[3][2],
                                                  uint32_t baseX, uint32_t baseY, uint32_t bLane,
                                                  const Feed &fd) {
  uint32_t a[2][5][4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
    load_row(a, offA, baseX, baseY, r);

  if (kHs0 == 54) {
#pragma unroll
    for (int hh = 0; hh < 4; ++hh)
#pragma unroll
      for (int nt = 0; nt < 4; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float s = acc[0][hh][nt][e] + acc[1][hh][nt][e];
          acc[1][hh][nt][e] = acc[1][hh][nt][e] - acc[0][hh][nt][e];
          acc[0][hh][nt][e] = s;
        }
  }

#pragma unroll
  for (int st = 0; st < 18; ++st) {
    const int kh = st % 3;
    const int s0 = 6 * (st / 3) + kh;
    if (s0 + 4 < 36)
      load_row(a, offA, baseX, baseY, s0 + 4);
#pragma unroll
    for (int q = 0; q < (kDual ? 2 : 1); ++q) {
      const int dd = kDual ? 1 - q : kD;
      const int hs = kHs0 + (kDual ? 2 * st + q : st);
      const int cur = hs & 1;
      // B of the next half-step (the last one fetches the first of the next tile)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        lds128(b[cur ^ 1][i], bLane + (hs == 71 ? 0 : hs + 1) * kStepBytes + i * 512);
      feed_step(v, fd, hs);
#pragma unroll
      for (int hh = 0; hh < 4; ++hh) {
        const int sl = (s0 + hh) % 5;
        if (q == 0 && (kh == 0 || hh == 3)) {
          if (kDual)
            sum_diff(a[0][sl], a[1][sl]);
          else
            diff_only(a[0][sl], a[1][sl]);
        }
#pragma unroll
        for (int nt = 0; nt < 4; ++nt) {
          const uint32_t b0 = b[cur][nt >> 1][(nt & 1) * 2];
          const uint32_t b1 = b[cur][nt >> 1][(nt & 1) * 2 + 1];
          if (kDual && st == 0 && q == 0)
            mma16816_dc(acc[1][hh][nt], acc[0][hh][nt][0], acc[0][hh][nt][1], acc[0][hh][nt][2],
                        acc[0][hh][nt][3], a[0][sl], b0, b1);
          else if (kHs0 == 0 && st == 0)
            mma16816_dc(acc[0][hh][nt], 0.0f, 0.0f, 0.0f, 0.0f, a[0][sl], b0, b1);
          else
            mma16816(acc[dd][hh][nt], a[kDual ? q : 0][sl], b0, b1);
        }
        // rows 1..3 of the next group, into the slot that was just used for the last time
        if (q == (kDual ? 1 : 0) && kh == 2 && hh < 3 && s0 + 5 + hh < 36)
          load_row(a, offA, baseX, baseY, s0 + 5 + hh);
      }
    }
  }
}

__global__ void __launch_bounds__(256, 1)
conv_fused_kernel(const float *__restrict__ x, const __half *__restrict__ wp,
                  const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t sW = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = sW + kWeightBytes;
  float2 *red = reinterpret_cast<float2 *>(smem + kWeightBytes + 4 * kPlaneBytes);
  const uint32_t bars = ring + 4 * kPlaneBytes + 1024;
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int wid = tid >> 5;
  const int nh = wid & 1;    // 32 channels: 32*nh .. 32*nh+31
  const int rg = wid >> 1;   // four output rows: 4*rg .. 4*rg+3

  if (tid == 0) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      mbar_init(bars + i * 8, 8);
  }
  {
    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(wp);
#pragma unroll 1
    for (int i = tid; i < kWeightBytes / 16; i += 256)
      cp_async16(sW + i * 16, wsrc + i * 16, 16);
    cp_async_commit();
  }
  __syncthreads();   // the mbarriers are initialised

  uint32_t offA[3][2];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int ww = 2 * (lane & 7) + ((lane >> 3) & 1) + kw;
    offA[kw][0] = (uint32_t)((ww >> 1) * 128 +
                             (((((ww & 1) << 2) | (lane >> 4)) ^ ((ww >> 1) & 7)) << 4));
    offA[kw][1] = offA[kw][0] ^ 32u;
  }
  const uint32_t ringWarp = ring + (uint32_t)(4 * rg * kRowBytes);
  const uint32_t bLane = sW + (uint32_t)(nh * 1024 + lane * 16);

  Feed fd;
  fd.ring = ring;
  fd.bars = bars;
  fd.tid = tid;

#pragma unroll 1
  for (int j = 0; j < 2; ++j) {
    const int col = j * 128 + (int)blockIdx.x;
    const int n = col >> 6;
    const int h0 = ((col >> 3) & 7) * 16;
    const int w0 = (col & 7) * 16;
    fd.h1 = h0 - 1;
    fd.w1 = w0 - 1;
    fd.xcol = x + ((long long)n * 16777216 + 4 * 524288 + (h0 - 1) * 128 + (w0 - 1));

    // planes -1, 0, 1 of the column
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
      const int f = 34 * j + k;
      float u[6][8];
#pragma unroll
      for (int r = 0; r < 6; ++r)
        load_chunk(u[r], fd, k - 1, r);
      wait_empty(bars, f);
#pragma unroll
      for (int r = 0; r < 6; ++r)
        store_chunk(u[r], fd, f, r, true);
      warp_arrive(full_bar(bars, f), tid, true);
    }
    if (j == 0) {
      cp_async_wait_all();
      __syncthreads();   // the weights have arrived
    }
    wait_full(bars, 34 * j);
    wait_full(bars, 34 * j + 1);

    uint32_t b[2][2][4];
#pragma unroll
    for (int q = 0; q < 2; ++q)
      lds128(b[0][q], bLane + q * 512);

#pragma unroll 1
    for (int t = 0; t < 16; ++t) {
      const int F = 34 * j + 2 * t;
      fd.t = t;
      fd.F = F;
      float acc[2][4][4][4];   // [dd][row][n tile][element]
      float v[8];              // the chunk that is on its way from memory

      // ---- phase 2a: P0 and P1 were waited for by the previous tile (as P2 and P3)
      wait_full(bars, F + 2);
      conv_phase<false, 0, 0>(acc, b, v, offA, ringWarp + (uint32_t)(F & 3) * kPlaneBytes,
                              ringWarp + (uint32_t)((F + 2) & 3) * kPlaneBytes, bLane, fd);
      warp_arrive(empty_bar(bars, F), tid, true);

      // ---- phase 1
      conv_phase<true, 0, 18>(acc, b, v, offA, ringWarp + (uint32_t)((F + 1) & 3) * kPlaneBytes,
                              ringWarp + (uint32_t)((F + 2) & 3) * kPlaneBytes, bLane, fd);

      // ---- phase 2b
      wait_full(bars, F + 3);
      conv_phase<false, 1, 54>(acc, b, v, offA, ringWarp + (uint32_t)((F + 3) & 3) * kPlaneBytes,
                               ringWarp + (uint32_t)((F + 1) & 3) * kPlaneBytes, bLane, fd);
      warp_arrive(empty_bar(bars, F + 1), tid, true);
      if (t == 15) {
        warp_arrive(empty_bar(bars, F + 2), tid, true);
        warp_arrive(empty_bar(bars, F + 3), tid, true);
      }

      // Epilogue: pooling is local to the thread, 32 channels are spread over the four lanes of a
      // quad, the two halves of the channels over two warps.
      {
        float bv[8];
#pragma unroll
        for (int nt = 0; nt < 4; ++nt)
          asm volatile("ld.global.nc.v2.f32 {%0,%1}, [%2];\n"
                       : "=f"(bv[nt * 2]), "=f"(bv[nt * 2 + 1])
                       : "l"(bias + nh * 32 + nt * 8 + 2 * (lane & 3)));
        float ms[2];
        float sums[2];
#pragma unroll
        for (int pr = 0; pr < 2; ++pr) {
          float y8[8];
          float m = -INFINITY;
#pragma unroll
          for (int nt = 0; nt < 4; ++nt) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              float y = fmaxf(acc[0][2 * pr][nt][e], acc[0][2 * pr][nt][e + 2]);
              y = fmaxf(y, fmaxf(acc[0][2 * pr + 1][nt][e], acc[0][2 * pr + 1][nt][e + 2]));
              y = fmaxf(y, fmaxf(acc[1][2 * pr][nt][e], acc[1][2 * pr][nt][e + 2]));
              y = fmaxf(y, fmaxf(acc[1][2 * pr + 1][nt][e], acc[1][2 * pr + 1][nt][e + 2]));
              y += bv[nt * 2 + e];
              y8[nt * 2 + e] = y;
              m = fmaxf(m, y);
            }
          }
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
          float s = 0.0f;
#pragma unroll
          for (int i = 0; i < 8; ++i)
            s += __expf(y8[i] - m);
          s += __shfl_xor_sync(0xffffffffu, s, 1);
          s += __shfl_xor_sync(0xffffffffu, s, 2);
          ms[pr] = m;
          sums[pr] = s;
        }
        const int q = lane & 3;
        const float mm = q == 0 ? ms[0] : ms[1];
        const float ss = q == 0 ? sums[0] : sums[1];
        const int e = (2 * rg + (q & 1)) * 8 + (lane >> 2);
        if (nh == 1 && q < 2)
          red[(t & 1) * 64 + e] = make_float2(mm, ss);
        __syncwarp();
        // only the two warps of these rows; two buffers make one barrier a tile enough
        asm volatile("bar.sync %0, 64;\n" ::"r"(1 + rg) : "memory");
        if (nh == 0 && q < 2) {
          const float2 o = red[(t & 1) * 64 + e];
          const float m = fmaxf(mm, o.x);
          const float s = ss * __expf(mm - m) + o.y * __expf(o.x - m);
          out[((n * 16 + t) * 64 + (h0 >> 1) + (e >> 3)) * 64 + (w0 >> 1) + (e & 7)] =
              fmaxf(m + logf(s), 0.0f);
        }
        __syncwarp();
      }
    }
  }
}

} // namespace

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  at::Tensor xh = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wp = at::empty({73728}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  __half *xh_ptr = static_cast<__half *>(xh.data_ptr());
  __half *wp_ptr = static_cast<__half *>(wp.data_ptr());
  cudaFuncSetAttribute(conv_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  prep_kernel<<<kPackBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xh_ptr,
      reinterpret_cast<uint32_t *>(wp_ptr));
  conv_fused_kernel<<<128, 256, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wp_ptr, conv_bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
