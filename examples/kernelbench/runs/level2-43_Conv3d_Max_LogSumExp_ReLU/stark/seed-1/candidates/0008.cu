// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>
#include <cooperative_groups.h>

static constexpr int kWeightVecs = 9216;              // uint4 of packed weights
static constexpr int kWeightBytes = kWeightVecs * 16; // 147456
static constexpr int kPlaneBytes = 18 * 18 * 32;      // 10368: a half-plane, 16 channels
static constexpr int kExOff = kWeightBytes + 8 * kPlaneBytes; // 230400
static constexpr int kSmemBytes = kExOff + 1024 + 256; // 231680: exchange buffer, bias
static constexpr int kGrid = 128;
static constexpr int kPassVecs = 2304; // uint4 of weights of one pass
static constexpr int kWeightBlocks = 36;
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

static __device__ __forceinline__ void cp_async_wait0() {
  asm volatile("cp.async.wait_group 0;\n" ::: "memory");
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

// Winograd F(2,3) weight along depth; q points at kd = 0 of one (o, c, kh, kw).
static __device__ __forceinline__ float wino_weight(const float *q, bool is_x, int side, float scale) {
  const float g0 = q[0];
  const float g1 = q[9];
  const float g2 = q[18];
  const float s = g0 + g2;
  const float ux = (side ? s - g1 : s + g1) * scale;
  const float uy = side ? g2 : g0;
  return is_x ? ux : uy;
}

// A read-only load that stays where it is written.
static __device__ __forceinline__ float ld_x(const float *p) {
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];\n" : "=f"(v) : "l"(p));
  return v;
}

// The same, but 0 and no access where ok is 0.
static __device__ __forceinline__ float ld_x_if(const float *p, int ok) {
  float v = 0.f;
  asm volatile("{\n"
               ".reg .pred q;\n"
               "setp.ne.s32 q, %2, 0;\n"
               "@q ld.global.nc.f32 %0, [%1];\n"
               "}\n"
               : "+f"(v)
               : "l"(p), "r"(ok));
  return v;
}

// One transform task: one pixel, 4 channels, the 4 depths of a pair.
// src: first of the 4 channels at depth 2 * pair.
static __device__ __forceinline__ void tf_load(float (&f)[16], const float *src, int has0, int has3) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float *s = src + i * 524288;
    f[4 * i + 1] = ld_x(s);
    f[4 * i + 2] = ld_x(s + 16384);
    f[4 * i] = ld_x_if(s - 16384, has0);
    f[4 * i + 3] = ld_x_if(s + 32768, has3);
  }
}

// Planes V1 = r1 + r2, V2 = r2 - r1, V0 = r0 - r2, V3 = r3 - r1; a plane is 131072 uint2.
static __device__ __forceinline__ void tf_store(const float (&f)[16], uint2 *dst) {
  dst[0] = make_uint2(pack_half2(f[1] + f[2], f[5] + f[6]), pack_half2(f[9] + f[10], f[13] + f[14]));
  dst[131072] = make_uint2(pack_half2(f[2] - f[1], f[6] - f[5]), pack_half2(f[10] - f[9], f[14] - f[13]));
  dst[2 * 131072] = make_uint2(pack_half2(f[0] - f[2], f[4] - f[6]), pack_half2(f[8] - f[10], f[12] - f[14]));
  dst[3 * 131072] = make_uint2(pack_half2(f[3] - f[1], f[7] - f[5]), pack_half2(f[11] - f[9], f[15] - f[13]));
}

