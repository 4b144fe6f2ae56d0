// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

static constexpr int kMlpK = 16384;            // K of every layer
static constexpr int kMlpNOut = 8192;          // N of the last layer
static constexpr int kMlpStageBytes = 49152;   // k = 32: 16 KB of packed A, then 32 KB of W (256 rows of 128 bytes)
   // 32 KB of packed A, 32 KB of W
static constexpr int kMlpStages = 4;
static constexpr int kMlpSmemBytes = kMlpStages * kMlpStageBytes;
static constexpr int kMlpM = 128;              // rows
static constexpr int kMlpSlices = 4;           // partial sums of a layer, each over k = 4096

// (x, y) = hi + lo, both as bf16 pairs, x in the low half.
// Now in fp16 and unevenly weighted:
//   u1 = fp16(a * 63/64), u2 = fp16(a - u1), v1 = fp16(b), v2 = fp16(64 b - 63 v1);  a b = u1 v1 + u2 v2.
static __device__ __forceinline__ unsigned mlp_pack_h2(float x, float y) {
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}

static __device__ __forceinline__ void mlp_unpack_h2(unsigned h, float &x, float &y) {
  asm("{\n"
      ".reg .b16 lo, hi;\n"
      "mov.b32 {lo, hi}, %2;\n"
      "cvt.f32.f16 %0, lo;\n"
      "cvt.f32.f16 %1, hi;\n"
      "}\n"
      : "=f"(x), "=f"(y)
      : "r"(h));
}

static __device__ __forceinline__ void mlp_split_a(float x, float y, unsigned &u1, unsigned &u2) {
  u1 = mlp_pack_h2(x * 0.984375f, y * 0.984375f);
  float fx, fy;
  mlp_unpack_h2(u1, fx, fy);
  u2 = mlp_pack_h2(x - fx, y - fy);
}

static __device__ __forceinline__ void mlp_split_w(float x, float y, unsigned &v1, unsigned &v2) {
  v1 = mlp_pack_h2(x, y);
  float fx, fy;
  mlp_unpack_h2(v1, fx, fy);
  // 64 (b - v1) + v1 = 64 b - 63 v1
  v2 = mlp_pack_h2(fmaf(64.f, x - fx, fx), fmaf(64.f, y - fy, fy));
}

// A unit of packed A is {row g: k 4t, 4t+1 | row g: 4t+2, 4t+3 | row g+8: 4t, 4t+1 | row g+8: 4t+2, 4t+3}.
static __device__ __forceinline__ void mlp_mma(float (&c)[4], const uint4 &a, const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.z), "r"(a.y), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

template <int kDst, int kSrc>
static __device__ __forceinline__ void mlp_cp_a(unsigned dst, const char *src, int pred) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global [%0+%3], [%1+%4], 16;\n"
      "}\n" ::"r"(dst), "l"(src), "r"(pred), "n"(kDst), "n"(kSrc));
}

template <int kDst, int kSrc>
static __device__ __forceinline__ void mlp_cp_w(unsigned dst, const char *src, int pred) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global.L2::256B [%0+%3], [%1+%4], 16;\n"
      "}\n" ::"r"(dst), "l"(src), "r"(pred), "n"(kDst), "n"(kSrc));
}

// A quarter of a stage: two 16-byte copies a thread (of eight).
// Now an eighth: a copy of W and, in the even ones, a copy of A. wSrc points at the row 128 below the first,
// so that all offsets (32 rows of W apart: 32 * 16384 * 4 bytes) fit the signed immediate.
template <int kS>
static __device__ __forceinline__ void mlp_issue(unsigned aDst, unsigned wDst, const char *aSrc, const char *wSrc,
                                                 int pred) {
  mlp_cp_w<kS * 4096, (kS - 4) * 2097152>(wDst, wSrc, pred);
  if constexpr (kS % 2 == 0) {
    mlp_cp_a<(kS / 2) * 4096, (kS / 2) * 4096>(aDst, aSrc, pred);
  }
}

