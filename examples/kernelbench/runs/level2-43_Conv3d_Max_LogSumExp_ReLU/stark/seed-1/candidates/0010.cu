// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kPrepWBlocks = 36 * 64 * 32 / 256; // 288
static constexpr int kRowBytes = 1152;                 // 18 columns x 64 bytes
static constexpr int kSlotBytes = 10 * kRowBytes;      // 11520
static constexpr int kWeightBytes = 36 * 64 * 32 * 2;  // 147456
static constexpr int kSlots = 7;
static constexpr int kPartStride = 36;                                 // float2 a row of partials
static constexpr int kBiasOff = kWeightBytes + kSlots * kSlotBytes;    // 228096
static constexpr int kPartOff = kBiasOff + 64 * 4;                     // 228352
static constexpr int kSmemBytes = kPartOff + 8 * kPartStride * 8;      // 230656

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

static __device__ __forceinline__ void cp_async_wait_everything() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}

static __device__ __forceinline__ void ldsm4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                             uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Named barriers. 1 = FULL: producers arrive, consumers wait. 2 = FREED: consumers arrive, producers
// wait. 3: consumers only.
static __device__ __forceinline__ void full_arrive() {
  asm volatile("bar.arrive 1, 256;\n" ::: "memory");
}

static __device__ __forceinline__ void full_wait() {
  asm volatile("bar.sync 1, 256;\n" ::: "memory");
}

static __device__ __forceinline__ void full_wait_if(int pred) {
  asm volatile("{\n"
               ".reg .pred q;\n"
               "setp.ne.s32 q, %0, 0;\n"
               "@q bar.sync 1, 256;\n"
               "}\n" ::"r"(pred)
               : "memory");
}

static __device__ __forceinline__ void freed_arrive() {
  asm volatile("bar.arrive 2, 256;\n" ::: "memory");
}

static __device__ __forceinline__ void freed_wait() {
  asm volatile("bar.sync 2, 256;\n" ::: "memory");
}

static __device__ __forceinline__ void consumers_sync() {
  asm volatile("bar.sync 3, 128;\n" ::: "memory");
}

// Eight channels (524288 floats apart) of one pixel, zero and not read where ok is 0.
static __device__ __forceinline__ void load_channels8(float (&v)[8], const float *p, int ok) {
  asm volatile("{\n"
               ".reg .pred q;\n"
               "setp.ne.s32 q, %9, 0;\n"
               "mov.f32 %0, 0f00000000;\n"
               "mov.f32 %1, 0f00000000;\n"
               "mov.f32 %2, 0f00000000;\n"
               "mov.f32 %3, 0f00000000;\n"
               "mov.f32 %4, 0f00000000;\n"
               "mov.f32 %5, 0f00000000;\n"
               "mov.f32 %6, 0f00000000;\n"
               "mov.f32 %7, 0f00000000;\n"
               "@q ld.global.nc.f32 %0, [%8];\n"
               "@q ld.global.nc.f32 %1, [%8+2097152];\n"
               "@q ld.global.nc.f32 %2, [%8+4194304];\n"
               "@q ld.global.nc.f32 %3, [%8+6291456];\n"
               "@q ld.global.nc.f32 %4, [%8+8388608];\n"
               "@q ld.global.nc.f32 %5, [%8+10485760];\n"
               "@q ld.global.nc.f32 %6, [%8+12582912];\n"
               "@q ld.global.nc.f32 %7, [%8+14680064];\n"
               "}\n"
               : "=&f"(v[0]), "=&f"(v[1]), "=&f"(v[2]), "=&f"(v[3]), "=&f"(v[4]), "=&f"(v[5]),
                 "=&f"(v[6]), "=&f"(v[7])
               : "l"(p), "r"(ok));
}

static __device__ __forceinline__ void store16_if(uint32_t addr, uint32_t a, uint32_t b, uint32_t c,
                                                  uint32_t d, int pred) {
  asm volatile("{\n"
               ".reg .pred q;\n"
               "setp.ne.s32 q, %5, 0;\n"
               "@q st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n"
               "}\n" ::"r"(addr),
               "r"(a), "r"(b), "r"(c), "r"(d), "r"(pred)
               : "memory");
}

