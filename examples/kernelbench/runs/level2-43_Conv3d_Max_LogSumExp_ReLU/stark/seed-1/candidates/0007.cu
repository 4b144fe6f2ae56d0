// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kPrepXBlocks = 4 * 128 * 2;       // one (n, h, half of w) each, all depths
static constexpr int kPrepWBlocks = 36 * 64 * 32 / 256; // 288
static constexpr int kRowBytes = 2176;                 // 34 columns x 64 bytes
static constexpr int kSlotBytes = 10 * kRowBytes;      // 21760
static constexpr int kWeightBytes = 36 * 64 * 32 * 2;  // 147456
static constexpr int kSmemBytes = kWeightBytes + 3 * kSlotBytes + 64 * 4 + 64 * 8; // 213504

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

static __device__ __forceinline__ void cp_async_wait1() {
  asm volatile("cp.async.wait_group 1;\n" ::: "memory");
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

// cp.async of 16 bytes that is issued only where pred is not 0.
static __device__ __forceinline__ void cp_async16_if(uint32_t dst, const void *src, int bytes, int pred) {
  asm volatile("{\n"
               ".reg .pred p;\n"
               "setp.ne.s32 p, %3, 0;\n"
               "@p cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
               "}\n" ::"r"(dst),
               "l"(src), "r"(bytes), "r"(pred)
               : "memory");
}

static __device__ __forceinline__ uint2 pack_half4(float a, float b, float c, float d) {
  uint2 u;
  u.x = pack_half2(a, b);
  u.y = pack_half2(c, d);
  return u;
}

// Four channels x two columns of one depth.
static __device__ __forceinline__ void load_depth(float (&v)[4][2], const float *__restrict__ p) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int j = 0; j < 2; ++j)
      v[c][j] = __ldcs(p + static_cast<size_t>(c) * 524288 + 32 * j);
  }
}

// x -> depth-transformed fp16 planes [n][s*4+i][h][w][c]; weights -> transformed, swizzled fp16
// shared-memory image.
static __global__ void __launch_bounds__(256, 4) prep_kernel(const float *__restrict__ x,
                                                             const float *__restrict__ cw,
                                                             __half *__restrict__ xu,
                                                             __half *__restrict__ wh) {
  __shared__ __align__(16) unsigned char tile[2][4][64 * 72];
  const int tid = threadIdx.x;
  if (blockIdx.x >= kPrepXBlocks) {
    const int e = (static_cast<int>(blockIdx.x) - kPrepXBlocks) * 256 + tid;
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
    return;
  }
  const int b = blockIdx.x;
  const int wq = b & 1;
  const int h = (b >> 1) & 127;
  const int n = b >> 8;
  const int k = tid >> 5;
  const int lane = tid & 31;

  const float *src = x + static_cast<size_t>(n * 32 + 4 * k) * 524288 + h * 128 + wq * 64 + lane;
  __half *dst = xu + (static_cast<size_t>(n) * 64 * 16384 + h * 128 + wq * 64) * 32 + tid * 8;

  float A[4][2], B[4][2], C[4][2], D[4][2];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int j = 0; j < 2; ++j)
      A[c][j] = 0.f;
  }
  load_depth(B, src);
  load_depth(C, src + 16384);
  load_depth(D, src + 2 * 16384);

#pragma unroll 1
  for (int s = 0; s < 16; ++s) {
    unsigned char *t = tile[s & 1][0];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      unsigned char *p = t + (lane + 32 * j) * 72 + k * 8;
      *reinterpret_cast<uint2 *>(p) =
          pack_half4(B[0][j] + C[0][j], B[1][j] + C[1][j], B[2][j] + C[2][j], B[3][j] + C[3][j]);
      *reinterpret_cast<uint2 *>(p + 4608) =
          pack_half4(C[0][j] - B[0][j], C[1][j] - B[1][j], C[2][j] - B[2][j], C[3][j] - B[3][j]);
      *reinterpret_cast<uint2 *>(p + 2 * 4608) =
          pack_half4(A[0][j] - C[0][j], A[1][j] - C[1][j], A[2][j] - C[2][j], A[3][j] - C[3][j]);
      *reinterpret_cast<uint2 *>(p + 3 * 4608) =
          pack_half4(D[0][j] - B[0][j], D[1][j] - B[1][j], D[2][j] - B[2][j], D[3][j] - B[3][j]);
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        A[c][j] = C[c][j];
        B[c][j] = D[c][j];
      }
    }
    if (s < 15) {
      load_depth(C, src + static_cast<size_t>(2 * s + 3) * 16384);
      if (s < 14) {
        load_depth(D, src + static_cast<size_t>(2 * s + 4) * 16384);
      } else {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
#pragma unroll
          for (int j = 0; j < 2; ++j)
            D[c][j] = 0.f;
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned char *p = t + i * 4608 + (tid >> 2) * 72 + (tid & 3) * 16;
      const uint2 lo = *reinterpret_cast<const uint2 *>(p);
      const uint2 hi = *reinterpret_cast<const uint2 *>(p + 8);
      *reinterpret_cast<uint4 *>(dst + static_cast<size_t>(s * 4 + i) * (16384 * 32)) =
          make_uint4(lo.x, lo.y, hi.x, hi.y);
    }
  }
}

