// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kWeightVecs = 6912;              // uint4 of packed weights
static constexpr int kWeightBytes = kWeightVecs * 16; // 110592
static constexpr int kPlaneBytes = 10 * 18 * 64;      // 11520
static constexpr int kRing = 10;
static constexpr int kSmemBytes = kWeightBytes + kRing * kPlaneBytes; // 225792
static constexpr int kGrid = 132;
static constexpr int kColumns = 512;
static constexpr int kPlanesPerColumn = 34;
static constexpr int kWeightBlocks = 27;
static constexpr int kXBlocks = 8192;

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int src_size) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(src_size) : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

static __device__ __forceinline__ void cp_async_wait1() {
  asm volatile("cp.async.wait_group 1;\n" ::: "memory");
}

static __device__ __forceinline__ void ldmatrix_x4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                                   uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr));
}

static __device__ __forceinline__ void mma16816(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                                uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// x -> fp16, n d h w c;  weights -> [kd][kk][kh][kw][j][lane] fragments.
static __global__ void __launch_bounds__(256) pack_kernel(const float *__restrict__ x, const float *__restrict__ w,
                                                          uint4 *__restrict__ xh, uint4 *__restrict__ wp) {
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  if (blockIdx.x < kWeightBlocks) {
    const int g = blockIdx.x * 256 + tid;
    int rest = g >> 5;
    const int j = rest & 3;
    rest >>= 2;
    const int kw = rest % 3;
    rest /= 3;
    const int kh = rest % 3;
    rest /= 3;
    const int kk = rest & 1;
    const int kd = rest >> 1;
    const int tap = kd * 9 + kh * 3 + kw;
    const int c = kk * 16 + (lane & 3) * 2;
    const int o0 = (2 * j) * 8 + (lane >> 2);
    const int o1 = o0 + 8;
    const float *p0 = w + (o0 * 32 + c) * 27 + tap;
    const float *p1 = w + (o1 * 32 + c) * 27 + tap;
    uint4 v;
    v.x = pack_half2(p0[0], p0[27]);
    v.y = pack_half2(p0[8 * 27], p0[9 * 27]);
    v.z = pack_half2(p1[0], p1[27]);
    v.w = pack_half2(p1[8 * 27], p1[9 * 27]);
    wp[g] = v;
    return;
  }
  const int gw = (blockIdx.x - kWeightBlocks) * 8 + (tid >> 5);
  const int row = gw >> 2; // (n*32 + d)*128 + h
  const int wbase = (gw & 3) * 32;
  const int ck = lane & 3;
  const int wq = lane >> 2;
  const int h = row & 127;
  const int d = (row >> 7) & 31;
  const int n = row >> 12;
  const float *src = x + ((((size_t)n * 32 + ck * 8) * 32 + d) * 128 + h) * 128 + wbase + 4 * wq;
  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldcs(reinterpret_cast<const float4 *>(src + (size_t)i * (32 * 128 * 128)));
  uint4 *dst = xh + ((size_t)row * 128 + wbase + 4 * wq) * 4 + ck;
  uint4 r;
  r.x = pack_half2(v[0].x, v[1].x);
  r.y = pack_half2(v[2].x, v[3].x);
  r.z = pack_half2(v[4].x, v[5].x);
  r.w = pack_half2(v[6].x, v[7].x);
  dst[0] = r;
  r.x = pack_half2(v[0].y, v[1].y);
  r.y = pack_half2(v[2].y, v[3].y);
  r.z = pack_half2(v[4].y, v[5].y);
  r.w = pack_half2(v[6].y, v[7].y);
  dst[4] = r;
  r.x = pack_half2(v[0].z, v[1].z);
  r.y = pack_half2(v[2].z, v[3].z);
  r.z = pack_half2(v[4].z, v[5].z);
  r.w = pack_half2(v[6].z, v[7].z);
  dst[8] = r;
  r.x = pack_half2(v[0].w, v[1].w);
  r.y = pack_half2(v[2].w, v[3].w);
  r.z = pack_half2(v[4].w, v[5].w);
  r.w = pack_half2(v[6].w, v[7].w);
  dst[12] = r;
}

// Loads plane s (numbered over the block's columns) into its slot of the ring.
static __device__ __forceinline__ void load_plane(int s, uint32_t ring, const uint4 *__restrict__ xh,
                                                  const uint32_t (&meta)[3], int tid) {
  const int jc = s / kPlanesPerColumn;
  const int d = s - jc * kPlanesPerColumn - 1;
  const int col = (int)blockIdx.x + kGrid * jc;
  const int w0 = (col & 7) * 16 - 1;
  const int h0 = ((col >> 3) & 15) * 8 - 1;
  const int n = col >> 7;
  const bool dok = (unsigned)d < 32u;
  const uint32_t dst = ring + (uint32_t)(s % kRing) * kPlaneBytes;
  const int c = tid & 3;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (k < 2 || tid < 208) {
      const int h = h0 + (int)((meta[k] >> 16) & 255u);
      const int wv = w0 + (int)(meta[k] >> 24);
      const bool ok = dok && (unsigned)h < 128u && (unsigned)wv < 128u;
      const int idx = ok ? ((((n * 32 + d) * 128 + h) * 128 + wv) * 4 + c) : 0;
      cp_async16(dst + (meta[k] & 0xffffu), xh + idx, ok ? 16 : 0);
    }
  }
}

