// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>

static constexpr int kRows = 128;               // rows of the activations
static constexpr int kDepth = 16384;            // the reduced dimension, in every layer
static constexpr int kStages = 4;
static constexpr int kWBytes = 256 * 32 * 4;    // 32 KB of fp32 weights a stage
static constexpr int kABytes = 1024 * 16;       // 16 KB of packed activations a stage
static constexpr int kStageBytes = kWBytes + kABytes;
static constexpr int kSmemBytes = kStages * kStageBytes;

// Two floats as bf16 pairs: the rounded values and what rounding left.
static __device__ __forceinline__ uint32_t pack_h2(float x, float y) {   // x in the low half
  uint32_t h;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(y), "f"(x));
  return h;
}

static __device__ __forceinline__ void unpack_h2(uint32_t h, float &x, float &y) {
  asm("{\n"
      ".reg .b16 h0, h1;\n"
      "mov.b32 {h0, h1}, %2;\n"
      "cvt.f32.f16 %0, h0;\n"
      "cvt.f32.f16 %1, h1;\n"
      "}\n"
      : "=f"(x), "=f"(y)
      : "r"(h));
}

// a * b = u1 * v1 + u2 * v2 with u1 = fp16(63/64 a), u2 = fp16(a - u1),
// v1 = fp16(b), v2 = fp16(64 b - 63 v1).
static __device__ __forceinline__ void split_a(float x, float y, uint32_t &u1, uint32_t &u2) {
  const uint32_t h = pack_h2(x * 0.984375f, y * 0.984375f);
  float fx, fy;
  unpack_h2(h, fx, fy);
  u2 = pack_h2(x - fx, y - fy);
  u1 = h;
}

static __device__ __forceinline__ void split_w(float x, float y, uint32_t &v1, uint32_t &v2) {
  const uint32_t h = pack_h2(x, y);
  float fx, fy;
  unpack_h2(h, fx, fy);
  v2 = pack_h2(fmaf(-63.f, fx, 64.f * x), fmaf(-63.f, fy, 64.f * y));
  v1 = h;
}

static __device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

// Lane 0 of a warp arrives (predicated, no branch).
static __device__ __forceinline__ void mbar_arrive_lane0(uint32_t bar, uint32_t lane) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.eq.u32 p, %1, 0;\n"
      "@p mbarrier.arrive.shared::cta.b64 _, [%0];\n"
      "}\n" ::"r"(bar), "r"(lane) : "memory");
}

static __device__ __forceinline__ void mbar_expect_tx(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ uint32_t mbar_test(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(ok)
      : "r"(bar), "r"(parity)
      : "memory");
  return ok;
}

static __device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(ok)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (!ok);
}

static __device__ __forceinline__ void bulk_load(uint32_t dst, const void *src, uint32_t bytes,
                                                 uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(bar)
      : "memory");
}

static __device__ __forceinline__ void mma_acc(float (&d)[4], const uint4 &a, const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void cp_async16_if(uint32_t pred, uint32_t dst, const void *src) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %0, 0;\n"
      "@p cp.async.cg.shared.global.L2::256B [%1], [%2], 16;\n"
      "}\n" ::"r"(pred), "r"(dst), "l"(src) : "memory");
}

// Arrives on the barrier once all earlier cp.async of this thread are done.
static __device__ __forceinline__ void cp_async_arrive(uint32_t bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

static __device__ __forceinline__ void cp_async_arrive_if(uint32_t pred, uint32_t bar) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %0, 0;\n"
      "@p cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%1];\n"
      "}\n" ::"r"(pred), "r"(bar) : "memory");
}

// Two n8 tiles of raw fp32 weights.
static __device__ __forceinline__ void load_raw(float4 (&raw)[2], const unsigned char *p) {
#pragma unroll
  for (int j = 0; j < 2; ++j)
    raw[j] = *reinterpret_cast<const float4 *>(p + j * 1024);
}

// Four m16 fragments of one plane of the activations.
static __device__ __forceinline__ void load_frag(uint4 (&f)[4], const unsigned char *p) {
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
    f[mi] = *reinterpret_cast<const uint4 *>(p + mi * 1024);
}

