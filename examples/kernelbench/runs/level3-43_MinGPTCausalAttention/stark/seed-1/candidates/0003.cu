// Model of 43_MinGPTCausalAttention.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

static constexpr int kSeq = 512;
static constexpr int kHeads = 8;
static constexpr int kDim = 96;
static constexpr int kEmb = 768;
static constexpr int kQkvStride = 2304;
static constexpr int kBM = 128;
static constexpr int kBN = 32;
static constexpr int kLdQ = 104;
static constexpr int kLdK = 104;
static constexpr int kLdV = 100;
static constexpr int kAttnThreads = 256;
static constexpr int kSmemFloats = kBM * kLdQ + 2 * kBN * kLdK + 2 * kBN * kLdV;
static constexpr int kSmemBytes = kSmemFloats * 4;

static __device__ __forceinline__ void cp_async16(uint32_t dst, const float *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

static __device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_group 0;\n" ::: "memory");
}

// hi rounded to nearest TF32, lo the exact rest (its low bits are ignored by the tensor core).
static __device__ __forceinline__ void split_rn(float x, uint32_t &hi, uint32_t &lo) {
  hi = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  lo = __float_as_uint(x - __uint_as_float(hi));
}

// hi truncated to TF32, lo the exact rest.
static __device__ __forceinline__ void split_rz(float x, uint32_t &hi, uint32_t &lo) {
  hi = __float_as_uint(x) & 0xffffe000u;
  lo = __float_as_uint(x - __uint_as_float(hi));
}

static __device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ float ex2_approx(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(r) : "f"(x));
  return r;
}

static __global__ void __launch_bounds__(256, 2)
flash_attn_kernel(const float *__restrict__ qkv, float *__restrict__ y) {
  extern __shared__ __align__(16) float smem[];
  float *const sQ = smem;
  float *const sK = smem + kBM * kLdQ;
  float *const sV = sK + 2 * kBN * kLdK;

  const int tid = threadIdx.x;
  const int warp = tid >> 5;
  const int lane = tid & 31;
  const int g = lane >> 2;
  const int t = lane & 3;

  const int bh = blockIdx.x >> 2;
  const int qt = 3 - (int)(blockIdx.x & 3);
  const int b = bh >> 3;
  const int h = bh & 7;
  const int q0 = qt * kBM;
  const int nt = 4 * qt + 4;

  const float *const base = qkv + (int64_t)b * kSeq * kQkvStride + h * kDim;

  // Copies: 8 threads a row, three 16-byte chunks each, 128 bytes apart; 32 rows a pass.
  const int crow = tid >> 3;
  const int ccol = (tid & 7) * 4;
  const uint32_t sQ_dst = (uint32_t)__cvta_generic_to_shared(sQ + crow * kLdQ + ccol);
  const uint32_t sK_dst = (uint32_t)__cvta_generic_to_shared(sK + crow * kLdK + ccol);
  const uint32_t sV_dst = (uint32_t)__cvta_generic_to_shared(sV + crow * kLdV + ccol);
  const float *kv_src = base + (int64_t)crow * kQkvStride + kEmb + ccol;

  {
    const float *q_src = base + (int64_t)(q0 + crow) * kQkvStride + ccol;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int c = 0; c < 3; ++c)
        cp_async16(sQ_dst + (r * 32 * kLdQ + c * 32) * 4, q_src + r * 32 * kQkvStride + c * 32);
    }
#pragma unroll
    for (int c = 0; c < 3; ++c)
      cp_async16(sK_dst + c * 128, kv_src + c * 32);
#pragma unroll
    for (int c = 0; c < 3; ++c)
      cp_async16(sV_dst + c * 128, kv_src + kEmb + c * 32);
    cp_async_commit();
    kv_src += kBN * kQkvStride;
  }

  const float kNegInf = __int_as_float(0xff800000);
  const float kScale = 0.10206207261596577f * 1.4426950408889634f;

  float o[12][4];
#pragma unroll
  for (int n = 0; n < 12; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      o[n][i] = 0.0f;
  }
  float m0 = kNegInf, m1 = kNegInf;
  float l0 = 0.0f, l1 = 0.0f;

  const int wrow = q0 + 16 * warp;
  const float *const sQw = sQ + (16 * warp + g) * kLdQ + 2 * t;
  const float *const sKl = sK + g * kLdK + 2 * t;
  const float *const sVl = sV + 2 * t * kLdV + g;

