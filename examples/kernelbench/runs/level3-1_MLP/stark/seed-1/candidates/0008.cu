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
static constexpr int kMlpStageBytes = 32768;   // k = 32: 16 KB of packed A, 16 KB of W
   // 32 KB of packed A, 32 KB of W
static constexpr int kMlpStages = 5;
static constexpr int kMlpSmemBytes = kMlpStages * kMlpStageBytes + 65536;   // and 64 KB of sums

// (x, y) = hi + lo, both as bf16 pairs, x in the low half.
static __device__ __forceinline__ void mlp_split2(float x, float y, unsigned &h, unsigned &l) {
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(y), "f"(x));
  float rx = x - __uint_as_float(h << 16);
  float ry = y - __uint_as_float(h & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(l) : "f"(ry), "f"(rx));
}

static __device__ __forceinline__ void mlp_mma(float (&c)[4], const uint4 &a, const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
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
template <int kS>
static __device__ __forceinline__ void mlp_issue_a(unsigned dst, const char *src, int pred) {
  mlp_cp_a<kS * 4096, kS * 4096>(dst, src, pred);
}

template <int kS>
static __device__ __forceinline__ void mlp_issue_w(unsigned dst, const char *src, int pred) {
  // 32 rows of W apart: 32 * 16384 * 4 bytes
  mlp_cp_w<kS * 4096, kS * 2097152>(dst, src, pred);
}

static __device__ __forceinline__ void mlp_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// x [128, 16384] -> hi/lo bf16 in the order of the mma's A fragments.
static __global__ void __launch_bounds__(256)
mlp_pack_x(const float *__restrict__ x, uint4 *__restrict__ packed) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const int lane = idx & 31;
  const int mt = (idx >> 5) & 7;
  const int ks = idx >> 8;
  const int g = lane >> 2;
  const int t = lane & 3;
  const float *p = x + (size_t)(mt * 16 + g) * kMlpK + ks * 16 + 4 * t;
  const float4 u = *reinterpret_cast<const float4 *>(p);
  const float4 v = *reinterpret_cast<const float4 *>(p + (size_t)8 * kMlpK);
  uint4 hi, lo;
  mlp_split2(u.x, u.y, hi.x, lo.x);
  mlp_split2(v.x, v.y, hi.y, lo.y);
  mlp_split2(u.z, u.w, hi.z, lo.z);
  mlp_split2(v.z, v.w, hi.w, lo.w);
  const int o = ((ks * 8 + mt) * 2) * 32 + lane;
  packed[o] = hi;
  packed[o + 32] = lo;
}

template <bool kLast>
static __global__ void __launch_bounds__(256, 1)
mlp_gemm(const uint4 *__restrict__ Ap, const float *__restrict__ W, const float *__restrict__ bias,
         uint4 *__restrict__ outPacked, float *__restrict__ partial) {
  extern __shared__ __align__(1024) unsigned char mlp_smem[];
  constexpr int kIters = kLast ? 256 : 512;               // stages of k = 32
  constexpr int kSegs = kIters / 32;                      // even
  constexpr int kLastBuf = (kMlpStages - 1) * kMlpStageBytes;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int wn = warp & 3;    // 32 columns
  const int kg = warp >> 2;   // which k16 step of each stage
  const int n0 = blockIdx.x * 128;
  const int k0 = kLast ? (int)blockIdx.y * 8192 : 0;

  // Sources and destinations of this thread's copies.
  const int cr = tid >> 3;
  const int cc = tid & 7;
  const char *aSrc = reinterpret_cast<const char *>(Ap + (size_t)(k0 / 16) * 512 + tid);
  const char *wSrc = reinterpret_cast<const char *>(W + (size_t)(n0 + cr) * kMlpK + k0 + 4 * cc);
  const unsigned smemBase = (unsigned)__cvta_generic_to_shared(mlp_smem);
  const unsigned aDst = smemBase + tid * 16;
  const unsigned wDst = smemBase + 16384 + cr * 128 + (cc ^ ((cr & 1) << 2)) * 16;

  // Offsets of this thread's fragments inside a stage.
  const int aOff = kg * 8192 + lane * 16;
  const int wOff = 16384 + (wn * 32 + g) * 128 + ((kg * 4 + t) ^ ((g & 1) << 2)) * 16;

  // The promoted sums; the same entries for both k-groups.
  float4 *sums = reinterpret_cast<float4 *>(mlp_smem + kMlpStages * kMlpStageBytes) + (wn * 32 + lane);

  float acc[8][4][4];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int q = 0; q < 4; ++q)
        acc[i][j][q] = 0.f;

  // Prologue: stages 0 to 3.
