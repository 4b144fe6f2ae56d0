// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kThreads = 256;
static constexpr int kWeightVecs = 9216;                  // uint4
static constexpr int kRingOff = 147456;                   // after the weights
static constexpr int kSlotBytes = 16384;                  // 128 pixels x 64 channels x 2 bytes
static constexpr int kBiasOff = kRingOff + 5 * kSlotBytes + 256;
static constexpr int kBarOff = kBiasOff + 1024;
static constexpr int kSmemBytes = kBarOff + 32;
static constexpr int kSteps = 63;

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void lds128(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};"
               :
               : "r"(addr), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

static __device__ __forceinline__ void ldsm_x4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ float ldg_f32(const float *p) {
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t bar) {
  asm volatile("{\n\t.reg .b64 st;\n\tmbarrier.arrive.shared::cta.b64 st, [%0];\n\t}" : : "r"(bar) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (done == 0);
  __syncwarp();
}

// Half a row: pixels 64*half + {0, 32} + perm(lane), eight channels each. rowPtr points at the
// lane's pixel of the row, in the first channel of the warp.
static __device__ __forceinline__ void load_stage(float (&st)[16], const float *rowPtr, int half) {
#pragma unroll
  for (int q = 0; q < 2; ++q)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      st[q * 8 + j] = ldg_f32(rowPtr + j * 16384 + half * 64 + q * 32);
}

static __device__ __forceinline__ void store_stage(const float (&st)[16], uint32_t slotStore, int half) {
#pragma unroll
  for (int q = 0; q < 2; ++q)
    sts128(slotStore + (uint32_t)(half * 8192 + q * 4096),
           pack_half2(st[q * 8 + 0], st[q * 8 + 1]), pack_half2(st[q * 8 + 2], st[q * 8 + 3]),
           pack_half2(st[q * 8 + 4], st[q * 8 + 5]), pack_half2(st[q * 8 + 6], st[q * 8 + 7]));
}

static __device__ __forceinline__ int wrap5(int i) { return i >= 5 ? i - 5 : i; }

static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= kWeightVecs)
    return;
  int lane = i & 31;
  int mt = (i >> 5) & 7;
  int kc = (i >> 8) & 3;
  int tap = i >> 10;
  int g = lane >> 2, t = lane & 3;
  int oc = 16 * mt + g;
  int c = 16 * kc + 2 * t;
  const float *w0 = w + (oc * 64 + c) * 9 + tap;
  const float *w1 = w0 + 8 * 64 * 9;
  uint4 v;
  v.x = pack_half2(w0[0], w0[9]);
  v.y = pack_half2(w1[0], w1[9]);
  v.z = pack_half2(w0[72], w0[81]);
  v.w = pack_half2(w1[72], w1[81]);
  packed[i] = v;
}

static __global__ void __launch_bounds__(256, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ convBias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t smemAddr = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ringAddr = smemAddr + kRingOff;
  const uint32_t midBar = smemAddr + kBarOff;
  const uint32_t endBar = midBar + 8;
  float2 *biasSm = reinterpret_cast<float2 *>(smem + kBiasOff);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int n = blockIdx.x;
  const int wm = warp & 1;
  const int wr = (warp >> 1) & 1;
  const int wh = warp >> 2;
  const int pbase = wh * 64 - 2 * wr;

  // ---- prologue: weights, biases, barriers, rows 0..3 ----
#pragma unroll 4
  for (int k = 0; k < kWeightVecs / kThreads; ++k) {
    int i = tid + k * kThreads;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(smemAddr + (uint32_t)i * 16u), "l"(packed + i)
                 : "memory");
  }
  if (tid < 128)
    biasSm[tid] = make_float2(convBias[tid], bias[tid]);
  if (tid == 0) {
    mbar_init(midBar, 8);
    mbar_init(endBar, 8);
  }

  const int perm = (lane & 1) | (((lane >> 1) & 1) << 2) | (((lane >> 2) & 1) << 3) |
                   (((lane >> 3) & 1) << 1) | (lane & 16);
  const int keyP = (perm & 1) | (((perm >> 2) & 3) << 1);
  const uint32_t storeBase = ringAddr + (uint32_t)(perm * 128 + ((warp ^ keyP) << 4));
  const float *xb = x + ((size_t)n * 64 + 8 * warp) * 16384 + perm;

