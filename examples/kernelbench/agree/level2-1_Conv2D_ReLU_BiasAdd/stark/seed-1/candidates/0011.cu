// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_fp16.h>

// Operands are rounded to TF32 (10 bits of mantissa) and held as fp16, exactly in its normal range.
// true: ties away from zero (cvt.rna.tf32.f32); false: ties to even.
static constexpr bool kTiesAway = true;

static constexpr int kPlane = 128 * 128;                        // floats of one input channel
static constexpr int kOutPlane = 126 * 126;                     // floats of one output channel
static constexpr int kWeightBytes = 9 * 128 * 64 * 2;           // 147456
static constexpr int kRowBytes = 128 * 64 * 2;                  // 16384, one input row as fp16
static constexpr int kBiasOffset = kWeightBytes + 4 * kRowBytes; // 212992
 // 229376
static constexpr int kBarOffset = kBiasOffset + 128 * 8;        // 214016
        // 230400
static constexpr int kSmemBytes = kBarOffset + 64;              // 214080
              // 230416

// Two values, rounded as the convolution rounds its operands; lo in the low half.
static __device__ __forceinline__ unsigned pack2(float lo, float hi) {
  if (kTiesAway) {
    unsigned a, b;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a) : "f"(lo));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(hi));
    lo = __uint_as_float(a & 0xffffe000u);
    hi = __uint_as_float(b & 0xffffe000u);
  }
  __half2 h2 = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<unsigned *>(&h2);
}

// Swizzle key of a pixel: free of bank conflicts for the pixel permutation at every shift.
static __device__ __forceinline__ int pix_key(int p) { return (p & 1) | ((p >> 1) & 6); }

// Staging by 512 threads: pixel tid & 127, chunk parity (tid >> 7) & 1, row of the pair tid >> 8.
// The first float read, within an image.
static __device__ __forceinline__ unsigned stage_src(unsigned tid) {
  return ((tid >> 7) & 1u) * (8u * (unsigned)kPlane) + (tid >> 8) * 128u + (tid & 127u);
}

// The chunk written (channel group 0), within a pair of slots.
static __device__ __forceinline__ unsigned stage_dst(unsigned tid) {
  const unsigned px = tid & 127u;
  const unsigned cg = (tid >> 7) & 1u;
  return (tid >> 8) * 16384u + px * 128u + ((cg ^ (unsigned)pix_key((int)px)) << 4);
}

// Offset in a slot of this lane's ldmatrix row at filter column s; q5 = 32 * channel group. pk holds
// the swizzled chunk (bytes) at s = 0, 1, 2 in the low three bytes and the column in the top one.
static __device__ __forceinline__ unsigned pix_off(unsigned pk, int s, unsigned q5) {
  return ((pk >> 17) & 0x3f80u) + (unsigned)s * 128u + (((pk >> (8 * s)) & 0x70u) ^ q5);
}

// Eight channels of one pixel, all in flight at once.
static __device__ __forceinline__ void ld8(float (&v)[8], const float *p) {
  asm volatile("ld.global.nc.f32 %0, [%8];\n\t"
               "ld.global.nc.f32 %1, [%8+65536];\n\t"
               "ld.global.nc.f32 %2, [%8+131072];\n\t"
               "ld.global.nc.f32 %3, [%8+196608];\n\t"
               "ld.global.nc.f32 %4, [%8+262144];\n\t"
               "ld.global.nc.f32 %5, [%8+327680];\n\t"
               "ld.global.nc.f32 %6, [%8+393216];\n\t"
               "ld.global.nc.f32 %7, [%8+458752];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]),
                 "=f"(v[6]), "=f"(v[7])
               : "l"(p));
}

static __device__ __forceinline__ void st8(unsigned dst, const float (&v)[8]) {
  const unsigned p0 = pack2(v[0], v[1]);
  const unsigned p1 = pack2(v[2], v[3]);
  const unsigned p2 = pack2(v[4], v[5]);
  const unsigned p3 = pack2(v[6], v[7]);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(dst), "r"(p0), "r"(p1), "r"(p2), "r"(p3)
               : "memory");
}

static __device__ __forceinline__ void cp_async16(unsigned dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void prefetch_l2(const float *p, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(p), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void mbar_init(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(bar) : "memory");
}

static __device__ __forceinline__ void mbar_wait(unsigned bar, unsigned parity) {
  unsigned ok;
  do {
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(ok)
                 : "r"(bar), "r"(parity)
                 : "memory");
  } while (ok == 0);
  __syncwarp();
}