#pragma unroll
  for (int st = 0; st < 4; ++st) {
    const unsigned ad = aDst + st * kMlpStageBytes;
    const unsigned wd = wDst + st * kMlpStageBytes;
    mlp_issue_w<0>(wd, wSrc, 1);
    mlp_issue_w<1>(wd, wSrc, 1);
    mlp_issue_w<2>(wd, wSrc, 1);
    mlp_issue_w<3>(wd, wSrc, 1);
    mlp_issue_a<0>(ad, aSrc, 1);
    mlp_issue_a<1>(ad, aSrc, 1);
    mlp_issue_a<2>(ad, aSrc, 1);
    mlp_issue_a<3>(ad, aSrc, 1);
    mlp_commit();
    aSrc += 16384;
    wSrc += 128;
  }

  // Byte offsets of the buffers of the stages it - 1 (and it + 4), it and it + 1.
  int pb = kLastBuf;
  int cb = 0;
  int nb = kMlpStageBytes;
  int left = kIters - 4;   // kIters - 4 - it

  // The first quarter of stage 4; it is committed with the other three.
  mlp_issue_w<0>(wDst + pb, wSrc, 1);
  mlp_issue_a<0>(aDst + pb, aSrc, 1);

  if (kg == 0) {
#pragma unroll
    for (int i = 0; i < 32; ++i)
      sums[i * 128] = make_float4(0.f, 0.f, 0.f, 0.f);
  }

  asm volatile("cp.async.wait_group 3;\n" ::: "memory");
  __syncthreads();

  // Fragments that live across the iterations.
  uint4 ah[2][2];          // [pair & 1][m-tile in the pair]
  uint4 al[2][2];
  unsigned bh[2][4][2];    // [iteration & 1][n-tile][2]
  unsigned bl[2][4][2];

  {
    float4 raw[4];
#pragma unroll
    for (int nt = 0; nt < 4; ++nt)
      raw[nt] = *reinterpret_cast<const float4 *>(mlp_smem + (cb + wOff) + nt * 1024);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      ah[0][i] = *reinterpret_cast<const uint4 *>(mlp_smem + (cb + aOff) + i * 1024);
      al[0][i] = *reinterpret_cast<const uint4 *>(mlp_smem + (cb + aOff) + i * 1024 + 512);
    }
#pragma unroll
    for (int nt = 0; nt < 4; ++nt) {
      mlp_split2(raw[nt].x, raw[nt].y, bh[0][nt][0], bl[0][nt][0]);
      mlp_split2(raw[nt].z, raw[nt].w, bh[0][nt][1], bl[0][nt][1]);
    }
  }