#pragma unroll 1
  for (int r = 0; r < 4; r += 2) {
    float s0[16], s1[16], s2[16], s3[16];
    load_stage(s0, xb + r * 128, 0);
    load_stage(s1, xb + r * 128, 1);
    load_stage(s2, xb + r * 128 + 128, 0);
    load_stage(s3, xb + r * 128 + 128, 1);
    store_stage(s0, storeBase + (uint32_t)(r * kSlotBytes), 0);
    store_stage(s1, storeBase + (uint32_t)(r * kSlotBytes), 1);
    store_stage(s2, storeBase + (uint32_t)((r + 1) * kSlotBytes), 0);
    store_stage(s3, storeBase + (uint32_t)((r + 1) * kSlotBytes), 1);
  }
  asm volatile("cp.async.wait_all;" : : : "memory");
  __syncthreads();

  // ---- per-lane addresses ----
  const uint32_t aBase = smemAddr + (uint32_t)(wm * 4 * 512 + lane * 16);
  uint32_t boff[3];
  {
    int i = lane & 7, m = lane >> 3;
    int j0 = m >> 1, kh = m & 1;
    int pl = pbase + 4 * (i >> 1) + 2 * j0 + (i & 1);
#pragma unroll
    for (int kx = 0; kx < 3; ++kx) {
      int p = pl + kx;  // may be -2 or -1: those columns are discarded
      int key = (p & 1) | (((p >> 2) & 3) << 1);
      boff[kx] = (uint32_t)(p * 128) + (uint32_t)((kh ^ key) << 4);
    }
  }
  const int g = lane >> 2, t = lane & 3;
  const int px0 = pbase + 4 * t;
  // first pixel of this lane in output row wr of channel wm*64 + g; moves on two rows a step
  float *o = out + ((long long)(n * 128 + wm * 64 + g) * 15876LL + (long long)(wr * 126 + px0));
  const float2 *bsm = biasSm + wm * 64 + g;

  int cur = 0;
