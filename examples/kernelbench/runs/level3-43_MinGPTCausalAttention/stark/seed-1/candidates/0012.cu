// Model of 43_MinGPTCausalAttention.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static constexpr int kSeq = 512;          // tokens of a sequence
static constexpr int kEmbed = 768;        // heads * head size
static constexpr int kQkvRow = 2304;      // floats in a row of c_attn
static constexpr int kHeadDim = 96;
static constexpr int kTileQ = 128;        // query rows of a block
static constexpr int kTileKV = 32;        // key/value rows of a step
        // key/value rows of a step
static constexpr int kAttnThreads = 128;
static constexpr int kPitchBytes = 104 * 2;  // row pitch in shared memory
  // row pitch in shared memory
static constexpr int kQBytes = kTileQ * kPitchBytes;
static constexpr int kKVBytes = kTileKV * kPitchBytes;
static constexpr int kOffQh = 0;
static constexpr int kOffQl = kOffQh + kQBytes;
static constexpr int kOffKh = kOffQl + kQBytes;
static constexpr int kOffKl = kOffKh + kKVBytes;
static constexpr int kOffVh = kOffKl + kKVBytes;
static constexpr int kOffVl = kOffVh + kKVBytes;
static constexpr int kKVStage = 4 * kKVBytes;             // one buffer: Kh, Kl, Vh, Vl
static constexpr int kSmemBytes = kOffKh + 2 * kKVStage;  // 106496
  // 106496

// (x, y) = hi + lo, each a pair of fp16 with x in the low half.
static __device__ __forceinline__ void split_pair(float x, float y, uint32_t &hi, uint32_t &lo) {
  __half2 h = __floats2half2_rn(x, y);
  float2 f = __half22float2(h);
  __half2 l = __floats2half2_rn(x - f.x, y - f.y);
  hi = *reinterpret_cast<uint32_t *>(&h);
  lo = *reinterpret_cast<uint32_t *>(&l);
}

// Rows of the split fp16 operands (37 * 64 halves):
//   columns        0..767    768..1535   1536..1599            1600..2367
//   A (x, then y)  lo        hi          {1, 1, 0, ...}        hi
//   B (weight)     hi(s*w)   lo(s*w)     {hi(s*b), lo(s*b), 0} hi(s*w)
// so that A * B^T = s * (x w^T + b), up to lo * lo.
static constexpr int kKP = 2368;
// The bias columns stand at the end of the row, so that the first GEMM can leave them out:
//   columns        0..767    768..1535   1536..2303   2304..2367
//   A (x, then y)  lo        hi          hi           {1, 1, 0, ...}
//   B (weight)     hi(s*w)   lo(s*w)     hi(s*w)      {hi(s*b), lo(s*b), 0}
static constexpr int kColBias = 2304;
static constexpr int kColHi2 = 1536;
static constexpr int kSplitThreads = 256;
static constexpr int kRowChunks = kEmbed / 8;                              // 96
static constexpr int kSplitBlocksX = 65536 * kRowChunks / kSplitThreads;   // 24576
static constexpr int kSplitBlocksW1 = 2304 * kRowChunks / kSplitThreads;   // 864
static constexpr int kSplitBlocksW2 = 768 * kRowChunks / kSplitThreads;    // 288

