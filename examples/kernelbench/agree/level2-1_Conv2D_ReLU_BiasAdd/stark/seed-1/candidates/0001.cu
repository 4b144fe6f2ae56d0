// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

// Inputs and weights are rounded to TF32's 10 mantissa bits and held as half, which has as many: the products are those of
// a TF32 convolution. Relied on: |x|, |w| < 65504; below 2^-14 the absolute error is at most 2^-24.
static constexpr bool kTiesAway = true;  // TF32 rounding: ties away from zero (true) or to even (false)

static constexpr int kPlaneIn = 128 * 128;   // one channel of the input
static constexpr int kPlaneOut = 126 * 126;  // one channel of the output
static constexpr int kSlots = 5;             // input rows in the ring
static constexpr int kSlotBytes = 16384;     // [128 pixels][64 channels] halves
static constexpr int kWeightOffset = kSlots * kSlotBytes;       // 81920
static constexpr int kWeightBytes = 128 * 576 * 2;              // 147456
static constexpr int kBiasOffset = kWeightOffset + kWeightBytes;  // 229376
static constexpr int kBarOffset = kBiasOffset + 128 * 8;          // 230400
static constexpr int kSmemBytes = kBarOffset + 96;                // full[5], empty[5], stagger
static constexpr int kConvThreads = 256;

// Two floats to two halves; lo has the lower k index and goes to the low 16 bits.
static __device__ __forceinline__ uint32_t pack2(float lo, float hi) {
  uint32_t d;
  if constexpr (kTiesAway) {
    // Half a TF32 ulp is added, then the rest is cut off: what cvt.rna.tf32 does.
    lo = __uint_as_float(__float_as_uint(lo) + 0x1000u);
    hi = __uint_as_float(__float_as_uint(hi) + 0x1000u);
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  }
  return d;
}

static __device__ __forceinline__ void mbar_init(uint32_t a, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t a) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t a, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(ok)
        : "r"(a), "r"(parity)
        : "memory");
  } while (!ok);
  __syncwarp();
}

static __device__ __forceinline__ float load_x(const float *p) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ void prefetch_l2(const float *p, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

// Eight channels of one pixel, rounded and packed, as one 16-byte chunk.
static __device__ __forceinline__ void store_chunk(uint32_t addr, float v0, float v1, float v2, float v3, float v4,
                                                   float v5, float v6, float v7) {
  const uint32_t p0 = pack2(v0, v1);
  const uint32_t p1 = pack2(v2, v3);
  const uint32_t p2 = pack2(v4, v5);
  const uint32_t p3 = pack2(v6, v7);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(p0), "r"(p1), "r"(p2), "r"(p3) : "memory");
}

// The A fragments (weights) of four m-tiles.
static __device__ __forceinline__ void load_a(uint32_t (&fa)[4][4], uint32_t addr) {
#pragma unroll
  for (int mt = 0; mt < 4; ++mt) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[mt][0]), "=r"(fa[mt][1]), "=r"(fa[mt][2]), "=r"(fa[mt][3])
                 : "r"(addr + mt * 512)
                 : "memory");
  }
}

// The B fragments (pixels) of eight n-tiles.
static __device__ __forceinline__ void load_b(uint32_t (&fb)[8][2], uint32_t addr) {
#pragma unroll
  for (int jp = 0; jp < 4; ++jp) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fb[2 * jp][0]), "=r"(fb[2 * jp][1]), "=r"(fb[2 * jp + 1][0]), "=r"(fb[2 * jp + 1][1])
                 : "r"(addr + jp * 2048)
                 : "memory");
  }
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ float finish(float a, float2 b) {
  a += b.x;
  a = a < 0.0f ? 0.0f : a;
  return a + b.y;
}

// Weights [128][64][3][3] to A fragments [k-step 36][m-tile 8][lane 32] of 16 bytes. 36 blocks of 256 threads.
static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const int s = idx >> 8;
  const int mt = (idx >> 5) & 7;
  const int lane = idx & 31;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int tap = s >> 2;
  const int ks = s & 3;
  uint32_t r[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int oc = mt * 16 + g + 8 * (i & 1);
    const int ic = ks * 16 + 2 * t + 8 * (i >> 1);
    r[i] = pack2(w[oc * 576 + ic * 9 + tap], w[oc * 576 + (ic + 1) * 9 + tap]);
  }
  packed[idx] = make_uint4(r[0], r[1], r[2], r[3]);
}