// weights -> depth-transformed, swizzled fp16 shared-memory image.
static __global__ void __launch_bounds__(256, 4) prep_kernel(const float *__restrict__ cw,
                                                             __half *__restrict__ wh) {
  const int e = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x);
  const int ci = e & 31;
  const int co = (e >> 5) & 63;
  const int ti = e >> 11;
  const int i = ti / 9;
  const int hw = ti - i * 9;
  const float *g = cw + co * 864 + ci * 27 + hw;
  const float g0 = g[0];
  const float g1 = g[9];
  const float g2 = g[18];
  float v;
  if (i == 0)
    v = 0.5f * ((g0 + g2) + g1);
  else if (i == 1)
    v = 0.5f * ((g0 + g2) - g1);
  else if (i == 2)
    v = g0;
  else
    v = g2;
  const int off = ti * 4096 + (co >> 1) * 128 +
                  (((((co & 1) << 2) | (ci >> 3)) ^ ((co >> 1) & 7)) * 16) + (ci & 7) * 2;
  wh[off >> 1] = __float2half_rn(v);
}

// What a thread copies of every item: up to six 16-byte chunks of a 10 x 34 x 32 plane tile.
struct ChunkMap {
  int rel[6];      // source offset in elements, from the tile's first element
  uint32_t dst[6]; // byte in the slot
  uint32_t mask;   // bit k: chunk k lies inside x in the first column; bit 8 + k: in the second
};

static __device__ __forceinline__ uint32_t next_slot(uint32_t s) {
  return s == static_cast<uint32_t>(kSlots - 1) ? 0u : s + 1u;
}

// Both planes (2s+1, 2s+2) of one unit of position (n, s).
static __device__ __forceinline__ void load_unit(float (&c)[8], float (&d)[8], const float *x, int rel,
                                                 int inside, int n, int s) {
  const float *p = x + (n * 16777216 + (2 * s + 1) * 16384 + rel);
  const int okc = (inside != 0 && n < 4 && s >= 0) ? 1 : 0;
  const int okd = (inside != 0 && n < 4 && s < 15) ? 1 : 0;
  load_channels8(c, p, okc);
  load_channels8(d, p + 16384, okd);
}

// Combines the partial (max, sum) pairs of step k and writes its 4 x 8 outputs; one warp.
static __device__ __forceinline__ void finish_step(int k, const float2 *part, float *out, int h0, int w0,
                                                   int lane) {
  float2 p[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    p[j] = part[j * kPartStride + lane];
  float M = p[0].x;
#pragma unroll
  for (int j = 1; j < 8; ++j)
    M = fmaxf(M, p[j].x);
  float S = 0.f;
#pragma unroll
  for (int j = 0; j < 8; ++j)
    S += p[j].y * __expf(p[j].x - M);
  out[(((k >> 4) * 16 + (k & 15)) * 64 + (h0 >> 1) + (lane >> 3)) * 64 + (w0 >> 1) + (lane & 7)] =
      fmaxf(M + logf(S), 0.f);
}

// Producer warps: x -> depth-transformed fp16 planes in the ring of slots.
static __device__ __forceinline__ void produce(const float *__restrict__ x, float *__restrict__ out,
                                               const float2 *part, uint32_t in_base, int h0, int w0,
                                               int pt) {
  const int lane = pt & 31;
  const bool finisher = pt < 32;

  int rel[6];
  uint32_t dst[6];
  uint32_t mask = 0;
#pragma unroll
  for (int u = 0; u < 6; ++u) {
    const int v = pt + 128 * u;
    const int c = v / 180;
    const int px = v - c * 180;
    const int row = px / 18;
    const int cc = px - row * 18;
    const int h = h0 - 1 + row;
    const int w = w0 - 1 + cc;
    rel[u] = c * 8 * 524288 + h * 128 + w;
    dst[u] = static_cast<uint32_t>(row * kRowBytes + (cc >> 1) * 128 +
                                   (((((cc & 1) << 2) | c) ^ ((cc >> 1) & 7)) * 16));
    if (v < 720 && static_cast<unsigned>(h) < 128u && static_cast<unsigned>(w) < 128u)
      mask |= 1u << u;
  }

  float A[6][8], B[6][8];
  float R[3][2][8];
#pragma unroll
  for (int u = 0; u < 6; ++u) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      A[u][k] = 0.f;
      B[u][k] = 0.f;
    }
  }

  int n = 0;
  int s = -1;
  int st = 0;
  uint32_t sl = 0;