static __device__ __forceinline__ void mlp_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// x [128, 16384] -> hi/lo bf16 in the order of the mma's A fragments.
// Now u1/u2 in fp16: four consecutive columns n .. n+3 of one row, already scaled.
static __device__ __forceinline__ void mlp_store_act(uint2 *act, int row, int n, float4 v) {
  const int ks = n >> 4;
  const int t = (n & 15) >> 2;
  const int mt = row >> 4;
  const int h = (row >> 3) & 1;
  const int g = row & 7;
  const int o = (((ks * 8 + mt) * 2) * 32 + g * 4 + t) * 2 + h;
  uint2 u1, u2;
  mlp_split_a(v.x, v.y, u1.x, u2.x);
  mlp_split_a(v.z, v.w, u1.y, u2.y);
  act[o] = u1;
  act[o + 64] = u2;
}

// One row a block of 1024 threads: scales the row by a power of two so that its maximum lies in [256, 512),
// splits and stores it, and notes the reciprocal of the scale.
static __device__ __forceinline__ void mlp_scale_store(const float4 (&v)[4], int row, uint2 *act, float *invOut) {
  __shared__ unsigned warpMax[32];
  const int tid = threadIdx.x;
  unsigned m = 0u;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    m = max(m, __float_as_uint(v[j].x) & 0x7fffffffu);
    m = max(m, __float_as_uint(v[j].y) & 0x7fffffffu);
    m = max(m, __float_as_uint(v[j].z) & 0x7fffffffu);
    m = max(m, __float_as_uint(v[j].w) & 0x7fffffffu);
  }
  m = __reduce_max_sync(0xffffffffu, m);
  if ((tid & 31) == 0)
    warpMax[tid >> 5] = m;
  __syncthreads();
  m = __reduce_max_sync(0xffffffffu, warpMax[tid & 31]);

  int s = 262 - (int)(m >> 23);   // exponent field of 2^(8 - exponent of the maximum)
  s = s > 253 ? 253 : s;
  const float scale = __uint_as_float((unsigned)s << 23);
  if (tid == 0)
    invOut[row] = __uint_as_float((unsigned)(254 - s) << 23);

#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float4 w;
    w.x = v[j].x * scale;
    w.y = v[j].y * scale;
    w.z = v[j].z * scale;
    w.w = v[j].w * scale;
    mlp_store_act(act, row, 4 * (j * 1024 + tid), w);
  }
}

static __global__ void __launch_bounds__(1024)
mlp_split_x_kernel(const float4 *__restrict__ x, uint2 *__restrict__ act, float *__restrict__ invOut) {
  const int row = blockIdx.x;
  const int tid = threadIdx.x;
  const float4 *p = x + (size_t)row * (kMlpK / 4) + tid;
  float4 v[4];
#pragma unroll
  for (int j = 0; j < 4; ++j)
    v[j] = p[j * 1024];
  mlp_scale_store(v, row, act, invOut);
}

static __device__ __forceinline__ float4 mlp_sum4(const float4 &a, const float4 &b, const float4 &c, const float4 &d) {
  float4 r;
  r.x = (a.x + b.x) + (c.x + d.x);
  r.y = (a.y + b.y) + (c.y + d.y);
  r.z = (a.z + b.z) + (c.z + d.z);
  r.w = (a.w + b.w) + (c.w + d.w);
  return r;
}

// Sum of the slices of a layer with N columns, then inv * sum + bias, relu, and the packed input of the next layer.
static __global__ void __launch_bounds__(1024)
mlp_reduce_relu_split_kernel(const float4 *__restrict__ part, const float4 *__restrict__ bias,
                             const float *__restrict__ invIn, uint2 *__restrict__ act, float *__restrict__ invOut) {
  constexpr int kSliceStride = kMlpM * kMlpK / 4;   // N = K in the layers before the last
  const int row = blockIdx.x;
  const int tid = threadIdx.x;
  const float4 *p = part + (size_t)row * (kMlpK / 4) + tid;
  const float inv = invIn[row];
  float4 v[4];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float4 q[2][kMlpSlices];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int s = 0; s < kMlpSlices; ++s)
        q[j][s] = p[(size_t)s * kSliceStride + (half * 2 + j) * 1024];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float4 b = bias[(half * 2 + j) * 1024 + tid];
      const float4 sum = mlp_sum4(q[j][0], q[j][1], q[j][2], q[j][3]);
      float4 r;
      r.x = fmaf(sum.x, inv, b.x);
      r.y = fmaf(sum.y, inv, b.y);
      r.z = fmaf(sum.z, inv, b.z);
      r.w = fmaf(sum.w, inv, b.w);
      r.x = r.x < 0.f ? 0.f : r.x;
      r.y = r.y < 0.f ? 0.f : r.y;
      r.z = r.z < 0.f ? 0.f : r.z;
      r.w = r.w < 0.f ? 0.f : r.w;
      v[half * 2 + j] = r;
    }
  }
  mlp_scale_store(v, row, act, invOut);
}