// Splits x and both weights; a thread handles 8 consecutive elements of a row.
static __global__ void __launch_bounds__(kSplitThreads)
split_rows_kernel(const float *__restrict__ x, const float *__restrict__ w1, const float *__restrict__ b1,
                  const float *__restrict__ w2, const float *__restrict__ b2,
                  __half *__restrict__ ax, __half *__restrict__ aw1, __half *__restrict__ aw2) {
  int blk = (int)blockIdx.x;
  const float *in = x;
  const float *bs = nullptr;
  __half *out = ax;
  float scale = 1.0f;
  if (blk >= kSplitBlocksX + kSplitBlocksW1) {
    blk -= kSplitBlocksX + kSplitBlocksW1;
    in = w2;
    bs = b2;
    out = aw2;
  } else if (blk >= kSplitBlocksX) {
    blk -= kSplitBlocksX;
    in = w1;
    bs = b1;
    out = aw1;
    scale = 256.0f;
  }
  const bool weight = bs != nullptr;
  const int t = blk * kSplitThreads + (int)threadIdx.x;
  const int row = t / kRowChunks;
  const int ch = t - row * kRowChunks;

  const float4 *p = reinterpret_cast<const float4 *>(in + (int64_t)row * kEmbed + ch * 8);
  const float4 u = __ldg(p);
  const float4 w = __ldg(p + 1);
  uint4 hi, lo;
  split_pair(u.x * scale, u.y * scale, hi.x, lo.x);
  split_pair(u.z * scale, u.w * scale, hi.y, lo.y);
  split_pair(w.x * scale, w.y * scale, hi.z, lo.z);
  split_pair(w.z * scale, w.w * scale, hi.w, lo.w);

  __half *o_row = out + (int64_t)row * kKP + ch * 8;
  uint4 first = lo;
  uint4 second = hi;
  if (weight) {
    first = hi;
    second = lo;
  }
  *reinterpret_cast<uint4 *>(o_row) = first;
  *reinterpret_cast<uint4 *>(o_row + kEmbed) = second;
  *reinterpret_cast<uint4 *>(o_row + kColHi2) = hi;
  if (ch < 8) {  // columns 1536..1599
    uint4 e = make_uint4(0u, 0u, 0u, 0u);
    if (ch == 0) {
      if (weight) {
        uint32_t bh, bl;
        split_pair(__ldg(bs + row) * scale, 0.0f, bh, bl);  // the value is in the low half
        e.x = (bh & 0xffffu) | (bl << 16);
      } else {
        e.x = 0x3c003c00u;  // two fp16 ones
      }
    }
    *reinterpret_cast<uint4 *>(o_row + kColBias) = e;
  }
}

// Splits v / 256: the first GEMM's result carries the factor 256 of its weight operand.
static __device__ __forceinline__ void split_store(unsigned char *hi, unsigned char *lo, const float4 &v) {
  uint2 h, l;
  split_pair(v.x * 0.00390625f, v.y * 0.00390625f, h.x, l.x);
  split_pair(v.z * 0.00390625f, v.w * 0.00390625f, h.y, l.y);
  *reinterpret_cast<uint2 *>(hi) = h;
  *reinterpret_cast<uint2 *>(lo) = l;
}

// Volatile, so that a prefetch stays where it is written.
static __device__ __forceinline__ float4 ldg_nc4(const float *p) {
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

// This thread's share of a tile of 32 rows and 96 columns.
static __device__ __forceinline__ void load_tile(float4 (&r)[6], const float *p) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j) r[i * 3 + j] = ldg_nc4(p + i * 16 * kQkvRow + j * 32);
}

static __device__ __forceinline__ void store_tile(unsigned char *hi, unsigned char *lo, const float4 (&r)[6]) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j)
      split_store(hi + i * 16 * kPitchBytes + j * 64, lo + i * 16 * kPitchBytes + j * 64, r[i * 3 + j]);
}

