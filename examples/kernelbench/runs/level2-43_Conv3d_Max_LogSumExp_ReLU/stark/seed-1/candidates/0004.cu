// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kPrepXBlocks = 4 * 32 * 128;      // one (n, d, h) row each
static constexpr int kPrepWBlocks = 27 * 64 * 32 / 256; // 216
static constexpr int kRowBytes = 2176;                 // 34 columns x 64 bytes
static constexpr int kSlotBytes = 10 * kRowBytes;      // 21760
static constexpr int kWeightBytes = 27 * 64 * 32 * 2;  // 110592
static constexpr int kSmemBytes = kWeightBytes + 4 * kSlotBytes + 64 * 4; // 197888

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

static __device__ __forceinline__ void cp_async_wait2() {
  asm volatile("cp.async.wait_group 2;\n" ::: "memory");
}

static __device__ __forceinline__ void ldsm4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                             uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// x -> fp16 NDHWC; weights -> swizzled fp16 shared-memory image.
static __global__ void __launch_bounds__(256) prep_kernel(const float *__restrict__ x,
                                                          const float *__restrict__ cw,
                                                          __half *__restrict__ xh,
                                                          __half *__restrict__ wh) {
  __shared__ __align__(16) unsigned char tile[128 * 72];
  const int tid = threadIdx.x;
  if (blockIdx.x >= kPrepXBlocks) {
    const int e = (static_cast<int>(blockIdx.x) - kPrepXBlocks) * 256 + tid;
    const int ci = e & 31;
    const int co = (e >> 5) & 63;
    const int tap = e >> 11;
    const float v = cw[co * 864 + ci * 27 + tap];
    const int off = tap * 4096 + (co >> 1) * 128 +
                    (((((co & 1) << 2) | (ci >> 3)) ^ ((co >> 1) & 7)) * 16) + (ci & 7) * 2;
    wh[off >> 1] = __float2half_rn(v);
    return;
  }
  const int b = blockIdx.x;
  const int h = b & 127;
  const int d = (b >> 7) & 31;
  const int n = b >> 12;
  const int k = tid >> 5;
  const int lane = tid & 31;

  const float *src =
      x + (static_cast<size_t>(n * 32 + 4 * k) * 32 + d) * 16384 + h * 128 + lane;
  float v[4][4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      v[c][j] = __ldcs(src + static_cast<size_t>(c) * (32 * 16384) + 32 * j);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    uint2 u;
    u.x = pack_half2(v[0][j], v[1][j]);
    u.y = pack_half2(v[2][j], v[3][j]);
    *reinterpret_cast<uint2 *>(tile + (lane + 32 * j) * 72 + k * 8) = u;
  }
  __syncthreads();
  uint4 *dst = reinterpret_cast<uint4 *>(xh + static_cast<size_t>(b) * (128 * 32));
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const int i = tid + u * 256;
    const unsigned char *p = tile + (i >> 2) * 72 + (i & 3) * 16;
    const uint2 lo = *reinterpret_cast<const uint2 *>(p);
    const uint2 hi = *reinterpret_cast<const uint2 *>(p + 8);
    dst[i] = make_uint4(lo.x, lo.y, hi.x, hi.y);
  }
}

// Input plane p (d = p - 1) of the column at (n, h0, w0) into its ring slot, zero-filled outside x.
static __device__ __forceinline__ void load_plane(const __half *__restrict__ xh, uint32_t in_base, int p,
                                                  int n, int h0, int w0, int tid) {
  const int c = tid & 3;
  int cc = tid >> 2; // 0..63
  int row = 0;
  if (cc >= 34) {
    cc -= 34;
    row = 1;
  }
  const int d = p - 1;
  const bool dok = static_cast<unsigned>(d) < 32u;
  const uint32_t slot = in_base + static_cast<uint32_t>(p & 3) * kSlotBytes;
  const int plane = (n * 32 + d) * 128;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    if (tid + k * 256 < 1360) {
      const int h = h0 - 1 + row;
      const int w = w0 - 1 + cc;
      const bool ok = dok && static_cast<unsigned>(h) < 128u && static_cast<unsigned>(w) < 128u;
      const int off = ok ? (((plane + h) * 128 + w) * 32 + c * 8) : 0;
      const uint32_t dst = slot + row * kRowBytes + (cc >> 1) * 128 +
                           (((((cc & 1) << 2) | c) ^ ((cc >> 1) & 7)) * 16);
      cp_async16(dst, xh + off, ok ? 16 : 0);
    }
    // 256 chunks further: 64 positions = one row and 30 columns
    row += 1;
    cc += 30;
    if (cc >= 34) {
      cc -= 34;
      row += 1;
    }
  }
}