static __device__ __forceinline__ void ldsm4(unsigned (&r)[4], unsigned addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const unsigned (&a)[4],
                                                unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Fragments of filter column s, channels 16 * kk .. 16 * kk + 15.
// Weights of one tap: two m16-tiles.
static __device__ __forceinline__ void load_a(unsigned (&a)[2][4], unsigned addr) {
  ldsm4(a[0], addr);
  ldsm4(a[1], addr + 2048);
}

// Pixels of one input row: two groups of 16 columns (their swizzle is the same).
static __device__ __forceinline__ void load_b(unsigned (&b)[2][4], unsigned addr) {
  ldsm4(b[0], addr);
  ldsm4(b[1], addr + 2048);
}

// Addresses of the pixels (at s = 0) of the four groups, output row 0 reading slot sl.
// 32 channels x 32 columns of one output row, one k-step.
static __device__ __forceinline__ void mma8(float (&d)[2][4][4], const unsigned (&a)[2][4],
                                            const unsigned (&b)[2][4]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int jx = 0; jx < 4; ++jx) {
      const int j = (i & 1) ? 3 - jx : jx;
      mma16816(d[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
    }
  }
}

// relu(a / 64 + conv_bias) + bias, with cbv = conv_bias + bias.
static __device__ __forceinline__ float relu_bias(float a, float cbv, float bv) {
  const float v = fmaf(a, 0.015625f, cbv);
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(v), "f"(bv));
  return r;
}

// The image of the weights in shared memory: [tap][output channel][input channel], 16-byte chunks
// swizzled by the output channel, times 64.
static __global__ void __launch_bounds__(256)
pack_weights(const float *__restrict__ w, unsigned short *__restrict__ wp) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const int t = idx >> 13;
  const int m = (idx >> 6) & 127;
  const int c = idx & 63;
  const float v = 64.f * w[m * 576 + c * 9 + t];
  wp[t * 8192 + m * 64 + (((c >> 3) ^ (m & 7)) << 3) + (c & 7)] =
      (unsigned short)(pack2(v, 0.f) & 0xffffu);
}

static __global__ void __launch_bounds__(512, 1)
conv_kernel(const float *__restrict__ x, const unsigned short *__restrict__ wp,
            const float *__restrict__ conv_bias, const float *__restrict__ bias,
            float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];

  unsigned tid = threadIdx.x;

  const unsigned sb = (unsigned)__cvta_generic_to_shared(smem);
  const unsigned ringB = sb + kWeightBytes;       // input row y in slot y & 3
  const unsigned fullB = sb + kBarOffset;         // channel group q of two new rows is staged
  const unsigned emptyB = sb + kBarOffset + 32;   // channel group q of two rows is read to the end

  const unsigned imgOff = blockIdx.x * (64u * (unsigned)kPlane);

  // Prologue: rows 0..3, the weights, the biases, the barriers.
  {
    const float *xs = x + (size_t)(imgOff + stage_src(tid));
    const unsigned sAddr = ringB + stage_dst(tid);
    float v0[8][8];
#pragma unroll
    for (int b = 0; b < 8; ++b)
      ld8(v0[b], xs + (b & 3) * (16 * kPlane) + (b >> 2) * 256);

    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(wp) + tid * 16u;
    const unsigned wdst = sb + tid * 16u;
#pragma unroll 6
    for (int i = 0; i < 18; ++i)
      cp_async16(wdst + i * 8192, wsrc + i * 8192);
    asm volatile("cp.async.commit_group;" : : : "memory");

    if ((tid & 31u) < 4u)
      prefetch_l2(x + (size_t)(imgOff + ((tid >> 5) * 4u + (tid & 31u)) * (unsigned)kPlane +
                               4u * 128u),
                  1024);
    __syncwarp();

    if (tid < 128) {
      const float cb = conv_bias[tid];
      const float bv = bias[tid];
      reinterpret_cast<float2 *>(smem + kBiasOffset)[tid] = make_float2(cb + bv, bv);
    }
    if (tid == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        mbar_init(fullB + 8 * i, 16);
        mbar_init(emptyB + 8 * i, 16);
      }
    }