// x -> fp16, n d h w c;  weights -> [kd][kk][kh][kw][j][lane] fragments.
// Here: the transformed planes [pair][q][h][w][c] of image 0 only.
static __global__ void __launch_bounds__(256) pack_kernel(const float *__restrict__ x, const float *__restrict__ w,
                                                          uint4 *__restrict__ xh, uint4 *__restrict__ wp) {
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  if (blockIdx.x < kWeightBlocks) {
    // weights in the order of the passes: [g 4][side 2][kh 3][kw 3][j 4][lane 32]
    const int gidx = blockIdx.x * 256 + tid;
    int rest = gidx >> 5;
    const int j = rest & 3;
    rest >>= 2;
    const int kw = rest % 3;
    rest /= 3;
    const int kh = rest % 3;
    rest /= 3;
    const int side = rest & 1;
    const int g = rest >> 1;
    const int kk = g >> 1;
    const bool is_x = (g == 0 || g == 3);
    const float scale = (g == 0) ? 0.5f : 1.f;
    const int tap = kh * 3 + kw;
    const int c = kk * 16 + (lane & 3) * 2;
    const int o0 = 16 * j + (lane >> 2);
    const int o1 = o0 + 8;
    const float *p0 = w + (o0 * 32 + c) * 27 + tap;
    const float *p1 = w + (o1 * 32 + c) * 27 + tap;
    uint4 v; // an A fragment: 16 output channels, 16 input channels
    v.x = pack_half2(wino_weight(p0, is_x, side, scale), wino_weight(p0 + 27, is_x, side, scale));
    v.y = pack_half2(wino_weight(p1, is_x, side, scale), wino_weight(p1 + 27, is_x, side, scale));
    v.z = pack_half2(wino_weight(p0 + 8 * 27, is_x, side, scale), wino_weight(p0 + 9 * 27, is_x, side, scale));
    v.w = pack_half2(wino_weight(p1 + 8 * 27, is_x, side, scale), wino_weight(p1 + 9 * 27, is_x, side, scale));
    wp[gidx] = v;
    return;
  }
  const int warp = tid >> 5;
  const int blk = (int)blockIdx.x - kWeightBlocks;
  const int part = blk & 3;
  const int row = blk >> 2;
  const int h = row & 127;
  const int pair = row >> 7;
  const int wpos = part * 32 + (warp & 3) * 8 + (lane >> 2);
  const int c4 = (warp >> 2) * 4 + (lane & 3);
  const float *src = x + (size_t)c4 * 4 * 524288 + 2 * pair * 16384 + h * 128 + wpos;
  uint2 *dst = reinterpret_cast<uint2 *>(xh) + (((pair * 4 * 128 + h) * 128 + wpos) * 8 + c4);
  float f[16];
  tf_load(f, src, pair > 0 ? 1 : 0, pair < 15 ? 1 : 0);
  tf_store(f, dst);
}

// Loads plane s (numbered over the block's columns) into its slot of the ring.
// Here: the four transformed half-planes (channels 16*kk ..) of unit u into buffer kk,
// in the order V1,V2,V0,V3 (kk = 0) or V0,V3,V1,V2 (kk = 1).
static __device__ __forceinline__ void issue_stage(int u, int kk, uint32_t ring, const uint4 *xh,
                                                   const uint32_t (&meta)[3], int tid) {
  const int w0 = (u & 7) * 16 - 1;
  const int h0 = ((u >> 3) & 7) * 16 - 1;
  const int np = u >> 6; // n * 16 + pair
  const uint32_t dst = ring + (uint32_t)(kk * 4 * kPlaneBytes);
  const int cc = kk * 2 + (tid & 1);
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (k < 2 || tid < 136) {
      const int h = h0 + (int)((meta[k] >> 16) & 255u);
      const int wv = w0 + (int)(meta[k] >> 24);
      const bool ok = (unsigned)h < 128u && (unsigned)wv < 128u;
      const int idx = ((np * 4 * 128 + h) * 128 + wv) * 4 + cc;
      const uint32_t a = dst + (meta[k] & 0xffffu);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int src = ok ? idx + (i ^ (kk * 2)) * 65536 : 0;
        cp_async16(a + (uint32_t)(i * kPlaneBytes), xh + src, ok ? 16 : 0);
      }
    }
  }
}

// Joins the two channel halves of unit u; threads 0..63.
static __device__ __forceinline__ void finish_unit(int u, int tid, const float2 *ex, float *__restrict__ out) {
  const float2 a = ex[tid];
  const float2 b = ex[64 + tid];
  const float M = fmaxf(a.x, b.x);
  const float S = a.y * __expf(a.x - M) + b.y * __expf(b.x - M);
  const int wt = u & 7;
  const int ht = (u >> 3) & 7;
  const int np = u >> 6; // n * 16 + pair
  out[(np * 64 + ht * 8 + (tid >> 3)) * 64 + wt * 8 + (tid & 7)] = fmaxf(M + logf(S), 0.f);
}

