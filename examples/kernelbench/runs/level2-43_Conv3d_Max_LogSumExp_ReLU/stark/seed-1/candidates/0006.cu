// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

static constexpr int kWeightVecs = 9216;              // uint4 of packed weights
static constexpr int kWeightBytes = kWeightVecs * 16; // 147456
static constexpr int kPlaneBytes = 18 * 18 * 32;      // 10368: a half-plane, 16 channels
static constexpr int kExOff = kWeightBytes + 8 * kPlaneBytes; // 230400
static constexpr int kSmemBytes = kExOff + 1024; // 231424
static constexpr int kGrid = 132;
static constexpr int kUnits = 4096;
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

// x -> fp16, n d h w c;  weights -> [kd][kk][kh][kw][j][lane] fragments.
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
    uint4 v;
    v.x = pack_half2(wino_weight(p0, is_x, side, scale), wino_weight(p0 + 27, is_x, side, scale));
    v.y = pack_half2(wino_weight(p0 + 8 * 27, is_x, side, scale), wino_weight(p0 + 9 * 27, is_x, side, scale));
    v.z = pack_half2(wino_weight(p1, is_x, side, scale), wino_weight(p1 + 27, is_x, side, scale));
    v.w = pack_half2(wino_weight(p1 + 8 * 27, is_x, side, scale), wino_weight(p1 + 9 * 27, is_x, side, scale));
    wp[gidx] = v;
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
// Here: the four half-planes (depths 2*pair-1 .. 2*pair+2, channels 16*kk ..) of unit u into buffer kk.
static __device__ __forceinline__ void issue_stage(int u, int kk, uint32_t ring, const uint4 *__restrict__ xh,
                                                   const uint32_t (&meta)[3], int tid) {
  const int w0 = (u & 7) * 16 - 1;
  const int h0 = ((u >> 3) & 7) * 16 - 1;
  const int d0 = ((u >> 6) & 15) * 2 - 1;
  const int n = u >> 10;
  const uint32_t dst = ring + (uint32_t)(kk * 4 * kPlaneBytes);
  const int cc = kk * 2 + (tid & 1);
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (k < 2 || tid < 136) {
      const int h = h0 + (int)((meta[k] >> 16) & 255u);
      const int wv = w0 + (int)(meta[k] >> 24);
      const bool ok = (unsigned)h < 128u && (unsigned)wv < 128u;
      const int idx = (((n * 32 + d0) * 128 + h) * 128 + wv) * 4 + cc;
      const uint32_t a = dst + (meta[k] & 0xffffu);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool oki = ok && (unsigned)(d0 + i) < 32u;
        const int src = oki ? idx + i * (128 * 128 * 4) : 0;
        cp_async16(a + (uint32_t)(i * kPlaneBytes), xh + src, oki ? 16 : 0);
      }
    }
  }
}

static __device__ __forceinline__ uint32_t add_h2(uint32_t a, uint32_t b) {
  __half2 r = __hadd2(*reinterpret_cast<const __half2 *>(&a), *reinterpret_cast<const __half2 *>(&b));
  return *reinterpret_cast<uint32_t *>(&r);
}

static __device__ __forceinline__ uint32_t sub_h2(uint32_t a, uint32_t b) {
  __half2 r = __hsub2(*reinterpret_cast<const __half2 *>(&a), *reinterpret_cast<const __half2 *>(&b));
  return *reinterpret_cast<uint32_t *>(&r);
}

static __device__ __forceinline__ uint4 add_h8(const uint4 &a, const uint4 &b) {
  uint4 r;
  r.x = add_h2(a.x, b.x);
  r.y = add_h2(a.y, b.y);
  r.z = add_h2(a.z, b.z);
  r.w = add_h2(a.w, b.w);
  return r;
}

static __device__ __forceinline__ uint4 sub_h8(const uint4 &a, const uint4 &b) {
  uint4 r;
  r.x = sub_h2(a.x, b.x);
  r.y = sub_h2(a.y, b.y);
  r.z = sub_h2(a.z, b.z);
  r.w = sub_h2(a.w, b.w);
  return r;
}

