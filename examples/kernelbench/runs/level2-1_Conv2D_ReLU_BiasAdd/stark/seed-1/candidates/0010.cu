// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kThreads = 384;                      // 8 consumer warps, 4 producer warps
static constexpr int kWeightVecs = 12288;                 // uint4, both halves of the output channels
static constexpr int kRingOff = 98304;                    // after the weights of one half
static constexpr int kSlotBytes = 16384;                  // 128 pixels x 64 channels x 2 bytes
static constexpr int kStageBytes = 4 * kSlotBytes;        // V1, V2, V0, V3
static constexpr int kBiasOff = kRingOff + 2 * kStageBytes + 256;
// One arrival for the whole warp, after all that its lanes did before.
static __device__ __forceinline__ void warp_arrive(uint32_t bar, int lane) {
  __syncwarp();
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .b64 st;\n\tsetp.eq.s32 p, %1, 0;\n\t"
      "@p mbarrier.arrive.shared::cta.b64 st, [%0];\n\t}"
      :
      : "r"(bar), "r"(lane)
      : "memory");
  __syncwarp();
}

static constexpr int kBarOff = kBiasOff + 512;
static constexpr int kSmemBytes = kBarOff + 32;
static constexpr int kPairs = 128 * 63;                   // pairs of output rows
static constexpr int kGrid = 132;                         // even: two halves of the channels

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

static __device__ __forceinline__ void ldsm_x4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                               uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
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
// (Now a quarter of a row pair instead: 16 channels of one pixel, rows at src and at src + 128.)
static __device__ __forceinline__ void load_quarter(float (&b)[32], const float *src, int k) {
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    b[j] = ldg_f32(src + (16 * k + j) * 16384);
    b[16 + j] = ldg_f32(src + (16 * k + j) * 16384 + 128);
  }
}

static __device__ __forceinline__ uint32_t add_h2(uint32_t a, uint32_t b) {
  __half2 h = __hadd2(*reinterpret_cast<__half2 *>(&a), *reinterpret_cast<__half2 *>(&b));
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ uint32_t sub_h2(uint32_t a, uint32_t b) {
  __half2 h = __hsub2(*reinterpret_cast<__half2 *>(&a), *reinterpret_cast<__half2 *>(&b));
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ float relu_add(float v, float2 bb) {
  v += bb.x;
  return (v < 0.f ? 0.f : v) + bb.y;
}

// One of the four filter transforms; w points at (ky = 0, kx) of a 3 x 3 filter.
static __device__ __forceinline__ float filter_u(const float *w, int xs) {
  const float g0 = w[0], g1 = w[3], g2 = w[6];
  if (xs == 0)
    return 0.5f * ((g0 + g2) + g1);
  if (xs == 1)
    return 0.5f * ((g0 + g2) - g1);
  return xs == 2 ? g0 : g2;
}

// 16 channels of one of the four products: three taps of 8 MMAs. Fetches the B fragments of the
// next unit into bn and the A fragments of the next unit into a, as they become free.
template <int U>
static __device__ __forceinline__ void winograd_unit(float (&acc)[2][4][4], uint32_t (&a)[3][2][4],
                                                     const uint32_t (&bc)[6][2], uint32_t (&bn)[6][2],
                                                     const uint32_t (&row)[3], uint32_t aBase) {
  constexpr int N = (U + 1) & 15;
  constexpr uint32_t kXor = (uint32_t)((N & 3) << 5);
  constexpr uint32_t kRow = (uint32_t)((N >> 2) * kSlotBytes);
#pragma unroll
  for (int kx = 0; kx < 3; ++kx) {
    if (U < 15)
      ldsm_x4(bn[2 * kx][0], bn[2 * kx][1], bn[2 * kx + 1][0], bn[2 * kx + 1][1], (row[kx] ^ kXor) + kRow);
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
        mma_f16(acc[mt][j], a[kx][mt], bc[j + kx][0], bc[j + kx][1]);
#pragma unroll
    for (int mt = 0; mt < 2; ++mt)
      lds128(a[kx][mt], aBase + (uint32_t)((N * 3 + kx) * 2048 + mt * 512));
  }
}

static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= kWeightVecs)
    return;
  int lane = i & 31;
  int mtile = (i >> 5) & 3;
  int r = i >> 7;
  int kx = r % 3;
  r /= 3;
  int kc = r & 3;
  int xs = (r >> 2) & 3;
  int hb = r >> 4;
  int g = lane >> 2, t = lane & 3;
  int oc = hb * 64 + mtile * 16 + g;
  int c = 16 * kc + 2 * t;
  const float *w0 = w + (oc * 64 + c) * 9 + kx;
  const float *w1 = w0 + 8 * 64 * 9;
  uint4 v;
  v.x = pack_half2(filter_u(w0, xs), filter_u(w0 + 9, xs));
  v.y = pack_half2(filter_u(w1, xs), filter_u(w1 + 9, xs));
  v.z = pack_half2(filter_u(w0 + 72, xs), filter_u(w0 + 81, xs));
  v.w = pack_half2(filter_u(w1 + 72, xs), filter_u(w1 + 81, xs));
  packed[i] = v;
}

