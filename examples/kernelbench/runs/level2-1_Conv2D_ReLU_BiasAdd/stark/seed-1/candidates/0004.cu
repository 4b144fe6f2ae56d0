// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

constexpr int kThreadsMain = 384;
constexpr int kConsumerWarps = 8;
constexpr int kProducerWarps = 4;
constexpr int kSlots = 5;
constexpr uint32_t kSlotBytes = 16384;
constexpr uint32_t kWeightBytes = 147456;
constexpr uint32_t kOffRing = kWeightBytes;
constexpr uint32_t kOffBias = kOffRing + kSlots * kSlotBytes + 256;
constexpr uint32_t kOffBar = kOffBias + 1024;
constexpr uint32_t kSmemBytes = kOffBar + 2 * kSlots * 8;
constexpr int kOutH = 126;
constexpr int kOutW = 126;
constexpr int kPlane = kOutH * kOutW;
constexpr int kRows = 128 * kOutH;

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void mbar_init(uint32_t a, uint32_t cnt) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(cnt) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t a) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t a, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(ok)
        : "r"(a), "r"(parity)
        : "memory");
  } while (!ok);
  __syncwarp();
}

static __device__ __forceinline__ void ldsm_x4(uint32_t &r0, uint32_t &r1, uint32_t &r2,
                                               uint32_t &r3, uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void lds128(uint32_t (&v)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(addr));
}

static __device__ __forceinline__ void sts128(uint32_t addr, uint32_t a, uint32_t b, uint32_t c,
                                              uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

static __device__ __forceinline__ float ldg_stream(const float *p) {
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ float relu_nan(float v) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(0.0f));
  return r;
}

// Exchange across lanes that differ in `mask`: the lane with the bit clear gives b and gets the
// partner's a in its place; the lane with the bit set gives a and gets the partner's b.
static __device__ __forceinline__ void exchange(float &a, float &b, bool bit, int mask) {
  float send = bit ? a : b;
  float recv = __shfl_xor_sync(0xffffffffu, send, mask);
  a = bit ? recv : a;
  b = bit ? b : recv;
}

// Weights as fp16 in the order of the A fragments of mma.m16n8k16.
static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  int idx = blockIdx.x * 256 + threadIdx.x;
  if (idx >= 9216)
    return;
  int lane = idx & 31;
  int mtile = (idx >> 5) & 7;
  int kc = (idx >> 8) & 3;
  int tap = idx >> 10;
  int g = lane >> 2;
  int q = lane & 3;
  int co = mtile * 16 + g;
  int ci = kc * 16 + 2 * q;
  const float *p0 = w + (co * 64 + ci) * 9 + tap;
  const float *p1 = p0 + 8 * 64 * 9;
  uint4 v;
  v.x = pack_half2(p0[0], p0[9]);
  v.y = pack_half2(p1[0], p1[9]);
  v.z = pack_half2(p0[72], p0[81]);
  v.w = pack_half2(p1[72], p1[81]);
  packed[idx] = v;
}

static __global__ void __launch_bounds__(kThreadsMain, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ conv_bias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t ring = sbase + kOffRing;
  const uint32_t full = sbase + kOffBar;
  const uint32_t empty = full + kSlots * 8;
  float *sbias = reinterpret_cast<float *>(smem + kOffBias);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);

