// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rounding of x and w to 11 significant bits: ties to even (false) or away from zero (true).
static constexpr bool kTiesAway = false;

static constexpr int kThreads = 256;          // 8 warps: each produces and consumes
          // 8 consumer warps, 2 producer warps
static constexpr int kRows = 4;               // input rows in the ring
               // input rows in the ring
static constexpr int kTapBytes = 16384;       // 128 output channels x 64 input channels, fp16
static constexpr int kSlotBytes = 16384;      // 128 pixels x 64 input channels, fp16
static constexpr int kRingOff = 9 * kTapBytes;                      // 147456
static constexpr int kStageBytes = 2112;      // 8 output channels x 64 pixels, fp32, of one warp
static constexpr int kStageOff = kRingOff + kRows * kSlotBytes;     // 212992
static constexpr int kTabOff = kStageOff + 8 * kStageBytes;         // 229888
 // 229632
static constexpr int kBarOff = kTabOff + 128 * 8;                   // 230912
                   // 230656
static constexpr int kMaxOff = kBarOff + (2 * kRows + 1) * 8;       // 230984
       // 230744
static constexpr int kSmem = 231040;
static constexpr int kPlane = 126 * 126;      // one output plane
static_assert(kMaxOff + 8 <= kSmem && kSmem <= 232448, "shared memory");

static __device__ __forceinline__ float round_in(float v) {
  if constexpr (kTiesAway) {
    unsigned b = __float_as_uint(v);
    if ((b & 0x7f800000u) != 0x7f800000u)
      b = (b + 0x1000u) & 0xffffe000u;
    return __uint_as_float(b);
  } else {
    return v;
  }
}

static __device__ __forceinline__ float round_tf32(float v) {
  unsigned b = __float_as_uint(v);
  if ((b & 0x7f800000u) != 0x7f800000u) {
    const unsigned add = kTiesAway ? 0x1000u : (0xfffu + ((b >> 13) & 1u));
    b = (b + add) & 0xffffe000u;
  }
  return __uint_as_float(b);
}

static __device__ __forceinline__ uint32_t pack2(float lo, float hi) {
  const __half2 h = __floats2half2_rn(round_in(lo), round_in(hi));
  return *reinterpret_cast<const uint32_t *>(&h);
}

static __device__ __forceinline__ void st_shared_u4(uint32_t addr, uint32_t a, uint32_t b,
                                                    uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

static __device__ __forceinline__ void st_shared_f4(uint32_t addr, const float4 &v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

// Two neighbouring pixels x 8 channels to the ring. Odd lanes store their second pixel first, so
// that eight neighbouring lanes hit eight different 16-byte chunks.
static __device__ __forceinline__ void store_unit(const float2 (&v)[8], float &m, uint32_t addr,
                                                  bool odd) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    m = fmaxf(m, fabsf(v[e].x));
    m = fmaxf(m, fabsf(v[e].y));
  }
  uint32_t h0[4];
  uint32_t h1[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    h0[i] = pack2(v[2 * i].x, v[2 * i + 1].x);
    h1[i] = pack2(v[2 * i].y, v[2 * i + 1].y);
  }
  st_shared_u4(addr, odd ? h1[0] : h0[0], odd ? h1[1] : h0[1], odd ? h1[2] : h0[2],
               odd ? h1[3] : h0[3]);
  st_shared_u4(addr ^ 0x90u, odd ? h0[0] : h1[0], odd ? h0[1] : h1[1], odd ? h0[2] : h1[2],
               odd ? h0[3] : h1[3]);
}

static __device__ __forceinline__ float2 load_pair(const float *p) {
  float2 v;
  asm volatile("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
               : "=f"(v.x), "=f"(v.y)
               : "l"(p));
  return v;
}

static __device__ __forceinline__ void load_unit(float2 (&v)[8], const float *p) {
#pragma unroll
  for (int e = 0; e < 8; ++e)
    v[e] = load_pair(p + e * (128 * 128));
}

