// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

static constexpr int kWeightBlocks = 216;               // 27*64*32 / 256
static constexpr int kPixelBlocks = 8192;               // 65536 warps of 32 pixels
static constexpr int kWeightBytes = 27 * 64 * 64;       // 110592
static constexpr int kRowBytes = 34 * 64;               // 2176 = 17 * 128
static constexpr int kSlotBytes = 10 * kRowBytes;       // 21760
static constexpr int kBiasOffset = kWeightBytes + 4 * kSlotBytes;  // 197632
static constexpr int kSmemBytes = kBiasOffset + 64 * 4; // 197888
static constexpr int kTapBytes = 64 * 64;               // 4096
static constexpr int kConvBlocks = 128;

static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src, int srcsize) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(srcsize)
               : "memory");
}

static __device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int N>
static __device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}

static __device__ __forceinline__ void ldsm4(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3,
                                             uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// x: [n][c][d][h][w] f32 -> xh: [n][d][h][w][c] f16; weights -> [tap][n][c swizzled] f16.
static __global__ void __launch_bounds__(256)
prep_kernel(const float *__restrict__ x, const float *__restrict__ w, __half *__restrict__ xh,
            __half *__restrict__ wh) {
  const int tid = threadIdx.x;
  if (blockIdx.x < kWeightBlocks) {
    const int i = blockIdx.x * 256 + tid;
    const int c = i & 31;
    const int n = (i >> 5) & 63;
    const int tap = i >> 11;
    const float v = w[(n * 32 + c) * 27 + tap];
    wh[tap * 2048 + n * 32 + ((((c >> 3) ^ ((n >> 1) & 3)) << 3) | (c & 7))] = __float2half_rn(v);
    return;
  }
  const int lane = tid & 31;
  const int gw = (blockIdx.x - kWeightBlocks) * 8 + (tid >> 5);
  const int w0 = (gw & 3) * 32;
  const int row = gw >> 2;
  const int h = row & 127;
  const int d = (row >> 7) & 31;
  const int n = row >> 12;
  const int q = lane & 3;
  const int wq = lane >> 2;

  const float *src =
      x + (size_t)((n * 32 + 8 * q) * 32 + d) * 16384 + (size_t)(h * 128 + w0 + 4 * wq);
  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldcs(reinterpret_cast<const float4 *>(src + (size_t)i * (32 * 16384)));

  __half *dst = xh + ((size_t)row * 128 + w0 + 4 * wq) * 32 + 8 * q;
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

static __global__ void __launch_bounds__(256, 1)
conv_fused_kernel(const __half *__restrict__ xh, const __half *__restrict__ wh,
                  const float *__restrict__ bias, float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem_raw[];
  const uint32_t wBase = (uint32_t)__cvta_generic_to_shared(smem_raw);
  const uint32_t planes = wBase + kWeightBytes;
  float *sbias = reinterpret_cast<float *>(smem_raw + kBiasOffset);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int hp = warp & 3;
  const int half = warp >> 2;
  const int g = lane >> 2;
  const int odd = g & 1;

  // All weights, once.
  {
    const char *wsrc = reinterpret_cast<const char *>(wh);
    for (int i = tid; i < kWeightBytes / 16; i += 256)
      cp_async16(wBase + i * 16, wsrc + i * 16, 16);
    if (tid < 64)
      sbias[tid] = bias[tid];
  }

  // Fragment addresses.
  uint32_t aoff[3];
#pragma unroll
  for (int kw = 0; kw < 3; ++kw) {
    const int ww = half * 16 + kw + (lane & 15);
    const int chunk = lane >> 4;
    aoff[kw] = (uint32_t)(ww * 64 + ((chunk ^ ((ww >> 1) & 3)) << 4));
  }
  uint32_t boff;
  {
    const int nr = (lane & 7) + ((lane >> 4) << 3);
    const int chunk = (lane >> 3) & 1;
    boff = (uint32_t)(nr * 64 + ((chunk ^ ((nr >> 1) & 3)) << 4));
  }

  // Thread map of the plane loads: columns 0..31 of two rows a round, and columns 32, 33 by 80 threads.
  const int c4 = tid & 3;
  const int wwc = (tid >> 2) & 31;
  const int rh = tid >> 7;
  const uint32_t dst_c = (uint32_t)(rh * kRowBytes + wwc * 64 + ((c4 ^ ((wwc >> 1) & 3)) << 4));
  const int rE = tid >> 3;
  const int wwE = 32 + ((tid >> 2) & 1);
  const uint32_t dst_e = (uint32_t)(rE * kRowBytes + wwE * 64 + ((c4 ^ ((wwE >> 1) & 3)) << 4));
  const char *xb = reinterpret_cast<const char *>(xh);

  float acc[4][8][4];
  uint32_t a[2][4][4];
  uint32_t b[2][16];

#pragma unroll 1
  for (int cc = 0; cc < 2; ++cc) {
    const int col = blockIdx.x + cc * kConvBlocks;
    const int w0 = (col & 3) * 32;
    const int h0 = ((col >> 2) & 15) * 8;
    const int n = col >> 6;

    const int src_c = ((n * 32 * 128 + (h0 - 1 + rh)) * 128 + (w0 - 1 + wwc)) * 64 + c4 * 16;
    const int src_e = ((n * 32 * 128 + (h0 - 1 + rE)) * 128 + (w0 - 1 + wwE)) * 64 + c4 * 16;
    const bool wv = (w0 - 1 + wwc) >= 0;
    const bool ok0 = wv && (h0 - 1 + rh) >= 0;
    const bool ok4 = wv && (h0 + 7 + rh) < 128;
    const bool okE = (w0 - 1 + wwE) < 128 && (h0 - 1 + rE) >= 0 && (h0 - 1 + rE) < 128;

    auto load_plane = [&](int p) {
      const bool dv = (unsigned)(p - 1) < 32u;
      const int doff = (p - 1) * 1048576;
      const uint32_t slot = planes + (uint32_t)(p & 3) * kSlotBytes;
      const uint32_t dst = slot + dst_c;
      const char *s = xb + (long long)(src_c + doff);
      const bool vm = dv && wv;
      const bool v0 = dv && ok0;
      const bool v4 = dv && ok4;
      const char *sm = vm ? s : xb;
      const int szm = vm ? 16 : 0;
      cp_async16(dst, v0 ? s : xb, v0 ? 16 : 0);
#pragma unroll
      for (int it = 1; it < 4; ++it)
        cp_async16(dst + it * (2 * kRowBytes), sm + it * 16384, szm);
      cp_async16(dst + 4 * (2 * kRowBytes), v4 ? s + 4 * 16384 : xb, v4 ? 16 : 0);
      if (tid < 80) {
        const bool vE = dv && okE;
        const char *se = vE ? xb + (long long)(src_e + doff) : xb;
        cp_async16(slot + dst_e, se, vE ? 16 : 0);
      }
    };

    __syncthreads();  // the slots of the previous column are no longer read
    load_plane(0);
    load_plane(1);
    load_plane(2);
    load_plane(3);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    // B fragments of the first stage; later ones are fetched a stage ahead.
#pragma unroll
    for (int j2 = 0; j2 < 4; ++j2)
      ldsm4(b[0][4 * j2], b[0][4 * j2 + 1], b[0][4 * j2 + 2], b[0][4 * j2 + 3],
            wBase + boff + j2 * 1024);

#pragma unroll 1
    for (int s = 0; s < 16; ++s) {
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[m][j][e] = 0.0f;

#pragma unroll 1
      for (int kd = 0; kd < 3; ++kd) {
        cp_async_wait<2>();
        __syncthreads();

        const int p0 = 2 * s + kd;
        uint32_t pb[2];
        pb[0] = planes + (uint32_t)(p0 & 3) * kSlotBytes + (uint32_t)(hp * 2 * kRowBytes);
        pb[1] = planes + (uint32_t)((p0 + 1) & 3) * kSlotBytes + (uint32_t)(hp * 2 * kRowBytes);
        const uint32_t wk0 = wBase + (uint32_t)kd * (9 * kTapBytes) + boff;
        const uint32_t wk1 = wBase + (uint32_t)kd * (9 * kTapBytes) + (boff ^ 32u);
        const uint32_t wnext =
            wBase + (uint32_t)(kd == 2 ? 0 : kd + 1) * (9 * kTapBytes) + boff;

        // A rows 0 and 1 of the first (kw, k16).
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
          for (int dd = 0; dd < 2; ++dd)
            ldsm4(a[dd][r][0], a[dd][r][1], a[dd][r][2], a[dd][r][3],
                  pb[dd] + aoff[0] + r * kRowBytes);

        if (kd >= 1 && s < 15)
          load_plane(2 * s + 3 + kd);  // slots of planes 2s (kd 1) and 2s+1 (kd 2), dead by now
        cp_async_commit();             // one group, perhaps empty, every phase

#pragma unroll
        for (int st = 0; st < 18; ++st) {
          const int it = st / 3;
          const int kh = st % 3;
          const int cur = st & 1;
          const int nxt = cur ^ 1;

          // B of the next stage (of the next phase after the last one).
          {
            const int ns = st + 1;
            const int nit = ns / 3;
            const int nkh = ns % 3;
            const uint32_t baddr =
                (st == 17) ? wnext
                           : (((nit & 1) ? wk1 : wk0) +
                              (uint32_t)((nkh * 3 + (nit >> 1)) * kTapBytes));
#pragma unroll
            for (int j2 = 0; j2 < 4; ++j2)
              ldsm4(b[nxt][4 * j2], b[nxt][4 * j2 + 1], b[nxt][4 * j2 + 2], b[nxt][4 * j2 + 3],
                    baddr + j2 * 1024);
          }
          // A rows that the next stage needs.
          if (kh < 2) {
            const int r = kh + 2;
#pragma unroll
            for (int dd = 0; dd < 2; ++dd)
              ldsm4(a[dd][r][0], a[dd][r][1], a[dd][r][2], a[dd][r][3],
                    pb[dd] + (aoff[it >> 1] ^ (uint32_t)((it & 1) * 32)) + r * kRowBytes);
          } else if (it < 5) {
            const int ni = it + 1;
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
              for (int dd = 0; dd < 2; ++dd)
                ldsm4(a[dd][r][0], a[dd][r][1], a[dd][r][2], a[dd][r][3],
                      pb[dd] + (aoff[ni >> 1] ^ (uint32_t)((ni & 1) * 32)) + r * kRowBytes);
          }

#pragma unroll
          for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int m = 0; m < 4; ++m)
              mma16816(acc[m][j], a[m >> 1][(m & 1) + kh], b[cur][2 * j], b[cur][2 * j + 1]);
        }
      }

      // Epilogue: max pool, bias, logsumexp over the channels, ReLU.
      float v[16];
      float M = -3.402823466e+38f;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float2 bv = *reinterpret_cast<const float2 *>(sbias + 8 * j + 2 * (lane & 3));
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float lo =
              fmaxf(fmaxf(acc[0][j][e], acc[1][j][e]), fmaxf(acc[2][j][e], acc[3][j][e]));
          const float hi = fmaxf(fmaxf(acc[0][j][2 + e], acc[1][j][2 + e]),
                                 fmaxf(acc[2][j][2 + e], acc[3][j][2 + e]));
          const float keep = odd ? hi : lo;
          const float send = odd ? lo : hi;
          const float t =
              fmaxf(keep, __shfl_xor_sync(0xffffffffu, send, 4)) + (e ? bv.y : bv.x);
          v[2 * j + e] = t;
          M = fmaxf(M, t);
        }
      }
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, 1));
      M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, 2));
      float S = 0.0f;
