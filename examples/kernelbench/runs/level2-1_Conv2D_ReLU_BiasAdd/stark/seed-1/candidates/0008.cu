// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

namespace {

constexpr int kGrid = 132;
constexpr int kThreads = 256;
constexpr int kTiles = 128 * 63;
constexpr int kWBytes = 48 * 8 * 32 * 16;          // 196608, transformed weights in fragment order
          // 147456, weights in fragment order
constexpr int kXS = kWBytes;                       // four slots of transformed input
                       // ring of input rows
constexpr int kSlot = 128 * 64;                    // 8192 bytes: 128 pixels, 2 positions, 16 channels
                  // 16640 bytes a row
constexpr int kRingBytes = 4 * kSlot + 256;        // 33024, with a guard for pixels 128 and 129 of the last slot
       // 83456
constexpr int kBiasOff = kXS + kRingBytes;         // float cb[128], bs[128]
         // float cb[128], bs[128]
static __device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t bar) {
  asm volatile("{\n\t.reg .b64 st;\n\tmbarrier.arrive.shared::cta.b64 st, [%0];\n\t}" : : "r"(bar) : "memory");
}

// one arrival for the whole warp
static __device__ __forceinline__ void mbar_arrive_warp(uint32_t bar, int lane) {
  __syncwarp();
  if (lane == 0)
    mbar_arrive(bar);
  __syncwarp();
}

static __device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
  } while (done == 0);
  __syncwarp();
}

static __device__ __forceinline__ void prefetch_l2(const float *p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

constexpr int kSmemBytes = kBiasOff + 1024 + 96;   // 230752: and the mbarriers full[4], empty[4], go
   // 231968: and four mbarriers E[0], E[1], F[0], F[1]
        // 231936
constexpr int kPlane = 128 * 128;                  // floats of one input channel
constexpr int kOutPlane = 126 * 126;               // floats of one output channel

__device__ __forceinline__ uint32_t pack_h2(float lo, float hi) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}

__device__ __forceinline__ float ld_x(const float *p) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ void lds128(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(addr), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

__device__ __forceinline__ void ldsm4(uint32_t (&d)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// swizzle of the 16-byte chunks within a pixel; period 16 in px
// byte offset of chunk c (= position * 2 + half of the 16 channels) of pixel P in a slot; conflict-free for
// ldmatrix (P = 8 i + m) and for 16-byte stores (P consecutive)
__device__ __forceinline__ uint32_t voff(int P, int c) {
  return (uint32_t)((P >> 1) * 128 + (((((P & 1) << 2) | c) ^ ((P >> 3) & 7) ^ ((P >> 1) & 3)) << 4));
}

// eight channels of two input rows
__device__ __forceinline__ void load_unit(float (&hi)[8], float (&lo)[8], const float *ph, const float *pl) {
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    hi[k] = ld_x(ph + k * kPlane);
    lo[k] = ld_x(pl + k * kPlane);
  }
}

__device__ __forceinline__ void store_sum(uint32_t dst, const float (&hi)[8], const float (&lo)[8]) {
  sts128(dst, pack_h2(hi[0] + lo[0], hi[1] + lo[1]), pack_h2(hi[2] + lo[2], hi[3] + lo[3]),
         pack_h2(hi[4] + lo[4], hi[5] + lo[5]), pack_h2(hi[6] + lo[6], hi[7] + lo[7]));
}

__device__ __forceinline__ void store_diff(uint32_t dst, const float (&hi)[8], const float (&lo)[8]) {
  sts128(dst, pack_h2(hi[0] - lo[0], hi[1] - lo[1]), pack_h2(hi[2] - lo[2], hi[3] - lo[3]),
         pack_h2(hi[4] - lo[4], hi[5] - lo[5]), pack_h2(hi[6] - lo[6], hi[7] - lo[7]));
}

__device__ __forceinline__ void exchange(float &a, float &b, bool bit, int mask) {
  const float send = bit ? a : b;
  const float recv = __shfl_xor_sync(0xffffffffu, send, mask);
  a = bit ? recv : a;
  b = bit ? b : recv;
}

// 4x4 transposition within a quad: afterwards v[i] of lane q is what v[q] of lane i was
__device__ __forceinline__ void transpose_quad(float (&v)[4][4], int q) {
  const bool b0 = (q & 1) != 0;
  const bool b1 = (q & 2) != 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[1][c], b0, 1);
    exchange(v[2][c], v[3][c], b0, 1);
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[2][c], b1, 2);
    exchange(v[1][c], v[3][c], b1, 2);
  }
}