// One block does one image. Warps 0-3 (set 0) do the even output rows, warps 4-7 (set 1) the odd ones; all eight fill the
// ring of input rows, in which the 16-byte chunk c of pixel px lies at slot + px * 128 + ((c ^ (px & 7)) << 4).
static __global__ void __launch_bounds__(kConvThreads, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ convBias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t full0 = sbase + kBarOffset;
  const uint32_t empty0 = full0 + 8 * kSlots;
  const uint32_t stagger = empty0 + 8 * kSlots;
  float2 *biasTab = reinterpret_cast<float2 *>(smem + kBiasOffset);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);
  const int n = blockIdx.x;
  const int grp = warp >> 2;

  // Producing: this warp's share of every row is 32 pixels (one a lane) of 32 channels, as four chunks of 8 channels.
  const int ppx = (warp & 3) * 32 + lane;
  const float *xw = x + ((size_t)n * 64 + grp * 32) * kPlaneIn + ppx;
  const uint32_t stBase = sbase + ppx * 128 + (((4 * grp) ^ (ppx & 7)) << 4);
  // Prefetching to L2: 8 channels a warp, one for each of the lanes 0..7.
  const float *xpf = x + ((size_t)n * 64 + warp * 8 + (lane & 7)) * kPlaneIn;

  // Set-up: the weights, the first four rows, the biases, the barriers.
#pragma unroll 4
  for (int i = 0; i < 36; ++i) {
    const int idx = i * kConvThreads + tid;
    cp_async16(sbase + kWeightOffset + idx * 16, packed + idx);
  }
  {
    float v[4][32];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int c = 0; c < 32; ++c)
        v[r][c] = load_x(xw + c * kPlaneIn + r * 128);
    }
    if (lane < 8)
      prefetch_l2(xpf + 4 * 128, 1024);
    if (tid == 0) {
      for (int i = 0; i < kSlots; ++i) {
        mbar_init(full0 + 8 * i, 8);
        mbar_init(empty0 + 8 * i, 8);
      }
      mbar_init(stagger, 4);
    }
    if (tid < 128)
      biasTab[tid] = make_float2(convBias[tid], bias[tid]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        store_chunk((stBase + r * kSlotBytes) ^ (u << 4), v[r][8 * u], v[r][8 * u + 1], v[r][8 * u + 2],
                    v[r][8 * u + 3], v[r][8 * u + 4], v[r][8 * u + 5], v[r][8 * u + 6], v[r][8 * u + 7]);
      }
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (lane == 0) {
#pragma unroll
    for (int r = 0; r < 4; ++r)
      mbar_arrive(full0 + 8 * r);
    if (grp == 1)
      mbar_arrive(empty0);  // set 1 never reads input row 0
  }
  __syncwarp();

  // Consuming: 64 output channels by 64 pixels a warp.
  const int mh = warp & 1;
  const int nh = (warp >> 1) & 1;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int odd = g & 1;
  const uint32_t aBase = sbase + kWeightOffset + mh * 2048 + lane * 16;
  uint32_t bOff[3];
  {
    const int pxl = nh * 64 + (lane & 7) + ((lane >> 4) << 3);
    const int khalf = (lane >> 3) & 1;
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      // Pixels 128 and 129 lie behind the slot, in shared memory that is valid; only the output columns 126 and 127,
      // which are not stored, come from them.
      const int px = pxl + kw;
      bOff[kw] = sbase + px * 128 + ((khalf ^ (px & 7)) << 4);
    }
  }
  const int pixel = nh * 64 + odd * 8 + 2 * t;
  const bool lastInside = pixel + 48 < 126;
  float *ob = out + ((size_t)n * 128 + mh * 64 + (g & 6)) * kPlaneOut + pixel;

  // Set 1 starts when set 0 has done a third of its first row, so that their epilogues do not coincide.
  if (grp == 1)
    mbar_wait(stagger, 0);

  float acc[4][8][4];
  uint32_t fa[2][4][4];
  uint32_t fb[2][8][2];

#pragma unroll 1
  for (int oh = grp; oh < 126; oh += 2) {
    const int pairRow = oh - grp;  // rows pairRow + 4 and pairRow + 5 are produced meanwhile
    if (pairRow + 6 < 128 && lane < 8)
      prefetch_l2(xpf + (pairRow + 6) * 128, 1024);

#pragma unroll
    for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mt][j][e] = 0.0f;
      }
    }

    uint32_t rb[3];
    {
      const unsigned row = (unsigned)oh;
      const unsigned slot = row % 5u;
      mbar_wait(full0 + 8 * slot, (row / 5u) & 1u);
#pragma unroll
      for (int kw = 0; kw < 3; ++kw)
        rb[kw] = bOff[kw] + slot * kSlotBytes;
      load_a(fa[0], aBase);
      load_b(fb[0], rb[0]);
    }

