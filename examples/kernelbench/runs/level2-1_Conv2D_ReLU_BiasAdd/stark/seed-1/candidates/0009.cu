// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

constexpr int kThreads = 512;
constexpr int kBlocks = 132;
constexpr int kWBytes = 4 * 3 * 64 * 64 * 2;      // 98304: transformed weights of 64 output channels
constexpr int kPlaneBytes = 128 * 128;            // 16384: one transformed plane, [pos][64 channels] fp16
constexpr int kVOff = kWBytes;
constexpr int kBOff = kVOff + 8 * kPlaneBytes;    // 229376
constexpr int kBarOff = kBOff + 512;              // 229888
constexpr int kSmemBytes = kBarOff + 32;          // 229920
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

__device__ __forceinline__ void sts16(uint32_t addr, const uint32_t (&r)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};"
               :
               : "r"(addr), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

__device__ __forceinline__ void lds16(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr));
}

__device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}

__device__ __forceinline__ void mbar_arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(bar) : "memory");
}

__device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (done == 0);
}

// One step of a transpose: lanes without the bit give hi and take hi, lanes with it give lo and take lo.
__device__ __forceinline__ void exchange(float &lo, float &hi, bool bit, int mask) {
  const float give = bit ? lo : hi;
  const float got = __shfl_xor_sync(0xffffffffu, give, mask);
  lo = bit ? got : lo;
  hi = bit ? hi : got;
}

// Transformed filter of one (output channel, input channel, horizontal tap).
__device__ __forceinline__ float wino_u(const float *__restrict__ w, int oc, int c, int dx, int slot) {
  const float *p = w + (oc * 64 + c) * 9 + dx;
  const float g0 = p[0];
  const float g1 = p[3];
  const float g2 = p[6];
  const float a = 0.5f * (g0 + g1 + g2);
  const float b = 0.5f * (g0 - g1 + g2);
  return slot == 0 ? a : slot == 1 ? b : slot == 2 ? g0 : g2;
}

// 12 k-steps (4 channel groups x 3 horizontal taps) of plane H of the current two.
template <int H>
__device__ __forceinline__ void slot_pass(float (&acc)[8][4], uint32_t (&a)[3][4], uint32_t (&b)[5][4],
                                          const uint32_t (&ba)[5], uint32_t wr, uint32_t wnext, uint32_t inc) {
#pragma unroll
  for (int kc = 0; kc < 4; ++kc) {
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      const int L = H * 12 + kc * 3 + dx;
      lds16(a[(dx + 2) % 3], L < 22 ? wr + (uint32_t)((L + 2) * 2048) : wnext + (uint32_t)((L - 22) * 2048));
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if (dx == 2 && (j & 1) == 0) {
          // Pair j / 2 has been used for the last time.
          const int i = j >> 1;
          uint32_t ad;
          if (kc < 3)
            ad = (ba[i] + (uint32_t)(H * 16384)) ^ (uint32_t)((kc + 1) << 5);
          else
            ad = H == 0 ? ba[i] + 16384u : ba[i] + inc;
          ldsm4(b[i], ad);
        }
        const int T = j + dx;
        mma16816(acc[j], a[dx], b[T >> 1][2 * (T & 1)], b[T >> 1][2 * (T & 1) + 1]);
      }
      if (dx == 2) {
        uint32_t ad;
        if (kc < 3)
          ad = (ba[4] + (uint32_t)(H * 16384)) ^ (uint32_t)((kc + 1) << 5);
        else
          ad = H == 0 ? ba[4] + 16384u : ba[4] + inc;
        ldsm4(b[4], ad);
      }
    }
  }
}

// Sixteen consecutive positions of one channel and row: ReLU, bias, transpose within the quad.
template <int HR>
__device__ __forceinline__ void finish_row(float (&v)[4][4], const float (&acc)[8][4], float bv, int q) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float f = acc[(k & 1) * 4 + c][HR * 2 + (k >> 1)];
      v[k][c] = (f < 0.f ? 0.f : f) + bv;
    }
  }
  const bool b1 = (q & 1) != 0;
  const bool b2 = (q & 2) != 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    exchange(v[0][c], v[1][c], b1, 1);
    exchange(v[2][c], v[3][c], b1, 1);
    exchange(v[0][c], v[2][c], b2, 2);
    exchange(v[1][c], v[3][c], b2, 2);
  }
}