// Weights [128][64][3][3] -> fp16 fragments [tap*4+cs][mtile][lane]
__global__ void __launch_bounds__(128) weights_kernel(const float *__restrict__ w, uint4 *__restrict__ wf) {
  // Winograd F(2,3) over the filter rows; order [stage 8][position 2][kw 3][mtile 8][lane 32]
  const int idx = blockIdx.x * 128 + threadIdx.x; // 12288 in all
  const int lane = idx & 31;
  const int mtile = (idx >> 5) & 7;
  const int ks = idx >> 8; // 0..47
  const int kw = ks % 3;
  const int p = (ks / 3) & 1;
  const int j = ks / 6;
  const int pass = j >> 2, c4 = j & 3;
  const int g = lane >> 2, q = lane & 3;
  const float *w0 = w + ((mtile * 16 + g) * 64 + c4 * 16 + 2 * q) * 9 + kw;
  float u[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    // e: bit 0 = channel + 1, bit 1 = row + 8, bit 2 = channel + 8
    const float *we = w0 + (e & 1) * 9 + ((e >> 1) & 1) * (8 * 64 * 9) + (e >> 2) * (8 * 9);
    const float g0 = we[0], g1 = we[3], g2 = we[6];
    if (pass == 0)
      u[e] = 0.5f * (g0 + g2 + (p ? -g1 : g1));
    else
      u[e] = p ? g2 : g0;
  }
  uint4 f;
  f.x = pack_h2(u[0], u[1]);
  f.y = pack_h2(u[2], u[3]);
  f.z = pack_h2(u[4], u[5]);
  f.w = pack_h2(u[6], u[7]);
  wf[idx] = f;
}

__global__ void __launch_bounds__(kThreads, 1)
conv_kernel(const float *__restrict__ x, const uint4 *__restrict__ wf, const float *__restrict__ conv_bias,
            const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  float *cb = reinterpret_cast<float *>(smem + kBiasOff);
  float *bs = cb + 128;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp >> 1; // 32 output channels
  const int wn = warp & 1;  // 64 pixels
  const int g = lane >> 2, q = lane & 3;

  const uint32_t full = sbase + (uint32_t)(kBiasOff + 1024); // full[4]: slot is filled
  const uint32_t empty = full + 32u;                         // empty[4]: slot has been read
  const uint32_t go = full + 64u;                            // warps 4..7 may start

  // all weights into shared memory
#pragma unroll 4
  for (int i = 0; i < 48; ++i) {
    const int e = i * kThreads + tid;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(sbase + (uint32_t)e * 16u), "l"(wf + e)
                 : "memory");
  }
  if (tid < 128) {
    cb[tid] = conv_bias[tid];
    bs[tid] = bias[tid];
  }
  if (tid == 0) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      mbar_init(full + (uint32_t)(i * 8), 8u);
    mbar_init(go, 4u);
  }

  // fragment addresses
  uint32_t off[5];