static __device__ __forceinline__ void conv_raw(const float4 (&raw)[2], uint32_t (&bh)[2][2],
                                                uint32_t (&bl)[2][2]) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    split_w(raw[j].x, raw[j].y, bh[j][0], bl[j][0]);
    split_w(raw[j].z, raw[j].w, bh[j][1], bl[j][1]);
  }
}

// Activations (the sum of S slabs, with bias and ReLU where wanted) into
// pack[kt][mt][plane][lane], the A fragments of m16n8k16 as bf16 hi and lo.
// Here: fp16 planes u1 and u2 of the rows scaled by a power of two; a cluster of
// two CTAs does the two rows that share a fragment, each CTA half of K.
template <int S, bool kBiasRelu>
static __device__ __forceinline__ void pack_body(const float *__restrict__ src,
                                                 const float *__restrict__ bias,
                                                 const float *__restrict__ inv_in,
                                                 uint4 *__restrict__ pack,
                                                 float *__restrict__ inv_out) {
  __shared__ unsigned red[2][16];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int pair = blockIdx.x >> 1;
  const int half = blockIdx.x & 1;      // the rank in the cluster
  const int mt = pair >> 3;
  const int g = pair & 7;
  const int r0 = mt * 16 + g;
  const int r1 = r0 + 8;
  const int f0 = half * 2048 + tid;     // float4 index in the row, plus j * 512

  const float *p0 = src + (size_t)r0 * kDepth + (size_t)f0 * 4;
  const float *p1 = src + (size_t)r1 * kDepth + (size_t)f0 * 4;
  float4 u0[4][S], u1[4][S];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int s = 0; s < S; ++s) {
      u0[j][s] = *reinterpret_cast<const float4 *>(p0 + (size_t)s * kRows * kDepth + j * 2048);
      u1[j][s] = *reinterpret_cast<const float4 *>(p1 + (size_t)s * kRows * kDepth + j * 2048);
    }
  }

  float4 v0[4], v1[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    v0[j] = u0[j][0];
    v1[j] = u1[j][0];
#pragma unroll
    for (int s = 1; s < S; ++s) {
      v0[j].x += u0[j][s].x;
      v0[j].y += u0[j][s].y;
      v0[j].z += u0[j][s].z;
      v0[j].w += u0[j][s].w;
      v1[j].x += u1[j][s].x;
      v1[j].y += u1[j][s].y;
      v1[j].z += u1[j][s].z;
      v1[j].w += u1[j][s].w;
    }
  }

  if constexpr (kBiasRelu) {
    const float i0 = inv_in[r0];
    const float i1 = inv_in[r1];
    float4 b[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      b[j] = *reinterpret_cast<const float4 *>(bias + (size_t)f0 * 4 + j * 2048);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      v0[j].x = fmaxf(fmaf(v0[j].x, i0, b[j].x), 0.f);
      v0[j].y = fmaxf(fmaf(v0[j].y, i0, b[j].y), 0.f);
      v0[j].z = fmaxf(fmaf(v0[j].z, i0, b[j].z), 0.f);
      v0[j].w = fmaxf(fmaf(v0[j].w, i0, b[j].w), 0.f);
      v1[j].x = fmaxf(fmaf(v1[j].x, i1, b[j].x), 0.f);
      v1[j].y = fmaxf(fmaf(v1[j].y, i1, b[j].y), 0.f);
      v1[j].z = fmaxf(fmaf(v1[j].z, i1, b[j].z), 0.f);
      v1[j].w = fmaxf(fmaf(v1[j].w, i1, b[j].w), 0.f);
    }
  }

  // Row maxima of |v|, as bits: not negative, so they order like integers.
  unsigned m0 = 0u, m1 = 0u;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    m0 = max(m0, __float_as_uint(fabsf(v0[j].x)));
    m0 = max(m0, __float_as_uint(fabsf(v0[j].y)));
    m0 = max(m0, __float_as_uint(fabsf(v0[j].z)));
    m0 = max(m0, __float_as_uint(fabsf(v0[j].w)));
    m1 = max(m1, __float_as_uint(fabsf(v1[j].x)));
    m1 = max(m1, __float_as_uint(fabsf(v1[j].y)));
    m1 = max(m1, __float_as_uint(fabsf(v1[j].z)));
    m1 = max(m1, __float_as_uint(fabsf(v1[j].w)));
  }
  m0 = __reduce_max_sync(0xffffffffu, m0);
  m1 = __reduce_max_sync(0xffffffffu, m1);
  if (lane == 0) {
    red[0][warp] = m0;
    red[1][warp] = m1;
  }
  cluster.sync();
  const unsigned *other = cluster.map_shared_rank(&red[0][0], half ^ 1);
  const int ri = lane & 15;
  m0 = max(red[0][ri], other[ri]);
  m1 = max(red[1][ri], other[16 + ri]);
  m0 = __reduce_max_sync(0xffffffffu, m0);
  m1 = __reduce_max_sync(0xffffffffu, m1);

  // The power of two that brings the row's maximum to [256, 512), and its inverse.
  const int e0 = max((int)(m0 >> 23), 9);
  const int e1 = max((int)(m1 >> 23), 9);
  const float s0 = __uint_as_float((unsigned)(262 - e0) << 23);
  const float s1 = __uint_as_float((unsigned)(262 - e1) << 23);
  if (half == 0 && tid == 0) {
    inv_out[r0] = __uint_as_float((unsigned)(e0 - 8) << 23);
    inv_out[r1] = __uint_as_float((unsigned)(e1 - 8) << 23);
  }

