// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

// Rounding of inputs and weights to TF32: ties away from zero, or to even.
static constexpr bool kTiesAway = true;

static constexpr int kPackedElems = 9 * 128 * 64;                    // 73728
static constexpr int kWeightBytes = kPackedElems * 2;                // 147456
static constexpr int kTapBytes = 128 * 64 * 2;                       // 16384
static constexpr int kSlots = 5;
static constexpr int kSlotBytes = 128 * 64 * 2;                      // 16384
static constexpr int kRingOff = kWeightBytes;
static constexpr int kBiasOff = kRingOff + kSlots * kSlotBytes;      // 229376
static constexpr int kBarOff = kBiasOff + 128 * 8;                   // 230400: full[5], empty[5]
static constexpr int kEmptyOff = kSlots * 8;                         // empty[0] behind full[0]
static constexpr int kBlocks = 132;
static constexpr int kConvThreads = 384;                             // 8 mma warps, 4 producer warps

static __device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

// Waits, as a whole warp, until the phase of this parity is complete.
static __device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(ok)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (ok == 0u);
  __syncwarp();
}

// threadIdx.x, read anew (so that nothing that depends on it is kept in registers).
static __device__ __forceinline__ int thread_x() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}

static constexpr int kSmemBytes = kBarOff + 2 * kSlots * 8;          // 230480
                // 230400
static constexpr int kVirtualRows = 128 * 128 - 2;                   // 16382
static constexpr int kChanStride = 128 * 128;                        // floats between channels of x
static constexpr int kOutPlane = 126 * 126;                          // floats between channels of out
static constexpr int kSteps = 36;                                    // 9 taps x 4 steps of 16 channels

// Two floats, rounded to 10 bits of mantissa, as two halves (lo in the low half).
static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  uint32_t d;
  if (kTiesAway) {
    lo = __uint_as_float(__float_as_uint(lo) + 0x1000u);
    hi = __uint_as_float(__float_as_uint(hi) + 0x1000u);
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  }
  return d;
}

static __device__ __forceinline__ float2 load_stream2(const float *p) {
  float2 r;
  asm volatile("ld.global.cs.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(p));
  return r;
}

static __device__ __forceinline__ void store_shared16(uint32_t addr, uint32_t a, uint32_t b,
                                                      uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

static __device__ __forceinline__ void copy_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void copy_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

static __device__ __forceinline__ void bar_sync(int id, int n) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}

static __device__ __forceinline__ void bar_arrive(int id, int n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
}

static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                               uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// relu(acc + conv_bias) + bias; NaN stays NaN.
static __device__ __forceinline__ float finish(float acc, float2 bb) {
  float u = acc + bb.x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(u) : "f"(u), "f"(0.0f));
  return u + bb.y;
}

// Position of a pixel's 16-byte chunks in its 128 bytes: chunk ch lies at ch ^ pixel_key(px).
static __device__ __forceinline__ int pixel_key(int px) { return ((px >> 1) & 6) | (px & 1); }

// Eight channels of the pixels 2*pr and 2*pr+1 (v[k].x and v[k].y) to shared memory. Odd lanes store
// their second pixel first: then eight lanes in a row never meet in a bank.
static __device__ __forceinline__ void store_pixels(const float2 (&v)[8], uint32_t first,
                                                    uint32_t second, bool odd) {
  uint32_t lo[4], hi[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    lo[k] = pack_half2(v[2 * k].x, v[2 * k + 1].x);
    hi[k] = pack_half2(v[2 * k].y, v[2 * k + 1].y);
  }
  store_shared16(first, odd ? hi[0] : lo[0], odd ? hi[1] : lo[1], odd ? hi[2] : lo[2],
                 odd ? hi[3] : lo[3]);
  store_shared16(second, odd ? lo[0] : hi[0], odd ? lo[1] : hi[1], odd ? lo[2] : hi[2],
                 odd ? lo[3] : hi[3]);
}

// One row of one channel (512 bytes) to L2.
static __device__ __forceinline__ void prefetch_row(const float *p) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(512) : "memory");
}

// Batch B of a row: 16 channels, by the 128 threads of a group.
// Here: eight channels of one pixel, 64 KB apart.
static __device__ __forceinline__ void load_batch(float (&v)[8], const float *src) {
  asm volatile(
      "ld.global.nc.L1::no_allocate.f32 %0, [%8];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %1, [%8+65536];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %2, [%8+131072];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %3, [%8+196608];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %4, [%8+262144];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %5, [%8+327680];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %6, [%8+393216];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %7, [%8+458752];"
      : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]),
        "=f"(v[7])
      : "l"(src));
}