static __global__ void __launch_bounds__(384, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ convBias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t smemAddr = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ringAddr = smemAddr + kRingOff;
  const uint32_t fullBar = smemAddr + kBarOff;  // full[2], 8 bytes each
  const uint32_t emptyBar = fullBar + 16;       // empty[2]
  float2 *biasSm = reinterpret_cast<float2 *>(smem + kBiasOff);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int half = blockIdx.x & 1;
  const int c = blockIdx.x >> 1;
  const int nC = gridDim.x >> 1;
  const int begin = c * kPairs / nC;
  const int end = (c + 1) * kPairs / nC;

  if (tid == 0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      mbar_init(fullBar + (uint32_t)(8 * i), 4);
      mbar_init(emptyBar + (uint32_t)(8 * i), 8);
    }
  }
  __syncthreads();  // the barriers are visible

  int n = begin / 63;
  int p = begin - n * 63;

  if (warp >= 8) {
    // ---- producers: one pixel a thread ----
    const int t = tid - 256;
    const int key = (t & 7) ^ ((t >> 3) & 3);
    const uint32_t storeBase = ringAddr + (uint32_t)(t * 128 + (key << 4));
    const float *src = x + ((size_t)n * 64 * 16384 + (size_t)((2 * p + 2) * 128 + t));

    uint32_t s0[32], s1[32];  // rows 2p and 2p+1, channels 2i and 2i+1
    float buf[2][32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      s0[i] = 0u;
      s1[i] = 0u;
    }
    load_quarter(buf[0], src, 0);

    int it = 0;
#pragma unroll 1
    for (int P = begin; P < end; ++P) {
      if (it == 0 || p == 0) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          float tmp[32];
          load_quarter(tmp, src - 256, k);
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            s0[8 * k + i] = pack_half2(tmp[2 * i], tmp[2 * i + 1]);
            s1[8 * k + i] = pack_half2(tmp[16 + 2 * i], tmp[16 + 2 * i + 1]);
          }
        }
      }
      const float *nextSrc = src;
      if (P + 1 < end)
        nextSrc = src + (p == 62 ? 64 * 16384 + 256 - 126 * 128 : 256);
      const uint32_t stage = (uint32_t)(it & 1);
      const uint32_t st = storeBase + stage * (uint32_t)kStageBytes;

#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (k < 3)
          load_quarter(buf[(k + 1) & 1], src, k + 1);
        else
          load_quarter(buf[0], nextSrc, 0);
        if (k == 0 && it >= 2)
          mbar_wait(emptyBar + 8u * stage, (uint32_t)(((it >> 1) - 1) & 1));