static __device__ __forceinline__ void prefetch_l2(const float *p, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(p)),
               "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void mbar_init(uint32_t addr, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addr), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t addr) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(addr) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t addr, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(addr), "r"(parity)
                 : "memory");
  }
}

static __device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr));
}

static __device__ __forceinline__ void bulk_store(float *dst, uint32_t src, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(dst)),
               "r"(src), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4],
                                                uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ float relu_keep_nan(float t) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(t), "f"(0.0f));
  return r;
}

static __device__ __forceinline__ float finish(float acc, float cb, float bb) {
  return relu_keep_nan(fmaf(acc, 0.015625f, cb)) + bb;
}

// Weights as [tap][oc][64 ic] in fp16, times 64, 16-byte chunks swizzled by oc & 7.
static __global__ void __launch_bounds__(256)
pack_weights(const float *__restrict__ w, unsigned short *__restrict__ wpk) {
  const int o = blockIdx.x * 256 + threadIdx.x;
  if (o >= 73728)
    return;
  const int tap = o >> 13;
  const int oc = (o >> 6) & 127;
  const int pos = (o >> 3) & 7;
  const int e = o & 7;
  const int c = pos ^ (oc & 7);
  const int ic = c * 8 + e;
  const float v = 64.0f * w[(oc * 64 + ic) * 9 + tap];
  wpk[o] = __half_as_ushort(__float2half_rn(round_in(v)));
}

// Slow path for operands outside fp16's range: one image by one block, directly from the arguments.
static __device__ __noinline__ void conv_image_slow(const float *x, const float *w,
                                                    const float *conv_bias, const float *bias,
                                                    float *out, int n) {
  const float *xi = x + (size_t)n * 64 * 128 * 128;
  float *oi = out + (size_t)n * 128 * kPlane;
  for (int o = threadIdx.x; o < 128 * kPlane; o += kThreads) {
    const int oc = o / kPlane;
    const int r = o - oc * kPlane;
    const int y = r / 126;
    const int px = r - y * 126;
    float s = 0.0f;
#pragma unroll 1
    for (int ic = 0; ic < 64; ++ic) {
      const float *xp = xi + (ic * 128 + y) * 128 + px;
      const float *wp = w + (oc * 64 + ic) * 9;
#pragma unroll
      for (int ky = 0; ky < 3; ++ky)
#pragma unroll
        for (int kx = 0; kx < 3; ++kx)
          s = fmaf(round_tf32(xp[ky * 128 + kx]), round_tf32(wp[ky * 3 + kx]), s);
    }
    oi[o] = relu_keep_nan(s + conv_bias[oc]) + bias[oc];
  }
}