// Chunk `chunk` of the pixel whose 128 bytes begin at `pixel`.
static __device__ __forceinline__ void store_batch(const float (&v)[8], uint32_t pixel,
                                                   uint32_t chunk, uint32_t key) {
  store_shared16(pixel + ((chunk ^ key) << 4), pack_half2(v[0], v[1]), pack_half2(v[2], v[3]),
                 pack_half2(v[4], v[5]), pack_half2(v[6], v[7]));
}

// Step S = tap * 4 + cc: 16 channels of one tap. Fetches the fragments of what comes next.
// Here: step K of the 12 of a kh. All fragments of the following step (A at an, B at bn) are fetched
// into the other buffer meanwhile.
// One step. On entry b holds the step's B and a[0] its first A; the other A come from ac, one ahead of
// their use. The following step's B (at bn) replaces b behind its last use, its first A (at an) a[0].
static __device__ __forceinline__ void mma_step(float (&acc)[4][8][4], uint32_t (&a)[2][4],
                                                uint32_t (&b)[4][4], uint32_t ac, uint32_t an,
                                                uint32_t bn) {
#pragma unroll
  for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j == 1) {
        if (mt < 3)
          ldmatrix_x4(a[(mt + 1) & 1], ac + (uint32_t)((mt + 1) * 2048));
        else
          ldmatrix_x4(a[0], an);
      }
      mma_f16(acc[mt][j], a[mt & 1], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
      if (mt == 3 && (j & 1) == 1)
        ldmatrix_x4(b[j >> 1], bn + (uint32_t)((j >> 1) * 2048));
    }
  }
}

// Steps S up to, but without, E.
// Here: steps K to 11 of one kh, with the staging of the input row that goes along: in each pair of
// steps a batch of 8 channels is loaded before and stored behind (chunks 0 to 2 in kh = 1, 3 to 7 in
// kh = 2). abase, slot and sl move on to the next kh, or to the next tile of the group.
template <int K>
static __device__ __forceinline__ void mma_steps(float (&acc)[4][8][4], uint32_t (&a)[2][4],
                                                 uint32_t (&b)[4][4], const int (&b_lo)[3],
                                                 uint32_t ring, uint32_t &abase, uint32_t &slot,
                                                 int i, int kh) {
  if constexpr (K < 12) {
    const uint32_t ac =
        (abase ^ (uint32_t)((K & 3) * 32)) + (uint32_t)((K >> 2) * kTapBytes);
    if constexpr (K < 11) {
      constexpr int kw = (K + 1) >> 2;
      constexpr int cc = (K + 1) & 3;
      const uint32_t an = (abase ^ (uint32_t)(cc * 32)) + (uint32_t)(kw * kTapBytes);
      const uint32_t bn = (slot + (uint32_t)b_lo[kw]) ^ (uint32_t)(cc * 32);
      mma_step(acc, a, b, ac, an, bn);
    } else {
      // The barriers of a slot lie 8 bytes apart, the slots 16384.
      const uint32_t full0 = ring + (uint32_t)(kBarOff - kRingOff);
      const uint32_t done = full0 + (uint32_t)kEmptyOff + ((slot - ring) >> 11);
      if (kh == 2) {  // tile i + 2 begins with row i + 2: the slot stays
        abase -= (uint32_t)(6 * kTapBytes);
      } else {
        abase += (uint32_t)(3 * kTapBytes);
        slot = slot == ring + (uint32_t)((kSlots - 1) * kSlotBytes) ? ring
                                                                     : slot + (uint32_t)kSlotBytes;
        const int j = i + kh + 1;  // the row that is read next
        if (j >= 4)
          mbar_wait(full0 + ((slot - ring) >> 11), ((unsigned)(j - 4) / 5u) & 1u);
      }
      mma_step(acc, a, b, ac, abase, slot + (uint32_t)b_lo[0]);
      if (kh < 2) {  // this warp has read row i + kh for the last time
        __syncwarp();
        if ((thread_x() & 31) == 0)
          mbar_arrive(done);
        __syncwarp();
      }
    }
    mma_steps<K + 1>(acc, a, b, b_lo, ring, abase, slot, i, kh);
  }
}

// Weights as rounded halves, in the order (and with the swizzle) that conv_rows keeps in shared memory.
static __global__ void __launch_bounds__(256) pack_weights(const float *__restrict__ w,
                                                           unsigned short *__restrict__ packed) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  if (idx >= kPackedElems)
    return;
  const int co = idx / 576;
  const int rem = idx - co * 576;
  const int c = rem / 9;
  const int tap = rem - c * 9;
  const uint32_t h = pack_half2(w[idx], 0.0f);
  packed[(tap * 128 + co) * 64 + (((c >> 3) ^ (co & 7)) << 3) + (c & 7)] =
      (unsigned short)(h & 0xffffu);
}