#pragma unroll 1
  for (int seg = 0; seg < kSegs; ++seg) {
#pragma unroll 1
    for (int trip = 0; trip < 16; ++trip) {
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const int cur = u;
        const int nxt = u ^ 1;

#pragma unroll
        for (int p = 0; p < 4; ++p) {
          const int ab = p & 1;
          float4 raw[4];

          // 1. The fragments of the next pair.
          if (p < 3) {
            const unsigned char *aFrag = mlp_smem + (cb + aOff);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              ah[ab ^ 1][i] = *reinterpret_cast<const uint4 *>(aFrag + (2 * (p + 1) + i) * 1024);
              al[ab ^ 1][i] = *reinterpret_cast<const uint4 *>(aFrag + (2 * (p + 1) + i) * 1024 + 512);
            }
          } else {
            // Stage it + 1 is complete behind this barrier, and cb is free.
            mlp_commit();
            asm volatile("cp.async.wait_group 3;\n" ::: "memory");
            __syncthreads();
            aSrc += 16384;
            wSrc += 128;
            const unsigned char *wFrag = mlp_smem + (nb + wOff);
            const unsigned char *aFrag = mlp_smem + (nb + aOff);
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              raw[nt] = *reinterpret_cast<const float4 *>(wFrag + nt * 1024);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              ah[0][i] = *reinterpret_cast<const uint4 *>(aFrag + i * 1024);
              al[0][i] = *reinterpret_cast<const uint4 *>(aFrag + i * 1024 + 512);
            }
          }

          // 2. High parts of A, low parts of W.
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              mlp_mma(acc[2 * p + i][nt], ah[ab][i], bl[cur][nt]);

          // 3. A quarter of a later stage: it + 4 into pb, or it + 5 into cb.
          if (p == 0) {
            mlp_issue_w<1>(wDst + pb, wSrc, left > 0 ? 1 : 0);
            mlp_issue_a<1>(aDst + pb, aSrc, left > 0 ? 1 : 0);
          } else if (p == 1) {
            mlp_issue_w<2>(wDst + pb, wSrc, left > 0 ? 1 : 0);
            mlp_issue_a<2>(aDst + pb, aSrc, left > 0 ? 1 : 0);
          } else if (p == 2) {
            mlp_issue_w<3>(wDst + pb, wSrc, left > 0 ? 1 : 0);
            mlp_issue_a<3>(aDst + pb, aSrc, left > 0 ? 1 : 0);
          } else {
            mlp_issue_w<0>(wDst + cb, wSrc, left > 1 ? 1 : 0);
            mlp_issue_a<0>(aDst + cb, aSrc, left > 1 ? 1 : 0);
          }

          // 4. The other products, and in the last pair the split of the next step's weights.
          if (p == 3) {
#pragma unroll
            for (int nt = 0; nt < 2; ++nt) {
              mlp_split2(raw[nt].x, raw[nt].y, bh[nxt][nt][0], bl[nxt][nt][0]);
              mlp_split2(raw[nt].z, raw[nt].w, bh[nxt][nt][1], bl[nxt][nt][1]);
            }
          }
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              mlp_mma(acc[2 * p + i][nt], al[ab][i], bh[cur][nt]);
          if (p == 3) {
#pragma unroll
            for (int nt = 2; nt < 4; ++nt) {
              mlp_split2(raw[nt].x, raw[nt].y, bh[nxt][nt][0], bl[nxt][nt][0]);
              mlp_split2(raw[nt].z, raw[nt].w, bh[nxt][nt][1], bl[nxt][nt][1]);
            }
          }
#pragma unroll
          for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
              mlp_mma(acc[2 * p + i][nt], ah[ab][i], bh[cur][nt]);
        }

        --left;
        pb = cb;
        cb = nb;
        nb = (nb == kLastBuf) ? 0 : nb + kMlpStageBytes;
      }
    }

    // Promotion: the tensor core truncates, plain additions round. The groups take turns;
    // the barriers of the 32 iterations between two turns order them.
    if (kg == (seg & 1)) {
#pragma unroll
      for (int mt = 0; mt < 8; ++mt)
#pragma unroll
        for (int nt = 0; nt < 4; ++nt) {
          float4 v = sums[(mt * 4 + nt) * 128];
          v.x += acc[mt][nt][0];
          v.y += acc[mt][nt][1];
          v.z += acc[mt][nt][2];
          v.w += acc[mt][nt][3];
          sums[(mt * 4 + nt) * 128] = v;
          acc[mt][nt][0] = 0.f;
          acc[mt][nt][1] = 0.f;
          acc[mt][nt][2] = 0.f;
          acc[mt][nt][3] = 0.f;
        }
    }
  }

  // Group 1 has just flushed; what group 0 still holds comes last.
  __syncthreads();
  if (kg == 0) {
#pragma unroll
    for (int mt = 0; mt < 8; ++mt)
#pragma unroll
      for (int nt = 0; nt < 4; ++nt) {
        float4 v = sums[(mt * 4 + nt) * 128];
        v.x += acc[mt][nt][0];
        v.y += acc[mt][nt][1];
        v.z += acc[mt][nt][2];
        v.w += acc[mt][nt][3];
        sums[(mt * 4 + nt) * 128] = v;
      }
  }
  __syncthreads();

  // Group kg takes the rows kg * 64 and on.
  if constexpr (kLast) {
    float *out = partial + (size_t)blockIdx.y * 128 * kMlpNOut;
#pragma unroll
    for (int mt = 0; mt < 4; ++mt) {
      const int row = kg * 64 + mt * 16 + g;
#pragma unroll
      for (int nt = 0; nt < 4; ++nt) {
        const float4 v = sums[((kg * 4 + mt) * 4 + nt) * 128];
        const int n = n0 + wn * 32 + nt * 8 + 2 * t;
        float *o = out + (size_t)row * kMlpNOut + n;
        *reinterpret_cast<float2 *>(o) = make_float2(v.x, v.y);
        *reinterpret_cast<float2 *>(o + (size_t)8 * kMlpNOut) = make_float2(v.z, v.w);
      }
    }
  } else {
    uint2 *out = reinterpret_cast<uint2 *>(outPacked);
#pragma unroll
    for (int nt = 0; nt < 4; ++nt) {
      const int n = n0 + wn * 32 + nt * 8 + 2 * t;
      const float2 b = *reinterpret_cast<const float2 *>(bias + n);
      const int ks = (n0 + wn * 32) / 16 + (nt >> 1);
      const int ln = g * 4 + (nt & 1) * 2 + (t >> 1);
#pragma unroll
      for (int mt = 0; mt < 4; ++mt) {
        const float4 v = sums[((kg * 4 + mt) * 4 + nt) * 128];
        float c0 = v.x + b.x;
        float c1 = v.y + b.y;
        float c2 = v.z + b.x;
        float c3 = v.w + b.y;
        c0 = c0 < 0.f ? 0.f : c0;
        c1 = c1 < 0.f ? 0.f : c1;
        c2 = c2 < 0.f ? 0.f : c2;
        c3 = c3 < 0.f ? 0.f : c3;
        uint2 h, l;
        mlp_split2(c0, c1, h.x, l.x);
        mlp_split2(c2, c3, h.y, l.y);
        const int o = ((ks * 8 + kg * 4 + mt) * 2) * 32 + ln;
        out[2 * o + (t & 1)] = h;
        out[2 * (o + 32) + (t & 1)] = l;
      }
    }
  }
}