// What a thread copies of every item: up to six 16-byte chunks of a 10 x 34 x 32 plane tile.
struct ChunkMap {
  int rel[6];      // source offset in elements, from the tile's first element
  uint32_t dst[6]; // byte in the slot
  uint32_t mask;   // bit k: chunk k lies inside x in the first column; bit 8 + k: in the second
};

static __device__ __forceinline__ void make_chunk_map(ChunkMap &cm, int bid, int tid) {
  const int c = tid & 3;
  int cc = tid >> 2; // 0..63
  int row = 0;
  if (cc >= 34) {
    cc -= 34;
    row = 1;
  }
  cm.mask = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    cm.rel[k] = (row * 128 + cc) * 32 + c * 8;
    cm.dst[k] = static_cast<uint32_t>(row * kRowBytes + (cc >> 1) * 128 +
                                      (((((cc & 1) << 2) | c) ^ ((cc >> 1) & 7)) * 16));
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int col = 2 * bid + q;
      const int h = ((col >> 2) & 15) * 8 - 1 + row;
      const int w = (col & 3) * 32 - 1 + cc;
      if (static_cast<unsigned>(h) < 128u && static_cast<unsigned>(w) < 128u)
        cm.mask |= 1u << (8 * q + k);
    }
    // 256 chunks further: 64 positions = one row and 30 columns
    row += 1;
    cc += 30;
    if (cc >= 34) {
      cc -= 34;
      row += 1;
    }
  }
}

// Element offset of the (haloed) tile of item G of this block.
static __device__ __forceinline__ int item_base(int G, int bid) {
  const int col = 2 * bid + (G >> 6);
  const int w0 = (col & 3) * 32;
  const int h0 = ((col >> 2) & 15) * 8;
  const int n = col >> 6;
  return (((n * 64 + (G & 63)) * 128 + h0 - 1) * 128 + (w0 - 1)) * 32;
}

static __device__ __forceinline__ void load_chunk(const ChunkMap &cm, int k, const __half *__restrict__ xu,
                                                  int base, uint32_t msk, uint32_t slot, bool go, int tid) {
  const bool ok = (msk >> k) & 1u;
  const int off = ok ? base + cm.rel[k] : 0;
  const bool issue = go && (k < 5 || tid < 1360 - 5 * 256);
  cp_async16_if(slot + cm.dst[k], xu + off, ok ? 16 : 0, issue ? 1 : 0);
}

static __device__ __forceinline__ void load_weight_block(const unsigned char *__restrict__ wsrc,
                                                         uint32_t w_base, int G, int tid) {
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    const int o = G * 36864 + (tid + i * 256) * 16;
    cp_async16(w_base + o, wsrc + o, 16);
  }
}

// One transformed plane (item F) against its weight block, into ac; issues the copies of item F + 2.
static __device__ __forceinline__ void conv_phase(float (&ac)[4][4][4], int F, uint32_t &sl,
                                                  const __half *__restrict__ xu,
                                                  const unsigned char *__restrict__ wsrc,
                                                  uint32_t w_base, uint32_t in_base, uint32_t a_rel,
                                                  const uint32_t (&aoff)[3], uint32_t boff,
                                                  const ChunkMap &cm, int tid) {
  cp_async_wait1();
  __syncthreads();

  const uint32_t abase = in_base + a_rel + sl * kSlotBytes;
  const uint32_t wb = w_base + static_cast<uint32_t>(F & 3) * 36864u;

  uint32_t a[8][4];
  uint32_t bf[2][4][2];

#pragma unroll
  for (int q = 0; q < 2; ++q)
    ldsm4(bf[0][2 * q][0], bf[0][2 * q][1], bf[0][2 * q + 1][0], bf[0][2 * q + 1][1],
          wb + boff + q * 1024);
#pragma unroll
  for (int ih = 0; ih < 4; ++ih)
    ldsm4(a[ih][0], a[ih][1], a[ih][2], a[ih][3], abase + aoff[0] + ih * kRowBytes);

  const int G = F + 2;
  const bool go = G < 128;
  const uint32_t dslot = in_base + (sl == 0 ? 2u : sl - 1u) * kSlotBytes;
  const int base = item_base(G, static_cast<int>(blockIdx.x));
  const uint32_t msk = cm.mask >> ((G >> 6) * 8);
  if (G < 4)
    load_weight_block(wsrc, w_base, G, tid);

#pragma unroll
  for (int it = 0; it < 18; ++it) {
    const int b = it / 3;
    const int kh = it % 3;
    if (it < 17) {
      const int kw1 = (it + 1) / 6;
      const int kc1 = ((it + 1) / 3) % 2;
      const int kh1 = (it + 1) % 3;
      const int nb = (it + 1) & 1;
#pragma unroll
      for (int q = 0; q < 2; ++q)
        ldsm4(bf[nb][2 * q][0], bf[nb][2 * q][1], bf[nb][2 * q + 1][0], bf[nb][2 * q + 1][1],
              wb + (boff ^ static_cast<uint32_t>(kc1 * 32)) + (kh1 * 3 + kw1) * 4096 + q * 1024);
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int sq = 6 * b + 4 + 2 * kh + e; // sequence number of an A row
      if (sq < 36) {
        const int kwq = (sq / 6) / 2;
        const int kcq = (sq / 6) % 2;
        const int ihq = sq % 6;
        ldsm4(a[sq & 7][0], a[sq & 7][1], a[sq & 7][2], a[sq & 7][3],
              abase + (aoff[kwq < 3 ? kwq : 0] ^ static_cast<uint32_t>(kcq * 32)) + ihq * kRowBytes);
      }
    }
#pragma unroll
    for (int hh = 0; hh < 4; ++hh) {
#pragma unroll
      for (int nt = 0; nt < 4; ++nt)
        mma16816(ac[hh][nt], a[(6 * b + kh + hh) & 7], bf[it & 1][nt]);
      if (hh == 1) {
        if (it < 6)
          load_chunk(cm, it < 6 ? it : 0, xu, base, msk, dslot, go, tid);
        if (it == 5)
          cp_async_commit();
      }
    }
  }
  sl = (sl == 2) ? 0u : sl + 1u;
}