static __global__ void __launch_bounds__(kConvThreads, 1)
conv_rows(const float *__restrict__ x, const unsigned short *__restrict__ packed,
          const float *__restrict__ conv_bias, const float *__restrict__ bias,
          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sw = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = sw + (uint32_t)kRingOff;
  const uint32_t full0 = sw + (uint32_t)kBarOff;
  const uint32_t empty0 = full0 + (uint32_t)kEmptyOff;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);

  // Virtual output rows g0 .. g0 + T - 1 are this block's.
  const int g0 = (int)(blockIdx.x * (unsigned)kVirtualRows / (unsigned)kBlocks);
  const int g1 = (int)((blockIdx.x + 1u) * (unsigned)kVirtualRows / (unsigned)kBlocks);
  const int T = g1 - g0;

  // Prologue: barriers, weights, biases, input rows g0 .. g0 + 3.
  {
    if (tid == 0) {
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        mbar_init(full0 + (uint32_t)(8 * s), 4u);
        mbar_init(empty0 + (uint32_t)(8 * s), 8u);
      }
    }
    __syncwarp();

    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(packed);
#pragma unroll 4
    for (int c = tid; c < kWeightBytes / 16; c += kConvThreads)
      copy_async16(sw + (uint32_t)(c * 16), wsrc + c * 16);
    if (tid < 128)
      reinterpret_cast<float2 *>(smem + kBiasOff)[tid] = make_float2(conv_bias[tid], bias[tid]);

    // 32 items (row, chunk of eight channels), each for 64 threads.
    const int pr = tid & 63;
    const int cq = tid >> 6;
    const bool odd = (pr & 1) != 0;
    float2 v[6][8];
#pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int item = cq + 6 * u;
      if (u < 5 || item < 32) {
        const int r = g0 + (item >> 3);
        const int ch = item & 7;
        const float *s =
            x + (size_t)((r >> 7) * 64 + ch * 8) * kChanStride + (r & 127) * 128 + 2 * pr;
#pragma unroll
        for (int k = 0; k < 8; ++k)
          v[u][k] = load_stream2(s + k * kChanStride);
      }
    }
    // Rows g0 + 4 and g0 + 5 are the first that the producers load.
    if (warp >= 8) {
      const int r = g0 + 4 + (lane >> 4);
      const int pc = (warp - 8) * 16 + (lane & 15);
      prefetch_row(x + (size_t)((r >> 7) * 64 + pc) * kChanStride + (r & 127) * 128);
    }
    __syncwarp();
#pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int item = cq + 6 * u;
      if (u < 5 || item < 32) {
        const int ch = item & 7;
        const uint32_t base = ring + (uint32_t)((item >> 3) * kSlotBytes);
        const uint32_t lo = base + (uint32_t)((2 * pr) * 128 + ((ch ^ pixel_key(2 * pr)) << 4));
        const uint32_t hi =
            base + (uint32_t)((2 * pr + 1) * 128 + ((ch ^ pixel_key(2 * pr + 1)) << 4));
        store_pixels(v[u], odd ? hi : lo, odd ? lo : hi, odd);
      }
    }
    copy_async_wait_all();
    __syncthreads();
  }

  if (warp >= 8) {
    // Producers: rows 4 .. T + 1 (relative to g0), 32 pixels each. Row j lies in slot j % 5.
    // The pixel of a lane: a permutation within the warp's 32, such that eight lanes in a row have
    // eight different keys.
    const int q = warp - 8;
    const int spx =
        q * 32 + ((lane & 1) | ((lane & 6) << 1) | ((lane >> 2) & 2) | (lane & 16));
    const uint32_t skey = (uint32_t)pixel_key(spx);
    const uint32_t spix = ring + (uint32_t)(spx * 128);
    const float *xs = x + spx;
    const int pc = q * 16 + (lane & 15);
    int s = 4;
#pragma unroll 1
    for (int j = 4; j < T + 2; ++j) {
      if (j < T && lane < 16) {
        const int rp = g0 + j + 2;
        prefetch_row(x + (size_t)((rp >> 7) * 64 + pc) * kChanStride + (rp & 127) * 128);
      }
      __syncwarp();

      const int r = g0 + j;
      const float *src = xs + (size_t)(r >> 7) * (64 * kChanStride) + (r & 127) * 128;
      const uint32_t dst = spix + (uint32_t)s * (uint32_t)kSlotBytes;
      float v[8][8];
#pragma unroll
      for (int u = 0; u < 8; ++u)
        load_batch(v[u], src + u * (8 * kChanStride));
      if (j >= 5)
        mbar_wait(empty0 + (uint32_t)(8 * s), ((unsigned)(j - 5) / 5u) & 1u);
#pragma unroll
      for (int u = 0; u < 8; ++u)
        store_batch(v[u], dst, (uint32_t)u, skey);
      __syncwarp();
      if (lane == 0)
        mbar_arrive(full0 + (uint32_t)(8 * s));
      __syncwarp();
      s = s == kSlots - 1 ? 0 : s + 1;
    }
    return;
  }

  // The mma warps: two groups of four, each with every other tile.
  const int group = warp >> 2;

  // Where a thread's fragments lie.
  uint32_t abase;
  int b_lo[3];
  {
    const int wq = warp & 3;
    const int co0 = (wq & 1) * 64;
    const int px0 = (wq >> 1) * 64;
    const int shift = 2 * ((g0 + group) & 1);
    const int arow = (lane & 7) + ((lane >> 3) & 1) * 8;
    const int akh = lane >> 4;
    abase = sw + (uint32_t)((co0 + arow) * 128 + ((akh ^ (lane & 7)) << 4));
    const int bkh = (lane >> 3) & 1;
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      const int px = px0 + 4 * ((lane & 7) >> 1) + (lane & 1) + 2 * (lane >> 4) - shift + kw;
      b_lo[kw] = px * 128 + ((bkh ^ pixel_key(px)) << 4);
    }
  }

  // Slot of the row in work.
  uint32_t slot = ring + (uint32_t)(group * kSlotBytes);

  if (group == 1) {
    // Row 0 is not read by this group: its share of the release. Then wait, once, until group 0 is a
    // third of a tile ahead.
    __syncwarp();
    if (lane == 0)
      mbar_arrive(empty0);
    __syncwarp();
    bar_sync(1, 256);
  }

  // Fragments of step 0 of the first tile.
  uint32_t a[2][4];
  uint32_t b[4][4];