template <int HR>
__device__ __forceinline__ void store_even(const float (&acc)[8][4], float bv, float *o, int q, int wn) {
  float v[4][4];
  finish_row<HR>(v, acc, bv, q);
#pragma unroll
  for (int i = 0; i < 3; ++i)
    __stcs(reinterpret_cast<float4 *>(o + 16 * i), make_float4(v[i][0], v[i][1], v[i][2], v[i][3]));
  if (wn == 1 && q == 3)
    __stcs(reinterpret_cast<float2 *>(o + 48), make_float2(v[3][0], v[3][1]));
  else
    __stcs(reinterpret_cast<float4 *>(o + 48), make_float4(v[3][0], v[3][1], v[3][2], v[3][3]));
}

template <int HR>
__device__ __forceinline__ void store_odd(const float (&acc)[8][4], float bv, float *o, int q, int wn, int lane) {
  float v[4][4];
  finish_row<HR>(v, acc, bv, q);
  const int from = (lane & ~3) | ((q + 1) & 3);
  if (q == 0)
    __stcs(reinterpret_cast<float2 *>(o), make_float2(v[0][0], v[0][1]));
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const float s0 = __shfl_sync(0xffffffffu, q == 0 ? v[i + 1][0] : v[i][0], from);
    const float s1 = __shfl_sync(0xffffffffu, q == 0 ? v[i + 1][1] : v[i][1], from);
    __stcs(reinterpret_cast<float4 *>(o + 16 * i + 2), make_float4(v[i][2], v[i][3], s0, s1));
  }
  const float t0 = __shfl_sync(0xffffffffu, v[3][0], from);
  const float t1 = __shfl_sync(0xffffffffu, v[3][1], from);
  if (q < 3)
    __stcs(reinterpret_cast<float4 *>(o + 50), make_float4(v[3][2], v[3][3], t0, t1));
  else if (wn == 0)
    __stcs(reinterpret_cast<float2 *>(o + 50), make_float2(v[3][2], v[3][3]));
  __syncwarp();
}

// Weights in A-fragment order: [half][slot][kc][dx][mt][lane] of 16 bytes.
__global__ void __launch_bounds__(256) conv_weights_kernel(const float *__restrict__ w, uint4 *__restrict__ wh) {
  const int idx = blockIdx.x * 256 + threadIdx.x;  // 48 * 256 = 12288
  const int lane = idx & 31;
  const int mt = (idx >> 5) & 3;
  int r = idx >> 7;
  const int dx = r % 3;
  r /= 3;
  const int kc = r & 3;
  const int slot = (r >> 2) & 3;
  const int half = r >> 4;
  const int g = lane >> 2;
  const int q = lane & 3;
  const int oc = 64 * half + 16 * mt + g;
  const int ci = 16 * kc + 2 * q;
  uint4 v;
  v.x = pack2(wino_u(w, oc, ci, dx, slot), wino_u(w, oc, ci + 1, dx, slot));
  v.y = pack2(wino_u(w, oc + 8, ci, dx, slot), wino_u(w, oc + 8, ci + 1, dx, slot));
  v.z = pack2(wino_u(w, oc, ci + 8, dx, slot), wino_u(w, oc, ci + 9, dx, slot));
  v.w = pack2(wino_u(w, oc + 8, ci + 8, dx, slot), wino_u(w, oc + 8, ci + 9, dx, slot));
  wh[idx] = v;
}