#pragma unroll
  for (int u = 0; u < 3; ++u)
    load_unit(R[u][0], R[u][1], x, rel[u], static_cast<int>((mask >> u) & 1u), n, s);

#pragma unroll 1
  for (int T = 0; T < 68; ++T) {
    const int s1 = (s == 15) ? -1 : s + 1;
    const int n1 = (s == 15) ? n + 1 : n;
    const bool emit = s >= 0;

    if (emit && st >= 1) {
      __syncwarp();
      freed_wait();
      if (st >= 2 && finisher)
        finish_step(st - 2, part, out, h0, w0, lane);
    }

    const uint32_t sl1 = next_slot(sl);
    const uint32_t sl2 = next_slot(sl1);
    const uint32_t sl3 = next_slot(sl2);
    const uint32_t e0 = in_base + sl * kSlotBytes;
    const uint32_t e1 = in_base + sl1 * kSlotBytes;
    const uint32_t e2 = in_base + sl2 * kSlotBytes;
    const uint32_t e3 = in_base + sl3 * kSlotBytes;

#pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int rr = u % 3;
      const int pred = (emit && (u < 5 || pt < 80)) ? 1 : 0;
      float C[8], D[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        C[k] = R[rr][0][k];
        D[k] = R[rr][1][k];
      }
      uint32_t q[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        q[k] = pack_half2(B[u][2 * k] + C[2 * k], B[u][2 * k + 1] + C[2 * k + 1]);
      store16_if(e0 + dst[u], q[0], q[1], q[2], q[3], pred);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        q[k] = pack_half2(C[2 * k] - B[u][2 * k], C[2 * k + 1] - B[u][2 * k + 1]);
      store16_if(e1 + dst[u], q[0], q[1], q[2], q[3], pred);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        q[k] = pack_half2(A[u][2 * k] - C[2 * k], A[u][2 * k + 1] - C[2 * k + 1]);
      store16_if(e2 + dst[u], q[0], q[1], q[2], q[3], pred);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        q[k] = pack_half2(D[2 * k] - B[u][2 * k], D[2 * k + 1] - B[u][2 * k + 1]);
      store16_if(e3 + dst[u], q[0], q[1], q[2], q[3], pred);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        A[u][k] = C[k];
        B[u][k] = D[k];
      }
      if (u < 3) {
        const int un = (u < 3) ? u + 3 : 0;
        load_unit(R[rr][0], R[rr][1], x, rel[un], static_cast<int>((mask >> un) & 1u), n, s);
      } else {
        const int un = (u >= 3) ? u - 3 : 0;
        load_unit(R[rr][0], R[rr][1], x, rel[un], static_cast<int>((mask >> un) & 1u), n1, s1);
      }
    }

    if (emit) {
      __syncwarp();
      full_arrive();
      ++st;
      sl = next_slot(sl3);
    }
    n = n1;
    s = s1;
  }

  __syncwarp();
  freed_wait();
  if (finisher)
    finish_step(62, part, out, h0, w0, lane);
  __syncwarp();
  full_arrive();
  freed_wait();
  if (finisher)
    finish_step(63, part, out, h0, w0, lane);
}