static __global__ void __launch_bounds__(256, 1) conv_kernel(const __half *__restrict__ xh,
                                                             const __half *__restrict__ whalf,
                                                             const float *__restrict__ bias,
                                                             float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float *bias_s = reinterpret_cast<float *>(smem + kWeightBytes + 4 * kSlotBytes);
  const uint32_t w_base = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t in_base = w_base + kWeightBytes;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wh = warp >> 1;
  const int ww = warp & 1;

  if (tid < 64)
    bias_s[tid] = bias[tid];

  const int m = lane >> 3;
  const int r = lane & 7;
  uint32_t aoff[3];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int t = (m & 1) + kw;
    const int line = ww * 8 + r + (t >> 1);
    const int half = t & 1;
    aoff[kw] = static_cast<uint32_t>(line * 128 + ((((half << 2) | (m >> 1)) ^ (line & 7)) * 16));
  }
  uint32_t boff;
  {
    const int co0 = (m >> 1) * 8 + r;
    const int line = co0 >> 1;
    boff = static_cast<uint32_t>(line * 128 + (((((co0 & 1) << 2) | (m & 1)) ^ (line & 7)) * 16));
  }
  const uint32_t a_base = in_base + static_cast<uint32_t>(2 * wh * kRowBytes);

#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const int col = 2 * static_cast<int>(blockIdx.x) + k;
    const int w0 = (col & 3) * 32;
    const int h0 = ((col >> 2) & 15) * 8;
    const int n = col >> 6;

    __syncthreads();
    if (k == 0) {
      const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(whalf);
#pragma unroll 9
      for (int i = 0; i < 27; ++i) {
        const int o = (tid + i * 256) * 16;
        cp_async16(w_base + o, wsrc + o, 16);
      }
    }
#pragma unroll 1
    for (int p = 0; p < 4; ++p) {
      load_plane(xh, in_base, p, n, h0, w0, tid);
      if (p > 0)
        cp_async_commit();
    }

#pragma unroll 1
    for (int s = 0; s < 16; ++s) {
      float acc[4][8][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[i][j][e] = 0.f;
        }
      }

