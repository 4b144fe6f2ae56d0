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
static constexpr int kTileKV = 64;        // key/value rows of a step
static constexpr int kAttnThreads = 256;
static constexpr int kPitchBytes = 104 * 2;  // row pitch in shared memory
static constexpr int kQBytes = kTileQ * kPitchBytes;
static constexpr int kKVBytes = kTileKV * kPitchBytes;
static constexpr int kOffQh = 0;
static constexpr int kOffQl = kOffQh + kQBytes;
static constexpr int kOffKh = kOffQl + kQBytes;
static constexpr int kOffKl = kOffKh + kKVBytes;
static constexpr int kOffVh = kOffKl + kKVBytes;
static constexpr int kOffVl = kOffVh + kKVBytes;
static constexpr int kSmemBytes = kOffVl + kKVBytes;  // 106496

// (x, y) = hi + lo, each a pair of fp16 with x in the low half.
static __device__ __forceinline__ void split_pair(float x, float y, uint32_t &hi, uint32_t &lo) {
  __half2 h = __floats2half2_rn(x, y);
  float2 f = __half22float2(h);
  __half2 l = __floats2half2_rn(x - f.x, y - f.y);
  hi = *reinterpret_cast<uint32_t *>(&h);
  lo = *reinterpret_cast<uint32_t *>(&l);
}

static __device__ __forceinline__ void split_store(unsigned char *hi, unsigned char *lo, const float4 &v) {
  uint2 h, l;
  split_pair(v.x, v.y, h.x, l.x);
  split_pair(v.z, v.w, h.y, l.y);
  *reinterpret_cast<uint2 *>(hi) = h;
  *reinterpret_cast<uint2 *>(lo) = l;
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

static __global__ void __launch_bounds__(kAttnThreads, 2)
causal_attn_kernel(const float *__restrict__ qkv, float *__restrict__ y) {
  extern __shared__ __align__(16) unsigned char attn_smem[];

  const int tid = threadIdx.x;
  const int warp = tid >> 5;
  const int lane = tid & 31;

  const int head = blockIdx.x >> 2;
  const int b = head >> 3;
  const int h = head & 7;
  const int qt = 3 - (int)(blockIdx.x & 3);

  // Global-to-shared mapping: 32 rows a pass, 8 threads (128 bytes) a row, 3 passes over the columns.
  // A half-warp has rows r and r + 4, which lie 16 banks apart.
  const int grp = lane >> 3;
  const int ld_row = (warp >> 1) * 8 + (warp & 1) * 2 + (grp >> 1) + (grp & 1) * 4;
  const int ld_col = (lane & 7) * 4;
  unsigned char *st_base = attn_smem + ld_row * kPitchBytes + ld_col * 2;

  const float *head_base =
      qkv + (int64_t)b * kSeq * kQkvRow + h * kHeadDim + ld_row * kQkvRow + ld_col;

  // Q tile, split and stored once.
  {
    const float *qp = head_base + qt * kTileQ * kQkvRow;
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      float4 qreg[6];
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j)
          qreg[i * 3 + j] =
              __ldg(reinterpret_cast<const float4 *>(qp + (g * 2 + i) * 32 * kQkvRow + j * 32));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          unsigned char *p = st_base + (g * 2 + i) * 32 * kPitchBytes + j * 64;
          split_store(p + kOffQh, p + kOffQl, qreg[i * 3 + j]);
        }
    }
  }

  const uint32_t smem_base = (uint32_t)__cvta_generic_to_shared(attn_smem);
  const uint32_t q_addr = smem_base + kOffQh +
                          (uint32_t)((warp * 16 + (lane & 15)) * kPitchBytes + (lane >> 4) * 16);
  const uint32_t k_addr = smem_base + kOffKh +
                          (uint32_t)(((lane & 7) + ((lane >> 4) << 3)) * kPitchBytes + ((lane >> 3) & 1) * 16);
  const uint32_t v_addr = smem_base + kOffVh +
                          (uint32_t)(((lane & 7) + ((lane >> 3) & 1) * 8) * kPitchBytes + (lane >> 4) * 16);

  const float c = (float)(0.10206207261596577 * 1.4426950408889634);
  const int row0 = qt * kTileQ + warp * 16;
  const int row_a = row0 + (lane >> 2);

  float o[12][4];
