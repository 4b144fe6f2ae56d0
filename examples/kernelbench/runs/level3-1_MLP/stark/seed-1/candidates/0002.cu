// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

static constexpr int kMlpK = 16384;            // inner dimension of all three layers
static constexpr int kMlpM = 128;              // batch
static constexpr int kMlpSlices = 8;           // 16384 / 2048
static constexpr int kMlpBN = 256;             // columns of a block
static constexpr int kMlpWBytes = 32768;       // W tile of a stage: 256 x 32 fp32
static constexpr int kMlpABytes = 16384;       // A tile of a stage: 128 x (32 hi + 32 lo) bf16
static constexpr int kMlpStageBytes = kMlpWBytes + kMlpABytes;
static constexpr int kMlpSmemBytes = 4 * kMlpStageBytes;

// (a, b) -> packed bf16 high parts and packed bf16 low parts, a in the low half.
static __device__ __forceinline__ void mlp_split2(float a, float b, uint32_t &h, uint32_t &l) {
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(b), "f"(a));
  float ra = a - __uint_as_float(h << 16);
  float rb = b - __uint_as_float(h & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(l) : "f"(rb), "f"(ra));
}

// Stores 4 consecutive columns n..n+3 of one row in the split, permuted layout.
static __device__ __forceinline__ void mlp_store_act(uint32_t *act, int row, int n, float4 v) {
  size_t o = ((size_t)(n >> 5) * kMlpM + row) * 32 + ((n >> 4) & 1) * 8 + ((n & 15) >> 2);
  uint32_t h0, l0, h1, l1;
  mlp_split2(v.x, v.y, h0, l0);
  mlp_split2(v.z, v.w, h1, l1);
  act[o] = h0;
  act[o + 4] = h1;
  act[o + 16] = l0;
  act[o + 20] = l1;
}

static __global__ void __launch_bounds__(256)
mlp_split_x_kernel(const float *__restrict__ x, uint32_t *__restrict__ act) {
  int i = blockIdx.x * 256 + threadIdx.x;
  int row = i / (kMlpK / 4);
  int n = (i % (kMlpK / 4)) * 4;
  float4 v = *reinterpret_cast<const float4 *>(x + (size_t)row * kMlpK + n);
  mlp_store_act(act, row, n, v);
}

template <int N>
static __device__ __forceinline__ float4 mlp_sum_slices(const float *__restrict__ part,
                                                        const float *__restrict__ bias,
                                                        int row, int n) {
  float4 p[kMlpSlices];
  const float *src = part + (size_t)row * N + n;
#pragma unroll
  for (int s = 0; s < kMlpSlices; ++s)
    p[s] = *reinterpret_cast<const float4 *>(src + (size_t)s * kMlpM * N);
  float4 b = *reinterpret_cast<const float4 *>(bias + n);
#pragma unroll
  for (int w = kMlpSlices / 2; w > 0; w >>= 1) {
#pragma unroll
    for (int s = 0; s < kMlpSlices / 2; ++s) {
      if (s < w) {
        p[s].x += p[s + w].x;
        p[s].y += p[s + w].y;
        p[s].z += p[s + w].z;
        p[s].w += p[s + w].w;
      }
    }
  }
  float4 v;
  v.x = p[0].x + b.x;
  v.y = p[0].y + b.y;
  v.z = p[0].z + b.z;
  v.w = p[0].w + b.w;
  return v;
}

static __global__ void __launch_bounds__(256)
mlp_reduce_relu_split_kernel(const float *__restrict__ part, const float *__restrict__ bias,
                             uint32_t *__restrict__ act) {
  int i = blockIdx.x * 256 + threadIdx.x;
  int row = i / (kMlpK / 4);
  int n = (i % (kMlpK / 4)) * 4;
  float4 v = mlp_sum_slices<16384>(part, bias, row, n);
  v.x = fmaxf(v.x, 0.f);
  v.y = fmaxf(v.y, 0.f);
  v.z = fmaxf(v.z, 0.f);
  v.w = fmaxf(v.w, 0.f);
  mlp_store_act(act, row, n, v);
}

static __global__ void __launch_bounds__(256)
mlp_reduce_bias_out_kernel(const float *__restrict__ part, const float *__restrict__ bias,
                           float *__restrict__ out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  int row = i / (8192 / 4);
  int n = (i % (8192 / 4)) * 4;
  float4 v = mlp_sum_slices<8192>(part, bias, row, n);
  *reinterpret_cast<float4 *>(out + (size_t)row * 8192 + n) = v;
}

static __device__ __forceinline__ void mlp_cp_w(uint32_t dst, const void *src, int pred) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global.L2::256B [%0], [%1], 16;\n"
      "}\n" ::"r"(dst), "l"(src), "r"(pred)
      : "memory");
}