#pragma unroll
        for (int cc = 0; cc < 2; ++cc) {
          const int ch = 2 * k + cc;
          uint32_t v0[4], v1[4], v2[4], v3[4];
#pragma unroll
          for (int m = 0; m < 4; ++m) {
            const int i = 4 * ch + m;
            const int j = 8 * cc + 2 * m;
            const uint32_t n2 = pack_half2(buf[k & 1][j], buf[k & 1][j + 1]);
            const uint32_t n3 = pack_half2(buf[k & 1][16 + j], buf[k & 1][16 + j + 1]);
            v1[m] = add_h2(s1[i], n2);
            v2[m] = sub_h2(n2, s1[i]);
            v0[m] = sub_h2(s0[i], n2);
            v3[m] = sub_h2(n3, s1[i]);
            s0[i] = n2;
            s1[i] = n3;
          }
          const uint32_t ad = st ^ (uint32_t)(ch << 4);
          sts128(ad, v1[0], v1[1], v1[2], v1[3]);
          sts128(ad + (uint32_t)kSlotBytes, v2[0], v2[1], v2[2], v2[3]);
          sts128(ad + (uint32_t)(2 * kSlotBytes), v0[0], v0[1], v0[2], v0[3]);
          sts128(ad + (uint32_t)(3 * kSlotBytes), v3[0], v3[1], v3[2], v3[3]);
        }
      }
      warp_arrive(fullBar + 8u * stage, lane);

      src = nextSrc;
      ++it;
      p = p == 62 ? 0 : p + 1;
    }
  } else {
    // ---- consumers: 32 channels x 32 pixels x two rows a warp ----
    const uint4 *wsrc = packed + half * (kWeightVecs / 2);
#pragma unroll 4
    for (int k = 0; k < kWeightVecs / 2 / 256; ++k) {
      int i = tid + k * 256;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :
                   : "r"(smemAddr + (uint32_t)i * 16u), "l"(wsrc + i)
                   : "memory");
    }
    if (tid < 64)
      biasSm[tid] = make_float2(convBias[half * 64 + tid], bias[half * 64 + tid]);
    asm volatile("cp.async.wait_all;" : : : "memory");
    asm volatile("bar.sync 1, 256;" : : : "memory");

    const int wm = warp & 1;
    const int wn = warp >> 1;
    const int g = lane >> 2, q = lane & 3;
    const uint32_t aBase = smemAddr + (uint32_t)(wm * 1024 + lane * 16);
    uint32_t off[3];
    {
      const int i8 = lane & 7;
      const int pi = (i8 >> 1) | ((i8 & 1) << 2);
      const int kb = (lane >> 3) & 1;
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        const int px = 32 * wn + 4 * pi + 2 * i + (lane >> 4);  // 128, 129: only discarded columns
        const int key = (px & 7) ^ ((px >> 3) & 3);
        off[i] = ringAddr + (uint32_t)(px * 128 + ((kb ^ key) << 4));
      }
    }
    const int srcLane = (lane & ~3) | ((q + 1) & 3);
    const bool lastQuad = wn == 3 && q == 3;
    const float2 *bsm = biasSm + wm * 32 + g;
    float *o = out + (((long long)(n * 128 + half * 64 + wm * 32 + g) * 126 + 2 * p) * 126 + (32 * wn + 4 * q));

    uint32_t a[3][2][4];
#pragma unroll
    for (int kx = 0; kx < 3; ++kx)
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
        lds128(a[kx][mt], aBase + (uint32_t)(kx * 2048 + mt * 512));

    int it = 0;
#pragma unroll 1
    for (int P = begin; P < end; ++P) {
      const uint32_t stage = (uint32_t)(it & 1);
      uint32_t row[3];
#pragma unroll
      for (int i = 0; i < 3; ++i)
        row[i] = off[i] + stage * (uint32_t)kStageBytes;

      float accA[2][4][4], accB[2][4][4];
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            accA[mt][j][e] = 0.f;
            accB[mt][j][e] = 0.f;
          }

      uint32_t b0[6][2], b1[6][2];
      mbar_wait(fullBar + 8u * stage, (uint32_t)((it >> 1) & 1));