static __global__ void __launch_bounds__(256, 1) conv_kernel(const __half *__restrict__ xu,
                                                             const __half *__restrict__ whalf,
                                                             const float *__restrict__ bias,
                                                             float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float *bias_s = reinterpret_cast<float *>(smem + kWeightBytes + 3 * kSlotBytes);
  float2 *red = reinterpret_cast<float2 *>(smem + kWeightBytes + 3 * kSlotBytes + 64 * 4);
  const uint32_t w_base = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t in_base = w_base + kWeightBytes;
  const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(whalf);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int ww = warp & 1;
  const int wh = (warp >> 1) & 1;
  const int wn = warp >> 2;

  if (tid < 64)
    bias_s[tid] = bias[tid];

  const int m = lane >> 3;
  const int r = lane & 7;
  uint32_t aoff[3];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int t = (m & 1) + kw;
    const int line = ww * 8 + r + (t >> 1);
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
  const uint32_t a_rel = static_cast<uint32_t>(4 * wh * kRowBytes);

  ChunkMap cm;
  make_chunk_map(cm, static_cast<int>(blockIdx.x), tid);

  // items 0 and 1
#pragma unroll
  for (int G = 0; G < 2; ++G) {
    const int base = item_base(G, static_cast<int>(blockIdx.x));
    load_weight_block(wsrc, w_base, G, tid);
#pragma unroll
    for (int k = 0; k < 6; ++k)
      load_chunk(cm, k, xu, base, cm.mask, in_base + G * kSlotBytes, true, tid);
    cp_async_commit();
  }

  uint32_t sl = 0;

#pragma unroll 1
  for (int st = 0; st < 32; ++st) {
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
      const int F = st * 4 + half * 2;
      conv_phase(acc0, F, sl, xu, wsrc, w_base, in_base, a_rel, aoff, boff, cm, tid);
      conv_phase(acc1, F + 1, sl, xu, wsrc, w_base, in_base, a_rel, aoff, boff, cm, tid);
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

    // 2x2x2 max, bias, logsumexp over the 64 channels, relu
    const int g = lane >> 2;
    const int t = lane & 3;
    float mxs[2];
    float sums[2];
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
      mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 1));
      mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 2));
      float sum = 0.f;
#pragma unroll
      for (int nt = 0; nt < 4; ++nt) {
#pragma unroll
        for (int j = 0; j < 2; ++j)
          sum += __expf(v[nt][j] - mx);
      }
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      mxs[hp] = mx;
      sums[hp] = sum;
    }
    const float mx = (t == 0) ? mxs[0] : mxs[1];
    const float sum = (t == 0) ? sums[0] : sums[1];
    const int pair = wh * 2 + ww;
    const int e = (pair * 2 + (t & 1)) * 8 + g;
    if (wn == 1 && t < 2)
      red[e] = make_float2(mx, sum);
    __syncwarp();
    asm volatile("bar.sync %0, 64;\n" ::"r"(1 + pair) : "memory");
    if (wn == 0 && t < 2) {
      const int col = 2 * static_cast<int>(blockIdx.x) + (st >> 4);
      const int s = st & 15;
      const int w0 = (col & 3) * 32;
      const int h0 = ((col >> 2) & 15) * 8;
      const int n = col >> 6;
      const float2 o = red[e];
      const float M = fmaxf(mx, o.x);
      const float S = sum * __expf(mx - M) + o.y * __expf(o.x - M);
      out[((n * 16 + s) * 64 + (h0 >> 1) + wh * 2 + t) * 64 + (w0 >> 1) + ww * 8 + g] =
          fmaxf(M + logf(S), 0.f);
    }
    __syncwarp();
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

  prep_kernel<<<kPrepXBlocks + kPrepWBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xu, wh);

  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<128, 256, kSmemBytes, stream>>>(xu, wh, conv_bias.const_data_ptr<float>(),
                                                out.data_ptr<float>());
  return out;
}
