// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 132;
constexpr int kWBytes = 9 * 128 * 128;            // 147456
constexpr int kRowBytes = 128 * 128;              // 16384
constexpr int kXOff = kWBytes;
constexpr int kBOff = kXOff + 5 * kRowBytes;      // 229376
constexpr int kSmemBytes = kBOff + 128 * 8;       // 230400
constexpr int kPairs = 63;
constexpr int kSteps = 128 * kPairs;              // 8064
constexpr int kPlane = 126 * 126;                 // 15876

__device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Eight channels (stride 128*128 floats = 65536 bytes) of one position.
__device__ __forceinline__ void ldx8(float (&v)[8], const float *p) {
  asm volatile(
      "ld.global.nc.L1::no_allocate.f32 %0, [%8];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %1, [%8+65536];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %2, [%8+131072];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %3, [%8+196608];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %4, [%8+262144];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %5, [%8+327680];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %6, [%8+393216];\n\t"
      "ld.global.nc.L1::no_allocate.f32 %7, [%8+458752];"
      : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
      : "l"(p));
}

__device__ __forceinline__ uint32_t pack2(float lo, float hi) {
  uint32_t r;
  asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}

__device__ __forceinline__ void pack8(uint32_t (&r)[4], const float (&v)[8]) {
  r[0] = pack2(v[0], v[1]);
  r[1] = pack2(v[2], v[3]);
  r[2] = pack2(v[4], v[5]);
  r[3] = pack2(v[6], v[7]);
}

__device__ __forceinline__ void sts16(uint32_t addr, const uint32_t (&r)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};"
               :
               : "r"(addr), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

// Address of the B row of column l (0..251 of the row pair) for horizontal tap dx; top / bot are the ring slots of the
// input row for the pair's first and second output row.
__device__ __forceinline__ uint32_t b_addr(int l, uint32_t top, uint32_t bot, int dx, uint32_t kh16) {
  const bool second = l >= 126;
  const uint32_t pos = (uint32_t)((second ? l - 126 : l) + dx);
  const uint32_t base = second ? bot : top;
  const uint32_t f16 = ((pos & 1u) << 4) | ((pos << 3) & 0x60u);
  return base + pos * 128u + (f16 ^ kh16);
}

__global__ void __launch_bounds__(256) conv_weights_kernel(const float *__restrict__ w, __half *__restrict__ wh) {
  const int idx = blockIdx.x * 256 + threadIdx.x;  // 288 * 256 = 9 * 128 * 64
  const int tap = idx >> 13;
  const int oc = (idx >> 6) & 127;
  const int c = idx & 63;
  const float v = w[(oc * 64 + c) * 9 + tap];
  wh[tap * 8192 + oc * 64 + (((c >> 3) ^ (oc & 7)) << 3) + (c & 7)] = __float2half_rn(v);
}