__global__ void __launch_bounds__(kThreads, 1)
conv_main_kernel(const float *__restrict__ x, const uint4 *__restrict__ wh, const float *__restrict__ conv_bias,
                 const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t bar_full = sbase + kBarOff;        // full[2]
  const uint32_t bar_empty = sbase + kBarOff + 16;  // empty[2]
  float *cb = reinterpret_cast<float *>(smem + kBOff);
  float *bs = cb + 64;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int half = blockIdx.x & 1;
  const int part = blockIdx.x >> 1;

  // Set-up: weights of this half, biases, barriers.
  {
    const uint4 *src = wh + half * (kWBytes / 16) + tid;
    const uint32_t dst = sbase + tid * 16;
#pragma unroll
    for (int i = 0; i < kWBytes / (kThreads * 16); ++i) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :
                   : "r"(dst + i * (kThreads * 16)), "l"(src + i * kThreads)
                   : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  if (tid < 64) {
    cb[tid] = conv_bias[64 * half + tid];
    bs[tid] = bias[64 * half + tid];
  }
  if (tid == 0) {
    mbar_init(bar_full, 8);
    mbar_init(bar_full + 8, 8);
    mbar_init(bar_empty, 8);
    mbar_init(bar_empty + 8, 8);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  int s = kSteps * part / (kBlocks / 2);
  const int s_end = kSteps * (part + 1) / (kBlocks / 2);
  int n = s / kPairs;
  int p = s - n * kPairs;
  uint32_t it = 0;

  if (warp < 8) {
    // Consumers: 16 channels x 64 positions x 2 rows each.
    const int wm = warp >> 1;
    const int wn = warp & 1;
    const int g = lane >> 2;
    const int q = lane & 3;
    const uint32_t wl = sbase + (uint32_t)(wm * 512 + lane * 16);

    uint32_t ba[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      int P0 = 64 * wn + 8 * (lane & 7) + (lane >> 4) + 2 * i;
      P0 = P0 < 127 ? P0 : 127;
      ba[i] = sbase + kVOff + (uint32_t)(P0 * 128 + ((((lane >> 3) & 1) ^ ((P0 ^ (P0 >> 3)) & 7)) << 4));
    }

    uint32_t a[3][4];
    uint32_t b[5][4];
    lds16(a[0], wl);
    lds16(a[1], wl + 2048);

#pragma unroll 1
    for (; s < s_end; ++s, ++it) {
      const uint32_t buf = it & 1;
      float P[8][4];
      float Q[8][4];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          P[j][e] = 0.f;
          Q[j][e] = 0.f;
        }
      }

      mbar_wait(bar_full + buf * 8, (it >> 1) & 1);
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 5; ++i)
        ldsm4(b[i], ba[i]);

#pragma unroll 1
      for (int r = 0; r < 2; ++r) {
        const uint32_t wr = r == 0 ? wl : wl + 24u * 2048u;
        const uint32_t wnext = r == 0 ? wl + 24u * 2048u : wl;
        const uint32_t inc = r == 0 ? 32768u : 16384u;
        slot_pass<0>(P, a, b, ba, wr, wnext, inc);
        slot_pass<1>(Q, a, b, ba, wr, wnext, inc);
        if (r == 0) {
          const float c0 = cb[16 * wm + g];
          const float c1 = cb[16 * wm + 8 + g];
#pragma unroll
          for (int j = 0; j < 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const float c = e < 2 ? c0 : c1;
              const float pc = P[j][e] + c;
              const float y0 = pc + Q[j][e];
              const float y1 = pc - Q[j][e];
              P[j][e] = y0;
              Q[j][e] = y1;
            }
          }
        }
        // To the next two planes, or to the other buffer.
        const uint32_t d = (r == 1 && buf == 1) ? (uint32_t)(-98304) : 32768u;
#pragma unroll
        for (int i = 0; i < 5; ++i)
          ba[i] += d;
      }

      __syncwarp();
      if (lane == 0)
        mbar_arrive(bar_empty + buf * 8);
      __syncwarp();

      // Epilogue, while the other warps go on.
      {
        const int cl = 16 * wm + g;
        const float bv0 = bs[cl];
        const float bv1 = bs[cl + 8];
        float *o = out + (size_t)(n * 128 + 64 * half + cl) * kPlane + 252 * p + 64 * wn + 4 * q;
        store_even<0>(P, bv0, o, q, wn);
        __syncwarp();
        store_even<1>(P, bv1, o + 8 * kPlane, q, wn);
        __syncwarp();
        store_odd<0>(Q, bv0, o + 126, q, wn, lane);
        store_odd<1>(Q, bv1, o + 126 + 8 * kPlane, q, wn, lane);
      }

      if (++p == kPairs) {
        p = 0;
        ++n;
      }
    }
  } else {
    // Producers: one position, 32 channels each.
    const int t = tid - 256;
    const int w = t & 127;
    const int hc = t >> 7;
    const uint32_t vdst = sbase + kVOff + (uint32_t)(w * 128 + (((4 * hc) ^ ((w ^ (w >> 3)) & 7)) << 4));

    float c0[4][8];
    float c1[4][8];
    float n2[8];
    float n3[8];
    bool first = true;

#pragma unroll 1
    for (; s < s_end; ++s, ++it) {
      const uint32_t buf = it & 1;
      const uint32_t u = it >> 1;
      const float *src = x + ((size_t)(n * 64 + 32 * hc) * 128 + 2 * p) * 128 + w;  // row 2p

      if (first || p == 0) {
        first = false;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          ldx8(c0[k], src + k * 8 * 16384);
          ldx8(c1[k], src + 128 + k * 8 * 16384);
        }
        ldx8(n2, src + 256);
        ldx8(n3, src + 384);
      }

      // Rows of the step after the next, to L2.
      if (half == 0 && t < 64) {
        int pn = n;
        int pr = 2 * p + 6;
        uint32_t bytes = 1024;
        if (p >= 61) {
          pn = n + 1;
          pr = p == 61 ? 0 : 4;
          bytes = p == 61 ? 2048u : 1024u;
        }
        if (pn < 128) {
          const float *ptr = x + ((size_t)(pn * 64 + t) * 128 + pr) * 128;
          asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
                       :
                       : "l"(__cvta_generic_to_global(ptr)), "r"(bytes)
                       : "memory");
        }
      }

      const uint32_t dst = vdst + buf * 65536u;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        uint32_t h[4][4];