static __global__ void __launch_bounds__(kThreads, 1)
conv_relu_bias_kernel(const float *__restrict__ x, const unsigned short *__restrict__ wpk,
                      const float *__restrict__ w, const float *__restrict__ conv_bias,
                      const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const int tid = threadIdx.x;
  const int warp = tid >> 5;
  const int lane = tid & 31;
  const int n = blockIdx.x;

  const uint32_t ring = sbase + kRingOff;
  const uint32_t fullBar = sbase + kBarOff;
  const uint32_t emptyBar = fullBar + kRows * 8;
  const uint32_t stagBar = emptyBar + kRows * 8;
  unsigned *maxima = reinterpret_cast<unsigned *>(smem + kMaxOff); // xmax, wmax

  if (tid == 0) {
    for (int i = 0; i < kRows; ++i) {
      mbar_init(fullBar + 8 * i, 8);
      mbar_init(emptyBar + 8 * i, 8);
    }
    mbar_init(stagBar, 4);
    maxima[0] = 0u;
    maxima[1] = 0u;
  }
  __syncthreads();

  // Producing: this warp makes the 16-byte chunk `warp` (8 channels) of every input row, in units
  // of 64 pixels; a lane holds two neighbouring pixels.
  const float *src = x + (size_t)(n * 64 + warp * 8) * (128 * 128) + 2 * lane;
  const bool odd = (lane & 1) != 0;
  const uint32_t prodAddr = ring + (uint32_t)(lane * 256 + (lane & 1) * 128 +
                                              ((warp ^ (lane & 7)) << 4));
  float m = 0.0f;

  {
    // Rows 0, 1, 2 directly, rows 3, 4 to L2; the weights meanwhile.
    float2 t0[6][8];
#pragma unroll
    for (int u = 0; u < 6; ++u)
      load_unit(t0[u], src + (u >> 1) * 128 + (u & 1) * 64);
    if (lane < 8)
      prefetch_l2(src + (lane * (128 * 128) - 2 * lane) + 3 * 128, 1024u);

    const uint4 *wsrc = reinterpret_cast<const uint4 *>(wpk);
    uint4 *wdst = reinterpret_cast<uint4 *>(smem);
    unsigned wmax2 = 0u;
#pragma unroll 1
    for (int i = 0; i < 3; ++i) {
      uint4 t[12];
#pragma unroll
      for (int k = 0; k < 12; ++k)
        t[k] = __ldg(wsrc + (i * 12 + k) * 256 + tid);
#pragma unroll
      for (int k = 0; k < 12; ++k) {
        wdst[(i * 12 + k) * 256 + tid] = t[k];
        wmax2 = __vmaxu2(wmax2, t[k].x & 0x7fff7fffu);
        wmax2 = __vmaxu2(wmax2, t[k].y & 0x7fff7fffu);
        wmax2 = __vmaxu2(wmax2, t[k].z & 0x7fff7fffu);
        wmax2 = __vmaxu2(wmax2, t[k].w & 0x7fff7fffu);
      }
    }
    const unsigned lo = wmax2 & 0xffffu;
    const unsigned hi = wmax2 >> 16;
    const unsigned mx = __reduce_max_sync(0xffffffffu, lo > hi ? lo : hi);
    if (lane == 0)
      atomicMax(&maxima[1], mx);
    if (tid < 128)
      reinterpret_cast<float2 *>(smem + kTabOff)[tid] = make_float2(conv_bias[tid], bias[tid]);

#pragma unroll
    for (int u = 0; u < 6; ++u)
      store_unit(t0[u], m, prodAddr + (uint32_t)((u >> 1) * kSlotBytes + (u & 1) * 8192), odd);
    __syncwarp();
    if (lane == 0) {
      mbar_arrive(fullBar);
      mbar_arrive(fullBar + 8);
      mbar_arrive(fullBar + 16);
    }
    __syncwarp();
  }
  __syncthreads();

  const int g = warp >> 2;
  const int w4 = warp & 3;
  const int wm = w4 >> 1;
  const int wn = w4 & 1;
  const int shift = -2 * g;

  if (g == 1) {
    if (lane == 0)
      mbar_arrive(emptyBar); // this group never uses input row 0
    mbar_wait(stagBar, 0u);
    __syncwarp();
  }

  // A: rows of the weights, swizzled by oc & 7 == lane & 7.
  const uint32_t aBase = sbase + (uint32_t)((wm * 64 + (lane & 15)) * 128) +
                         (uint32_t)(((lane >> 4) ^ (lane & 7)) << 4);
  // B: pixels in an order that gives each thread four consecutive ones.
  int bOff[3];
  {
    const int r = lane & 7;
    const int i = lane >> 3;
    const int lp = 4 * (r >> 1) + (r & 1) + 2 * (i >> 1);
#pragma unroll
    for (int kx = 0; kx < 3; ++kx) {
      const int px = wn * 64 + lp + shift + kx;
      const int pk = px + 16;
      const int key = (pk & 1) | (((pk >> 2) & 3) << 1);
      bOff[kx] = px * 128 + (((i & 1) ^ key) << 4);
    }
  }

  const int ocRow = wm * 64 + (lane >> 2);
  float *obase = out + (size_t)(n * 128 + ocRow) * kPlane + (wn * 64 + 4 * (lane & 3) + shift);
  const float2 *tab = reinterpret_cast<const float2 *>(smem + kTabOff) + ocRow;
  const bool tail = g == 0 && wn == 1 && (lane & 3) == 3; // v == 124 at j == 3
  const bool head = g == 1 && wn == 0 && (lane & 3) == 0; // v == 0 at j == 0

  // Stage of this warp: slab row r at (r >> 1) * 256 + (r & 1) * 1088.
  const uint32_t stg = sbase + (uint32_t)(kStageOff + warp * kStageBytes);
  const int sr = lane >> 2;
  const uint32_t stgLane =
      stg + (uint32_t)((sr >> 1) * 256 + (sr & 1) * 1088 + (lane & 3) * 16);
  const int first = (g == 1 && wn == 0) ? 4 : 0;
  const uint32_t bulkBytes = g == wn ? 256u : 240u;
  const int br = lane & 7;
  const uint32_t stgRow = stg + (uint32_t)((br >> 1) * 256 + (br & 1) * 1088 + first * 4);
  float *bulkBase =
      out + (size_t)(n * 128 + wm * 64 + br) * kPlane + (wn * 64 + shift + first);

  // Fragments of the first step of row g; later rows find theirs loaded.
  uint32_t a[2][4][4];
  uint32_t b[4][4];
  mbar_wait(fullBar + 8 * g, 0u);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    ldsm4(b[j], ring + (uint32_t)(g * kSlotBytes) + (uint32_t)bOff[0] + (uint32_t)(j * 2048));
    ldsm4(a[0][j], aBase + (uint32_t)(j * 2048));
  }