#pragma unroll 1
    for (int kh = 0; kh < 3; ++kh) {
      const uint32_t aK = aBase + kh * (12 * 4096);
      const bool produce = kh != 1 && pairRow < 124;
      const unsigned rowP = (unsigned)(pairRow + 4 + (kh >> 1));
      const unsigned slotP = rowP % 5u;
      const float *src = xw + rowP * 128u;
      const uint32_t dst = stBase + slotP * kSlotBytes;
      float v[8];

#pragma unroll
      for (int s = 0; s < 12; ++s) {
        const int cur = s & 1;
        // The fragments of the next step.
        if (s < 11) {
          load_a(fa[cur ^ 1], aK + (s + 1) * 4096);
          load_b(fb[cur ^ 1], rb[(s + 1) >> 2] ^ (((s + 1) & 3) << 5));
        } else if (kh < 2) {
          const unsigned row = (unsigned)(oh + kh + 1);
          const unsigned slot = row % 5u;
          mbar_wait(full0 + 8 * slot, (row / 5u) & 1u);
#pragma unroll
          for (int kw = 0; kw < 3; ++kw)
            rb[kw] = bOff[kw] + slot * kSlotBytes;
          load_a(fa[0], aK + 12 * 4096);
          load_b(fb[0], rb[0]);
        }
        // This warp's share of a coming row: store the chunk loaded three steps ago, load the next one.
        if (s % 3 == 0 && produce) {
          if (s > 0) {
            if (s == 3)
              mbar_wait(empty0 + 8 * slotP, ((rowP / 5u) & 1u) ^ 1u);
            store_chunk(dst ^ ((s / 3 - 1) << 4), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
          }
#pragma unroll
          for (int k = 0; k < 8; ++k)
            v[k] = load_x(src + ((s / 3) * 8 + k) * kPlaneIn);
        }
#pragma unroll
        for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
          for (int j = 0; j < 8; ++j)
            mma16816(acc[mt][j], fa[cur][mt], fb[cur][j]);
        }
      }

      if (produce)
        store_chunk(dst ^ (3 << 4), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
      __syncwarp();
      if (lane == 0) {
        if (produce)
          mbar_arrive(full0 + 8 * slotP);
        // Rows oh and oh + 1 are not needed again by this set.
        if (kh < 2)
          mbar_arrive(empty0 + 8 * ((unsigned)(oh + kh) % 5u));
        if (oh == 0 && kh == 0)
          mbar_arrive(stagger);
      }
      __syncwarp();
    }

    // Bias, relu, bias. Neighbouring rows swap n-tiles, so that a store covers runs of 64 bytes.
    float *o = ob + oh * 126;
#pragma unroll
    for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
      for (int hf = 0; hf < 2; ++hf) {
        const float2 b = biasTab[mh * 64 + mt * 16 + hf * 8 + g];
#pragma unroll
        for (int jp = 0; jp < 4; ++jp) {
          float2 v0, v1, r;
          v0.x = finish(acc[mt][2 * jp][2 * hf], b);
          v0.y = finish(acc[mt][2 * jp][2 * hf + 1], b);
          v1.x = finish(acc[mt][2 * jp + 1][2 * hf], b);
          v1.y = finish(acc[mt][2 * jp + 1][2 * hf + 1], b);
          r.x = __shfl_xor_sync(0xffffffffu, odd ? v0.x : v1.x, 4);
          r.y = __shfl_xor_sync(0xffffffffu, odd ? v0.y : v1.y, 4);
          float *q = o + (mt * 16 + hf * 8) * kPlaneOut + jp * 16;
          if (jp < 3 || lastInside) {  // the pair is inside or outside together
            *reinterpret_cast<float2 *>(q) = odd ? r : v0;
            *reinterpret_cast<float2 *>(q + kPlaneOut) = odd ? v1 : r;
          }
        }
      }
    }
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({128 * 576}, x.options().dtype(at::kHalf));
  uint4 *packedPtr = reinterpret_cast<uint4 *>(packed.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  pack_weights_kernel<<<36, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packedPtr);
  conv_relu_bias_kernel<<<128, kConvThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packedPtr, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