#pragma unroll 1
  for (int kb = 0; kb < nt; ++kb) {
    const int buf = kb & 1;
    cp_async_wait_all();
    // Tile kb is visible to all, and all are done with tile kb - 1, whose buffer is refilled now.
    __syncthreads();
    if (kb + 1 < nt) {
      const uint32_t kd = sK_dst + (uint32_t)(buf ^ 1) * (kBN * kLdK * 4);
      const uint32_t vd = sV_dst + (uint32_t)(buf ^ 1) * (kBN * kLdV * 4);
#pragma unroll
      for (int c = 0; c < 3; ++c)
        cp_async16(kd + c * 128, kv_src + c * 32);
#pragma unroll
      for (int c = 0; c < 3; ++c)
        cp_async16(vd + c * 128, kv_src + kEmb + c * 32);
      cp_async_commit();
      kv_src += kBN * kQkvStride;
    }

    if (kb * kBN <= wrow + 15) {
      // S = Q K^T
      float sh[4][4], sc[4][4];
#pragma unroll
      for (int n = 0; n < 4; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sh[n][i] = 0.0f;
          sc[n][i] = 0.0f;
        }
      }
      const float *const kp = sKl + buf * (kBN * kLdK);
#pragma unroll 2
      for (int ks = 0; ks < 12; ++ks) {
        const float2 qa = *reinterpret_cast<const float2 *>(sQw + 8 * ks);
        const float2 qb = *reinterpret_cast<const float2 *>(sQw + 8 * kLdQ + 8 * ks);
        uint32_t ah[4], al[4];
        split_rn(qa.x, ah[0], al[0]);
        split_rn(qb.x, ah[1], al[1]);
        split_rn(qa.y, ah[2], al[2]);
        split_rn(qb.y, ah[3], al[3]);
#pragma unroll
        for (int np = 0; np < 2; ++np) {
          uint32_t bhi[2][2], blo[2][2];
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            const float2 kf =
                *reinterpret_cast<const float2 *>(kp + 8 * (np * 2 + n) * kLdK + 8 * ks);
            split_rz(kf.x, bhi[n][0], blo[n][0]);
            split_rz(kf.y, bhi[n][1], blo[n][1]);
          }
#pragma unroll
          for (int n = 0; n < 2; ++n)
            mma_tf32(sc[np * 2 + n], al, bhi[n]);
#pragma unroll
          for (int n = 0; n < 2; ++n)
            mma_tf32(sh[np * 2 + n], ah, bhi[n]);
#pragma unroll
          for (int n = 0; n < 2; ++n)
            mma_tf32(sc[np * 2 + n], ah, blo[n]);
        }
      }

      float p[4][4];
#pragma unroll
      for (int n = 0; n < 4; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          p[n][i] = sh[n][i] + sc[n][i];
      }

      // causal mask, only where the tile touches the diagonal of this warp's rows
      if (kb * kBN + kBN - 1 > wrow) {
        const int row0 = wrow + g;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int col = kb * kBN + 8 * n + 2 * t + (i & 1);
            const int row = row0 + (i >= 2 ? 8 : 0);
            if (col > row)
              p[n][i] = kNegInf;
          }
        }
      }

      // online softmax
      float mx0 = fmaxf(p[0][0], p[0][1]);
      float mx1 = fmaxf(p[0][2], p[0][3]);
#pragma unroll
      for (int n = 1; n < 4; ++n) {
        mx0 = fmaxf(mx0, fmaxf(p[n][0], p[n][1]));
        mx1 = fmaxf(mx1, fmaxf(p[n][2], p[n][3]));
      }
      mx0 = fmaxf(mx0, __shfl_xor_sync(0xffffffffu, mx0, 1));
      mx1 = fmaxf(mx1, __shfl_xor_sync(0xffffffffu, mx1, 1));
      mx0 = fmaxf(mx0, __shfl_xor_sync(0xffffffffu, mx0, 2));
      mx1 = fmaxf(mx1, __shfl_xor_sync(0xffffffffu, mx1, 2));
      mx0 = fmaxf(m0, mx0);
      mx1 = fmaxf(m1, mx1);
      const float alpha0 = ex2_approx((m0 - mx0) * kScale);
      const float alpha1 = ex2_approx((m1 - mx1) * kScale);
      m0 = mx0;
      m1 = mx1;
      float add0 = 0.0f, add1 = 0.0f;
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        p[n][0] = ex2_approx((p[n][0] - mx0) * kScale);
        p[n][1] = ex2_approx((p[n][1] - mx0) * kScale);
        p[n][2] = ex2_approx((p[n][2] - mx1) * kScale);
        p[n][3] = ex2_approx((p[n][3] - mx1) * kScale);
        add0 += p[n][0] + p[n][1];
        add1 += p[n][2] + p[n][3];
      }
      l0 = fmaf(l0, alpha0, add0);
      l1 = fmaf(l1, alpha1, add1);

      // O = O * alpha + P V
      const float *const vp = sVl + buf * (kBN * kLdV);