#pragma unroll
  for (int i = 0; i < 12; ++i) {
    o[i][0] = 0.f;
    o[i][1] = 0.f;
    o[i][2] = 0.f;
    o[i][3] = 0.f;
  }
  float mc_a = -INFINITY, mc_b = -INFINITY;
  float l_a = 0.f, l_b = 0.f;

  const float *kp = head_base + kEmbed;
  const int num_tiles = 2 * qt + 2;

#pragma unroll 1
  for (int kt = 0; kt < num_tiles; ++kt) {
    {
      float4 kreg[6], vreg[6];
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j)
          kreg[i * 3 + j] = __ldg(reinterpret_cast<const float4 *>(kp + i * 32 * kQkvRow + j * 32));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j)
          vreg[i * 3 + j] =
              __ldg(reinterpret_cast<const float4 *>(kp + kEmbed + i * 32 * kQkvRow + j * 32));
      kp += kTileKV * kQkvRow;

      __syncthreads();  // the previous tile has been consumed

#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          unsigned char *p = st_base + i * 32 * kPitchBytes + j * 64;
          split_store(p + kOffKh, p + kOffKl, kreg[i * 3 + j]);
        }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          unsigned char *p = st_base + i * 32 * kPitchBytes + j * 64;
          split_store(p + kOffVh, p + kOffVl, vreg[i * 3 + j]);
        }
      __syncthreads();
    }

    const int col_base = kt * kTileKV;
    if (col_base <= row0 + 15) {  // warp-uniform; no barriers inside
      // S = Q K^T
      float s[8][4];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        s[i][0] = 0.f;
        s[i][1] = 0.f;
        s[i][2] = 0.f;
        s[i][3] = 0.f;
      }
#pragma unroll
      for (int kk = 0; kk < 6; ++kk) {
        uint32_t ah[4], al[4];
        ldsm4(ah, q_addr + kk * 32);
        ldsm4(al, q_addr + (kOffQl - kOffQh) + kk * 32);
#pragma unroll
        for (int np = 0; np < 4; ++np) {
          uint32_t bh[4], bl[4];
          ldsm4(bh, k_addr + np * 16 * kPitchBytes + kk * 32);
          ldsm4(bl, k_addr + (kOffKl - kOffKh) + np * 16 * kPitchBytes + kk * 32);
          mma_f16(s[2 * np], al, bh[0], bh[1]);
          mma_f16(s[2 * np + 1], al, bh[2], bh[3]);
          mma_f16(s[2 * np], ah, bl[0], bl[1]);
          mma_f16(s[2 * np + 1], ah, bl[2], bl[3]);
          mma_f16(s[2 * np], ah, bh[0], bh[1]);
          mma_f16(s[2 * np + 1], ah, bh[2], bh[3]);
        }
      }

      // Causal mask, only where the tile crosses the diagonal.
      if (col_base + kTileKV - 1 > row0) {
        const int col0 = col_base + (lane & 3) * 2;
#pragma unroll
        for (int nt = 0; nt < 8; ++nt) {
          const int col = col0 + nt * 8;
          if (col > row_a) s[nt][0] = -INFINITY;
          if (col + 1 > row_a) s[nt][1] = -INFINITY;
          if (col > row_a + 8) s[nt][2] = -INFINITY;
          if (col + 1 > row_a + 8) s[nt][3] = -INFINITY;
        }
      }

      // Online softmax.
      float mx_a = fmaxf(s[0][0], s[0][1]);
      float mx_b = fmaxf(s[0][2], s[0][3]);