#pragma unroll 1
  for (int s = 0; s < kSteps; ++s) {
    const uint32_t parity = (uint32_t)(s & 1);
    uint32_t rowAddr[3];
#pragma unroll
    for (int ky = 0; ky < 3; ++ky)
      rowAddr[ky] = ringAddr + (uint32_t)(wrap5(cur + wr + ky) * kSlotBytes);
    const uint32_t storeA = storeBase + (uint32_t)(wrap5(cur + 4) * kSlotBytes);
    const uint32_t storeB = storeBase + (uint32_t)(cur * kSlotBytes);
    // the last step reads row 127 once more, into slots that nobody reads
    const int rowA = 2 * s + 4 < 127 ? 2 * s + 4 : 127;
    const int rowB = 2 * s + 5 < 127 ? 2 * s + 5 : 127;

    float acc[4][8][4];
#pragma unroll
    for (int a = 0; a < 4; ++a)
#pragma unroll
      for (int b = 0; b < 8; ++b)
#pragma unroll
        for (int c = 0; c < 4; ++c)
          acc[a][b][c] = 0.f;

    uint32_t af[2][4][4];
    uint32_t bf[4][4];
    float st[16];
#pragma unroll
    for (int mt = 0; mt < 4; ++mt)
      lds128(af[0][mt], aBase + (uint32_t)(mt * 512));
#pragma unroll
    for (int J = 0; J < 4; ++J)
      ldsm_x4(bf[J], rowAddr[0] + boff[0] + (uint32_t)(J * 2048));

#pragma unroll
    for (int ks = 0; ks < 36; ++ks) {
      if (ks == 0) {
        load_stage(st, xb + rowA * 128, 0);
      } else if (ks == 8) {
        store_stage(st, storeA, 0);
        load_stage(st, xb + rowA * 128, 1);
      } else if (ks == 12) {
        // this warp no longer reads row 2s
        __syncwarp();
        if (lane == 0)
          mbar_arrive(midBar);
        __syncwarp();
      } else if (ks == 16) {
        store_stage(st, storeA, 1);
        load_stage(st, xb + rowB * 128, 0);
      } else if (ks == 24) {
        mbar_wait(midBar, parity);  // nobody reads row 2s any more
        store_stage(st, storeB, 0);
        load_stage(st, xb + rowB * 128, 1);
      } else if (ks == 32) {
        store_stage(st, storeB, 1);
      }

      const int nx = ks + 1;
      const int ntap = nx >> 2;
      const int nkc = nx & 3;
      const int nky = ntap < 9 ? ntap / 3 : 0;
      const int nkx = ntap < 9 ? ntap % 3 : 0;
      const uint32_t bAddr = rowAddr[nky] + (boff[nkx] ^ (uint32_t)(nkc << 5));
#pragma unroll
      for (int J = 0; J < 4; ++J) {
        if (nx < 36 && J < 2) {
          lds128(af[nx & 1][2 * J], aBase + (uint32_t)(nx * 4096 + (2 * J) * 512));
          lds128(af[nx & 1][2 * J + 1], aBase + (uint32_t)(nx * 4096 + (2 * J + 1) * 512));
        }
#pragma unroll
        for (int mt = 0; mt < 4; ++mt)
          mma_f16(acc[mt][2 * J], af[ks & 1][mt], bf[J][0], bf[J][1]);
#pragma unroll
        for (int mt = 0; mt < 4; ++mt)
          mma_f16(acc[mt][2 * J + 1], af[ks & 1][mt], bf[J][2], bf[J][3]);
        if (nx < 36)
          ldsm_x4(bf[J], bAddr + (uint32_t)(J * 2048));
      }
    }

    // all reads of this step are done, rows A and B are stored
    __syncwarp();
    if (lane == 0)
      mbar_arrive(endBar);
    __syncwarp();

    // ---- epilogue: registers to global memory ----
#pragma unroll
    for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float2 bb = bsm[mt * 16 + h * 8];
        float *oh = o + (mt * 16 + h * 8) * 15876;
#pragma unroll
        for (int J = 0; J < 4; ++J) {
          float v0 = acc[mt][2 * J][2 * h] + bb.x;
          float v1 = acc[mt][2 * J][2 * h + 1] + bb.x;
          float v2 = acc[mt][2 * J + 1][2 * h] + bb.x;
          float v3 = acc[mt][2 * J + 1][2 * h + 1] + bb.x;
          v0 = (v0 < 0.f ? 0.f : v0) + bb.y;
          v1 = (v1 < 0.f ? 0.f : v1) + bb.y;
          v2 = (v2 < 0.f ? 0.f : v2) + bb.y;
          v3 = (v3 < 0.f ? 0.f : v3) + bb.y;
          if (J == 0 && px0 < 0) {
            // px == -2: only the last two are pixels
            *reinterpret_cast<float2 *>(oh + 2) = make_float2(v2, v3);
          } else if (J == 3 && px0 + 48 == 124) {
            // px == 124: only the first two are pixels
            *reinterpret_cast<float2 *>(oh + 48) = make_float2(v0, v1);
          } else {
            *reinterpret_cast<float4 *>(oh + 16 * J) = make_float4(v0, v1, v2, v3);
          }
        }
      }
    }

    o += 252;
    cur = wrap5(cur + 2);
    // rows A and B of every warp are visible, the two oldest rows are free
    mbar_wait(endBar, parity);
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor scratch = at::empty({kWeightVecs * 4}, x.options().dtype(at::kInt));
  uint4 *packed = reinterpret_cast<uint4 *>(scratch.data_ptr<int>());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  pack_weights_kernel<<<kWeightVecs / 256, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed);
  cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_relu_bias_kernel<<<128, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