#pragma unroll 4
  for (int i = tid; i < 9216; i += kThreadsMain) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sbase + i * 16),
                 "l"(packed + i)
                 : "memory");
  }
  if (tid < 128)
    sbias[tid] = conv_bias[tid];
  else if (tid < 256)
    sbias[tid] = bias[tid - 128];
  if (tid == 0) {
    for (int i = 0; i < kSlots; ++i) {
      mbar_init(full + i * 8, kProducerWarps);
      mbar_init(empty + i * 8, kConsumerWarps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  const int row_begin =
      static_cast<int>(static_cast<long long>(blockIdx.x) * kRows / static_cast<int>(gridDim.x));
  const int row_end = static_cast<int>((static_cast<long long>(blockIdx.x) + 1) * kRows /
                                       static_cast<int>(gridDim.x));

  if (warp >= kConsumerWarps) {
    // ---------------------------------------------------------------- producers
    const int t = tid - kConsumerWarps * 32; // pixel
    const uint32_t sw = static_cast<uint32_t>((t ^ (t >> 3)) & 7);
    int slot = 0;
    uint32_t u = 0;
    int R = row_begin;
    while (R < row_end) {
      const int n = R / kOutH;
      const int h = R - n * kOutH;
      const int hb = min(kOutH, h + (row_end - R));
      const float *src = x + (static_cast<size_t>(n) * 64 * 128 + h) * 128 + t;
#pragma unroll 1
      for (int hin = h; hin < hb + 2; ++hin) {
        float v[64];
#pragma unroll
        for (int c = 0; c < 64; ++c)
          v[c] = ldg_stream(src + c * 16384);
        src += 128;
        if (u >= 1)
          mbar_wait(empty + slot * 8, (u - 1) & 1);
        const uint32_t pix = ring + slot * kSlotBytes + t * 128;
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          sts128(pix + ((static_cast<uint32_t>(c) ^ sw) << 4), pack_half2(v[8 * c], v[8 * c + 1]),
                 pack_half2(v[8 * c + 2], v[8 * c + 3]), pack_half2(v[8 * c + 4], v[8 * c + 5]),
                 pack_half2(v[8 * c + 6], v[8 * c + 7]));
        }
        __syncwarp();
        if (lane == 0)
          mbar_arrive(full + slot * 8);
        if (++slot == kSlots) {
          slot = 0;
          ++u;
        }
      }
      R += hb - h;
    }
  } else {
    // ---------------------------------------------------------------- consumers
    const int wm = warp >> 1;
    const int wn = warp & 1;
    const int g = lane >> 2;
    const int q = lane & 3;
    const uint32_t kb = (lane >> 3) & 1;
    const int p_lane = 64 * wn + 8 * (lane & 7) + (lane >> 4);
    const uint32_t wlane = sbase + static_cast<uint32_t>(wm * 2 * 32 + lane) * 16;
    const bool last_lane = (wn == 1) && (q == 3);
    const bool first_lane = (wn == 0) && (q == 0);
    const bool bit0 = (q & 1) != 0;
    const bool bit1 = (q & 2) != 0;
    const float *my_cb = sbias + wm * 32 + g;
    const float *my_b = my_cb + 128;

    uint32_t a[2][2][4];
    lds128(a[0][0], wlane);
    lds128(a[0][1], wlane + 512);

    int slot0 = 0;
    uint32_t u0 = 0;
    int R = row_begin;
    while (R < row_end) {
      const int n = R / kOutH;
      const int ha = R - n * kOutH;
      const int hb = min(kOutH, ha + (row_end - R));
#pragma unroll 1
      for (int h = ha; h < hb; ++h) {
        const int sh = (h & 1) ? 2 : 0;
        const bool last_row = (h == hb - 1);

        int off[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) {
          const int P = p_lane + 2 * i - sh;
          off[i] = P * 128 + static_cast<int>((kb ^ static_cast<uint32_t>((P ^ (P >> 3)) & 7)) << 4);
        }

        float acc[2][8][4];
#pragma unroll
        for (int mt = 0; mt < 2; ++mt) {
          const float c0 = my_cb[mt * 16];
          const float c1 = my_cb[mt * 16 + 8];
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            acc[mt][j][0] = c0;
            acc[mt][j][1] = c0;
            acc[mt][j][2] = c1;
            acc[mt][j][3] = c1;
          }
        }

        int slot = slot0;
        uint32_t u = u0;
#pragma unroll 1
        for (int r = 0; r < 3; ++r) {
          mbar_wait(full + slot * 8, u & 1);
          const uint32_t slot_addr = ring + slot * kSlotBytes;
          const uint32_t wr = wlane + static_cast<uint32_t>(r) * (12u * 4096u);
          const uint32_t wr_next = (r < 2) ? wr + 12u * 4096u : wlane;

          uint32_t b[2][10][2];
#pragma unroll
          for (int i = 0; i < 5; ++i)
            ldsm_x4(b[0][2 * i][0], b[0][2 * i][1], b[0][2 * i + 1][0], b[0][2 * i + 1][1],
                    slot_addr + static_cast<uint32_t>(off[i]));

#pragma unroll
          for (int kc = 0; kc < 4; ++kc) {
            if (kc < 3) {
              const int nb = (kc + 1) & 1;
#pragma unroll
              for (int i = 0; i < 5; ++i)
                ldsm_x4(b[nb][2 * i][0], b[nb][2 * i][1], b[nb][2 * i + 1][0],
                        b[nb][2 * i + 1][1],
                        (slot_addr + static_cast<uint32_t>(off[i])) ^
                            (static_cast<uint32_t>(kc + 1) << 5));
            }
#pragma unroll
            for (int s = 0; s < 3; ++s) {
              const int st = kc * 3 + s;
              const int cur = st & 1;
              const int nxt = cur ^ 1;
              // A fragments of the next step: (kc, s + 1), (kc + 1, 0) or the next filter row.
              uint32_t na;
              if (st == 11) {
                na = wr_next;
              } else {
                const int ns = (s == 2) ? 0 : s + 1;
                const int nk = (s == 2) ? kc + 1 : kc;
                na = wr + static_cast<uint32_t>((ns * 4 + nk) * 4096);
              }
              lds128(a[nxt][0], na);
              lds128(a[nxt][1], na + 512);
#pragma unroll
              for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
                for (int j = 0; j < 8; ++j)
                  mma16816(acc[mt][j], a[cur][mt], b[kc & 1][j + s]);
              }
            }
          }

          if (r == 0 || last_row) {
            __syncwarp();
            if (lane == 0)
              mbar_arrive(empty + slot * 8);
          }
          if (++slot == kSlots) {
            slot = 0;
            ++u;
          }
        }

        // Epilogue: relu, bias, 4x4 transposition of float4s within each quad, aligned stores.
        float *obase = out +
                       (static_cast<size_t>(n * 128 + wm * 32 + g) * kOutH + h) * kOutW +
                       (64 * wn + 4 * q) - sh;
        const bool cut_tail = last_lane && (sh == 0);
        const bool cut_head = first_lane && (sh != 0);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float bv = my_b[mt * 16 + half * 8];
            float v[4][4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
#pragma unroll
              for (int c = 0; c < 4; ++c)
                v[k][c] = relu_nan(acc[mt][(k & 1) * 4 + c][half * 2 + (k >> 1)]) + bv;
            }
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              exchange(v[0][c], v[1][c], bit0, 1);
              exchange(v[2][c], v[3][c], bit0, 1);
            }
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              exchange(v[0][c], v[2][c], bit1, 2);
              exchange(v[1][c], v[3][c], bit1, 2);
            }
            float *oc = obase + (mt * 16 + half * 8) * kPlane;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              float *o = oc + 16 * i;
              if (i == 3 && cut_tail) {
                *reinterpret_cast<float2 *>(o) = make_float2(v[i][0], v[i][1]);
              } else if (i == 0 && cut_head) {
                *reinterpret_cast<float2 *>(o + 2) = make_float2(v[i][2], v[i][3]);
              } else {
                *reinterpret_cast<float4 *>(o) =
                    make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
              }
            }
          }
        }
        __syncwarp();

        // The next output row starts one ring entry later, a new segment three.
        slot0 += last_row ? 3 : 1;
        if (slot0 >= kSlots) {
          slot0 -= kSlots;
          ++u0;
        }
      }
      R += hb - ha;
    }
  }
}

} // namespace

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({73728}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  uint4 *packed_ptr = reinterpret_cast<uint4 *>(packed.data_ptr());
  const int grid = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;

  pack_weights_kernel<<<36, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed_ptr);

  cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(kSmemBytes));
  conv_relu_bias_kernel<<<grid, kThreadsMain, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed_ptr, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