#pragma unroll
  for (int i = 0; i < 5; ++i)
    off[i] = sbase + (uint32_t)kXS + voff(64 * wn + 8 * (lane & 7) + (lane >> 4) + 2 * i, (lane >> 3) & 1);
  const uint32_t wlane = sbase + (uint32_t)((wm * 2 * 32 + lane) * 16);

  // staging: this thread's pixel and its eight of the 16 channels of a stage
  const int px = tid & 127;
  const int h = tid >> 7;
  const uint32_t stbase = sbase + (uint32_t)kXS + voff(px, h);
  const int xthread = h * 8 * kPlane + px;

  const int begin = (int)blockIdx.x * kTiles / kGrid;
  const int end = ((int)blockIdx.x + 1) * kTiles / kGrid;

  __syncthreads(); // the barriers are initialised

  // stages 0 and 1 of the first tile
  {
    const int img = begin / 63;
    const int t = begin - img * 63;
    const float *xf = x + (img * 64 * kPlane + 2 * t * 128 + xthread);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      float hi[8], lo[8];
      load_unit(hi, lo, xf + c * 16 * kPlane + 256, xf + c * 16 * kPlane + 128);
      const uint32_t dst = stbase + (uint32_t)(c * kSlot);
      store_sum(dst, hi, lo);
      store_diff(dst ^ 32u, hi, lo);
      mbar_arrive_warp(full + (uint32_t)(c * 8), lane);
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  uint32_t a[2][2][4];
  lds128(a[0][0], wlane);
  lds128(a[0][1], wlane + 512u);

  // the two warps of a scheduler are kept about a stage apart
  if (warp >= 4)
    mbar_wait(go, 0u);

  float acc[2][2][8][4];

#pragma unroll 1
  for (int tile = begin; tile < end; ++tile) {
    const int img = tile / 63;
    const int t = tile - img * 63;
    const int ntile = tile + 1 < end ? tile + 1 : tile;
    const int nimg = ntile / 63;
    const int nt = ntile - nimg * 63;
    const int xcur = img * 64 * kPlane + 2 * t * 128 + xthread;
    const int xnext = nimg * 64 * kPlane + 2 * nt * 128 + xthread;

    // L2 prefetch of the next tile's new rows
    {
      const float *pf = x + (((nimg * 64 + (tid >> 2)) * 128 + 2 * nt + 2) * 128 + (tid & 3) * 32);
      prefetch_l2(pf);
      prefetch_l2(pf + 128);
      if (nt == 0) {
        prefetch_l2(pf - 256);
        prefetch_l2(pf - 128);
      }
    }

#pragma unroll
    for (int mt = 0; mt < 2; ++mt) {
      const float c0 = cb[wm * 32 + mt * 16 + g];
      const float c1 = cb[wm * 32 + mt * 16 + g + 8];
#pragma unroll
      for (int jj = 0; jj < 8; ++jj) {
        acc[0][mt][jj][0] = c0;
        acc[0][mt][jj][1] = c0;
        acc[0][mt][jj][2] = c1;
        acc[0][mt][jj][3] = c1;
        acc[1][mt][jj][0] = 0.f;
        acc[1][mt][jj][1] = 0.f;
        acc[1][mt][jj][2] = 0.f;
        acc[1][mt][jj][3] = 0.f;
      }
    }

#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
      if (pass == 1) {
        // T1, T2 -> sums of the even and of the odd row
#pragma unroll
        for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
          for (int jj = 0; jj < 8; ++jj) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              const float t1 = acc[0][mt][jj][c];
              const float t2 = acc[1][mt][jj][c];
              acc[0][mt][jj][c] = t1 + t2;
              acc[1][mt][jj][c] = t1 - t2;
            }
          }
        }
      }