static __device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void ldsm4_trans(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ float ex2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// qkv = 256 * x w^T, without bias. The bias of Q is added here before the split, that of V after the
// softmax (its rows sum to 1); that of K cancels in the softmax.
static __global__ void __launch_bounds__(kAttnThreads, 2)
causal_attn_kernel(const float *__restrict__ qkv, const float *__restrict__ qkv_bias,
                   __half *__restrict__ ysplit) {
  extern __shared__ __align__(16) unsigned char attn_smem[];

  const int tid = threadIdx.x;
  const int warp = tid >> 5;
  const int lane = tid & 31;

  const int head = blockIdx.x >> 2;
  const int b = head >> 3;
  const int h = head & 7;
  const int qt = 3 - (int)(blockIdx.x & 3);

  // Row strip of the warp. Strip 3 has the most causal work; odd heads flip the order, so that the
  // SM's sub-partitions share the work evenly.
  const int wrow = warp ^ ((head & 1) * 3);

  // Global-to-shared mapping: 16 rows a pass, 8 threads (128 bytes) a row, 3 passes over the columns.
  // A half-warp has rows r and r + 4, which lie 16 banks apart.
  const int grp = lane >> 3;
  const int ld_row = (warp >> 1) * 8 + (warp & 1) * 2 + (grp >> 1) + (grp & 1) * 4;
  const int ld_col = (lane & 7) * 4;
  unsigned char *st_base = attn_smem + ld_row * kPitchBytes + ld_col * 2;

  const float *head_base =
      qkv + (int64_t)b * kSeq * kQkvRow + h * kHeadDim + ld_row * kQkvRow + ld_col;

  // Q tile, K tile 0 and V tile 0: all loads first, then split and store.
  {
    const float *qp = head_base + qt * kTileQ * kQkvRow;
    float4 qreg[4][6];
    float4 kreg[6], vreg[6];
    float4 qb[3];
#pragma unroll
    for (int g = 0; g < 4; ++g) load_tile(qreg[g], qp + g * 32 * kQkvRow);
    load_tile(kreg, head_base + kEmbed);
    load_tile(vreg, head_base + 2 * kEmbed);
#pragma unroll
    for (int j = 0; j < 3; ++j) qb[j] = ldg_nc4(qkv_bias + h * kHeadDim + ld_col + j * 32);
#pragma unroll
    for (int g = 0; g < 4; ++g) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          float4 &v = qreg[g][i * 3 + j];
          v.x = fmaf(qb[j].x, 256.0f, v.x);
          v.y = fmaf(qb[j].y, 256.0f, v.y);
          v.z = fmaf(qb[j].z, 256.0f, v.z);
          v.w = fmaf(qb[j].w, 256.0f, v.w);
        }
      unsigned char *p = st_base + g * 32 * kPitchBytes;
      store_tile(p + kOffQh, p + kOffQl, qreg[g]);
    }
    store_tile(st_base + kOffKh, st_base + kOffKl, kreg);
    store_tile(st_base + kOffVh, st_base + kOffVl, vreg);
  }

  const uint32_t smem_base = (uint32_t)__cvta_generic_to_shared(attn_smem);
  const uint32_t q_addr = smem_base + kOffQh +
                          (uint32_t)((wrow * 32 + (lane & 15)) * kPitchBytes + (lane >> 4) * 16);
  const uint32_t k_addr = smem_base + kOffKh +
                          (uint32_t)(((lane & 7) + ((lane >> 4) << 3)) * kPitchBytes + ((lane >> 3) & 1) * 16);
  const uint32_t v_addr = smem_base + kOffVh +
                          (uint32_t)(((lane & 7) + ((lane >> 3) & 1) * 8) * kPitchBytes + (lane >> 4) * 16);

  const float c = (float)(0.10206207261596577 * 1.4426950408889634);
  const int row0 = qt * kTileQ + wrow * 32;
  const int diag = row0 >> 5;  // last tile of this warp
  const int num_tiles = 4 * qt + 4;

  float o[2][12][4];
  float mc[2][2];
  float l[2][2];
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int i = 0; i < 12; ++i) {
      o[m][i][0] = 0.f;
      o[m][i][1] = 0.f;
      o[m][i][2] = 0.f;
      o[m][i][3] = 0.f;
    }
    mc[m][0] = -INFINITY;
    mc[m][1] = -INFINITY;
    l[m][0] = 0.f;
    l[m][1] = 0.f;
  }

  __syncthreads();

