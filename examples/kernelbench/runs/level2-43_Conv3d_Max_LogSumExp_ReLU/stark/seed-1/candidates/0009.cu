// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

namespace {

static __device__ __forceinline__ uint32_t hadd2_u(uint32_t x, uint32_t y) {
  uint32_t r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

static __device__ __forceinline__ uint32_t hsub2_u(uint32_t x, uint32_t y) {
  uint32_t r;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

// p = p + q, q = q - p (of the old p)
static __device__ __forceinline__ void sum_diff(uint32_t (&p)[4], uint32_t (&q)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = hadd2_u(p[i], q[i]);
    q[i] = hsub2_u(q[i], p[i]);
    p[i] = s;
  }
}

// p = p - q
static __device__ __forceinline__ void diff_only(uint32_t (&p)[4], const uint32_t (&q)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    p[i] = hsub2_u(p[i], q[i]);
}

constexpr int kPackBlocks = 144;          // 36864 u32 of packed weights / 256
          // 27648 u32 of packed weights / 256
constexpr int kConvertBlocks = 8192;      // 16384 rows, two a block
constexpr int kWeightBytes = 147456;      // 72 half-steps of 2048 bytes
constexpr int kRowBytes = 1152;           // 18 positions x 64 bytes
constexpr int kPlaneBytes = 18 * kRowBytes;
constexpr int kSmemBytes = kWeightBytes + 4 * kPlaneBytes + 1024;   // 231424
   // 193536
constexpr int kPlaneChunks = 18 * 18 * 4;                    // 1296
constexpr int kStepBytes = 2048;

__device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

__global__ void __launch_bounds__(256)
prep_kernel(const float *__restrict__ x, const float *__restrict__ W,
            __half *__restrict__ xh, uint32_t *__restrict__ wp) {
  const int tid = threadIdx.x;
  if (blockIdx.x < kPackBlocks) {
    const int i = blockIdx.x * 256 + tid;
    const int e = i & 3;
    const int lane = (i >> 2) & 31;
    const int q = (i >> 7) & 3;
    const int hs = i >> 9;   // 0..71
    int st, u;
    if (hs < 36) {           // phase 1: U1 and U2 alternate
      st = hs >> 1;
      u = 1 + (hs & 1);
    } else if (hs < 54) {    // phase 2a: g0
      st = hs - 36;
      u = 0;
    } else {                 // phase 2b: g2
      st = hs - 54;
      u = 3;
    }
    const int kh = st % 3;
    const int ks = (st / 3) & 1;
    const int kw = st / 6;
    const int co = (2 * q + (e >> 1)) * 8 + (lane >> 2);
    const int k = ks * 16 + (e & 1) * 8 + (lane & 3) * 2;
    const float *p = W + co * 864 + k * 27 + kh * 3 + kw;
    float r[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const float g0 = __ldg(p + c * 27);
      const float g1 = __ldg(p + c * 27 + 9);
      const float g2 = __ldg(p + c * 27 + 18);
      float val;
      if (u == 0)
        val = g0;
      else if (u == 3)
        val = g2;
      else
        val = 0.5f * ((g0 + g2) + (u == 1 ? g1 : -g1));
      r[c] = val;
    }
    wp[i] = pack_half2(r[0], r[1]);
    return;
  }
  const int b = blockIdx.x - kPackBlocks;
  const int row = b * 2 + (tid >> 7);
  const int h = row & 127;
  const int d = (row >> 7) & 31;
  const int n = row >> 12;
  const int u = tid & 127;
  const int c4 = u & 3;
  const int wq = u >> 2;
  const float *src = x + ((size_t)(n * 32 + 8 * c4) * 32 + d) * 16384 + h * 128 + 4 * wq;
  float4 v[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    v[j] = __ldcs(reinterpret_cast<const float4 *>(src + (size_t)j * (32 * 16384)));
  __half *dst = xh + ((size_t)row * 128 + 4 * wq) * 32 + 8 * c4;
  uint4 o;
  o.x = pack_half2(v[0].x, v[1].x);
  o.y = pack_half2(v[2].x, v[3].x);
  o.z = pack_half2(v[4].x, v[5].x);
  o.w = pack_half2(v[6].x, v[7].x);
  *reinterpret_cast<uint4 *>(dst) = o;
  o.x = pack_half2(v[0].y, v[1].y);
  o.y = pack_half2(v[2].y, v[3].y);
  o.z = pack_half2(v[4].y, v[5].y);
  o.w = pack_half2(v[6].y, v[7].y);
  *reinterpret_cast<uint4 *>(dst + 32) = o;
  o.x = pack_half2(v[0].z, v[1].z);
  o.y = pack_half2(v[2].z, v[3].z);
  o.z = pack_half2(v[4].z, v[5].z);
  o.w = pack_half2(v[6].z, v[7].z);
  *reinterpret_cast<uint4 *>(dst + 64) = o;
  o.x = pack_half2(v[0].w, v[1].w);
  o.y = pack_half2(v[2].w, v[3].w);
  o.z = pack_half2(v[4].w, v[5].w);
  o.w = pack_half2(v[6].w, v[7].w);
  *reinterpret_cast<uint4 *>(dst + 96) = o;
}

__device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int sz) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(sz)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&a)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void lds128(uint32_t (&b)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
               : "r"(addr)
               : "memory");
}