#pragma unroll 1
      for (int kd = 0; kd < 3; ++kd) {
        cp_async_wait2();
        __syncthreads();
        {
          const int p = 2 * s + 3 + kd;
          if (kd >= 1 && p <= 33)
            load_plane(xh, in_base, p, n, h0, w0, tid);
          cp_async_commit();
        }

        uint32_t abase[2];
        abase[0] = a_base + static_cast<uint32_t>((2 * s + kd) & 3) * kSlotBytes;
        abase[1] = a_base + static_cast<uint32_t>((2 * s + kd + 1) & 3) * kSlotBytes;
        const uint32_t wb = w_base + static_cast<uint32_t>(kd) * (9 * 4096);

        uint32_t a[2][4][4];
        uint32_t bf[2][8][2];

#pragma unroll
        for (int dd = 0; dd < 2; ++dd) {
#pragma unroll
          for (int ih = 0; ih < 2; ++ih)
            ldsm4(a[dd][ih][0], a[dd][ih][1], a[dd][ih][2], a[dd][ih][3],
                  abase[dd] + aoff[0] + ih * kRowBytes);
        }
#pragma unroll
        for (int q = 0; q < 4; ++q)
          ldsm4(bf[0][2 * q][0], bf[0][2 * q][1], bf[0][2 * q + 1][0], bf[0][2 * q + 1][1],
                wb + boff + q * 1024);

#pragma unroll
        for (int it = 0; it < 18; ++it) {
          const int kw = it / 6;
          const int kc = (it / 3) % 2;
          const int kh = it % 3;
          if (it < 17) {
            const int kw1 = (it + 1) / 6;
            const int kc1 = ((it + 1) / 3) % 2;
            const int kh1 = (it + 1) % 3;
            const int nb = (it + 1) & 1;
#pragma unroll
            for (int q = 0; q < 4; ++q)
              ldsm4(bf[nb][2 * q][0], bf[nb][2 * q][1], bf[nb][2 * q + 1][0], bf[nb][2 * q + 1][1],
                    wb + (boff ^ static_cast<uint32_t>(kc1 * 32)) + (kh1 * 3 + kw1) * 4096 + q * 1024);
            if (kh < 2) {
#pragma unroll
              for (int dd = 0; dd < 2; ++dd)
                ldsm4(a[dd][kh + 2][0], a[dd][kh + 2][1], a[dd][kh + 2][2], a[dd][kh + 2][3],
                      abase[dd] + (aoff[kw] ^ static_cast<uint32_t>(kc * 32)) + (kh + 2) * kRowBytes);
            } else {
#pragma unroll
              for (int dd = 0; dd < 2; ++dd) {
#pragma unroll
                for (int ih = 0; ih < 2; ++ih)
                  ldsm4(a[dd][ih][0], a[dd][ih][1], a[dd][ih][2], a[dd][ih][3],
                        abase[dd] + (aoff[kw1] ^ static_cast<uint32_t>(kc1 * 32)) + ih * kRowBytes);
              }
            }
          }
#pragma unroll
          for (int dd = 0; dd < 2; ++dd) {
#pragma unroll
            for (int hh = 0; hh < 2; ++hh) {
#pragma unroll
              for (int nt = 0; nt < 8; ++nt)
                mma16816(acc[dd * 2 + hh][nt], a[dd][kh + hh], bf[it & 1][nt]);
            }
          }
        }
      }

      // 2x2x2 max, bias, logsumexp over the 64 channels, relu
      const int g = lane >> 2;
      const int t = lane & 3;
      float v[8][2];
      float mx = -INFINITY;
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        const float2 bv = *reinterpret_cast<const float2 *>(bias_s + nt * 8 + 2 * t);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          float z = fmaxf(acc[0][nt][j], acc[0][nt][j + 2]);
#pragma unroll
          for (int mt = 1; mt < 4; ++mt)
            z = fmaxf(z, fmaxf(acc[mt][nt][j], acc[mt][nt][j + 2]));
          z += (j == 0) ? bv.x : bv.y;
          v[nt][j] = z;
          mx = fmaxf(mx, z);
        }
      }
      mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 1));
      mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 2));
      float sum = 0.f;
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
#pragma unroll
        for (int j = 0; j < 2; ++j)
          sum += __expf(v[nt][j] - mx);
      }
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if (t == 0)
        out[((n * 16 + s) * 64 + (h0 >> 1) + wh) * 64 + (w0 >> 1) + ww * 8 + g] =
            fmaxf(mx + logf(sum), 0.f);
    }
  }
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  at::Tensor xh_t = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wh_t = at::empty({27 * 64 * 32}, x.options().dtype(at::kHalf));
  __half *xh = static_cast<__half *>(xh_t.data_ptr());
  __half *wh = static_cast<__half *>(wh_t.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  prep_kernel<<<kPrepXBlocks + kPrepWBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xh, wh);

  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<128, 256, kSmemBytes, stream>>>(xh, wh, conv_bias.const_data_ptr<float>(),
                                                out.data_ptr<float>());
  return out;
}