#pragma unroll 1
  for (int kt = 0; kt < num_tiles; ++kt) {
    const uint32_t buf = (uint32_t)(kt & 1) * (uint32_t)kKVStage;
    unsigned char *nxt = st_base + ((kt + 1) & 1) * kKVStage;
    const bool more = kt + 1 < num_tiles;  // block-uniform
    const bool active = kt <= diag;        // warp-uniform; no barriers inside
    const float *next_k = head_base + kEmbed + (kt + 1) * kTileKV * kQkvRow;

    float s[2][4][4];
    {
      float4 r[6];
      if (more) load_tile(r, next_k);  // in flight during QK^T

      if (active) {
        // S = Q K^T
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int nt = 0; nt < 4; ++nt) {
            s[m][nt][0] = 0.f;
            s[m][nt][1] = 0.f;
            s[m][nt][2] = 0.f;
            s[m][nt][3] = 0.f;
          }
        const uint32_t ka = k_addr + buf;
#pragma unroll
        for (int kk = 0; kk < 6; ++kk) {
          uint32_t ah[2][4], al[2][4], bh[2][4], bl[2][4];
#pragma unroll
          for (int m = 0; m < 2; ++m) ldsm4(al[m], q_addr + (kOffQl - kOffQh) + m * 16 * kPitchBytes + kk * 32);
#pragma unroll
          for (int np = 0; np < 2; ++np) ldsm4(bh[np], ka + np * 16 * kPitchBytes + kk * 32);
#pragma unroll
          for (int m = 0; m < 2; ++m) ldsm4(ah[m], q_addr + m * 16 * kPitchBytes + kk * 32);
#pragma unroll
          for (int np = 0; np < 2; ++np)
            ldsm4(bl[np], ka + (kOffKl - kOffKh) + np * 16 * kPitchBytes + kk * 32);
#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np) {
              mma_f16(s[m][2 * np], al[m], bh[np][0], bh[np][1]);
              mma_f16(s[m][2 * np + 1], al[m], bh[np][2], bh[np][3]);
            }
#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np) {
              mma_f16(s[m][2 * np], ah[m], bl[np][0], bl[np][1]);
              mma_f16(s[m][2 * np + 1], ah[m], bl[np][2], bl[np][3]);
            }
#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int np = 0; np < 2; ++np) {
              mma_f16(s[m][2 * np], ah[m], bh[np][0], bh[np][1]);
              mma_f16(s[m][2 * np + 1], ah[m], bh[np][2], bh[np][3]);
            }
        }
      }

      if (more) store_tile(nxt + kOffKh, nxt + kOffKl, r);
    }
    {
      float4 r[6];
      if (more) load_tile(r, next_k + kEmbed);  // in flight during softmax and PV

      if (active) {
        // Causal mask, only in the tile on the diagonal, whose columns begin at row0.
        if (kt == diag) {
#pragma unroll
          for (int m = 0; m < 2; ++m) {
            const int row = m * 16 + (lane >> 2);
#pragma unroll
            for (int nt = 0; nt < 4; ++nt) {
              const int col = nt * 8 + (lane & 3) * 2;
              if (col > row) s[m][nt][0] = -INFINITY;
              if (col + 1 > row) s[m][nt][1] = -INFINITY;
              if (col > row + 8) s[m][nt][2] = -INFINITY;
              if (col + 1 > row + 8) s[m][nt][3] = -INFINITY;
            }
          }
        }

        // Online softmax.
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          float mx_a = fmaxf(s[m][0][0], s[m][0][1]);
          float mx_b = fmaxf(s[m][0][2], s[m][0][3]);
#pragma unroll
          for (int nt = 1; nt < 4; ++nt) {
            mx_a = fmaxf(mx_a, fmaxf(s[m][nt][0], s[m][nt][1]));
            mx_b = fmaxf(mx_b, fmaxf(s[m][nt][2], s[m][nt][3]));
          }
          mx_a = fmaxf(mx_a, __shfl_xor_sync(0xffffffffu, mx_a, 1));
          mx_b = fmaxf(mx_b, __shfl_xor_sync(0xffffffffu, mx_b, 1));
          mx_a = fmaxf(mx_a, __shfl_xor_sync(0xffffffffu, mx_a, 2));
          mx_b = fmaxf(mx_b, __shfl_xor_sync(0xffffffffu, mx_b, 2));

          const float new_a = fmaxf(mc[m][0], __fmul_rn(mx_a, c));
          const float new_b = fmaxf(mc[m][1], __fmul_rn(mx_b, c));
          const float alpha_a = ex2_approx(mc[m][0] - new_a);
          const float alpha_b = ex2_approx(mc[m][1] - new_b);
          mc[m][0] = new_a;
          mc[m][1] = new_b;

          float sum_a = 0.f, sum_b = 0.f;
#pragma unroll
          for (int nt = 0; nt < 4; ++nt) {
            s[m][nt][0] = ex2_approx(fmaf(s[m][nt][0], c, -new_a));
            s[m][nt][1] = ex2_approx(fmaf(s[m][nt][1], c, -new_a));
            s[m][nt][2] = ex2_approx(fmaf(s[m][nt][2], c, -new_b));
            s[m][nt][3] = ex2_approx(fmaf(s[m][nt][3], c, -new_b));
            sum_a += s[m][nt][0] + s[m][nt][1];
            sum_b += s[m][nt][2] + s[m][nt][3];
          }
          l[m][0] = fmaf(l[m][0], alpha_a, sum_a);
          l[m][1] = fmaf(l[m][1], alpha_b, sum_b);
#pragma unroll
          for (int i = 0; i < 12; ++i) {
            o[m][i][0] *= alpha_a;
            o[m][i][1] *= alpha_a;
            o[m][i][2] *= alpha_b;
            o[m][i][3] *= alpha_b;
          }
        }

        // O += P V
        const uint32_t va = v_addr + buf;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          uint32_t ph[2][4], pl[2][4];
#pragma unroll
          for (int m = 0; m < 2; ++m) {
            split_pair(s[m][2 * j][0], s[m][2 * j][1], ph[m][0], pl[m][0]);
            split_pair(s[m][2 * j][2], s[m][2 * j][3], ph[m][1], pl[m][1]);
            split_pair(s[m][2 * j + 1][0], s[m][2 * j + 1][1], ph[m][2], pl[m][2]);
            split_pair(s[m][2 * j + 1][2], s[m][2 * j + 1][3], ph[m][3], pl[m][3]);
          }
#pragma unroll
          for (int dq = 0; dq < 3; ++dq) {
            uint32_t vh[2][4], vl[2][4];
#pragma unroll
            for (int d = 0; d < 2; ++d) ldsm4_trans(vh[d], va + j * 16 * kPitchBytes + (2 * dq + d) * 32);
#pragma unroll
            for (int d = 0; d < 2; ++d)
              ldsm4_trans(vl[d], va + (kOffVl - kOffVh) + j * 16 * kPitchBytes + (2 * dq + d) * 32);
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
              for (int d = 0; d < 2; ++d) {
                mma_f16(o[m][4 * dq + 2 * d], pl[m], vh[d][0], vh[d][1]);
                mma_f16(o[m][4 * dq + 2 * d + 1], pl[m], vh[d][2], vh[d][3]);
              }
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
              for (int d = 0; d < 2; ++d) {
                mma_f16(o[m][4 * dq + 2 * d], ph[m], vl[d][0], vl[d][1]);
                mma_f16(o[m][4 * dq + 2 * d + 1], ph[m], vl[d][2], vl[d][3]);
              }
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
              for (int d = 0; d < 2; ++d) {
                mma_f16(o[m][4 * dq + 2 * d], ph[m], vh[d][0], vh[d][1]);
                mma_f16(o[m][4 * dq + 2 * d + 1], ph[m], vh[d][2], vh[d][3]);
              }
          }
        }
      }

      if (more) store_tile(nxt + kOffVh, nxt + kOffVl, r);
    }
    __syncthreads();  // the next tile is stored, this one has been consumed
  }

  float inv[2][2];