__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies input plane p (with its halo, zero-filled outside the tensor) into its slot of the ring.
__device__ __forceinline__ void load_plane(const __half *__restrict__ xh, uint32_t ring, int n,
                                           int p, int h0, int w0) {
  int t;
  // opaque, so that the addresses are computed here and not kept in registers over the main loop
  asm volatile("mov.u32 %0, %1;\n" : "=r"(t) : "r"((int)threadIdx.x));
  const uint32_t slot = ring + (uint32_t)((p + 1) & 3) * kPlaneBytes;
  const bool pok = (unsigned)p < 32u;
#pragma unroll
  for (int j = 0; j < 6; ++j) {
    const int i = t + 256 * j;
    if (i < kPlaneChunks) {
      const int pos = i >> 2;
      const int c = i & 3;
      const int hl = pos / 18;
      const int ww = pos - 18 * hl;
      const int h = h0 - 1 + hl;
      const int w = w0 - 1 + ww;
      const bool ok = pok && (unsigned)h < 128u && (unsigned)w < 128u;
      const __half *src = xh;
      if (ok)
        src = xh + ((size_t)(((n * 32 + p) * 128 + h) * 128 + w)) * 32 + c * 8;
      const uint32_t dst = slot + hl * kRowBytes + (ww >> 1) * 128 +
                           (((((ww & 1) << 2) | c) ^ ((ww >> 1) & 7)) << 4);
      cp_async16(dst, src, ok ? 16 : 0);
    }
  }
  cp_async_commit();
}

__global__ void __launch_bounds__(256, 1)
conv_fused_kernel(const __half *__restrict__ xh, const __half *__restrict__ wp,
                  const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const uint32_t sW = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = sW + kWeightBytes;
  float2 *red = reinterpret_cast<float2 *>(smem + kWeightBytes + 4 * kPlaneBytes);
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int wid = tid >> 5;
  const int rg = wid & 3;    // four output rows: 4*rg .. 4*rg+3
  const int nh = wid >> 2;   // 32 channels: 32*nh .. 32*nh+31

  uint32_t offA[3][2];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int ww = 2 * (lane & 7) + ((lane >> 3) & 1) + kw;
    offA[kw][0] = (uint32_t)((ww >> 1) * 128 +
                             (((((ww & 1) << 2) | (lane >> 4)) ^ ((ww >> 1) & 7)) << 4));
    offA[kw][1] = offA[kw][0] ^ 32u;
  }
  const uint32_t ringWarp = ring + (uint32_t)(4 * rg * kRowBytes);
  const uint32_t bLane = sW + (uint32_t)(nh * 1024 + lane * 16);

  float acc[2][4][4][4];   // [dd][row][n tile][element]
  uint32_t a[2][8][4];     // row r of group g is in slot (6g + r) & 7
  uint32_t b[2][2][4];