static __device__ __forceinline__ void mlp_cp_a(uint32_t dst, const void *src, int pred) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global [%0], [%1], 16;\n"
      "}\n" ::"r"(dst), "l"(src), "r"(pred)
      : "memory");
}

static __device__ __forceinline__ void mlp_cp_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

static __device__ __forceinline__ void mlp_cp_wait2() {
  asm volatile("cp.async.wait_group 2;\n" ::: "memory");
}

static __device__ __forceinline__ void mlp_ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ float4 mlp_lds4(uint32_t addr) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(addr)
               : "memory");
  return v;
}

static __device__ __forceinline__ void mlp_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                               uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// part[slice][128][N] = A (128 x 2048 of K) * W^T for the slices of this block.
template <int N, int KSPLIT>
static __global__ void __launch_bounds__(256, 1)
mlp_gemm_kernel(const uint32_t *__restrict__ act, const float *__restrict__ W,
                float *__restrict__ part) {
  extern __shared__ __align__(128) unsigned char mlp_smem[];
  constexpr int NCHUNK = kMlpSlices / KSPLIT;
  constexpr int NSTAGE = NCHUNK * 64;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp & 1;
  const int wn = warp >> 1;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int n0 = blockIdx.x * kMlpBN;
  const int kg0 = blockIdx.y * NSTAGE;

  const uint32_t smem = (uint32_t)__cvta_generic_to_shared(mlp_smem);

  // Producer side: row stride 32 per i, swizzle terms depend on tid only.
  const int lr = tid >> 3;
  const int lc = tid & 7;
  const uint32_t wdst = smem + lr * 128 + ((lc ^ ((lr & 1) << 2)) << 4);
  const uint32_t adst = smem + kMlpWBytes + lr * 128 + ((lc ^ (lr & 7)) << 4);
  const char *wsrc =
      reinterpret_cast<const char *>(W + (size_t)(n0 + lr) * kMlpK + (size_t)kg0 * 32 + lc * 4);
  const char *asrc =
      reinterpret_cast<const char *>(act) + (size_t)kg0 * kMlpABytes + (size_t)tid * 16;
  constexpr size_t kWRowStep = (size_t)32 * kMlpK * 4;

  // Consumer side.
  const uint32_t wrd = smem + (wn * 64 + g) * 128 + ((t ^ ((g & 1) << 2)) << 4);
  const uint32_t ard = smem + kMlpWBytes + (wm * 64 + (lane & 15)) * 128 +
                       (((lane >> 4) ^ (lane & 7)) << 4);

#pragma unroll
  for (int p = 0; p < 3; ++p) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      mlp_cp_w(wdst + p * kMlpStageBytes + i * 4096, wsrc + i * kWRowStep, 1);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      mlp_cp_a(adst + p * kMlpStageBytes + i * 4096, asrc + i * 4096, 1);
    mlp_cp_commit();
    wsrc += 128;
    asrc += kMlpABytes;
  }

  int s = 0;
#pragma unroll 1
  for (int ch = 0; ch < NCHUNK; ++ch) {
    float acc[4][8][4];
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int ni = 0; ni < 8; ++ni)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mi][ni][e] = 0.f;

