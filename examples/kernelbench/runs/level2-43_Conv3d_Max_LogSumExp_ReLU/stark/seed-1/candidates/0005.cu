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
static constexpr int kPixelBlocks = 512;                // 4 images * 128 rows
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
static __device__ __forceinline__ void store_two_pixels(__half *dst, const float2 (&t)[8]) {
  uint4 o;
  o.x = pack_half2(t[0].x, t[1].x);
  o.y = pack_half2(t[2].x, t[3].x);
  o.z = pack_half2(t[4].x, t[5].x);
  o.w = pack_half2(t[6].x, t[7].x);
  *reinterpret_cast<uint4 *>(dst) = o;
  o.x = pack_half2(t[0].y, t[1].y);
  o.y = pack_half2(t[2].y, t[3].y);
  o.z = pack_half2(t[4].y, t[5].y);
  o.w = pack_half2(t[6].y, t[7].y);
  *reinterpret_cast<uint4 *>(dst + 32) = o;
}

// x: [n][c][d][h][w] f32 -> T: [n][s][q][h][w][c] f16; weights -> U: [q*9 + tap][n][c swizzled] f16.
static __global__ void __launch_bounds__(256, 2)
prep_kernel(const float *__restrict__ x, const float *__restrict__ w, __half *__restrict__ xh,
            __half *__restrict__ wh) {
  const int tid = threadIdx.x;
  if (blockIdx.x < kWeightBlocks) {
    const int i = blockIdx.x * 256 + tid;
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
    return;
  }
  constexpr int kDepth = 16384;            // floats from one depth of x to the next
  constexpr int kChannel = 32 * 16384;     // floats from one channel of x to the next
  constexpr int kPlane = 16384 * 32;       // halves of one transformed plane
  const int lane = tid & 31;
  const int blk = blockIdx.x - kWeightBlocks;
  const int n = blk >> 7;
  const int h = blk & 127;
  const int q4 = lane & 3;
  const int px = (tid >> 5) * 16 + (lane >> 2) * 2;

  const float *src = x + (size_t)(n * 32 + 8 * q4) * kChannel + (size_t)(h * 128 + px);
  __half *dst = xh + ((size_t)(n * 64) * 16384 + (size_t)(h * 128 + px)) * 32 + 8 * q4;

  float2 p0[8], p1[8], p2[8], p3[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    p0[i] = make_float2(0.0f, 0.0f);
    p1[i] = __ldcs(reinterpret_cast<const float2 *>(src + (size_t)i * kChannel));
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    p2[i] = __ldcs(reinterpret_cast<const float2 *>(src + (size_t)i * kChannel + kDepth));
#pragma unroll
  for (int i = 0; i < 8; ++i)
    p3[i] = __ldcs(reinterpret_cast<const float2 *>(src + (size_t)i * kChannel + 2 * kDepth));
  src += 3 * kDepth;

#pragma unroll 1
  for (int s = 0; s < 16; ++s) {
    float2 f2[8], f3[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      f2[i] = make_float2(0.0f, 0.0f);
      f3[i] = make_float2(0.0f, 0.0f);
    }
    if (s < 15) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        f2[i] = __ldcs(reinterpret_cast<const float2 *>(src + (size_t)i * kChannel));
    }
    if (s < 14) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        f3[i] = __ldcs(reinterpret_cast<const float2 *>(src + (size_t)i * kChannel + kDepth));
    }

    float2 t[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      t[i] = make_float2(p0[i].x - p2[i].x, p0[i].y - p2[i].y);
    store_two_pixels(dst + 2 * kPlane, t);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      t[i] = make_float2(p1[i].x + p2[i].x, p1[i].y + p2[i].y);
    store_two_pixels(dst, t);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      t[i] = make_float2(p2[i].x - p1[i].x, p2[i].y - p1[i].y);
    store_two_pixels(dst + kPlane, t);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      t[i] = make_float2(p3[i].x - p1[i].x, p3[i].y - p1[i].y);
    store_two_pixels(dst + 3 * kPlane, t);

#pragma unroll
    for (int i = 0; i < 8; ++i) {
      p0[i] = p2[i];
      p1[i] = p3[i];
      p2[i] = f2[i];
      p3[i] = f3[i];
    }
    src += 2 * kDepth;
    dst += 4 * kPlane;
  }
}