#pragma unroll 1
      for (int c4 = 0; c4 < 4; ++c4) {
        const int j = pass * 4 + c4;
        // the stage that is filled meanwhile
        const int v = j + 2;
        const int vc = v & 3;
        const int vpass = (v >> 2) & 1;
        const float *xf = x + ((v < 8 ? xcur : xnext) + vc * 16 * kPlane);
        const uint32_t dst = stbase + (uint32_t)(vc * kSlot);
        const uint32_t so = (uint32_t)(c4 * kSlot);
        const uint32_t acur = wlane + (uint32_t)j * 24576u;
        const uint32_t anext = j == 7 ? wlane : acur + 24576u;

        mbar_wait(full + (uint32_t)(c4 * 8), (uint32_t)pass);

        uint32_t b[2][5][4]; // fragment m: b[p][m >> 1][(m & 1) * 2 + half]
#pragma unroll
        for (int i = 0; i < 5; ++i)
          ldsm4(b[0][i], off[i] + so);

#pragma unroll
        for (int p = 0; p < 2; ++p) {
          float hi[8], lo[8];
          if (p == 0)
            load_unit(hi, lo, xf + (vpass ? 0 : 256), xf + (vpass ? 256 : 128));
          else if (vpass)
            load_unit(hi, lo, xf + 384, xf + 128);

#pragma unroll
          for (int s = 0; s < 3; ++s) {
            const int st = p * 3 + s;
            const int cur = st & 1;
            const int nxt = cur ^ 1;
            const uint32_t an = st < 5 ? acur + (uint32_t)((st + 1) * 4096) : anext;
            lds128(a[nxt][0], an);
            lds128(a[nxt][1], an + 512u);
            if (p == 0 && s == 1) {
#pragma unroll
              for (int i = 0; i < 5; ++i)
                ldsm4(b[1][i], (off[i] + so) ^ 32u);
            }
#pragma unroll
            for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
              for (int jj = 0; jj < 8; ++jj)
                mma16816(acc[p][mt][jj], a[cur][mt], b[p][(jj + s) >> 1][((jj + s) & 1) * 2],
                         b[p][(jj + s) >> 1][((jj + s) & 1) * 2 + 1]);
            }
          }

          if (p == 0) {
            mbar_wait(empty + (uint32_t)(vc * 8), (uint32_t)(((v >> 2) + 1) & 1));
            if (vpass) {
              store_diff(dst, hi, lo);
            } else {
              store_sum(dst, hi, lo);
              store_diff(dst ^ 32u, hi, lo);
            }
          } else if (vpass) {
            store_diff(dst ^ 32u, hi, lo);
          }
        }

        __syncwarp();
        if (lane == 0) {
          mbar_arrive(full + (uint32_t)(vc * 8));
          mbar_arrive(empty + (uint32_t)(c4 * 8));
          if (j == 0 && tile == begin && warp < 4)
            mbar_arrive(go);
        }
        __syncwarp();
      }
    }

    // epilogue: per row, channel and lane 16 consecutive pixels; transposed within quads for 64-byte runs
    float *obase = out + (((size_t)(img * 128 + wm * 32 + g) * 126 + (size_t)(2 * t)) * 126 + (size_t)(64 * wn));
    float *oq = obase + 4 * q;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int cl = mt * 16 + half * 8;
          const float bb = bs[wm * 32 + cl + g];
          float f[18];
#pragma unroll
          for (int m = 0; m < 16; ++m) {
            const float y = acc[p][mt][m & 7][half * 2 + (m >> 3)];
            f[m] = (y < 0.f ? 0.f : y) + bb;
          }
          float r[4][4];
          if (p == 0) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
              for (int c = 0; c < 4; ++c)
                r[k][c] = f[4 * k + c];
            }
            transpose_quad(r, q);
            float *o = oq + cl * kOutPlane;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              if (i == 3 && q == 3 && wn == 1)
                *reinterpret_cast<float2 *>(o + 16 * i) = make_float2(r[i][0], r[i][1]);
              else
                *reinterpret_cast<float4 *>(o + 16 * i) = make_float4(r[i][0], r[i][1], r[i][2], r[i][3]);
            }
          } else {
            f[16] = __shfl_down_sync(0xffffffffu, f[0], 1);
            f[17] = __shfl_down_sync(0xffffffffu, f[1], 1);
            if (q == 0)
              *reinterpret_cast<float2 *>(obase + cl * kOutPlane + 126) = make_float2(f[0], f[1]);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
              for (int c = 0; c < 4; ++c)
                r[k][c] = f[4 * k + c + 2];
            }
            transpose_quad(r, q);
            float *o = oq + cl * kOutPlane + 128; // next row, two pixels on: 16-byte aligned
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              if (i == 3 && q == 3) {
                if (wn == 0)
                  *reinterpret_cast<float2 *>(o + 16 * i) = make_float2(r[i][0], r[i][1]);
              } else {
                *reinterpret_cast<float4 *>(o + 16 * i) = make_float4(r[i][0], r[i][1], r[i][2], r[i][3]);
              }
            }
          }
        }
      }
    }
  }
}

} // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor wf = at::empty({98304}, x.options().dtype(at::kHalf)); // transformed fp16 weights in fragment order
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  uint4 *wf_ptr = static_cast<uint4 *>(wf.data_ptr());
  weights_kernel<<<96, 128, 0, stream>>>(conv_weight.const_data_ptr<float>(), wf_ptr);
  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_kernel<<<kGrid, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wf_ptr, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