#pragma unroll 1
    for (int it = 0; it < 64; ++it, ++s) {
      mlp_cp_wait2();
      __syncthreads();

      const uint32_t rd = (uint32_t)(s & 3) * kMlpStageBytes;
      const uint32_t wr = (uint32_t)((s + 3) & 3) * kMlpStageBytes;
      const int more = (s + 3 < NSTAGE) ? 1 : 0;
      const uint32_t wa = wrd + rd;
      const uint32_t aa = ard + rd;

      uint32_t ah[4][4], al[4][4];
      float4 wc[2], wx[2];

      wc[0] = mlp_lds4(wa);
      wc[1] = mlp_lds4(wa + 1024);
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
        mlp_ldsm4(al[mi], (aa ^ 64u) + mi * 2048);
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
        mlp_ldsm4(ah[mi], aa + mi * 2048);

#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const int np = q & 3;

        // The high parts of the second k16 step; the low ones were loaded at q == 3.
        if (q == 4) {
#pragma unroll
          for (int mi = 0; mi < 4; ++mi)
            mlp_ldsm4(ah[mi], (aa ^ 32u) + mi * 2048);
        }
        // W of the next pair.
        if (q < 7) {
          const int qn = q + 1;
          const uint32_t base = (qn >= 4) ? (wa ^ 64u) : wa;
          wx[0] = mlp_lds4(base + (2 * (qn & 3)) * 1024);
          wx[1] = mlp_lds4(base + (2 * (qn & 3) + 1) * 1024);
        }

        uint32_t bh[2][2], bl[2][2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          mlp_split2(wc[j].x, wc[j].y, bh[j][0], bl[j][0]);
          mlp_split2(wc[j].z, wc[j].w, bh[j][1], bl[j][1]);
        }

        // Asynchronous copies of stage s + 3 (slot of s - 1: all are done with it).
        if (q == 0) {
#pragma unroll
          for (int i = 0; i < 4; ++i)
            mlp_cp_w(wdst + wr + i * 4096, wsrc + i * kWRowStep, more);
        }
        if (q == 1) {
#pragma unroll
          for (int i = 4; i < 8; ++i)
            mlp_cp_w(wdst + wr + i * 4096, wsrc + i * kWRowStep, more);
        }
        if (q == 2) {
#pragma unroll
          for (int i = 0; i < 4; ++i)
            mlp_cp_a(adst + wr + i * 4096, asrc + i * 4096, more);
          mlp_cp_commit();
        }

#pragma unroll
        for (int mi = 0; mi < 4; ++mi)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            mlp_mma(acc[mi][2 * np + j], al[mi], bh[j][0], bh[j][1]);

        if (q == 3) {
#pragma unroll
          for (int mi = 0; mi < 4; ++mi)
            mlp_ldsm4(al[mi], (aa ^ 96u) + mi * 2048);
        }

#pragma unroll
        for (int mi = 0; mi < 4; ++mi)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            mlp_mma(acc[mi][2 * np + j], ah[mi], bl[j][0], bl[j][1]);

#pragma unroll
        for (int mi = 0; mi < 4; ++mi)
#pragma unroll
          for (int j = 0; j < 2; ++j)
            mlp_mma(acc[mi][2 * np + j], ah[mi], bh[j][0], bh[j][1]);

        if (q < 7) {
          wc[0] = wx[0];
          wc[1] = wx[1];
        }
      }

      wsrc += 128;
      asrc += kMlpABytes;
    }

    const int slice = blockIdx.y * NCHUNK + ch;
    float *dst = part + ((size_t)slice * kMlpM + wm * 64 + g) * N + n0 + wn * 64 + 2 * t;
#pragma unroll
    for (int mi = 0; mi < 4; ++mi) {
#pragma unroll
      for (int ni = 0; ni < 8; ++ni) {
        *reinterpret_cast<float2 *>(dst + (size_t)(mi * 16) * N + ni * 8) =
            make_float2(acc[mi][ni][0], acc[mi][ni][1]);
        *reinterpret_cast<float2 *>(dst + (size_t)(mi * 16 + 8) * N + ni * 8) =
            make_float2(acc[mi][ni][2], acc[mi][ni][3]);
      }
    }
  }
}

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  auto opt = x.options();
  // 4 bytes per value: bf16 high part and bf16 low part.
  at::Tensor act0 = at::empty({128, 16384}, opt);
  at::Tensor act1 = at::empty({128, 16384}, opt);
  at::Tensor part = at::empty({8, 128, 16384}, opt);
  at::Tensor out = at::empty({128, 8192}, opt);

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  uint32_t *a0 = reinterpret_cast<uint32_t *>(act0.data_ptr<float>());
  uint32_t *a1 = reinterpret_cast<uint32_t *>(act1.data_ptr<float>());
  float *pp = part.data_ptr<float>();

  cudaFuncSetAttribute(mlp_gemm_kernel<16384, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kMlpSmemBytes);
  cudaFuncSetAttribute(mlp_gemm_kernel<8192, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kMlpSmemBytes);

  const dim3 grid_large(16384 / kMlpBN, 2);
  const dim3 grid_small(8192 / kMlpBN, 4);

  mlp_split_x_kernel<<<2048, 256, 0, stream>>>(x.const_data_ptr<float>(), a0);

  mlp_gemm_kernel<16384, 2><<<grid_large, 256, kMlpSmemBytes, stream>>>(
      a0, network_0_weight.const_data_ptr<float>(), pp);
  mlp_reduce_relu_split_kernel<<<2048, 256, 0, stream>>>(
      pp, network_0_bias.const_data_ptr<float>(), a1);

  mlp_gemm_kernel<16384, 2><<<grid_large, 256, kMlpSmemBytes, stream>>>(
      a1, network_2_weight.const_data_ptr<float>(), pp);
  mlp_reduce_relu_split_kernel<<<2048, 256, 0, stream>>>(
      pp, network_2_bias.const_data_ptr<float>(), a0);

  mlp_gemm_kernel<8192, 4><<<grid_small, 256, kMlpSmemBytes, stream>>>(
      a0, network_4_weight.const_data_ptr<float>(), pp);
  mlp_reduce_bias_out_kernel<<<1024, 256, 0, stream>>>(
      pp, network_4_bias.const_data_ptr<float>(), out.data_ptr<float>());

  return out;
}