#pragma unroll
        for (int jj = 0; jj < 4; ++jj) {
          const int j = 2 * jj;
          h[0][jj] = pack2(c1[k][j] + n2[j], c1[k][j + 1] + n2[j + 1]);
          h[1][jj] = pack2(n2[j] - c1[k][j], n2[j + 1] - c1[k][j + 1]);
          h[2][jj] = pack2(c0[k][j] - n2[j], c0[k][j + 1] - n2[j + 1]);
          h[3][jj] = pack2(n3[j] - c1[k][j], n3[j + 1] - c1[k][j + 1]);
          c0[k][j] = n2[j];
          c0[k][j + 1] = n2[j + 1];
          c1[k][j] = n3[j];
          c1[k][j + 1] = n3[j + 1];
        }
        if (k < 3) {
          ldx8(n2, src + 256 + (k + 1) * 8 * 16384);
          ldx8(n3, src + 384 + (k + 1) * 8 * 16384);
        } else {
          const float *nx = src + (p < kPairs - 1 ? 512 : 256);
          ldx8(n2, nx);
          ldx8(n3, nx + 128);
        }
        if (k == 0 && u >= 1)
          mbar_wait(bar_empty + buf * 8, (u - 1) & 1);
        const uint32_t dk = dst ^ (uint32_t)(k << 4);
#pragma unroll
        for (int sl = 0; sl < 4; ++sl)
          sts16(dk + (uint32_t)(sl * kPlaneBytes), h[sl]);
      }
      __syncwarp();
      if (lane == 0)
        mbar_arrive(bar_full + buf * 8);

      if (++p == kPairs) {
        p = 0;
        ++n;
      }
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
  at::Tensor scratch = at::empty({2 * 4 * 3 * 64 * 64}, x.options().dtype(at::kHalf));
  uint4 *wh = static_cast<uint4 *>(scratch.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  conv_weights_kernel<<<48, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), wh);
  cudaFuncSetAttribute(conv_main_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_main_kernel<<<kBlocks, kThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wh, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