#pragma unroll
      for (int i = 0; i < 16; ++i)
        S += __expf(v[i] - M);
      S += __shfl_xor_sync(0xffffffffu, S, 1);
      S += __shfl_xor_sync(0xffffffffu, S, 2);
      if ((lane & 3) == 0) {
        const int pw = (w0 + half * 16 + (odd ? 8 : 0) + (g & ~1)) >> 1;
        const int ph = (h0 >> 1) + hp;
        out[((n * 16 + s) * 64 + ph) * 64 + pw] = fmaxf(M + logf(S), 0.0f);
      }
    }
  }
}

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor xh_t = at::empty({4, 32, 128, 128, 32}, x.options().dtype(at::kHalf));
  at::Tensor wh_t = at::empty({27 * 64 * 32}, x.options().dtype(at::kHalf));
  at::Tensor out = at::empty({4, 1, 16, 64, 64}, x.options());
  __half *xh = reinterpret_cast<__half *>(xh_t.data_ptr<at::Half>());
  __half *wh = reinterpret_cast<__half *>(wh_t.data_ptr<at::Half>());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  prep_kernel<<<kWeightBlocks + kPixelBlocks, 256, 0, stream>>>(
      x.const_data_ptr<float>(), conv_weight.const_data_ptr<float>(), xh, wh);

  cudaFuncSetAttribute(conv_fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_fused_kernel<<<kConvBlocks, 256, kSmemBytes, stream>>>(
      xh, wh, conv_bias.const_data_ptr<float>(), out.data_ptr<float>());
  return out;
}