// part[slice][128][N]: one CTA does 128 rows x 256 columns x kIters * 32 of K, a slice for every 4096 of K.
template <bool kLast>
static __global__ void __launch_bounds__(256, 1)
mlp_gemm(const uint4 *__restrict__ Ap, const float *__restrict__ W, float *__restrict__ part) {
  extern __shared__ __align__(1024) unsigned char mlp_smem[];
  constexpr int N = kLast ? kMlpNOut : 16384;
  constexpr int kChunks = kLast ? 1 : 2;                  // of 128 stages
  constexpr int kIters = kChunks * 128;                   // stages of k = 32
  constexpr int kLastBuf = (kMlpStages - 1) * kMlpStageBytes;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int wn = tid >> 5;    // 32 columns
  const int g = lane >> 2;
  const int t = lane & 3;
  const int n0 = blockIdx.x * 256;

  // Sources and destinations of this thread's copies.
  const int cr = tid >> 3;
  const int cc = tid & 7;
  const char *aSrc = reinterpret_cast<const char *>(Ap) + (size_t)blockIdx.y * kIters * 16384 + tid * 16;
  const char *wSrc = reinterpret_cast<const char *>(W + (size_t)(n0 + 128 + cr) * kMlpK +
                                                    (size_t)blockIdx.y * kIters * 32 + 4 * cc);
  const unsigned smemBase = (unsigned)__cvta_generic_to_shared(mlp_smem);
  const unsigned aDst = smemBase + tid * 16;
  const unsigned wDst = smemBase + 16384 + cr * 128 + (cc ^ ((cr & 1) << 2)) * 16;

  // Offsets of this thread's fragments inside a stage.
  const int aOff = lane * 16;
  const int wOff0 = 16384 + (wn * 32 + g) * 128 + ((g & 1) * 4 + t) * 16;   // first k16 step
  const int wOff1 = wOff0 ^ 64;                                             // second

  // Prologue: stages 0 to 2.
#pragma unroll
  for (int st = 0; st < 3; ++st) {
    const unsigned ad = aDst + st * kMlpStageBytes;
    const unsigned wd = wDst + st * kMlpStageBytes;
    mlp_issue<0>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<1>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<2>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<3>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<4>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<5>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<6>(ad, wd, aSrc, wSrc, 1);
    mlp_issue<7>(ad, wd, aSrc, wSrc, 1);
    mlp_commit();
    aSrc += 16384;
    wSrc += 128;
  }

  // Byte offsets of the buffers of the stages it - 1 (and it + 3), it and it + 1.
  int pb = kLastBuf;
  int cb = 0;
  int nb = kMlpStageBytes;
  int left = kIters - 3;   // kIters - 3 - it

  // The first slice of stage 3; it is committed with the other seven.
  mlp_issue<0>(aDst + pb, wDst + pb, aSrc, wSrc, 1);

  asm volatile("cp.async.wait_group 2;\n" ::: "memory");
  __syncthreads();

  // Fragments that live across the iterations.
  uint4 a1[2][2];          // [pair & 1][m-tile in the pair]
  uint4 a2[2][2];
  unsigned b1[2][4][2];    // [k16 step & 1][n-tile][2]
  unsigned b2[2][4][2];

  {
    float4 raw[4];
#pragma unroll
    for (int nt = 0; nt < 4; ++nt)
      raw[nt] = *reinterpret_cast<const float4 *>(mlp_smem + (cb + wOff0) + nt * 1024);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      a1[0][i] = *reinterpret_cast<const uint4 *>(mlp_smem + (cb + aOff) + i * 1024);
      a2[0][i] = *reinterpret_cast<const uint4 *>(mlp_smem + (cb + aOff) + i * 1024 + 512);
    }
#pragma unroll
    for (int nt = 0; nt < 4; ++nt) {
      mlp_split_w(raw[nt].x, raw[nt].y, b1[0][nt][0], b2[0][nt][0]);
      mlp_split_w(raw[nt].z, raw[nt].w, b1[0][nt][1], b2[0][nt][1]);
    }
  }