#pragma unroll
      for (int nt = 1; nt < 8; ++nt) {
        mx_a = fmaxf(mx_a, fmaxf(s[nt][0], s[nt][1]));
        mx_b = fmaxf(mx_b, fmaxf(s[nt][2], s[nt][3]));
      }
      mx_a = fmaxf(mx_a, __shfl_xor_sync(0xffffffffu, mx_a, 1));
      mx_b = fmaxf(mx_b, __shfl_xor_sync(0xffffffffu, mx_b, 1));
      mx_a = fmaxf(mx_a, __shfl_xor_sync(0xffffffffu, mx_a, 2));
      mx_b = fmaxf(mx_b, __shfl_xor_sync(0xffffffffu, mx_b, 2));

      const float new_a = fmaxf(mc_a, __fmul_rn(mx_a, c));
      const float new_b = fmaxf(mc_b, __fmul_rn(mx_b, c));
      const float alpha_a = ex2_approx(mc_a - new_a);
      const float alpha_b = ex2_approx(mc_b - new_b);
      mc_a = new_a;
      mc_b = new_b;

      float sum_a = 0.f, sum_b = 0.f;
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        s[nt][0] = ex2_approx(fmaf(s[nt][0], c, -new_a));
        s[nt][1] = ex2_approx(fmaf(s[nt][1], c, -new_a));
        s[nt][2] = ex2_approx(fmaf(s[nt][2], c, -new_b));
        s[nt][3] = ex2_approx(fmaf(s[nt][3], c, -new_b));
        sum_a += s[nt][0] + s[nt][1];
        sum_b += s[nt][2] + s[nt][3];
      }
      l_a = fmaf(l_a, alpha_a, sum_a);
      l_b = fmaf(l_b, alpha_b, sum_b);
#pragma unroll
      for (int i = 0; i < 12; ++i) {
        o[i][0] *= alpha_a;
        o[i][1] *= alpha_a;
        o[i][2] *= alpha_b;
        o[i][3] *= alpha_b;
      }

      // O += P V
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        uint32_t ph[4], pl[4];
        split_pair(s[2 * j][0], s[2 * j][1], ph[0], pl[0]);
        split_pair(s[2 * j][2], s[2 * j][3], ph[1], pl[1]);
        split_pair(s[2 * j + 1][0], s[2 * j + 1][1], ph[2], pl[2]);
        split_pair(s[2 * j + 1][2], s[2 * j + 1][3], ph[3], pl[3]);
#pragma unroll
        for (int dp = 0; dp < 6; ++dp) {
          uint32_t vh[4], vl[4];
          ldsm4_trans(vh, v_addr + j * 16 * kPitchBytes + dp * 32);
          ldsm4_trans(vl, v_addr + (kOffVl - kOffVh) + j * 16 * kPitchBytes + dp * 32);
          mma_f16(o[2 * dp], pl, vh[0], vh[1]);
          mma_f16(o[2 * dp + 1], pl, vh[2], vh[3]);
          mma_f16(o[2 * dp], ph, vl[0], vl[1]);
          mma_f16(o[2 * dp + 1], ph, vl[2], vl[3]);
          mma_f16(o[2 * dp], ph, vh[0], vh[1]);
          mma_f16(o[2 * dp + 1], ph, vh[2], vh[3]);
        }
      }
    }
  }

  l_a += __shfl_xor_sync(0xffffffffu, l_a, 1);
  l_b += __shfl_xor_sync(0xffffffffu, l_b, 1);
  l_a += __shfl_xor_sync(0xffffffffu, l_a, 2);
  l_b += __shfl_xor_sync(0xffffffffu, l_b, 2);
  const float inv_a = 1.f / l_a;
  const float inv_b = 1.f / l_b;

  float *out = y + ((int64_t)b * kSeq + row_a) * kEmbed + h * kHeadDim + (lane & 3) * 2;
#pragma unroll
  for (int dt = 0; dt < 12; ++dt) {
    *reinterpret_cast<float2 *>(out + dt * 8) = make_float2(o[dt][0] * inv_a, o[dt][1] * inv_a);
    *reinterpret_cast<float2 *>(out + 8 * kEmbed + dt * 8) =
        make_float2(o[dt][2] * inv_b, o[dt][3] * inv_b);
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
  at::Tensor c_attn = at::linear(x, c_attn_weight, c_attn_bias); // [128, 512, 2304]
  at::Tensor y = at::empty({128, 512, 768}, x.options()); // [128, 512, 768]
  C10_CUDA_CHECK(cudaFuncSetAttribute(causal_attn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  causal_attn_kernel<<<128 * 8 * 4, kAttnThreads, kSmemBytes, stream>>>(
      c_attn.const_data_ptr<float>(), y.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return at::linear(y, c_proj_weight, c_proj_bias); // dropout with p = 0 is the identity
}