#pragma unroll
      for (int i = 0; i < 3; ++i)
        ldsm_x4(b0[2 * i][0], b0[2 * i][1], b0[2 * i + 1][0], b0[2 * i + 1][1], row[i]);

      winograd_unit<0>(accA, a, b0, b1, row, aBase);
      winograd_unit<1>(accA, a, b1, b0, row, aBase);
      winograd_unit<2>(accA, a, b0, b1, row, aBase);
      winograd_unit<3>(accA, a, b1, b0, row, aBase);
      winograd_unit<4>(accB, a, b0, b1, row, aBase);
      winograd_unit<5>(accB, a, b1, b0, row, aBase);
      winograd_unit<6>(accB, a, b0, b1, row, aBase);
      winograd_unit<7>(accB, a, b1, b0, row, aBase);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float s = accA[mt][j][e] + accB[mt][j][e];
            accB[mt][j][e] = accA[mt][j][e] - accB[mt][j][e];
            accA[mt][j][e] = s;
          }
      winograd_unit<8>(accA, a, b0, b1, row, aBase);
      winograd_unit<9>(accA, a, b1, b0, row, aBase);
      winograd_unit<10>(accA, a, b0, b1, row, aBase);
      winograd_unit<11>(accA, a, b1, b0, row, aBase);
      winograd_unit<12>(accB, a, b0, b1, row, aBase);
      winograd_unit<13>(accB, a, b1, b0, row, aBase);
      winograd_unit<14>(accB, a, b0, b1, row, aBase);
      winograd_unit<15>(accB, a, b1, b0, row, aBase);
      warp_arrive(emptyBar + 8u * stage, lane);

      // ---- epilogue: registers to global memory ----
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float2 bb = bsm[mt * 16 + h * 8];
          float *oh = o + (mt * 16 + h * 8) * 15876;
          float va[4], vb[4];
          // row 2p
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            va[j] = relu_add(accA[mt][j][2 * h], bb);
            vb[j] = relu_add(accA[mt][j][2 * h + 1], bb);
          }
          *reinterpret_cast<float4 *>(oh) = make_float4(va[0], va[1], va[2], va[3]);
          if (lastQuad)
            *reinterpret_cast<float2 *>(oh + 16) = make_float2(vb[0], vb[1]);
          else
            *reinterpret_cast<float4 *>(oh + 16) = make_float4(vb[0], vb[1], vb[2], vb[3]);
          // row 2p+1: 8 bytes off, shifted by two pixels within the quad
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            va[j] = relu_add(accB[mt][j][2 * h], bb);
            vb[j] = relu_add(accB[mt][j][2 * h + 1], bb);
          }
          const float t0 = __shfl_sync(0xffffffffu, q == 0 ? vb[0] : va[0], srcLane);
          const float t1 = __shfl_sync(0xffffffffu, q == 0 ? vb[1] : va[1], srcLane);
          const float u0 = __shfl_sync(0xffffffffu, vb[0], srcLane);
          const float u1 = __shfl_sync(0xffffffffu, vb[1], srcLane);
          float *o1 = oh + 126;
          if (q == 0)
            *reinterpret_cast<float2 *>(o1) = make_float2(va[0], va[1]);
          *reinterpret_cast<float4 *>(o1 + 2) = make_float4(va[2], va[3], t0, t1);
          if (q < 3)
            *reinterpret_cast<float4 *>(o1 + 18) = make_float4(vb[2], vb[3], u0, u1);
          else if (wn < 3)
            *reinterpret_cast<float2 *>(o1 + 18) = make_float2(vb[2], vb[3]);
        }
      }

      ++it;
      o += 252;
      if (p == 62) {
        p = 0;
        o += 127 * 15876;
      } else {
        ++p;
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
  at::Tensor scratch = at::empty({kWeightVecs * 4}, x.options().dtype(at::kInt));
  uint4 *packed = reinterpret_cast<uint4 *>(scratch.data_ptr<int>());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  pack_weights_kernel<<<kWeightVecs / 256, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed);
  cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_relu_bias_kernel<<<kGrid, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