#pragma unroll 1
  for (int ch = 0; ch < kChunks; ++ch) {
    float acc[8][4][4];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          acc[i][j][q] = 0.f;

#pragma unroll 1
    for (int trip = 0; trip < 128; ++trip) {
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const int cur = u;
        const int nxt = u ^ 1;

#pragma unroll
        for (int p = 0; p < 4; ++p) {
          const int ab = p & 1;
          const int q = u * 4 + p;
          float4 raw[4];

          // 1. The fragments of the next pair.
          if (p < 3) {
            const unsigned char *aFrag = mlp_smem + (cb + aOff);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              a1[ab ^ 1][i] = *reinterpret_cast<const uint4 *>(aFrag + u * 8192 + (2 * (p + 1) + i) * 1024);
              a2[ab ^ 1][i] = *reinterpret_cast<const uint4 *>(aFrag + u * 8192 + (2 * (p + 1) + i) * 1024 + 512);
            }
          } else if (u == 0) {
            // The second step of the same stage.
            const unsigned char *wFrag = mlp_smem + (cb + wOff1);
            const unsigned char *aFrag = mlp_smem + (cb + aOff);
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              raw[nt] = *reinterpret_cast<const float4 *>(wFrag + nt * 1024);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              a1[0][i] = *reinterpret_cast<const uint4 *>(aFrag + 8192 + i * 1024);
              a2[0][i] = *reinterpret_cast<const uint4 *>(aFrag + 8192 + i * 1024 + 512);
            }
          } else {
            // Stage it + 1 is complete behind this barrier, and cb is free.
            mlp_commit();
            asm volatile("cp.async.wait_group 2;\n" ::: "memory");
            __syncthreads();
            aSrc += 16384;
            wSrc += 128;
            const unsigned char *wFrag = mlp_smem + (nb + wOff0);
            const unsigned char *aFrag = mlp_smem + (nb + aOff);
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              raw[nt] = *reinterpret_cast<const float4 *>(wFrag + nt * 1024);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              a1[0][i] = *reinterpret_cast<const uint4 *>(aFrag + i * 1024);
              a2[0][i] = *reinterpret_cast<const uint4 *>(aFrag + i * 1024 + 512);
            }
          }

          // 2. The second products.
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              mlp_mma(acc[2 * p + i][nt], a2[ab][i], b2[cur][nt]);

          // 3. An eighth of a later stage: it + 3 into pb, or it + 4 into cb.
          if (q == 0) {
            mlp_issue<1>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 1) {
            mlp_issue<2>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 2) {
            mlp_issue<3>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 3) {
            mlp_issue<4>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 4) {
            mlp_issue<5>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 5) {
            mlp_issue<6>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else if (q == 6) {
            mlp_issue<7>(aDst + pb, wDst + pb, aSrc, wSrc, left > 0 ? 1 : 0);
          } else {
            mlp_issue<0>(aDst + cb, wDst + cb, aSrc, wSrc, left > 1 ? 1 : 0);
          }

          // 4. The first products, and in the last pair the split of the next step's weights.
          if (p == 3) {
#pragma unroll
            for (int nt = 0; nt < 2; ++nt) {
              mlp_split_w(raw[nt].x, raw[nt].y, b1[nxt][nt][0], b2[nxt][nt][0]);
              mlp_split_w(raw[nt].z, raw[nt].w, b1[nxt][nt][1], b2[nxt][nt][1]);
            }
          }
#pragma unroll
          for (int nt = 0; nt < 4; ++nt)
            mlp_mma(acc[2 * p][nt], a1[ab][0], b1[cur][nt]);
          if (p == 3) {
#pragma unroll
            for (int nt = 2; nt < 4; ++nt) {
              mlp_split_w(raw[nt].x, raw[nt].y, b1[nxt][nt][0], b2[nxt][nt][0]);
              mlp_split_w(raw[nt].z, raw[nt].w, b1[nxt][nt][1], b2[nxt][nt][1]);
            }
          }
#pragma unroll
          for (int nt = 0; nt < 4; ++nt)
            mlp_mma(acc[2 * p + 1][nt], a1[ab][1], b1[cur][nt]);
        }
      }

      --left;
      pb = cb;
      cb = nb;
      nb = (nb == kLastBuf) ? 0 : nb + kMlpStageBytes;
    }

    // The slice of this chunk.
    const int slice = (int)blockIdx.y * kChunks + ch;
    float *dst = part + ((size_t)slice * kMlpM + g) * N + n0 + wn * 32 + 2 * t;