#pragma unroll
    for (int b = 0; b < 8; ++b)
      st8((sAddr + (b >> 2) * 32768) ^ ((b & 3) << 5), v0[b]);

    asm volatile("cp.async.wait_group 0;" : : : "memory");
    __syncthreads();
  }

  // Warp: channels 32 * (tid >> 7) .., columns 32 * ((tid >> 5) & 3) ...
  const unsigned aBase = sb + (32u * (tid >> 7) + (tid & 15u)) * 128u +
                         ((((tid >> 4) & 1u) ^ (tid & 7u)) << 4);

  // This lane's row of the ldmatrix of the pixels; see pix_off. Columns 126 and 127 read up to two
  // pixels behind the row, within the allocation; what comes of them is not stored.
  unsigned pk;
  {
    const unsigned lane = tid & 31u;
    const unsigned khalf = (lane >> 3) & 1u;
    const unsigned jj = lane >> 4;
    const unsigned rr = lane & 7u;
    const int col = (int)(32u * ((tid >> 5) & 3u) + 4u * (rr >> 1) + (rr & 1u) + 2u * jj);
    const unsigned k0 = (khalf ^ (unsigned)pix_key(col)) << 4;
    const unsigned k1 = (khalf ^ (unsigned)pix_key(col + 1)) << 4;
    const unsigned k2 = (khalf ^ (unsigned)pix_key(col + 2)) << 4;
    pk = k0 | (k1 << 8) | (k2 << 16) | ((unsigned)col << 24);
  }

  float acc[2][2][4][4];  // output row, m16-tile, n8-tile
  unsigned fa[3][2][4];   // filter row
  unsigned fb[2][2][4];   // input rows, in turns

#pragma unroll
  for (int o = 0; o < 2; ++o)
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[o][i][j][e] = 0.f;

#pragma unroll
  for (int r = 0; r < 3; ++r)
    load_a(fa[r], aBase + 3 * r * 16384);
  load_b(fb[0], ringB + pix_off(pk, 0, 0u));

  // Phase P = 4 * t + q: channels 16 * q .. 16 * q + 15 of output rows 2 * t and 2 * t + 1.