#pragma unroll
      for (int grp = 0; grp < 3; ++grp) {
        float tmp[4][4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i)
            tmp[n][i] = 0.0f;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          // Hide the value from common-subexpression elimination: splitting again per group is
          // cheaper than keeping the split P in registers.
          asm volatile("" : "+f"(p[j][0]), "+f"(p[j][1]), "+f"(p[j][2]), "+f"(p[j][3]));
          uint32_t ah[4], al[4];
          split_rn(p[j][0], ah[0], al[0]);
          split_rn(p[j][2], ah[1], al[1]);
          split_rn(p[j][1], ah[2], al[2]);
          split_rn(p[j][3], ah[3], al[3]);
          uint32_t bhi[4][2], blo[4][2];
#pragma unroll
          for (int n = 0; n < 4; ++n) {
            const float *const vq = vp + 8 * j * kLdV + (grp * 4 + n) * 8;
            split_rz(vq[0], bhi[n][0], blo[n][0]);
            split_rz(vq[kLdV], bhi[n][1], blo[n][1]);
          }
#pragma unroll
          for (int n = 0; n < 4; ++n)
            mma_tf32(tmp[n], al, bhi[n]);
#pragma unroll
          for (int n = 0; n < 4; ++n)
            mma_tf32(tmp[n], ah, blo[n]);
#pragma unroll
          for (int n = 0; n < 4; ++n)
            mma_tf32(tmp[n], ah, bhi[n]);
        }
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          o[grp * 4 + n][0] = fmaf(o[grp * 4 + n][0], alpha0, tmp[n][0]);
          o[grp * 4 + n][1] = fmaf(o[grp * 4 + n][1], alpha0, tmp[n][1]);
          o[grp * 4 + n][2] = fmaf(o[grp * 4 + n][2], alpha1, tmp[n][2]);
          o[grp * 4 + n][3] = fmaf(o[grp * 4 + n][3], alpha1, tmp[n][3]);
        }
      }
    }
  }

  l0 += __shfl_xor_sync(0xffffffffu, l0, 1);
  l1 += __shfl_xor_sync(0xffffffffu, l1, 1);
  l0 += __shfl_xor_sync(0xffffffffu, l0, 2);
  l1 += __shfl_xor_sync(0xffffffffu, l1, 2);
  const float inv0 = 1.0f / l0;
  const float inv1 = 1.0f / l1;

  float *const out = y + ((int64_t)b * kSeq + wrow + g) * kEmb + h * kDim + 2 * t;
#pragma unroll
  for (int n = 0; n < 12; ++n) {
    *reinterpret_cast<float2 *>(out + 8 * n) = make_float2(o[n][0] * inv0, o[n][1] * inv0);
    *reinterpret_cast<float2 *>(out + 8 * kEmb + 8 * n) =
        make_float2(o[n][2] * inv1, o[n][3] * inv1);
  }
}

at::Tensor MinGPTCausalAttention(
    const at::Tensor &x /* [128, 512, 768] */,
    const at::Tensor &c_attn_weight /* [2304, 768] */,
    const at::Tensor &c_attn_bias /* [2304] */,
    const at::Tensor &c_proj_weight /* [768, 768] */,
    const at::Tensor &c_proj_bias /* [768] */,
    const at::Tensor &bias /* [1, 1, 1024, 1024] */) {
  (void)bias; // a lower triangle by its specification: the mask is key > query
  at::Tensor c_attn = at::linear(x, c_attn_weight, c_attn_bias); // [128, 512, 2304]
  at::Tensor y = at::empty({128, 512, 768}, x.options()); // [128, 512, 768]
  C10_CUDA_CHECK(cudaFuncSetAttribute(flash_attn_kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  const int blocks = 128 * kHeads * (kSeq / kBM);
  flash_attn_kernel<<<blocks, kAttnThreads, kSmemBytes, at::cuda::getCurrentCUDAStream()>>>(
      c_attn.const_data_ptr<float>(), y.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return at::linear(y, c_proj_weight, c_proj_bias); // [128, 512, 768]
}