// One transformed plane against its weight block, into ac. On entry a[(OFF + 0..3) & 7] and bf[0] hold the
// first fragments; on exit a[(OFF + 4 + 0..3) & 7] and bf[0] hold those of the next phase.
template <int OFF>
static __device__ __forceinline__ void conv_phase(float (&ac)[4][4][4], uint32_t (&a)[8][4],
                                                  uint32_t (&bf)[2][4][2], uint32_t abase, uint32_t wb,
                                                  uint32_t abase_n, uint32_t wb_n,
                                                  const uint32_t (&aoff)[3], uint32_t boff, int sync_n) {
#pragma unroll
  for (int it = 0; it < 18; ++it) {
    const int b = it / 3;
    const int kh = it % 3;
    const int nb = (it + 1) & 1;
    if (it == 15)
      full_wait_if(sync_n);
    if (it < 17) {
      const int kw1 = (it + 1) / 6;
      const int kc1 = ((it + 1) / 3) % 2;
      const int kh1 = (it + 1) % 3;
#pragma unroll
      for (int q = 0; q < 2; ++q)
        ldsm4(bf[nb][2 * q][0], bf[nb][2 * q][1], bf[nb][2 * q + 1][0], bf[nb][2 * q + 1][1],
              wb + (boff ^ static_cast<uint32_t>(kc1 * 32)) + (kh1 * 3 + kw1) * 4096 + q * 1024);
    } else {
#pragma unroll
      for (int q = 0; q < 2; ++q)
        ldsm4(bf[nb][2 * q][0], bf[nb][2 * q][1], bf[nb][2 * q + 1][0], bf[nb][2 * q + 1][1],
              wb_n + boff + q * 1024);
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int sq = 6 * b + 4 + 2 * kh + e; // sequence number of an A row
      const int ri = (OFF + sq) & 7;
      if (sq < 36) {
        const int kwq = (sq / 6) / 2;
        const int kcq = (sq / 6) % 2;
        const int ihq = sq % 6;
        ldsm4(a[ri][0], a[ri][1], a[ri][2], a[ri][3],
              abase + (aoff[kwq < 3 ? kwq : 0] ^ static_cast<uint32_t>(kcq * 32)) + ihq * kRowBytes);
      } else {
        ldsm4(a[ri][0], a[ri][1], a[ri][2], a[ri][3], abase_n + aoff[0] + (sq - 36) * kRowBytes);
      }
    }
#pragma unroll
    for (int hh = 0; hh < 4; ++hh) {
#pragma unroll
      for (int nt = 0; nt < 4; ++nt)
        mma16816(ac[hh][nt], a[(OFF + 6 * b + kh + hh) & 7], bf[it & 1][nt]);
    }
  }
}

static __global__ void __launch_bounds__(256, 1) conv_kernel(const float *__restrict__ x,
                                                             const __half *__restrict__ whalf,
                                                             const float *__restrict__ bias,
                                                             float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float *bias_s = reinterpret_cast<float *>(smem + kBiasOff);
  float2 *part = reinterpret_cast<float2 *>(smem + kPartOff);
  const uint32_t w_base = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t in_base = w_base + kWeightBytes;

  const int tid = threadIdx.x;
  const int warp = tid >> 5;

  if (warp >= 4) {
    const int h0 = (static_cast<int>(blockIdx.x) >> 3) * 8;
    const int w0 = (static_cast<int>(blockIdx.x) & 7) * 16;
    produce(x, out, part, in_base, h0, w0, tid - 128);
  } else {
    const int lane = tid & 31;
    const int wh = warp & 1;
    const int wn = warp >> 1;
    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(whalf);

    if (tid < 64)
      bias_s[tid] = bias[tid];
#pragma unroll 8
    for (int i = 0; i < 72; ++i) {
      const int o = (tid + i * 128) * 16;
      cp_async16(w_base + o, wsrc + o, 16);
    }
    cp_async_commit();

    const int m = lane >> 3;
    const int r = lane & 7;
    uint32_t aoff[3];
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      const int t = (m & 1) + kw;
      const int line = r + (t >> 1);
      const int half = t & 1;
      aoff[kw] = static_cast<uint32_t>(line * 128 + ((((half << 2) | (m >> 1)) ^ (line & 7)) * 16));
    }
    uint32_t boff;
    {
      const int co0 = (m >> 1) * 8 + r;
      const int line = co0 >> 1;
      boff = static_cast<uint32_t>(wn * 2048 + line * 128 +
                                   (((((co0 & 1) << 2) | (m & 1)) ^ (line & 7)) * 16));
    }
    const uint32_t a_first = in_base + static_cast<uint32_t>(4 * wh * kRowBytes);

    cp_async_wait_everything();
    consumers_sync();
    full_wait();

    uint32_t a[8][4];
    uint32_t bf[2][4][2];
#pragma unroll
    for (int q = 0; q < 2; ++q)
      ldsm4(bf[0][2 * q][0], bf[0][2 * q][1], bf[0][2 * q + 1][0], bf[0][2 * q + 1][1],
            w_base + boff + q * 1024);
#pragma unroll
    for (int ih = 0; ih < 4; ++ih)
      ldsm4(a[ih][0], a[ih][1], a[ih][2], a[ih][3], a_first + aoff[0] + ih * kRowBytes);

    const int g = lane >> 2;
    const int t = lane & 3;
    uint32_t sl = 0;

#pragma unroll 1
    for (int st = 0; st < 64; ++st) {
      float acc0[4][4][4];
      float acc1[4][4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            acc0[i][j][e] = 0.f;
            acc1[i][j][e] = 0.f;
          }
        }
      }