#pragma unroll
  for (int m = 0; m < 2; ++m)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float t = l[m][i];
      t += __shfl_xor_sync(0xffffffffu, t, 1);
      t += __shfl_xor_sync(0xffffffffu, t, 2);
      inv[m][i] = 1.f / t;
    }

  // Add the bias of V, split the result and stage it in this warp's own Q rows, which no other warp reads.
  __syncwarp();  // the warp's last reads of its Q rows are done
  unsigned char *wq = attn_smem + wrow * 32 * kPitchBytes;
  const float *v_bias = qkv_bias + 2 * kEmbed + h * kHeadDim + (lane & 3) * 2;  // 8-byte aligned
#pragma unroll
  for (int dt = 0; dt < 12; ++dt) {
    const float2 bv = __ldg(reinterpret_cast<const float2 *>(v_bias + dt * 8));
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      unsigned char *p = wq + (m * 16 + (lane >> 2)) * kPitchBytes + (lane & 3) * 4;
      uint32_t hi, lo;
      split_pair(fmaf(o[m][dt][0], inv[m][0], bv.x), fmaf(o[m][dt][1], inv[m][0], bv.y), hi, lo);
      *reinterpret_cast<uint32_t *>(p + kOffQh + dt * 16) = hi;
      *reinterpret_cast<uint32_t *>(p + kOffQl + dt * 16) = lo;
      split_pair(fmaf(o[m][dt][2], inv[m][1], bv.x), fmaf(o[m][dt][3], inv[m][1], bv.y), hi, lo);
      *reinterpret_cast<uint32_t *>(p + kOffQh + 8 * kPitchBytes + dt * 16) = hi;
      *reinterpret_cast<uint32_t *>(p + kOffQl + 8 * kPitchBytes + dt * 16) = lo;
    }
  }
  __syncwarp();

  __half *out = ysplit + ((int64_t)b * kSeq + row0) * kKP + h * kHeadDim;