#pragma unroll
  for (int p = 0; p < 4; ++p)
    ldmatrix_x4(b[p], slot + (uint32_t)b_lo[0] + (uint32_t)(p * 2048));
  ldmatrix_x4(a[0], abase);

#pragma unroll 1
  for (int i = group; i < T; i += 2) {
    float acc[4][8][4];
#pragma unroll
    for (int mt = 0; mt < 4; ++mt)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mt][j][e] = 0.0f;

#pragma unroll 1
    for (int kh = 0; kh < 3; ++kh) {
      mma_steps<0>(acc, a, b, b_lo, ring, abase, slot, i, kh);
      if (i + kh == 0)  // only group 0, only once: group 1 may begin
        bar_arrive(1, 256);
    }

    const int g = g0 + i;
    const int h = g & 127;
    if (h < 126) {
      const int t = thread_x();
      const int tl = t & 31;
      const int tq = (t >> 5) & 3;
      const int shift = 2 * (g & 1);
      const int px0 = (tq >> 1) * 64;
      const int co_t = (tq & 1) * 64 + (tl >> 2);
      const int out_px = px0 + 4 * (tl & 3) - shift;
      const bool edge_lo = shift == 2 && px0 == 0 && (tl & 3) == 0;
      const bool edge_hi = shift == 0 && px0 == 64 && (tl & 3) == 3;
      const float2 *bv = reinterpret_cast<const float2 *>(smem + kBiasOff) + co_t;
      float *o = out + ((long long)((g >> 7) * 128 + co_t) * 126 + h) * 126 + out_px;
#pragma unroll
      for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float2 bb = bv[mt * 16 + half * 8];
          float *orow = o + (mt * 16 + half * 8) * kOutPlane;
#pragma unroll
          for (int p = 0; p < 4; ++p) {
            float4 u;
            u.x = finish(acc[mt][2 * p][2 * half], bb);
            u.y = finish(acc[mt][2 * p][2 * half + 1], bb);
            u.z = finish(acc[mt][2 * p + 1][2 * half], bb);
            u.w = finish(acc[mt][2 * p + 1][2 * half + 1], bb);
            if (p == 0 && edge_lo)
              *reinterpret_cast<float2 *>(orow + 2) = make_float2(u.z, u.w);
            else if (p == 3 && edge_hi)
              *reinterpret_cast<float2 *>(orow + 48) = make_float2(u.x, u.y);
            else
              *reinterpret_cast<float4 *>(orow + 16 * p) = u;
          }
        }
      }
    }
    __syncwarp();
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor result = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({kPackedElems}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned short *packed_ptr = reinterpret_cast<unsigned short *>(packed.data_ptr<at::Half>());
  pack_weights<<<kPackedElems / 256, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed_ptr);
  cudaFuncSetAttribute(conv_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_rows<<<kBlocks, kConvThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed_ptr, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), result.data_ptr<float>());
  return result;
}