// out = partial[0] + partial[1] + bias
static __global__ void __launch_bounds__(256)
mlp_finish(const float4 *__restrict__ partial, const float4 *__restrict__ bias, float4 *__restrict__ out) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const float4 p = partial[idx];
  const float4 q = partial[idx + 128 * kMlpNOut / 4];
  const float4 b = bias[idx & (kMlpNOut / 4 - 1)];
  float4 r;
  r.x = p.x + q.x + b.x;
  r.y = p.y + q.y + b.y;
  r.z = p.z + q.z + b.z;
  r.w = p.w + q.w + b.w;
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

  at::Tensor packed0 = at::empty({128, 16384}, x.options());     // hi and lo bf16, packed
  at::Tensor packed1 = at::empty({128, 16384}, x.options());
  at::Tensor partial = at::empty({2, 128, 8192}, x.options());
  at::Tensor out = at::empty({128, 8192}, x.options());

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  cudaFuncSetAttribute(mlp_gemm<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMlpSmemBytes);
  cudaFuncSetAttribute(mlp_gemm<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMlpSmemBytes);

  uint4 *p0 = reinterpret_cast<uint4 *>(packed0.data_ptr<float>());
  uint4 *p1 = reinterpret_cast<uint4 *>(packed1.data_ptr<float>());
  float *part = partial.data_ptr<float>();

  mlp_pack_x<<<1024, 256, 0, stream>>>(x.const_data_ptr<float>(), p0);
  mlp_gemm<false><<<dim3(128, 1), 256, kMlpSmemBytes, stream>>>(
      p0, network_0_weight.const_data_ptr<float>(), network_0_bias.const_data_ptr<float>(), p1, nullptr);
  mlp_gemm<false><<<dim3(128, 1), 256, kMlpSmemBytes, stream>>>(
      p1, network_2_weight.const_data_ptr<float>(), network_2_bias.const_data_ptr<float>(), p0, nullptr);
  mlp_gemm<true><<<dim3(64, 2), 256, kMlpSmemBytes, stream>>>(
      p0, network_4_weight.const_data_ptr<float>(), nullptr, nullptr, part);
  mlp_finish<<<1024, 256, 0, stream>>>(
      reinterpret_cast<const float4 *>(part),
      reinterpret_cast<const float4 *>(network_4_bias.const_data_ptr<float>()),
      reinterpret_cast<float4 *>(out.data_ptr<float>()));
  return out;
}