#pragma unroll 1
  for (int y = g; y < 126; y += 2) {
    const int P = y - g;
    const bool more = P <= 122; // input row P + 4 exists

    // What the next iteration loads: rows P + 5 and P + 6.
    if (more && lane < 8)
      prefetch_l2(src + (lane * (128 * 128) - 2 * lane) + (P + 5) * 128,
                  P <= 120 ? 1024u : 512u);

    float acc[4][8][4];
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int nt = 0; nt < 8; ++nt)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          acc[mi][nt][q] = 0.0f;

    float2 v[8];
#pragma unroll
    for (int e = 0; e < 8; ++e)
      v[e] = make_float2(0.0f, 0.0f);

    uint32_t sCur = ring + (uint32_t)((y & 3) * kSlotBytes);
    uint32_t aCur = aBase;

#pragma unroll 1
    for (int ky = 0; ky < 3; ++ky) {
      // After ky == 2 comes the first step of this group's next row, y + 2.
      const uint32_t sNext =
          ring + (uint32_t)(((y + (ky < 2 ? ky + 1 : 2)) & 3) * kSlotBytes);
      const uint32_t aNext = ky < 2 ? aCur + (uint32_t)(3 * kTapBytes) : aBase;
      const bool produce = ky == 0 || (ky == 1 && more); // loads row P + 3 + ky

#pragma unroll
      for (int s = 0; s < 12; ++s) {
        if (s == 0) {
          if (ky == 1 || (ky == 2 && more)) { // second half of row P + 2 + ky
            const int row = P + 2 + ky;
            store_unit(v, m, prodAddr + (uint32_t)((row & 3) * kSlotBytes + 8192), odd);
            __syncwarp();
            if (lane == 0)
              mbar_arrive(fullBar + 8 * (row & 3));
            __syncwarp();
          }
          if (produce)
            load_unit(v, src + (P + 3 + ky) * 128);
        }
        if (s == 6) {
          if (produce) { // first half of row P + 3 + ky, which replaces row P - 1 + ky
            const int row = P + 3 + ky;
            if (row >= 4) {
              mbar_wait(emptyBar + 8 * (row & 3), (uint32_t)(((row - 4) >> 2) & 1));
              __syncwarp();
            }
            store_unit(v, m, prodAddr + (uint32_t)((row & 3) * kSlotBytes), odd);
            load_unit(v, src + row * 128 + 64);
          }
        }
        if (s == 11) {
          if (ky < 2) { // before anything of the next row is read
            const int row = y + ky + 1;
            mbar_wait(fullBar + 8 * (row & 3), (uint32_t)((row >> 2) & 1));
            __syncwarp();
          }
        }

        const int sn = (s + 1) % 12;
        const uint32_t bNext =
            ((s < 11 ? sCur : sNext) + (uint32_t)bOff[sn >> 2]) ^ (uint32_t)((sn & 3) << 5);
        const uint32_t aThen = ((s < 11 ? aCur : aNext) ^ (uint32_t)((sn & 3) << 5)) +
                               (uint32_t)((sn >> 2) * kTapBytes);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          ldsm4(a[(s + 1) & 1][j], aThen + (uint32_t)(j * 2048));
#pragma unroll
          for (int mi = 0; mi < 4; ++mi) {
            mma16816(acc[mi][2 * j], a[s & 1][mi], b[j][0], b[j][1]);
            mma16816(acc[mi][2 * j + 1], a[s & 1][mi], b[j][2], b[j][3]);
          }
          ldsm4(b[j], bNext + (uint32_t)(j * 2048)); // step s + 1
        }
      }
      sCur = sNext;
      aCur = aNext;

      if (ky < 2) { // release input row y + ky
        __syncwarp();
        if (lane == 0) {
          mbar_arrive(emptyBar + 8 * ((y + ky) & 3));
          if (y == 0 && ky == 0)
            mbar_arrive(stagBar); // lets group 1 start
        }
        __syncwarp();
      }
    }

    // Epilogue: 8 slabs of 8 output channels x 64 pixels.
    float *orow = obase + y * 126;
    float *brow = bulkBase + y * 126;