// One row of pixel fragments: positions 2r, 2r+1 (a0) and 2r+2, 2r+3 (a1), each as the pair (channels lo, hi).
static __device__ __forceinline__ void load_row(uint32_t (&A)[8], uint32_t a0, uint32_t a1) {
  ldmatrix_x4(A[0], A[1], A[2], A[3], a0);
  ldmatrix_x4(A[4], A[5], A[6], A[7], a1);
}

static __global__ void __launch_bounds__(256, 1)
    fused_kernel(const float *__restrict__ x, uint4 *xh, uint4 *wp, const float *__restrict__ bias,
                 float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int hq = warp & 3;
  const int nq = warp >> 2;
  const uint32_t smem_base = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = smem_base + kWeightBytes;
  float2 *const ex = reinterpret_cast<float2 *>(smem + kExOff);
  float *const sbias = reinterpret_cast<float *>(smem + kExOff + 1024);
  const uint4 *const ws = reinterpret_cast<const uint4 *>(smem) + nq * 64 + lane;

  if (tid < 64)
    sbias[tid] = bias[tid];

  // destination offset, h-row and w-position of this thread's chunks of a half-plane
  uint32_t meta[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const int i = tid + 256 * k;
    const int c = i & 1;
    const int pos = i >> 1;
    const int hr = pos / 18;
    const int mm = pos - hr * 18;
    const int wv = mm < 16 ? ((mm & 8) | ((mm & 3) << 1) | ((mm >> 2) & 1)) : mm;
    const int q = (wv & 1) * 9 + (wv >> 1);
    const int p = hr * 18 + q;
    const uint32_t byte = (uint32_t)(p * 32 + ((c ^ ((p >> 2) & 1)) << 4));
    meta[k] = (byte & 0xffffu) | ((uint32_t)hr << 16) | ((uint32_t)wv << 24);
  }

  // ldmatrix addresses of rows 0 and 1 in half-plane 0; rows 2 and 3 are 36 positions (1152 bytes) further,
  // with the swizzle bit flipped
  uint32_t off[2][2];
  {
    const int j8 = lane >> 3;
    const int r = lane & 7;
    const int cb = j8 & 1;
    const int pq = (j8 >> 1) * 9 + r;
#pragma unroll
    for (int ph = 0; ph < 2; ++ph)
#pragma unroll
      for (int L = 0; L < 2; ++L) {
        const int p = (4 * hq + ph) * 18 + pq + L;
        off[ph][L] = ring + (uint32_t)(p * 32 + ((cb ^ ((p >> 2) & 1)) << 4));
      }
  }

  // this block's tile, and this thread's part of the transform of the next image
  const int b = (int)blockIdx.x;
  const int ubase = (b >> 6) * 512 + (b & 63);
  const float *tsrc; // of image 1
  uint2 *tdst;       // of image 1
  {
    const int wt = b & 7;
    const int ht = (b >> 3) & 7;
    const int th = 16 * ht + (warp >> 2);
    const int tw = 16 * wt + 8 * (warp & 1) + (lane >> 2);
    const int cg4 = ((warp >> 1) & 1) * 4 + (lane & 3);
    tsrc = x + (size_t)(32 + 4 * cg4) * 524288 + th * 128 + tw;
    tdst = reinterpret_cast<uint2 *>(xh) + 8388608 + (th * 128 + tw) * 8 + cg4;
  }

  // weights, once, and the first stage
#pragma unroll 1
  for (int i = tid; i < kWeightVecs; i += 256)
    cp_async16(smem_base + (uint32_t)i * 16u, wp + i, 16);
  issue_stage(ubase, 0, ring, xh, meta, tid);
  cp_async_commit();
  cp_async_wait0();
  __syncthreads(); // the weights are there

  uint4 b0 = ws[0];
  uint4 b1 = ws[32];

  int uprev = -1;
#pragma unroll 1
  for (int n = 0; n < 4; ++n) {
    // odd images go backwards: what was written last is read first
    const int ustep = (n & 1) ? -64 : 64;
    int u = n * 1024 + ubase + ((n & 1) ? 448 : 0);
    if (n) {
      __threadfence();
      cooperative_groups::this_grid().sync(); // image n is transformed by all blocks
      issue_stage(u, 0, ring, xh, meta, tid);
      cp_async_commit();
    }
    const bool more = n < 3;

#pragma unroll 1
    for (int it = 0; it < 8; ++it, u += ustep) {
      const int pair = (u >> 6) & 15;

      float acc[2][4][4][4]; // [P, Q][row][parity of w * 2 + 16-channel tile][e]
#pragma unroll
      for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int bb = 0; bb < 4; ++bb)
#pragma unroll
          for (int c = 0; c < 4; ++c)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              acc[a][bb][c][e] = 0.f;

#pragma unroll 1
      for (int g = 0; g < 4; ++g) {
        const uint32_t pb = (uint32_t)g * (2 * kPlaneBytes);

        if (!(g & 1)) {
          cp_async_wait0();
          __syncthreads(); // stage kk has arrived for all; all are done with buffer kk ^ 1
        }

        uint32_t A[6][8];
        load_row(A[0], off[0][0] + pb, off[0][1] + pb);
        load_row(A[1], off[1][0] + pb, off[1][1] + pb);
        load_row(A[2], (off[0][0] ^ 16u) + pb + 1152u, (off[0][1] ^ 16u) + pb + 1152u);
        load_row(A[3], (off[1][0] ^ 16u) + pb + 1152u, (off[1][1] ^ 16u) + pb + 1152u);

        if (!(g & 1)) {
          if (g == 0) {
            issue_stage(u, 1, ring, xh, meta, tid);
          } else if (it < 7) {
            issue_stage(u + ustep, 0, ring, xh, meta, tid);
          }
          cp_async_commit();
          if (g == 0 && uprev >= 0 && tid < 64)
            finish_unit(uprev, tid, ex, out);
          __syncwarp();
        }

        const uint4 *const B = ws + g * kPassVecs;
        const uint4 *const Bn = (g == 3) ? ws : B + kPassVecs;

        float f[16]; // a transform task of the next image, in flight
#pragma unroll
        for (int s = 0; s < 18; ++s) {
          const int sd = s / 9;
          const int kh = (s % 9) / 3;
          const int kw = s % 3;
          const uint32_t sb = pb + (uint32_t)(sd * kPlaneBytes);
          if (s % 9 == 0) {
            if (more)
              tf_load(f, tsrc + (n * 16777216 + pair * 32768 + g * 512 + sd * 256), pair > 0 ? 1 : 0,
                      pair < 15 ? 1 : 0);
          }
          if (s % 9 == 0) // row 4 is 72 positions after row 0
            load_row(A[4], off[0][0] + sb + 2304u, off[0][1] + sb + 2304u);
          if (s % 9 == 3)
            load_row(A[5], off[1][0] + sb + 2304u, off[1][1] + sb + 2304u);
          if (s == 6) { // rows 0 and 1 of side 0 are dead
            load_row(A[0], off[0][0] + pb + (uint32_t)kPlaneBytes, off[0][1] + pb + (uint32_t)kPlaneBytes);
            load_row(A[1], off[1][0] + pb + (uint32_t)kPlaneBytes, off[1][1] + pb + (uint32_t)kPlaneBytes);
          }
          const uint4 *const nb = (s < 17) ? B + (s + 1) * 128 : Bn;
          const uint4 n0 = nb[0];
          const uint4 n1 = nb[32];
#pragma unroll
          for (int mt = 0; mt < 4; ++mt) {
            const int ph = mt + kh;
            const uint32_t e0 = A[ph][2 * kw];
            const uint32_t e1 = A[ph][2 * kw + 1];
            const uint32_t o0 = A[ph][2 * kw + 2];
            const uint32_t o1 = A[ph][2 * kw + 3];
            mma16816(acc[sd][mt][0], b0.x, b0.y, b0.z, b0.w, e0, e1); // channels 0..15, even w
            mma16816(acc[sd][mt][1], b1.x, b1.y, b1.z, b1.w, e0, e1); // channels 16..31, even w
            mma16816(acc[sd][mt][2], b0.x, b0.y, b0.z, b0.w, o0, o1); // channels 0..15, odd w
            mma16816(acc[sd][mt][3], b1.x, b1.y, b1.z, b1.w, o0, o1); // channels 16..31, odd w
            if (s == 8 && mt < 2) // rows 2 and 3 of side 0 die here, one after the other
              load_row(A[2 + mt], (off[mt & 1][0] ^ 16u) + pb + (uint32_t)(kPlaneBytes + 1152),
                       (off[mt & 1][1] ^ 16u) + pb + (uint32_t)(kPlaneBytes + 1152));
          }
          if (s % 9 == 8) {
            if (more)
              tf_store(f, tdst + ((u >> 6) * 524288 + g * 4096 + sd * 2048));
          }
          b0 = n0;
          b1 = n1;
        }

        if (!(g & 1)) {
          // change of basis: (P, Q) <- (P + Q, P - Q)
#pragma unroll
          for (int mt = 0; mt < 4; ++mt)
#pragma unroll
            for (int nt = 0; nt < 4; ++nt)
#pragma unroll
              for (int e = 0; e < 4; ++e) {
                const float p = acc[0][mt][nt][e];
                const float q = acc[1][mt][nt][e];
                acc[0][mt][nt][e] = p + q;
                acc[1][mt][nt][e] = p - q;
              }
        }
      }

      // epilogue: max over 2x2x2, bias, partial logsumexp over this warp's 32 channels
#pragma unroll
      for (int y = 0; y < 2; ++y) {
#pragma unroll
        for (int col = 0; col < 2; ++col) {
          float v[4];
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int ct = k >> 1;
            const int e = (k & 1) * 2 + col;
            const float m00 = acc[0][2 * y][ct][e] + fabsf(acc[1][2 * y][ct][e]);
            const float m01 = acc[0][2 * y][2 + ct][e] + fabsf(acc[1][2 * y][2 + ct][e]);
            const float m10 = acc[0][2 * y + 1][ct][e] + fabsf(acc[1][2 * y + 1][ct][e]);
            const float m11 = acc[0][2 * y + 1][2 + ct][e] + fabsf(acc[1][2 * y + 1][2 + ct][e]);
            v[k] = 0.5f * fmaxf(fmaxf(m00, m01), fmaxf(m10, m11)) +
                   sbias[32 * nq + 16 * ct + (lane >> 2) + 8 * (k & 1)];
          }
          float m = fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3]));
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 4));
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 8));
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 16));
          float sum = 0.f;