__global__ void __launch_bounds__(kThreads, 1)
conv_main_kernel(const float *__restrict__ x, const __half *__restrict__ wh, const float *__restrict__ conv_bias,
                 const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t sx = sbase + kXOff;
  float2 *bsm = reinterpret_cast<float2 *>(smem + kBOff);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int wid = tid >> 5;
  const int wm = wid & 1;
  const int wn = wid >> 1;

  // Weights: linear copy, already swizzled.
  {
    const unsigned char *src = reinterpret_cast<const unsigned char *>(wh) + tid * 16;
    const uint32_t dst = sbase + tid * 16;
#pragma unroll 4
    for (int i = 0; i < kWBytes / (kThreads * 16); ++i) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :
                   : "r"(dst + i * (kThreads * 16)), "l"(src + i * (kThreads * 16))
                   : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  if (tid < 128)
    bsm[tid] = make_float2(conv_bias[tid], bias[tid]);

  // Input loading: position within 32, offset of the 16-byte store.
  const int wl = 16 * (lane >> 4) + 2 * ((lane >> 3) & 1) + 4 * ((lane & 7) >> 1) + (lane & 1);
  const int fwl = (wl & 1) | ((wl >> 1) & 6);
  const uint32_t stoff = (uint32_t)(wl * 128 + ((wid ^ fwl) << 4));

  // A fragments.
  const uint32_t aq = sbase + (uint32_t)((64 * wm + (lane & 15)) * 128 + (((lane >> 4) ^ (lane & 7)) << 4));

  // B fragments: column of the row pair for each group of 16.
  const uint32_t kh16 = (uint32_t)((lane >> 3) & 1) << 4;
  int lc[4];
#pragma unroll
  for (int g = 0; g < 4; ++g) {
    const int l = 64 * wn + 16 * g + 4 * ((lane & 7) >> 1) + 2 * (lane >> 4) + (lane & 1);
    lc[g] = l < 251 ? l : 251;
  }

  int s = (int)(((long long)kSteps * blockIdx.x) / gridDim.x);
  const int s_end = (int)(((long long)kSteps * (blockIdx.x + 1)) / gridDim.x);
  int n = s / kPairs;
  int p = s - n * kPairs;
  bool first = true;

#pragma unroll 1
  for (; s < s_end; ++s) {
    // Keep the compiler from hoisting the address parts out of the step loop.
#pragma unroll
    for (int g = 0; g < 4; ++g)
      asm volatile("" : "+r"(lc[g]));

    const int s0 = (2 * p) % 5;
    uint32_t sb[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      int sl = s0 + r;
      sl = sl >= 5 ? sl - 5 : sl;
      sb[r] = sx + (uint32_t)(sl * kRowBytes);
    }
    const float *xn = x + (size_t)(n * 64 + 8 * wid) * 16384 + wl;

    if (first || p == 0) {
#pragma unroll 1
      for (int r = 0; r < 4; ++r) {
        const float *xr = xn + (2 * p + r) * 128;
        int sl = s0 + r;
        sl = sl >= 5 ? sl - 5 : sl;
        const uint32_t dst = sx + (uint32_t)(sl * kRowBytes) + stoff;
        float f[4][8];
#pragma unroll
        for (int q = 0; q < 4; ++q)
          ldx8(f[q], xr + 32 * q);
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          uint32_t h[4];
          pack8(h, f[q]);
          sts16(dst + q * 4096, h);
        }
      }
      if (first) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        first = false;
      }
      __syncthreads();
    }

    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[i][j][e] = 0.f;

    uint32_t a[2][4][4];
    uint32_t bf[2][4];
    uint32_t ba[4];
    uint32_t pk[4][4];

#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
      ldsm4(a[0][mi], aq + mi * 2048);
    ba[0] = b_addr(lc[0], sb[0], sb[1], 0, kh16);
    ldsm4(bf[0], ba[0]);

#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      float v[8];
      if (tap < 8) {
        int row = 2 * p + 4 + (tap >> 2);
        row = row < 127 ? row : 127;
        ldx8(v, xn + row * 128 + 32 * (tap & 3));
      }
#pragma unroll
      for (int ks = 0; ks < 4; ++ks) {
        const int k = tap * 4 + ks;
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          const int ng = (g + 1) & 3;
          const int nk = g == 3 ? k + 1 : k;
          if (nk < 36) {
            const int ntap = nk >> 2;
            const int nks = nk & 3;
            const int dy = ntap / 3;
            const int dx = ntap - 3 * dy;
            if (nks == 0)
              ba[ng] = b_addr(lc[ng], sb[dy], sb[dy + 1], dx, kh16);
            ldsm4(bf[(g + 1) & 1], ba[ng] ^ (uint32_t)(nks << 5));
          }
          if (k + 1 < 36) {
            const int atap = (k + 1) >> 2;
            const int aks = (k + 1) & 3;
            ldsm4(a[(k + 1) & 1][g], (aq ^ (uint32_t)(aks << 5)) + (uint32_t)(atap * 16384 + g * 2048));
          }
#pragma unroll
          for (int mi = 0; mi < 4; ++mi) {
            mma16816(acc[mi][2 * g], a[k & 1][mi], bf[g & 1][0], bf[g & 1][1]);
            mma16816(acc[mi][2 * g + 1], a[k & 1][mi], bf[g & 1][2], bf[g & 1][3]);
          }
        }
      }
      if (tap < 4) {
        // Row 2p+4 goes to the slot that this step does not read.
        uint32_t h[4];
        pack8(h, v);
        int sl = s0 + 4;
        sl = sl >= 5 ? sl - 5 : sl;
        sts16(sx + (uint32_t)(sl * kRowBytes) + stoff + tap * 4096, h);
      } else if (tap < 8) {
        pack8(pk[tap & 3], v);
      }
    }

    __syncthreads();  // all have read the ring
#pragma unroll
    for (int q = 0; q < 4; ++q)
      sts16(sb[0] + stoff + q * 4096, pk[q]);
    __syncthreads();

    // Epilogue.
    {
      const int g8 = lane >> 2;
      const int t = lane & 3;
      const int oc0 = 64 * wm + g8;
      const int l0 = 64 * wn + 4 * t;
      float *o = out + (size_t)(n * 128 + oc0) * kPlane + 252 * p + l0;
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
#pragma unroll
        for (int hr = 0; hr < 2; ++hr) {
          const float2 b = bsm[oc0 + 16 * mi + 8 * hr];
#pragma unroll
          for (int g = 0; g < 4; ++g) {
            if (l0 + 16 * g < 252) {
              float4 r;
              r.x = acc[mi][2 * g][2 * hr] + b.x;
              r.y = acc[mi][2 * g][2 * hr + 1] + b.x;
              r.z = acc[mi][2 * g + 1][2 * hr] + b.x;
              r.w = acc[mi][2 * g + 1][2 * hr + 1] + b.x;
              r.x = (r.x < 0.f ? 0.f : r.x) + b.y;
              r.y = (r.y < 0.f ? 0.f : r.y) + b.y;
              r.z = (r.z < 0.f ? 0.f : r.z) + b.y;
              r.w = (r.w < 0.f ? 0.f : r.w) + b.y;
              *reinterpret_cast<float4 *>(o + (16 * mi + 8 * hr) * kPlane + 16 * g) = r;
            }
          }
        }
      }
    }

    if (++p == kPairs) {
      p = 0;
      ++n;
    }
  }
}

}  // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor scratch = at::empty({9 * 128 * 64}, x.options().dtype(at::kHalf));
  __half *wh = static_cast<__half *>(scratch.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  conv_weights_kernel<<<288, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), wh);
  cudaFuncSetAttribute(conv_main_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_main_kernel<<<kBlocks, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wh, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