#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int f = f0 + j * 512;
    const int kt = f >> 2;
    const int t = f & 3;
    uint4 hi, lo;
    split_a(v0[j].x * s0, v0[j].y * s0, hi.x, lo.x);
    split_a(v1[j].x * s1, v1[j].y * s1, hi.y, lo.y);
    split_a(v0[j].z * s0, v0[j].w * s0, hi.z, lo.z);
    split_a(v1[j].z * s1, v1[j].w * s1, hi.w, lo.w);
    uint4 *q = pack + (size_t)((kt * 8 + mt) * 2) * 32 + g * 4 + t;
    q[0] = hi;
    q[32] = lo;
  }
  // Neither CTA leaves while the other reads its maxima.
  cluster.sync();
}

static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512)
pack_input_kernel(const float *__restrict__ src, uint4 *__restrict__ pack,
                  float *__restrict__ inv_out) {
  pack_body<1, false>(src, nullptr, nullptr, pack, inv_out);
}

static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512)
pack_hidden_kernel(const float *__restrict__ src, const float *__restrict__ bias,
                   const float *__restrict__ inv_in, uint4 *__restrict__ pack,
                   float *__restrict__ inv_out) {
  pack_body<2, true>(src, bias, inv_in, pack, inv_out);
}

// part[split][128][N] = activations * W^T over the split's range of k.
// 256 threads, tile 128 x 256 x 32, warps 2 (m) x 4 (n) of 64 x 64.
static __global__ void __launch_bounds__(256, 1)
gemm_kernel(const uint4 *__restrict__ pack, const float *__restrict__ W,
            float *__restrict__ part, int N, int ntiles, int kIters) {
  extern __shared__ __align__(128) unsigned char smem[];
  __shared__ __align__(8) uint64_t bars[2 * kStages];   // full[4], empty[4]
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int wm = warp >> 2;
  const int wn = warp & 3;
  const int tile = blockIdx.x % ntiles;
  const int split = blockIdx.x / ntiles;
  const int n0 = tile * 256;
  const int k0 = split * kIters * 32;

  const uint32_t smemBase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t fullBar = (uint32_t)__cvta_generic_to_shared(bars);
  const uint32_t emptyBar = fullBar + 8u * kStages;

  if (tid == 0) {
#pragma unroll
    for (int i = 0; i < kStages; ++i) {
      mbar_init(fullBar + 8u * i, 257u);   // 256 cp.async arrivals and one expect_tx
      mbar_init(emptyBar + 8u * i, 8u);    // one arrival a warp
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  const int lr = tid >> 3;
  const int lc = tid & 7;
  // Points at the fifth of the thread's eight rows: the offsets are -4 .. 3 times 2 MB.
  const float *wsrc = W + (size_t)(n0 + lr + 4 * 32) * kDepth + k0 + lc * 4;
  const uint4 *asrc = pack + (size_t)(k0 / 16) * 512;
  const uint32_t wDst = smemBase + (uint32_t)(lr * 8 + (lc ^ ((lr & 1) << 2))) * 16u;

  // Prologue: stages 0, 1, 2.
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    const uint32_t off = (uint32_t)(s * kStageBytes);
    if (tid == 0) {
      mbar_expect_tx(fullBar + 8u * s, (uint32_t)kABytes);
      bulk_load(smemBase + off + (uint32_t)kWBytes, asrc, (uint32_t)kABytes, fullBar + 8u * s);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      cp_async16(wDst + off + (uint32_t)i * 4096u, wsrc + (ptrdiff_t)(i - 4) * 32 * kDepth);
    cp_async_arrive(fullBar + 8u * s);
    wsrc += 32;
    asrc += 1024;
  }

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int nt = 0; nt < 8; ++nt)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][nt][e] = 0.f;

  const int wOff0 = (wn * 64 + g) * 128 + ((t ^ ((g & 1) << 2)) << 4);   // first k16 of a stage
  const int wOff1 = wOff0 ^ 64;                                         // second k16
  const int aOff = kWBytes + (wm * 4 * 64 + lane) * 16;
  float *dst = part + ((size_t)split * kRows + wm * 64 + g) * N + n0 + wn * 64 + 2 * t;

  uint4 ah[4], al[4];
  uint32_t bh[2][2][2], bl[2][2][2];
  float4 raw[2];

  mbar_wait(fullBar, 0u);
  load_raw(raw, smem + wOff0);
  conv_raw(raw, bh[0], bl[0]);
  load_raw(raw, smem + wOff0 + 2048);
  load_frag(al, smem + aOff + 512);

#pragma unroll 1
  for (int base = 0; base < kIters; base += 128) {
#pragma unroll 1
    for (int it = base; it < base + 128; ++it) {
      const int itn = min(it + 1, kIters - 1);          // the stage prefetched from
      const int itf = it + kStages - 1;                 // the stage to be filled
      const uint32_t slotF = (uint32_t)(itf & (kStages - 1));
      const uint32_t more = itf < kIters ? 1u : 0u;
      const unsigned char *cur = smem + (it & (kStages - 1)) * kStageBytes;
      const unsigned char *nxt = smem + (itn & (kStages - 1)) * kStageBytes;
      const uint32_t barN = fullBar + 8u * (uint32_t)(itn & (kStages - 1));
      const uint32_t parN = (uint32_t)(itn >> 2) & 1u;
      const uint32_t barE = emptyBar + 8u * slotF;
      const uint32_t parE = ((uint32_t)(itf >> 2) & 1u) ^ 1u;
      const uint32_t barF = fullBar + 8u * slotF;
      const uint32_t offF = slotF * (uint32_t)kStageBytes;
      uint32_t ready = 0u;

      load_frag(ah, cur + aOff);
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const int c = q & 1;
        const int p = q & 3;
        if (q == 4)
          load_frag(ah, cur + aOff + 8192);

        // u2 * v2
#pragma unroll
        for (int mi = 0; mi < 4; ++mi)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            mma_acc(acc[mi][2 * p + j], al[mi], bl[c][j]);

        if (q == 3)
          load_frag(al, cur + aOff + 8192 + 512);
        if (q == 7)
          load_frag(al, nxt + aOff + 512);

        conv_raw(raw, bh[c ^ 1], bl[c ^ 1]);            // pair q + 1

        if (q < 6) {
          load_raw(raw, cur + ((q + 2) >= 4 ? wOff1 : wOff0) + ((q + 2) & 3) * 2048);
          if (q == 5)
            ready = mbar_test(barN, parN) & mbar_test(barE, parE);
        } else {
          if (q == 6) {
            // Nothing of this stage is read any more.
            __syncwarp();
            mbar_arrive_lane0(emptyBar + 8u * (uint32_t)(it & (kStages - 1)), (uint32_t)lane);
            if (!ready) {
              mbar_wait(barN, parN);
              mbar_wait(barE, parE);
            }
            if (tid == 0 && more) {
              mbar_expect_tx(barF, (uint32_t)kABytes);
              bulk_load(smemBase + offF + (uint32_t)kWBytes, asrc, (uint32_t)kABytes, barF);
            }
          }
          load_raw(raw, nxt + wOff0 + (q - 6) * 2048);
        }

        // Refill the slot of the stage before this one.
        if (q >= 6) {
#pragma unroll
          for (int u = 0; u < 4; ++u) {
            const int i = (q - 6) * 4 + u;
            cp_async16_if(more, wDst + offF + (uint32_t)i * 4096u,
                          wsrc + (ptrdiff_t)(i - 4) * 32 * kDepth);
          }
          if (q == 7)
            cp_async_arrive_if(more, barF);
        }

        // u1 * v1
#pragma unroll
        for (int mi = 0; mi < 4; ++mi)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            mma_acc(acc[mi][2 * p + j], ah[mi], bh[c][j]);
      }
      wsrc += 32;
      asrc += 1024;
    }

    // Promote the partial sums of 4096 of k; each address belongs to this thread alone.
    if (base == 0) {
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *d0 = dst + (size_t)(mi * 16) * N;
        float *d1 = d0 + (size_t)8 * N;
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          *reinterpret_cast<float2 *>(d0 + nt * 8) = make_float2(acc[mi][nt][0], acc[mi][nt][1]);
          *reinterpret_cast<float2 *>(d1 + nt * 8) = make_float2(acc[mi][nt][2], acc[mi][nt][3]);
        }
      }
    } else {
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *d0 = dst + (size_t)(mi * 16) * N;
        float *d1 = d0 + (size_t)8 * N;
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          atomicAdd(reinterpret_cast<float2 *>(d0 + nt * 8),
                    make_float2(acc[mi][nt][0], acc[mi][nt][1]));
          atomicAdd(reinterpret_cast<float2 *>(d1 + nt * 8),
                    make_float2(acc[mi][nt][2], acc[mi][nt][3]));
        }
      }
    }
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int nt = 0; nt < 8; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mi][nt][e] = 0.f;
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// out[128][8192] = the sum of four partials, and the bias.
static __global__ void __launch_bounds__(256)
final_kernel(const float4 *__restrict__ part, const float4 *__restrict__ bias,
             float4 *__restrict__ out, const float *__restrict__ inv) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int slab = kRows * 8192 / 4;
  const float4 p0 = part[i];
  const float4 p1 = part[i + slab];
  const float4 p2 = part[i + 2 * slab];
  const float4 p3 = part[i + 3 * slab];
  const float4 b = bias[i & (8192 / 4 - 1)];
  const float s = inv[i >> 11];                  // 2048 float4 a row
  float4 r;
  r.x = fmaf((p0.x + p1.x) + (p2.x + p3.x), s, b.x);
  r.y = fmaf((p0.y + p1.y) + (p2.y + p3.y), s, b.y);
  r.z = fmaf((p0.z + p1.z) + (p2.z + p3.z), s, b.z);
  r.w = fmaf((p0.w + p1.w) + (p2.w + p3.w), s, b.w);
  out[i] = r;
}

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor out = at::empty({128, 8192}, x.options());
  at::Tensor pack_buffer = at::empty({128 * 16384}, x.options());
  at::Tensor part_buffer = at::empty({2 * 128 * 16384}, x.options());
  at::Tensor inv_buffer = at::empty({3 * 128}, x.options());
  uint4 *pack = reinterpret_cast<uint4 *>(pack_buffer.data_ptr<float>());
  float *part = part_buffer.data_ptr<float>();
  float *inv = inv_buffer.data_ptr<float>();

  cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);

  // layer 0
  pack_input_kernel<<<128, 512, 0, stream>>>(x.const_data_ptr<float>(), pack, inv);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_0_weight.const_data_ptr<float>(), part, 16384, 64, 256);

  // layer 2
  pack_hidden_kernel<<<128, 512, 0, stream>>>(
      part, network_0_bias.const_data_ptr<float>(), inv, pack, inv + 128);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_2_weight.const_data_ptr<float>(), part, 16384, 64, 256);

  // layer 4
  pack_hidden_kernel<<<128, 512, 0, stream>>>(
      part, network_2_bias.const_data_ptr<float>(), inv + 128, pack, inv + 256);
  gemm_kernel<<<128, 256, kSmemBytes, stream>>>(
      pack, network_4_weight.const_data_ptr<float>(), part, 8192, 32, 128);

  final_kernel<<<1024, 256, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_4_bias.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()), inv + 256);
  return out;
}