static __global__ void __launch_bounds__(256, 1)
conv_fused_kernel(const __half *__restrict__ xh, const __half *__restrict__ wh,
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
    if (tid < 64)
      sbias[tid] = bias[tid];
  }

  // Fragment addresses.
  uint32_t aoff[3];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int ww = kw + (lane & 15);
    const int chunk = lane >> 4;
    aoff[kw] = (uint32_t)(ww * 64 + ((chunk ^ ((ww >> 1) & 3)) << 4));
  }
  uint32_t boff;
  {
    const int nr = (lane & 7) + ((lane >> 4) << 3);
    const int chunk = (lane >> 3) & 1;
    boff = (uint32_t)(nr * 64 + ((chunk ^ ((nr >> 1) & 3)) << 4));
  }
  const uint32_t wWarp = wBase + (uint32_t)(nh * 2048);
  const uint32_t pWarp = planes + (uint32_t)(pg * 4 * kRowBytes);

  // Thread map of the plane loads: columns 0..15 of four rows a round, and columns 16, 17 by 144 threads.
  const int c4 = tid & 3;
  const int wwc = (tid >> 2) & 15;
  const int rr = tid >> 6;
  const uint32_t dst_c = (uint32_t)(rr * kRowBytes + wwc * 64 + ((c4 ^ ((wwc >> 1) & 3)) << 4));
  const int rE = tid >> 3;
  const int wwE = 16 + ((tid >> 2) & 1);
  const uint32_t dst_e = (uint32_t)(rE * kRowBytes + wwE * 64 + ((c4 ^ ((wwE >> 1) & 3)) << 4));
  const char *xb = reinterpret_cast<const char *>(xh);
  const int src_c = ((h0 - 1 + rr) * 128 + (w0 - 1 + wwc)) * 64 + c4 * 16;
  const int src_e = ((h0 - 1 + rE) * 128 + (w0 - 1 + wwE)) * 64 + c4 * 16;
  const bool wv = !(w0 == 0 && wwc == 0);
  const bool ok0 = wv && !(h0 == 0 && rr == 0);
  const bool ok4 = wv && !(h0 == 112 && rr == 1);
  const bool okE = !(w0 == 112 && wwE == 17) && !(h0 == 0 && rE == 0) && !(h0 == 112 && rE == 17);

  // Plane tq of phase f = 2 * S + ph.
  auto load_plane = [&](int f, int tq) {
    const int S = f >> 1;
    const int ns = n0 * 16 + ((S >> 4) << 5) + (S & 15);
    const int poff = (ns * 4 + 2 * (f & 1) + tq) * 1048576;
    const uint32_t slot = planes + (uint32_t)((f & 1) * 2 + tq) * kSlotBytes;
    const uint32_t dst = slot + dst_c;
    const char *s = xb + (long long)(src_c + poff);
    const char *sm = wv ? s : xb;
    const int szm = wv ? 16 : 0;
    cp_async16(dst, ok0 ? s : xb, ok0 ? 16 : 0);
#pragma unroll
    for (int it = 1; it < 4; ++it)
      cp_async16(dst + it * (4 * kRowBytes), sm + it * 32768, szm);
    if (tid < 128)
      cp_async16(dst + 4 * (4 * kRowBytes), ok4 ? s + 4 * 32768 : xb, ok4 ? 16 : 0);
    if (tid < 144) {
      const char *se = okE ? xb + (long long)(src_e + poff) : xb;
      cp_async16(slot + dst_e, se, okE ? 16 : 0);
    }
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

  float acc[2][4][4][4];
  uint32_t a[2][6][4];
  uint32_t b[2][8];

  load_plane(0, 0);
  load_plane(0, 1);
  cp_async_commit();   // weights and the pair of phase 0
  load_plane(1, 0);
  load_plane(1, 1);
  cp_async_commit();   // the pair of phase 1
  cp_async_wait<1>();
  __syncthreads();

  // Fragments of the first stage and group; later ones are fetched ahead.
#pragma unroll
  for (int j2 = 0; j2 < 2; ++j2)
    ldsm4(b[0][4 * j2], b[0][4 * j2 + 1], b[0][4 * j2 + 2], b[0][4 * j2 + 3],
          wWarp + boff + j2 * 1024);
#pragma unroll
  for (int r = 0; r < 6; ++r)
    ldsm4(a[0][r][0], a[0][r][1], a[0][r][2], a[0][r][3], pWarp + aoff[0] + r * kRowBytes);

#pragma unroll 1
  for (int S = 0; S < 32; ++S) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[t][m][j][e] = 0.0f;

#pragma unroll 1
    for (int ph = 0; ph < 2; ++ph) {
      const int f = 2 * S + ph;
      const uint32_t wk0 = wWarp + (uint32_t)ph * (18 * kTapBytes) + boff;
      const uint32_t wk1 = wWarp + (uint32_t)ph * (18 * kTapBytes) + (boff ^ 32u);
      const uint32_t wnext = wWarp + (uint32_t)(ph ^ 1) * (18 * kTapBytes) + boff;
      const uint32_t sl = pWarp + (uint32_t)ph * (2 * kSlotBytes);
      const uint32_t slnext = pWarp + (uint32_t)(ph ^ 1) * (2 * kSlotBytes);

#pragma unroll
      for (int st = 0; st < 36; ++st) {
        const int gr = st / 3;
        const int kh = st % 3;
        const int cur = st & 1;
        const int nxt = cur ^ 1;

        // All A fragments of this phase have been read by now: the next pair has to be there, and
        // the slots of this one are free for the pair after it.
        if (st == 33) {
          cp_async_wait<0>();
          __syncthreads();
          if (f + 2 < 64)
            load_plane(f + 2, 0);
        }
        if (st == 34) {
          if (f + 2 < 64)
            load_plane(f + 2, 1);
          cp_async_commit();
        }

        // B of the next stage (of the next phase after the last one).
        {
          const int ns = st + 1;
          const int ngr = ns / 3;
          const int nkh = ns % 3;
          const int nit = ngr >> 1;
          const uint32_t baddr =
              (st == 35) ? wnext
                         : (((nit & 1) ? wk1 : wk0) +
                            (uint32_t)(((ngr & 1) * 9 + nkh * 3 + (nit >> 1)) * kTapBytes));
#pragma unroll
          for (int j2 = 0; j2 < 2; ++j2)
            ldsm4(b[nxt][4 * j2], b[nxt][4 * j2 + 1], b[nxt][4 * j2 + 2], b[nxt][4 * j2 + 3],
                  baddr + j2 * 1024);
        }
        // A rows of the next group (of the next phase after the last one).
        {
          const int ngr = gr + 1;
          const int it = (ngr == 12) ? 0 : (ngr >> 1);
          const uint32_t aaddr = ((ngr == 12) ? slnext : sl) +
                                 (aoff[it >> 1] ^ (uint32_t)((it & 1) * 32)) +
                                 (uint32_t)((ngr & 1) * kSlotBytes);
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const int r = 2 * kh + i;
            ldsm4(a[ngr & 1][r][0], a[ngr & 1][r][1], a[ngr & 1][r][2], a[ngr & 1][r][3],
                  aaddr + r * kRowBytes);
          }
        }

#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int m = 0; m < 4; ++m)
            mma16816(acc[gr & 1][m][j], a[gr & 1][m + kh], b[cur][2 * j], b[cur][2 * j + 1]);
      }

      if (ph == 0) {
        if (S > 0)
          finish(S - 1);
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
      }
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
  at::Tensor xh_t = at::empty({4, 16, 4, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wh_t = at::empty({36 * 64 * 32}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  __half *xh = reinterpret_cast<__half *>(xh_t.data_ptr<at::Half>());
  __half *wh = reinterpret_cast<__half *>(wh_t.data_ptr<at::Half>());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  prep_kernel<<<kWeightBlocks + kPixelBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xh, wh);

  cudaFuncSetAttribute(conv_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_fused_kernel<<<kConvBlocks, 256, kSmemBytes, stream>>>(
      xh, wh, conv_bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