static __global__ void __launch_bounds__(256, 1)
    fused_kernel(const uint4 *__restrict__ xh, const uint4 *__restrict__ wp, const float *__restrict__ bias,
                 float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int dp = warp >> 2;
  const int hp = warp & 3;
  const uint32_t smem_base = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = smem_base + kWeightBytes;
  const uint4 *const ws = reinterpret_cast<const uint4 *>(smem) + lane;

  // destination offset, h-row and w-position of this thread's chunks of a plane
  uint32_t meta[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const int pos = (tid >> 2) + 64 * k;
    const int hr = pos / 18;
    const int wv = pos - hr * 18;
    const int q = (wv & 1) * 9 + (wv >> 1);
    const int p = hr * 18 + q;
    const int c = tid & 3;
    const uint32_t byte = (uint32_t)(p * 64 + ((c ^ ((p >> 1) & 3)) << 4));
    meta[k] = (byte & 0xffffu) | ((uint32_t)hr << 16) | ((uint32_t)wv << 24);
  }

  // ldmatrix offsets inside a plane
  uint32_t off[4][2];
  {
    const int j8 = lane >> 3;
    const int r = lane & 7;
    const int cb = j8 & 1;
    const int pq = (j8 >> 1) * 9 + r;
#pragma unroll
    for (int ph = 0; ph < 4; ++ph)
#pragma unroll
      for (int L = 0; L < 2; ++L) {
        const int p = (2 * hp + ph) * 18 + pq + L;
        off[ph][L] = (uint32_t)(p * 64 + ((cb ^ ((p >> 1) & 3)) << 4));
      }
  }

  // weights, once; they join the first commit group
#pragma unroll 1
  for (int i = tid; i < kWeightVecs; i += 256)
    cp_async16(smem_base + (uint32_t)i * 16u, wp + i, 16);

  const int ncols = (kColumns - (int)blockIdx.x + kGrid - 1) / kGrid;
  const int S = kPlanesPerColumn * ncols;
  int issued = 0;

#pragma unroll 1
  for (int jj = 0; jj < ncols; ++jj) {
#pragma unroll 1
    for (int t = 0; t < 8; ++t) {
      const int F = kPlanesPerColumn * jj + 4 * t;

      __syncthreads(); // everyone is finished with the previous step
      {
        const int lim = min(F + 6, S);
#pragma unroll 1
        while (issued < lim) {
          load_plane(issued, ring, xh, meta, tid);
          ++issued;
        }
        cp_async_commit();
        const int lim2 = min(F + 10, S);
#pragma unroll 1
        while (issued < lim2) {
          load_plane(issued, ring, xh, meta, tid);
          ++issued;
        }
        cp_async_commit();
      }
      cp_async_wait1();
      __syncthreads();

      float acc[2][2][8][4];
#pragma unroll
      for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 2; ++b)
#pragma unroll
          for (int c = 0; c < 8; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              acc[a][b][c][e] = 0.f;

      uint4 b0 = ws[0];
      uint4 b1 = ws[32];

#pragma unroll 1
      for (int it = 0; it < 6; ++it) {
        const int kd = it >> 1;
        const uint32_t kx = (uint32_t)(it & 1) << 5;
        const int sl0 = (F + 2 * dp + kd) % kRing;
        const int sl1 = (sl0 + 1 == kRing) ? 0 : sl0 + 1;
        const uint32_t base[2] = {ring + (uint32_t)sl0 * kPlaneBytes, ring + (uint32_t)sl1 * kPlaneBytes};
        const uint4 *const B = ws + it * (18 * 64);
        const uint4 *const Bn = (it == 5) ? ws : B + 18 * 64;

        uint32_t A[2][4][8];
#pragma unroll
        for (int ph = 0; ph < 2; ++ph)
#pragma unroll
          for (int dd = 0; dd < 2; ++dd) {
            ldmatrix_x4(A[dd][ph][0], A[dd][ph][1], A[dd][ph][2], A[dd][ph][3], base[dd] + (off[ph][0] ^ kx));
            ldmatrix_x4(A[dd][ph][4], A[dd][ph][5], A[dd][ph][6], A[dd][ph][7], base[dd] + (off[ph][1] ^ kx));
          }

#pragma unroll
        for (int u = 0; u < 18; ++u) {
          const int kh = u / 6;
          const int kw = (u % 6) >> 1;
          const int j2 = (u & 1) * 2;
          if (u % 6 == 0 && kh < 2) {
            const int ph = kh + 2;
#pragma unroll
            for (int dd = 0; dd < 2; ++dd) {
              ldmatrix_x4(A[dd][ph][0], A[dd][ph][1], A[dd][ph][2], A[dd][ph][3], base[dd] + (off[ph][0] ^ kx));
              ldmatrix_x4(A[dd][ph][4], A[dd][ph][5], A[dd][ph][6], A[dd][ph][7], base[dd] + (off[ph][1] ^ kx));
            }
          }
          const uint4 *const nb = (u < 17) ? B + (u + 1) * 64 : Bn;
          const uint4 n0 = nb[0];
          const uint4 n1 = nb[32];
#pragma unroll
          for (int q = 0; q < 2; ++q) {
            const uint4 b = q ? b1 : b0;
            const int nt = 2 * (j2 + q);
#pragma unroll
            for (int hh = 0; hh < 2; ++hh)
#pragma unroll
              for (int dd = 0; dd < 2; ++dd) {
                const int ph = hh + kh;
                mma16816(acc[dd][hh][nt], A[dd][ph][2 * kw], A[dd][ph][2 * kw + 2], A[dd][ph][2 * kw + 1],
                         A[dd][ph][2 * kw + 3], b.x, b.y);
                mma16816(acc[dd][hh][nt + 1], A[dd][ph][2 * kw], A[dd][ph][2 * kw + 2], A[dd][ph][2 * kw + 1],
                         A[dd][ph][2 * kw + 3], b.z, b.w);
              }
          }
          b0 = n0;
          b1 = n1;
        }
      }

      // epilogue: max over 2x2x2, bias, logsumexp over the 64 channels, relu
      float v[16];
#pragma unroll
      for (int nt = 0; nt < 8; ++nt) {
        const float2 bb = __ldg(reinterpret_cast<const float2 *>(bias + nt * 8 + (lane & 3) * 2));
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float m00 = fmaxf(acc[0][0][nt][e], acc[0][0][nt][e + 2]);
          const float m01 = fmaxf(acc[0][1][nt][e], acc[0][1][nt][e + 2]);
          const float m10 = fmaxf(acc[1][0][nt][e], acc[1][0][nt][e + 2]);
          const float m11 = fmaxf(acc[1][1][nt][e], acc[1][1][nt][e + 2]);
          v[nt * 2 + e] = fmaxf(fmaxf(m00, m01), fmaxf(m10, m11)) + (e ? bb.y : bb.x);
        }
      }
      float m = v[0];
#pragma unroll
      for (int i = 1; i < 16; ++i)
        m = fmaxf(m, v[i]);
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      float sum = 0.f;
#pragma unroll
      for (int i = 0; i < 16; ++i)
        sum += __expf(v[i] - m);
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const float res = fmaxf(m + logf(sum), 0.f);
      if ((lane & 3) == 0) {
        const int col = (int)blockIdx.x + kGrid * jj;
        const int wt = col & 7;
        const int ht = (col >> 3) & 15;
        const int n = col >> 7;
        out[((n * 16 + 2 * t + dp) * 64 + ht * 4 + hp) * 64 + wt * 8 + (lane >> 2)] = res;
      }
    }
  }
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor xh = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf)); // n, d, h, w, c
  at::Tensor wp = at::empty({55296}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  cudaStream_t st = at::cuda::getCurrentCUDAStream();
  uint4 *xh_p = reinterpret_cast<uint4 *>(xh.data_ptr());
  uint4 *wp_p = reinterpret_cast<uint4 *>(wp.data_ptr());
  pack_kernel<<<kXBlocks + kWeightBlocks, 256, 0, st>>>(x.const_data_ptr<float>(),
                                                        conv_weight.const_data_ptr<float>(), xh_p, wp_p);
  cudaFuncSetAttribute(fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  fused_kernel<<<kGrid, 256, kSmemBytes, st>>>(xh_p, wp_p, conv_bias.const_data_ptr<float>(),
                                               out.data_ptr<float>());
  return out;
}