#pragma unroll 1
  for (int j = 0; j < 2; ++j) {
    const int col = 2 * blockIdx.x + j;
    const int n = col >> 6;
    const int h0 = ((col >> 3) & 7) * 16;
    const int w0 = (col & 7) * 16;

    __syncthreads();   // the previous column is done with the ring
    if (j == 0) {
      const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(wp);
#pragma unroll 1
      for (int i = tid; i < kWeightBytes / 16; i += 256)
        cp_async16(sW + i * 16, wsrc + i * 16, 16);
      cp_async_commit();
    }
#pragma unroll 1
    for (int p = -1; p <= 2; ++p)
      load_plane(xh, ring, n, p, h0, w0);
    cp_async_wait_all();
    __syncthreads();

#pragma unroll
    for (int q = 0; q < 2; ++q)
      lds128(b[0][q], bLane + q * 512);

#pragma unroll 1
    for (int t = 0; t < 16; ++t) {
      const int d0 = 2 * t;

      // ---- phase 1: m1 = (P1+P2)*U1 in acc[0], m2 = (P2-P1)*U2 in acc[1]
      {
        const uint32_t base0 = ringWarp + (uint32_t)((d0 + 1) & 3) * kPlaneBytes;
        const uint32_t base1 = ringWarp + (uint32_t)((d0 + 2) & 3) * kPlaneBytes;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          ldmatrix_x4(a[0][r], base0 + offA[0][0] + r * kRowBytes);
          ldmatrix_x4(a[1][r], base1 + offA[0][0] + r * kRowBytes);
        }
#pragma unroll
        for (int dd = 0; dd < 2; ++dd)
#pragma unroll
          for (int hh = 0; hh < 4; ++hh)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
#pragma unroll
              for (int e = 0; e < 4; ++e)
                acc[dd][hh][nt][e] = 0.0f;
#pragma unroll
        for (int r = 0; r < 4; ++r)
          sum_diff(a[0][r], a[1][r]);

#pragma unroll
        for (int gq = 0; gq < 6; ++gq) {
#pragma unroll
          for (int kh = 0; kh < 3; ++kh) {
            const int st = gq * 3 + kh;
            const int gn = gq < 5 ? gq + 1 : 0;
            // two rows ahead: (row 4, next row 0), (row 5, next row 1), (next row 2, next row 3)
            const int sx = kh < 2 ? (6 * gq + 4 + kh) & 7 : (6 * gq) & 7;
            const int sy = kh < 2 ? (6 * gq + 6 + kh) & 7 : (6 * gq + 1) & 7;
            if (kh < 2 || gq < 5) {
              const int g = kh < 2 ? gq : gn;
              const uint32_t o = offA[g >> 1][g & 1] + (kh < 2 ? 4 + kh : 2) * kRowBytes;
              ldmatrix_x4(a[0][sx], base0 + o);
              ldmatrix_x4(a[1][sx], base1 + o);
            }
            if (gq < 5) {
              const uint32_t o = offA[gn >> 1][gn & 1] + (kh < 2 ? kh : 3) * kRowBytes;
              ldmatrix_x4(a[0][sy], base0 + o);
              ldmatrix_x4(a[1][sy], base1 + o);
            }
#pragma unroll
            for (int dd = 0; dd < 2; ++dd) {
              const int hs = 2 * st + dd;
              const int cur = hs & 1;
#pragma unroll
              for (int q = 0; q < 2; ++q)
                lds128(b[cur ^ 1][q], bLane + (hs + 1) * kStepBytes + q * 512);
#pragma unroll
              for (int hh = 0; hh < 4; ++hh)
#pragma unroll
                for (int nt = 0; nt < 4; ++nt)
                  mma16816(acc[dd][hh][nt], a[dd][(6 * gq + kh + hh) & 7],
                           b[cur][nt >> 1][(nt & 1) * 2], b[cur][nt >> 1][(nt & 1) * 2 + 1]);
            }
            if (kh < 2 || gq < 5)
              sum_diff(a[0][sx], a[1][sx]);
            if (gq < 5)
              sum_diff(a[0][sy], a[1][sy]);
          }
        }
      }

      // ---- phases 2a: acc[0] += (P0-P2)*g0, and 2b: acc[1] += (P3-P1)*g2
#pragma unroll
      for (int dd = 0; dd < 2; ++dd) {
        const uint32_t basep = ringWarp + (uint32_t)((d0 + 3 * dd) & 3) * kPlaneBytes;
        const uint32_t basem = ringWarp + (uint32_t)((d0 + 2 - dd) & 3) * kPlaneBytes;
        if (dd == 1) {
          cp_async_wait_all();   // plane d0+2 (P3) has arrived
          __syncthreads();       // the slot of P0 is free
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          ldmatrix_x4(a[0][r], basep + offA[0][0] + r * kRowBytes);
          ldmatrix_x4(a[1][r], basem + offA[0][0] + r * kRowBytes);
        }
        if (dd == 0) {
          // butterfly: acc[0] = m1 + m2, acc[1] = m1 - m2
#pragma unroll
          for (int hh = 0; hh < 4; ++hh)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
#pragma unroll
              for (int e = 0; e < 4; ++e) {
                const float s = acc[0][hh][nt][e] + acc[1][hh][nt][e];
                acc[1][hh][nt][e] = acc[0][hh][nt][e] - acc[1][hh][nt][e];
                acc[0][hh][nt][e] = s;
              }
        } else {
          if (t < 15)
            load_plane(xh, ring, n, d0 + 3, h0, w0);
        }
#pragma unroll
        for (int r = 0; r < 4; ++r)
          diff_only(a[0][r], a[1][r]);

#pragma unroll
        for (int gq = 0; gq < 6; ++gq) {
#pragma unroll
          for (int kh = 0; kh < 3; ++kh) {
            const int hs = 36 + dd * 18 + gq * 3 + kh;
            const int cur = hs & 1;
            const int gn = gq < 5 ? gq + 1 : 0;
            const int sx = kh < 2 ? (6 * gq + 4 + kh) & 7 : (6 * gq) & 7;
            const int sy = kh < 2 ? (6 * gq + 6 + kh) & 7 : (6 * gq + 1) & 7;
            // B of the next half-step (the last one fetches the first of the next tile)
#pragma unroll
            for (int q = 0; q < 2; ++q)
              lds128(b[cur ^ 1][q], bLane + (hs == 71 ? 0 : hs + 1) * kStepBytes + q * 512);
            if (kh < 2 || gq < 5) {
              const int g = kh < 2 ? gq : gn;
              const uint32_t o = offA[g >> 1][g & 1] + (kh < 2 ? 4 + kh : 2) * kRowBytes;
              ldmatrix_x4(a[0][sx], basep + o);
              ldmatrix_x4(a[1][sx], basem + o);
            }
            if (gq < 5) {
              const uint32_t o = offA[gn >> 1][gn & 1] + (kh < 2 ? kh : 3) * kRowBytes;
              ldmatrix_x4(a[0][sy], basep + o);
              ldmatrix_x4(a[1][sy], basem + o);
            }
#pragma unroll
            for (int hh = 0; hh < 4; ++hh)
#pragma unroll
              for (int nt = 0; nt < 4; ++nt)
                mma16816(acc[dd][hh][nt], a[0][(6 * gq + kh + hh) & 7],
                         b[cur][nt >> 1][(nt & 1) * 2], b[cur][nt >> 1][(nt & 1) * 2 + 1]);
            if (kh < 2 || gq < 5)
              diff_only(a[0][sx], a[1][sx]);
            if (gq < 5)
              diff_only(a[0][sy], a[1][sy]);
          }
        }
      }

      // Epilogue: pooling is local to the thread, 32 channels are spread over the four lanes of a
      // quad, the two halves of the channels over two warps.
      {
        float bv[8];
#pragma unroll
        for (int nt = 0; nt < 4; ++nt)
          asm volatile("ld.global.nc.v2.f32 {%0,%1}, [%2];\n"
                       : "=f"(bv[nt * 2]), "=f"(bv[nt * 2 + 1])
                       : "l"(bias + nh * 32 + nt * 8 + 2 * (lane & 3)));
#pragma unroll
        for (int pr = 0; pr < 2; ++pr) {
          float v[8];
          float m = -INFINITY;
#pragma unroll
          for (int nt = 0; nt < 4; ++nt) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              float y = fmaxf(acc[0][2 * pr][nt][e], acc[0][2 * pr][nt][e + 2]);
              y = fmaxf(y, fmaxf(acc[0][2 * pr + 1][nt][e], acc[0][2 * pr + 1][nt][e + 2]));
              y = fmaxf(y, fmaxf(acc[1][2 * pr][nt][e], acc[1][2 * pr][nt][e + 2]));
              y = fmaxf(y, fmaxf(acc[1][2 * pr + 1][nt][e], acc[1][2 * pr + 1][nt][e + 2]));
              y += bv[nt * 2 + e];
              v[nt * 2 + e] = y;
              m = fmaxf(m, y);
            }
          }
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
          float s = 0.0f;
#pragma unroll
          for (int i = 0; i < 8; ++i)
            s += __expf(v[i] - m);
          s += __shfl_xor_sync(0xffffffffu, s, 1);
          s += __shfl_xor_sync(0xffffffffu, s, 2);
          if ((lane & 3) == 0)
            red[nh * 64 + (rg * 2 + pr) * 8 + (lane >> 2)] = make_float2(m, s);
        }
      }

      cp_async_wait_all();   // plane d0+3 has arrived
      __syncthreads();       // the slot of P1 is free, red is complete
      if (t < 15)
        load_plane(xh, ring, n, d0 + 4, h0, w0);
      if (tid < 64) {
        const float2 u0 = red[tid];
        const float2 u1 = red[64 + tid];
        const float m = fmaxf(u0.x, u1.x);
        const float s = u0.y * __expf(u0.x - m) + u1.y * __expf(u1.x - m);
        out[((n * 16 + t) * 64 + (h0 >> 1) + (tid >> 3)) * 64 + (w0 >> 1) + (tid & 7)] =
            fmaxf(m + logf(s), 0.0f);
      }
    }
  }
}

} // namespace

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  at::Tensor xh = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wp = at::empty({73728}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  __half *xh_ptr = static_cast<__half *>(xh.data_ptr());
  __half *wp_ptr = static_cast<__half *>(wp.data_ptr());
  cudaFuncSetAttribute(conv_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  prep_kernel<<<kPackBlocks + kConvertBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xh_ptr,
      reinterpret_cast<uint32_t *>(wp_ptr));
  conv_fused_kernel<<<128, 256, kSmemBytes, stream>>>(
      xh_ptr, wp_ptr, conv_bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