#pragma unroll
    for (int mi = 0; mi < 4; ++mi) {
#pragma unroll
      for (int hh = 0; hh < 2; ++hh) {
        const float2 cb = tab[mi * 16 + hh * 8];
        float4 r[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          r[j].x = finish(acc[mi][2 * j][2 * hh], cb.x, cb.y);
          r[j].y = finish(acc[mi][2 * j][2 * hh + 1], cb.x, cb.y);
          r[j].z = finish(acc[mi][2 * j + 1][2 * hh], cb.x, cb.y);
          r[j].w = finish(acc[mi][2 * j + 1][2 * hh + 1], cb.x, cb.y);
        }
        // The stage is free once the last slab has been read out of it.
        if (lane < 8)
          asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 4; ++j)
          st_shared_f4(stgLane + (uint32_t)(j * 64), r[j]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (lane < 8)
          bulk_store(brow + (mi * 16 + hh * 8) * kPlane, stgRow, bulkBytes);
        float *op = orow + (mi * 16 + hh * 8) * kPlane;
        if (tail)
          *reinterpret_cast<float2 *>(op + 48) = make_float2(r[3].x, r[3].y);
        if (head)
          *reinterpret_cast<float2 *>(op + 2) = make_float2(r[0].z, r[0].w);
      }
    }
  }

  // All bulk stores complete: the stage outlives them, and the slow path may write over them.
  if (lane < 8)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  __syncwarp();
#pragma unroll
  for (int d = 16; d > 0; d >>= 1)
    m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (lane == 0)
    atomicMax(&maxima[0], __float_as_uint(m));

  // Range guard: fp16 holds the operands as well as TF32 does only inside its range.
  __syncthreads();
  const float xm = __uint_as_float(maxima[0]);
  const unsigned wb = maxima[1];
  const bool xOk = xm == 0.0f || (xm >= 0.00390625f && xm <= 65504.0f);
  const bool wOk = wb == 0u || (wb >= 0x1c00u && wb < 0x7c00u);
  if (!(xOk && wOk))
    conv_image_slow(x, w, conv_bias, bias, out, n);
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor wpk = at::empty({73728}, x.options().dtype(at::kHalf)); // packed weights
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned short *packed = static_cast<unsigned short *>(wpk.data_ptr());
  const float *weights = conv_weight.const_data_ptr<float>();
  pack_weights<<<288, 256, 0, stream>>>(weights, packed);
  cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem);
  conv_relu_bias_kernel<<<128, kThreads, kSmem, stream>>>(
      x.const_data_ptr<float>(), packed, weights, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