#pragma unroll 1
  for (int P = 0; P < 252; ++P) {
    const int q = P & 3;
    const int t = P >> 2;
    const int N = P + 1;
    const int Q = P - 2;  // the phase whose slice of its two first rows is dead now

    // Opaque, so that what is unpacked from them is not kept in registers over the loop.
    asm volatile("" : "+r"(pk), "+r"(tid));

    const bool stage = P >= 2 && P < 250;  // rows 2 * (Q >> 2) + 4 and + 5, channel group Q & 3

    if (q == 0 && t <= 60) {  // rows of the step after the next staging
      if ((tid & 31u) < 4u)
        prefetch_l2(x + (size_t)(imgOff + ((tid >> 5) * 4u + (tid & 31u)) * (unsigned)kPlane +
                                 (unsigned)(2 * t + 6) * 128u),
                    1024);
      __syncwarp();
    }

    const unsigned q5 = (unsigned)q << 5;
    const unsigned n5 = (unsigned)(N & 3) << 5;
    const unsigned b01 = ringB + ((unsigned)(t & 1) << 15);        // input rows 2t, 2t + 1
    const unsigned b23 = ringB + ((unsigned)((t & 1) ^ 1) << 15);  // input rows 2t + 2, 2t + 3
    const unsigned aAddr = aBase ^ q5;
    const unsigned aNext = aBase ^ n5;
    float v[8];

#pragma unroll
    for (int s = 0; s < 3; ++s) {
      const unsigned bo = pix_off(pk, s, q5);
      const int sn = s < 2 ? s + 1 : 0;
      const unsigned an = (s < 2 ? aAddr : aNext) + sn * 16384;

      if (s == 2) {
        if (stage)
          ld8(v, x + (size_t)(imgOff + stage_src(tid) +
                              (unsigned)(Q & 3) * (16u * (unsigned)kPlane) +
                              (unsigned)(2 * (Q >> 2) + 4) * 128u));
      }

      load_b(fb[1], b01 + 16384 + bo);
      mma8(acc[0], fa[0], fb[0]);  // input row 0

      load_b(fb[0], b23 + bo);
      mma8(acc[1], fa[0], fb[1]);  // input row 1
      mma8(acc[0], fa[1], fb[1]);

      load_b(fb[1], b23 + 16384 + bo);
      load_a(fa[0], an);
      mma8(acc[1], fa[1], fb[0]);  // input row 2
      mma8(acc[0], fa[2], fb[0]);

      load_a(fa[1], an + 3 * 16384);
      if (s == 2) {
        // This warp has read all of this channel group.
        __syncwarp();
        if ((tid & 31u) == 0u)
          mbar_arrive(emptyB + 8 * q);
        __syncwarp();
        if (N >= 4 && N < 252)
          mbar_wait(fullB + 8 * (N & 3), (unsigned)((N >> 2) - 1) & 1u);
        load_b(fb[0], ringB + ((unsigned)((N >> 2) & 1) << 15) + pix_off(pk, 0, n5));
      } else {
        load_b(fb[0], b01 + pix_off(pk, sn, q5));
      }
      mma8(acc[1], fa[2], fb[1]);  // input row 3

      load_a(fa[2], an + 6 * 16384);
    }

    if (stage) {
      mbar_wait(emptyB + 8 * (Q & 3), (unsigned)(Q >> 2) & 1u);
      st8((ringB + stage_dst(tid) + ((unsigned)((Q >> 2) & 1) << 15)) ^
              ((unsigned)(Q & 3) << 5),
          v);
      __syncwarp();
      if ((tid & 31u) == 0u)
        mbar_arrive(fullB + 8 * (Q & 3));
      __syncwarp();
    }

    if (q == 3) {
      asm volatile("" : "+r"(tid));
      const unsigned lane = tid & 31u;
      const unsigned c = lane & 3u;
      const unsigned wm = tid >> 7;
      const unsigned wn = (tid >> 5) & 3u;
      const int src = (int)((lane & 28u) | ((lane + 1u) & 3u));
      const unsigned ch = 32u * wm + (lane >> 2);
      const unsigned biasAddr = sb + kBiasOffset + ch * 8u;
      // First channel, first column, row 2 * t.
      float *p = out + (size_t)((blockIdx.x * 128u + ch) * (unsigned)kOutPlane + 32u * wn +
                                4u * c + (unsigned)t * 252u);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int hf = 0; hf < 2; ++hf) {
          float cbv, bv;
          asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                       : "=f"(cbv), "=f"(bv)
                       : "r"(biasAddr + (16 * i + 8 * hf) * 8));
          float *p0 = p + (16 * i + 8 * hf) * kOutPlane;

          // Row 2 * t: starts aligned.
          {
            float4 u;
            u.x = relu_bias(acc[0][i][0][2 * hf], cbv, bv);
            u.y = relu_bias(acc[0][i][0][2 * hf + 1], cbv, bv);
            u.z = relu_bias(acc[0][i][1][2 * hf], cbv, bv);
            u.w = relu_bias(acc[0][i][1][2 * hf + 1], cbv, bv);
            *reinterpret_cast<float4 *>(p0) = u;
          }
          {
            float4 u;
            u.x = relu_bias(acc[0][i][2][2 * hf], cbv, bv);
            u.y = relu_bias(acc[0][i][2][2 * hf + 1], cbv, bv);
            u.z = relu_bias(acc[0][i][3][2 * hf], cbv, bv);
            u.w = relu_bias(acc[0][i][3][2 * hf + 1], cbv, bv);
            if (wn == 3u && c == 3u)  // columns 126 and 127 do not exist
              *reinterpret_cast<float2 *>(p0 + 16) = make_float2(u.x, u.y);
            else
              *reinterpret_cast<float4 *>(p0 + 16) = u;
          }
          __syncwarp();

          // Row 2 * t + 1: starts 8 bytes off, so shifted by two columns within the quad.
          const float x0 = relu_bias(acc[1][i][0][2 * hf], cbv, bv);
          const float y0 = relu_bias(acc[1][i][0][2 * hf + 1], cbv, bv);
          const float z0 = relu_bias(acc[1][i][1][2 * hf], cbv, bv);
          const float w0 = relu_bias(acc[1][i][1][2 * hf + 1], cbv, bv);
          const float x1 = relu_bias(acc[1][i][2][2 * hf], cbv, bv);
          const float y1 = relu_bias(acc[1][i][2][2 * hf + 1], cbv, bv);
          const float z1 = relu_bias(acc[1][i][3][2 * hf], cbv, bv);
          const float w1 = relu_bias(acc[1][i][3][2 * hf + 1], cbv, bv);
          const float nx0 = __shfl_sync(0xffffffffu, c == 0u ? x1 : x0, src);
          const float ny0 = __shfl_sync(0xffffffffu, c == 0u ? y1 : y0, src);
          const float nx1 = __shfl_sync(0xffffffffu, x1, src);
          const float ny1 = __shfl_sync(0xffffffffu, y1, src);
          float *p1 = p0 + 126;
          *reinterpret_cast<float4 *>(p1 + 2) = make_float4(z0, w0, nx0, ny0);
          if (c < 3u)
            *reinterpret_cast<float4 *>(p1 + 18) = make_float4(z1, w1, nx1, ny1);
          else if (wn < 3u)
            *reinterpret_cast<float2 *>(p1 + 18) = make_float2(z1, w1);
          if (c == 0u)
            *reinterpret_cast<float2 *>(p1) = make_float2(x0, y0);
          __syncwarp();
        }
      }

#pragma unroll
      for (int o = 0; o < 2; ++o)
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e)
              acc[o][i][j][e] = 0.f;
    }
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor packed = at::empty({73728}, x.options().dtype(at::kHalf));
  at::Tensor result = at::empty({128, 128, 126, 126}, x.options());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned short *wp = reinterpret_cast<unsigned short *>(packed.data_ptr<at::Half>());
  cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  pack_weights<<<288, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), wp);
  conv_kernel<<<128, 512, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wp, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), result.data_ptr<float>());
  return result;
}