// In place, each thread on the chunks that it loaded: r0..r3 -> V1,V2,V0,V3 (kk = 0) or V0,V3,V1,V2 (kk = 1).
static __device__ __forceinline__ void transform_stage(int kk, unsigned char *ringp, const uint32_t (&meta)[3],
                                                       int tid) {
  unsigned char *const base = ringp + kk * (4 * kPlaneBytes);
  const int ox = kk ? 2 * kPlaneBytes : 0;
  const int oy = 2 * kPlaneBytes - ox;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (k < 2 || tid < 136) {
      unsigned char *const p = base + (meta[k] & 0xffffu);
      const uint4 r0 = *reinterpret_cast<const uint4 *>(p);
      const uint4 r1 = *reinterpret_cast<const uint4 *>(p + kPlaneBytes);
      const uint4 r2 = *reinterpret_cast<const uint4 *>(p + 2 * kPlaneBytes);
      const uint4 r3 = *reinterpret_cast<const uint4 *>(p + 3 * kPlaneBytes);
      *reinterpret_cast<uint4 *>(p + ox) = add_h8(r1, r2);               // V1
      *reinterpret_cast<uint4 *>(p + ox + kPlaneBytes) = sub_h8(r2, r1); // V2
      *reinterpret_cast<uint4 *>(p + oy) = sub_h8(r0, r2);               // V0
      *reinterpret_cast<uint4 *>(p + oy + kPlaneBytes) = sub_h8(r3, r1); // V3
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

// One row of A fragments: positions 2r, 2r+1 (a0) and 2r+2, 2r+3 (a1).
static __device__ __forceinline__ void load_row(uint32_t (&A)[8], uint32_t a0, uint32_t a1) {
  ldmatrix_x4(A[0], A[1], A[2], A[3], a0);
  ldmatrix_x4(A[4], A[5], A[6], A[7], a1);
}

static __global__ void __launch_bounds__(256, 1)
    fused_kernel(const uint4 *__restrict__ xh, const uint4 *__restrict__ wp, const float *__restrict__ bias,
                 float *__restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int hq = warp & 3;
  const int nq = warp >> 2;
  const uint32_t smem_base = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = smem_base + kWeightBytes;
  unsigned char *const ringp = smem + kWeightBytes;
  float2 *const ex = reinterpret_cast<float2 *>(smem + kExOff);
  const uint4 *const ws = reinterpret_cast<const uint4 *>(smem) + nq * 64 + lane;

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

  // ldmatrix addresses of rows 0..3 in half-plane 0
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
        const int p = (4 * hq + ph) * 18 + pq + L;
        off[ph][L] = ring + (uint32_t)(p * 32 + ((cb ^ ((p >> 2) & 1)) << 4));
      }
  }

  // weights, once, and the first stage
#pragma unroll 1
  for (int i = tid; i < kWeightVecs; i += 256)
    cp_async16(smem_base + (uint32_t)i * 16u, wp + i, 16);
  issue_stage((int)blockIdx.x, 0, ring, xh, meta, tid);
  cp_async_commit();
  cp_async_wait0();
  transform_stage(0, ringp, meta, tid);
  __syncthreads(); // the weights are there

  uint4 b0 = ws[0];
  uint4 b1 = ws[32];

  int u = (int)blockIdx.x;
#pragma unroll 1
  for (; u < kUnits; u += kGrid) {
    float acc[2][4][4][4]; // [P, Q][m-tile][n-tile][e]
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 4; ++b)
#pragma unroll
        for (int c = 0; c < 4; ++c)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[a][b][c][e] = 0.f;

#pragma unroll 1
    for (int g = 0; g < 4; ++g) {
      const int kk = g >> 1;
      const uint32_t pb = (uint32_t)g * (2 * kPlaneBytes);

      if (!(g & 1))
        __syncthreads(); // stage kk is transformed by all; all are done with buffer kk ^ 1

      uint32_t A[6][8];
#pragma unroll
      for (int ph = 0; ph < 4; ++ph)
        load_row(A[ph], off[ph][0] + pb, off[ph][1] + pb);

      if (!(g & 1)) {
        if (kk == 0) {
          issue_stage(u, 1, ring, xh, meta, tid);
        } else if (u + kGrid < kUnits) {
          issue_stage(u + kGrid, 0, ring, xh, meta, tid);
        }
        cp_async_commit();
        if (g == 0 && u != (int)blockIdx.x && tid < 64)
          finish_unit(u - kGrid, tid, ex, out);
        __syncwarp();
      }

      const uint4 *const B = ws + g * kPassVecs;
      const uint4 *const Bn = (g == 3) ? ws : B + kPassVecs;

#pragma unroll
      for (int s = 0; s < 18; ++s) {
        const int sd = s / 9;
        const int kh = (s % 9) / 3;
        const int kw = s % 3;
        const uint32_t sb = pb + (uint32_t)(sd * kPlaneBytes);
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
          const uint32_t a0 = A[ph][2 * kw];
          const uint32_t a1 = A[ph][2 * kw + 2];
          const uint32_t a2 = A[ph][2 * kw + 1];
          const uint32_t a3 = A[ph][2 * kw + 3];
          mma16816(acc[sd][mt][0], a0, a1, a2, a3, b0.x, b0.y);
          mma16816(acc[sd][mt][1], a0, a1, a2, a3, b0.z, b0.w);
          mma16816(acc[sd][mt][2], a0, a1, a2, a3, b1.x, b1.y);
          mma16816(acc[sd][mt][3], a0, a1, a2, a3, b1.z, b1.w);
          if (s == 8 && mt < 2) // rows 2 and 3 of side 0 die here, one after the other
            load_row(A[2 + mt], off[2 + mt][0] + pb + (uint32_t)kPlaneBytes,
                     off[2 + mt][1] + pb + (uint32_t)kPlaneBytes);
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
        cp_async_wait0();
        if (kk == 0 || u + kGrid < kUnits)
          transform_stage(kk ^ 1, ringp, meta, tid);
        __syncwarp();
      }
    }

    // epilogue: max over 2x2x2, bias, partial logsumexp over this warp's 32 channels
#pragma unroll
    for (int y = 0; y < 2; ++y) {
      float v[8];
#pragma unroll
      for (int nt = 0; nt < 4; ++nt) {
        const float2 bb = __ldg(reinterpret_cast<const float2 *>(bias + nq * 32 + nt * 8 + (lane & 3) * 2));
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float m00 = acc[0][2 * y][nt][e] + fabsf(acc[1][2 * y][nt][e]);
          const float m01 = acc[0][2 * y][nt][e + 2] + fabsf(acc[1][2 * y][nt][e + 2]);
          const float m10 = acc[0][2 * y + 1][nt][e] + fabsf(acc[1][2 * y + 1][nt][e]);
          const float m11 = acc[0][2 * y + 1][nt][e + 2] + fabsf(acc[1][2 * y + 1][nt][e + 2]);
          v[nt * 2 + e] = 0.5f * fmaxf(fmaxf(m00, m01), fmaxf(m10, m11)) + (e ? bb.y : bb.x);
        }
      }
      float m = v[0];
#pragma unroll
      for (int i = 1; i < 8; ++i)
        m = fmaxf(m, v[i]);
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      float sum = 0.f;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum += __expf(v[i] - m);
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if ((lane & 3) == 0)
        ex[nq * 64 + (2 * hq + y) * 8 + (lane >> 2)] = make_float2(m, sum);
    }
  }

  __syncthreads();
  if (tid < 64)
    finish_unit(u - kGrid, tid, ex, out);
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor xh = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf)); // n, d, h, w, c
  at::Tensor wp = at::empty({73728}, x.options().dtype(at::kHalf));
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