#pragma unroll
    for (int mt = 0; mt < 8; ++mt) {
#pragma unroll
      for (int nt = 0; nt < 4; ++nt) {
        *reinterpret_cast<float2 *>(dst + (size_t)(mt * 16) * N + nt * 8) =
            make_float2(acc[mt][nt][0], acc[mt][nt][1]);
        *reinterpret_cast<float2 *>(dst + (size_t)(mt * 16 + 8) * N + nt * 8) =
            make_float2(acc[mt][nt][2], acc[mt][nt][3]);
      }
    }
  }
}

// out = partial[0] + partial[1] + bias
// Now four slices, and the row's scale undone: out = inv * (sum of the slices) + bias.
static __global__ void __launch_bounds__(256)
mlp_reduce_bias_out_kernel(const float4 *__restrict__ part, const float4 *__restrict__ bias,
                           const float *__restrict__ invIn, float4 *__restrict__ out) {
  constexpr int kRow = kMlpNOut / 4;
  constexpr int kSliceStride = kMlpM * kRow;
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const float4 p0 = part[idx];
  const float4 p1 = part[idx + kSliceStride];
  const float4 p2 = part[idx + 2 * kSliceStride];
  const float4 p3 = part[idx + 3 * kSliceStride];
  const float4 b = bias[idx & (kRow - 1)];
  const float inv = invIn[idx / kRow];
  const float4 sum = mlp_sum4(p0, p1, p2, p3);
  float4 r;
  r.x = fmaf(sum.x, inv, b.x);
  r.y = fmaf(sum.y, inv, b.y);
  r.z = fmaf(sum.z, inv, b.z);
  r.w = fmaf(sum.w, inv, b.w);
  out[idx] = r;
}

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  at::Tensor act0 = at::empty({128, 16384}, x.options());        // u1 and u2 in fp16, packed
  at::Tensor act1 = at::empty({128, 16384}, x.options());
  at::Tensor partial = at::empty({4, 128, 16384}, x.options());
  at::Tensor invs = at::empty({3, 128}, x.options());
  at::Tensor out = at::empty({128, 8192}, x.options());

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  cudaFuncSetAttribute(mlp_gemm<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMlpSmemBytes);
  cudaFuncSetAttribute(mlp_gemm<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMlpSmemBytes);

  float *f0 = act0.data_ptr<float>();
  float *f1 = act1.data_ptr<float>();
  float *part = partial.data_ptr<float>();
  float *iv = invs.data_ptr<float>();

  mlp_split_x_kernel<<<128, 1024, 0, stream>>>(
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()), reinterpret_cast<uint2 *>(f0), iv);

  mlp_gemm<false><<<dim3(64, 2), 256, kMlpSmemBytes, stream>>>(
      reinterpret_cast<const uint4 *>(f0), network_0_weight.const_data_ptr<float>(), part);
  mlp_reduce_relu_split_kernel<<<128, 1024, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_0_bias.const_data_ptr<float>()),
      iv, reinterpret_cast<uint2 *>(f1), iv + 128);

  mlp_gemm<false><<<dim3(64, 2), 256, kMlpSmemBytes, stream>>>(
      reinterpret_cast<const uint4 *>(f1), network_2_weight.const_data_ptr<float>(), part);
  mlp_reduce_relu_split_kernel<<<128, 1024, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_2_bias.const_data_ptr<float>()),
      iv + 128, reinterpret_cast<uint2 *>(f0), iv + 256);

  mlp_gemm<true><<<dim3(32, 4), 256, kMlpSmemBytes, stream>>>(
      reinterpret_cast<const uint4 *>(f0), network_4_weight.const_data_ptr<float>(), part);
  mlp_reduce_bias_out_kernel<<<1024, 256, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_4_bias.const_data_ptr<float>()),
      iv + 256, reinterpret_cast<float4 *>(out.data_ptr<float>()));
  return out;
}