#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        const uint32_t sl1 = next_slot(sl);
        const uint32_t sl2 = next_slot(sl1);
        const uint32_t ab0 = a_first + sl * kSlotBytes;
        const uint32_t ab1 = a_first + sl1 * kSlotBytes;
        const uint32_t ab2 = a_first + sl2 * kSlotBytes;
        const uint32_t wb0 = w_base + static_cast<uint32_t>(half) * 73728u;
        const uint32_t wb1 = wb0 + 36864u;
        const uint32_t wb2 = w_base + (half == 0 ? 73728u : 0u);

        conv_phase<0>(acc0, a, bf, ab0, wb0, ab1, wb1, aoff, boff, 0);
        if (half == 0)
          freed_arrive();
        conv_phase<4>(acc1, a, bf, ab1, wb1, ab2, wb2, aoff, boff, half);
        sl = sl2;

        if (half == 0) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
#pragma unroll
              for (int e = 0; e < 4; ++e) {
                const float p = acc0[i][j][e];
                const float q = acc1[i][j][e];
                acc0[i][j][e] = p + q;
                acc1[i][j][e] = p - q;
              }
            }
          }
        }
      }

      // 2x2x2 max, bias, and this thread's share of the logsumexp over the 64 channels
#pragma unroll
      for (int hp = 0; hp < 2; ++hp) {
        float v[4][2];
        float mx = -INFINITY;
#pragma unroll
        for (int nt = 0; nt < 4; ++nt) {
          const float2 bv = *reinterpret_cast<const float2 *>(bias_s + wn * 32 + nt * 8 + 2 * t);
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            float z = fmaxf(acc0[2 * hp][nt][j], acc0[2 * hp][nt][j + 2]);
            z = fmaxf(z, fmaxf(acc0[2 * hp + 1][nt][j], acc0[2 * hp + 1][nt][j + 2]));
            z = fmaxf(z, fmaxf(acc1[2 * hp][nt][j], acc1[2 * hp][nt][j + 2]));
            z = fmaxf(z, fmaxf(acc1[2 * hp + 1][nt][j], acc1[2 * hp + 1][nt][j + 2]));
            z += (j == 0) ? bv.x : bv.y;
            v[nt][j] = z;
            mx = fmaxf(mx, z);
          }
        }
        float sum = 0.f;
#pragma unroll
        for (int nt = 0; nt < 4; ++nt) {
#pragma unroll
          for (int j = 0; j < 2; ++j)
            sum += __expf(v[nt][j] - mx);
        }
        part[(wn * 4 + t) * kPartStride + (wh * 2 + hp) * 8 + g] = make_float2(mx, sum);
      }
    }
    __syncwarp();
    freed_arrive(); // publishes the partials of the last step
  }
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  at::Tensor xu_t = at::empty({4, 64, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wh_t = at::empty({36 * 64 * 32}, x.options().dtype(at::kHalf));
  __half *xu = static_cast<__half *>(xu_t.data_ptr());
  __half *wh = static_cast<__half *>(wh_t.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  prep_kernel<<<kPrepWBlocks, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), wh);

  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<128, 256, kSmemBytes, stream>>>(x.const_data_ptr<float>(), wh,
                                                conv_bias.const_data_ptr<float>(),
                                                out.data_ptr<float>());
  return out;
}