#pragma unroll
          for (int k = 0; k < 4; ++k)
            sum += __expf(v[k] - m);
          sum += __shfl_xor_sync(0xffffffffu, sum, 4);
          sum += __shfl_xor_sync(0xffffffffu, sum, 8);
          sum += __shfl_xor_sync(0xffffffffu, sum, 16);
          if (lane < 4)
            ex[nq * 64 + (2 * hq + y) * 8 + 2 * lane + col] = make_float2(m, sum);
        }
      }
      uprev = u;
    }
  }

  __syncthreads();
  if (tid < 64)
    finish_unit(uprev, tid, ex, out);
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor xh = at::empty({4, 16, 4, 128, 128, 32}, x.options().dtype(at::kHalf)); // n, pair, q, h, w, c
  at::Tensor wp = at::empty({73728}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  cudaStream_t st = at::cuda::getCurrentCUDAStream();
  uint4 *xh_p = reinterpret_cast<uint4 *>(xh.data_ptr());
  uint4 *wp_p = reinterpret_cast<uint4 *>(wp.data_ptr());
  const float *xp = x.const_data_ptr<float>();
  const float *bp = conv_bias.const_data_ptr<float>();
  float *op = out.data_ptr<float>();
  pack_kernel<<<kXBlocks + kWeightBlocks, 256, 0, st>>>(xp, conv_weight.const_data_ptr<float>(), xh_p, wp_p);
  cudaFuncSetAttribute(fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  void *args[] = {&xp, &xh_p, &wp_p, &bp, &op};
  cudaLaunchCooperativeKernel((const void *)fused_kernel, dim3(kGrid), dim3(256), args, (size_t)kSmemBytes, st);
  return out;
}