#pragma unroll
  for (int i = 0; i < 12; ++i) {  // 32 rows * 12 chunks of 16 bytes
    const int idx = lane + i * 32;
    const int r = idx / 12;
    const int ch = idx - r * 12;
    const unsigned char *p = wq + r * kPitchBytes + ch * 16;
    const uint4 hi = *reinterpret_cast<const uint4 *>(p + kOffQh);
    const uint4 lo = *reinterpret_cast<const uint4 *>(p + kOffQl);
    __half *q = out + r * kKP + ch * 8;
    *reinterpret_cast<uint4 *>(q) = lo;
    *reinterpret_cast<uint4 *>(q + kEmbed) = hi;
    *reinterpret_cast<uint4 *>(q + kColHi2) = hi;
  }
}

at::Tensor MinGPTCausalAttention(
    const at::Tensor &x /* [128, 512, 768] */,
    const at::Tensor &c_attn_weight /* [2304, 768] */,
    const at::Tensor &c_attn_bias /* [2304] */,
    const at::Tensor &c_proj_weight /* [768, 768] */,
    const at::Tensor &c_proj_bias /* [768] */,
    const at::Tensor &bias /* [1, 1, 1024, 1024] */) {
  (void)bias; // the causal mask: a lower triangle by definition, applied as col > row
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto half_options = x.options().dtype(at::kHalf);
  at::Tensor a = at::empty({65536, 2368}, half_options);  // split x, later split y
  at::Tensor w1 = at::empty({2304, 2368}, half_options);
  at::Tensor w2 = at::empty({768, 2368}, half_options);
  __half *ap = reinterpret_cast<__half *>(a.data_ptr<at::Half>());
  __half *w1p = reinterpret_cast<__half *>(w1.data_ptr<at::Half>());
  __half *w2p = reinterpret_cast<__half *>(w2.data_ptr<at::Half>());
  split_rows_kernel<<<kSplitBlocksX + kSplitBlocksW1 + kSplitBlocksW2, kSplitThreads, 0, stream>>>(
      x.const_data_ptr<float>(), c_attn_weight.const_data_ptr<float>(), c_attn_bias.const_data_ptr<float>(),
      c_proj_weight.const_data_ptr<float>(), c_proj_bias.const_data_ptr<float>(), ap, w1p, w2p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  // [65536, 2304] = 256 * x w^T; the attention kernel adds the bias
  at::Tensor c_attn = at::mm(a.narrow(1, 0, 2304), w1.narrow(1, 0, 2304).t(), at::kFloat);
  C10_CUDA_CHECK(cudaFuncSetAttribute(causal_attn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  causal_attn_kernel<<<128 * 8 * 4, kAttnThreads, kSmemBytes, stream>>>(
      c_attn.const_data_ptr<float>(), c_attn_bias.const_data_ptr<float>(), ap);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return at::mm(a, w2.t(), at::kFloat).view({128, 512, 768}); // dropout with p = 0 is the identity
}
