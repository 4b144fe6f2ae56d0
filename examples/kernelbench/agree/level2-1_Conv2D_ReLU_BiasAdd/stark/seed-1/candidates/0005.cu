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
static constexpr int kBiasOffset = kWeightBytes + 5 * kRowBytes; // 229376
static constexpr int kBarOffset = kBiasOffset + 128 * 8;        // 230400
static constexpr int kSmemBytes = kBarOffset + 32;              // 230432
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

static __device__ __forceinline__ int wrap5(int z) { return z >= 5 ? z - 5 : z; }

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
// One fragment: f = 0..3 the pixels of group f, f = 4..7 the weights of m16-tile f - 4.
static __device__ __forceinline__ void load_frag(unsigned (&a)[4][4], unsigned (&b)[4][4],
                                                 unsigned aAddr, const unsigned (&bb)[4],
                                                 const unsigned (&pk)[4], int s, int kk, int f) {
  const unsigned kx = (unsigned)kk << 5;
  const int g = f & 3;
  if (f < 4)
    ldsm4(b[g], ((bb[g] + ((pk[g] >> (8 * s)) & 0x70u)) ^ kx) + s * 128);
  else
    ldsm4(a[g], (aAddr ^ kx) + s * 16384 + g * 2048);
}

// Addresses of the pixels (at s = 0) of the four groups, output row 0 reading slot sl.
static __device__ __forceinline__ void set_bases(unsigned (&bb)[4], const unsigned (&pk)[4],
                                                 unsigned ringB, int sl) {
  const unsigned o0 = ringB + sl * kRowBytes;
  const unsigned o1 = ringB + wrap5(sl + 1) * kRowBytes;
#pragma unroll
  for (int g = 0; g < 4; ++g)
    bb[g] = ((int)pk[g] < 0 ? o1 : o0) + ((pk[g] >> 17) & 0x3f80u);
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

static __global__ void __launch_bounds__(256, 1)
conv_kernel(const float *__restrict__ x, const unsigned short *__restrict__ wp,
            const float *__restrict__ conv_bias, const float *__restrict__ bias,
            float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];

  // SMs out of phase, so that their stores reach L2 at different times.
  __nanosleep(1200u * (blockIdx.x & 3u));

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp >> 2;
  const int wn = warp & 3;

  const unsigned sb = (unsigned)__cvta_generic_to_shared(smem);
  const unsigned ringB = sb + kWeightBytes;
  const unsigned barF = sb + kBarOffset;       // rows h+4, h+5 are staged
  const unsigned barE = sb + kBarOffset + 8;   // row h is read to the end
  const unsigned barP = sb + kBarOffset + 16;  // warps of wm == 0 are through with r = 0

  const float *ximg = x + (size_t)blockIdx.x * (64 * kPlane);

  // Staging: this thread's pixel, and the parity of its chunks of eight channels.
  const int px = tid & 127;
  const int cg = tid >> 7;
  const float *xs = ximg + cg * (8 * kPlane) + px;
  const unsigned sAddr = ringB + px * 128 + ((cg ^ pix_key(px)) << 4);
  // Prefetch: this thread's channel (the first eight lanes of each warp).
  const float *xpre = ximg + (warp * 8 + (lane & 7)) * kPlane;

  // Prologue: rows 0..3, the weights, the biases, the barriers.
  {
    float v0[16][8];
#pragma unroll
    for (int b = 0; b < 16; ++b)
      ld8(v0[b], xs + (b & 3) * (16 * kPlane) + (b >> 2) * 128);

    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(wp) + tid * 16;
    const unsigned wdst = sb + tid * 16;
#pragma unroll 6
    for (int i = 0; i < 36; ++i)
      cp_async16(wdst + i * 4096, wsrc + i * 4096);
    asm volatile("cp.async.commit_group;" : : : "memory");

    if (lane < 8)
      prefetch_l2(xpre + 4 * 128, 1024);
    __syncwarp();

    if (tid < 128) {
      const float cb = conv_bias[tid];
      const float bv = bias[tid];
      reinterpret_cast<float2 *>(smem + kBiasOffset)[tid] = make_float2(cb + bv, bv);
    }
    if (tid == 0) {
      mbar_init(barF, 8);
      mbar_init(barE, 8);
      mbar_init(barP, 4);
    }

#pragma unroll
    for (int b = 0; b < 16; ++b)
      st8((sAddr + (b >> 2) * kRowBytes) ^ ((b & 3) << 5), v0[b]);

    asm volatile("cp.async.wait_group 0;" : : : "memory");
    __syncthreads();
  }

  const unsigned aBase =
      sb + (64 * wm + (lane & 15)) * 128 + (((lane >> 4) ^ (lane & 7)) << 4);

  // Per group of 16 pixels, for this lane's row of the ldmatrix: the swizzled chunk (bytes) at
  // s = 0, 1, 2 in the low three bytes, the column in bits 24..30, the output row in bit 31.
  unsigned pk[4];
  {
    const int khalf = (lane >> 3) & 1;
    const int jj = lane >> 4;
    const int rr = lane & 7;
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      int p = 64 * wn + 16 * g + 4 * (rr >> 1) + (rr & 1) + 2 * jj;
      p = p < 251 ? p : 251;
      const int ro = p >= 126 ? 1 : 0;
      const int col = p - 126 * ro;
      const unsigned k0 = (unsigned)(khalf ^ pix_key(col)) << 4;
      const unsigned k1 = (unsigned)(khalf ^ pix_key(col + 1)) << 4;
      const unsigned k2 = (unsigned)(khalf ^ pix_key(col + 2)) << 4;
      pk[g] = k0 | (k1 << 8) | (k2 << 16) | ((unsigned)col << 24) | ((unsigned)ro << 31);
    }
  }

  // Epilogue: this thread's first output channel and pixel.
  const int pw = 64 * wn + 4 * (lane & 3);
  const unsigned biasAddr = sb + kBiasOffset + (64 * wm + (lane >> 2)) * 8;
  float *obase =
      out + ((size_t)blockIdx.x * 128 + 64 * wm + (lane >> 2)) * (size_t)kOutPlane + pw;

  float acc[4][8][4];
  unsigned fa[2][4][4];
  unsigned fb[2][4][4];
  unsigned bb[4];
  unsigned aAddr = aBase;  // weights of filter row r
  int sl = 0;              // slot of input row h + r

  set_bases(bb, pk, ringB, sl);
#pragma unroll
  for (int f = 0; f < 8; ++f)
    load_frag(fa[0], fb[0], aAddr, bb, pk, 0, 0, f);

#pragma unroll 1
  for (int h = 0; h < 126; h += 2) {
    const unsigned par = (unsigned)(h >> 1) & 1u;

    // The second group of warps stays one filter row behind the first.
    if (wm == 1)
      mbar_wait(barP, par);

#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[i][j][e] = 0.f;

#pragma unroll 1
    for (int r = 0; r < 3; ++r) {
      // Opaque, so that what is unpacked from them is not kept in registers over the loops.
#pragma unroll
      for (int g = 0; g < 4; ++g)
        asm volatile("" : "+r"(pk[g]));

      const bool stage = r > 0 && h + 3 + r < 128;  // r = 1: row h + 4, r = 2: row h + 5
      const float *xrow = xs + (h + 3 + r) * 128;
      const unsigned sdst = sAddr + wrap5(sl + 3) * kRowBytes;
      float v[8];

      if (r == 2 && h < 122) {  // rows h + 6 and h + 7, for the next step
        if (lane < 8)
          prefetch_l2(xpre + (h + 6) * 128, 1024);
        __syncwarp();
      }

#pragma unroll
      for (int k = 0; k < 12; ++k) {
        if (k % 3 == 0) {
          if (stage)
            ld8(v, xrow + (k / 3) * (16 * kPlane));
        }

        if (k == 11) {
          if (r == 0) {
            // All reads of row h by this warp are done; rows h + 2 and h + 3 come next.
            __syncwarp();
            if (lane == 0)
              mbar_arrive(barE);
            __syncwarp();
            mbar_wait(barF, par ^ 1u);
            // The second group may begin this step.
            if (wm == 0 && lane == 0)
              mbar_arrive(barP);
            __syncwarp();
          }
          // On to the next filter row; after the last one to the first of the next step, whose
          // input row h + 2 is the one that r = 2 reads.
          if (r == 2) {
            aAddr = aBase;
          } else {
            aAddr += 3 * 16384;
            sl = wrap5(sl + 1);
          }
          set_bases(bb, pk, ringB, sl);
        }

        // The mma of k-step k, and between them the fragments of the next one.
        const int kn = k < 11 ? k + 1 : 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int jx = 0; jx < 8; ++jx) {
            const int t = 8 * i + jx;
            if (t % 3 == 0 && t < 24)
              load_frag(fa[(k + 1) & 1], fb[(k + 1) & 1], aAddr, bb, pk, kn >> 2, kn & 3,
                        t / 3);
            const int j = (i & 1) ? 7 - jx : jx;
            mma16816(acc[i][j], fa[k & 1][i], fb[k & 1][j >> 1][(j & 1) * 2],
                     fb[k & 1][j >> 1][(j & 1) * 2 + 1]);
          }
        }

        if (k % 3 == 2) {
          if (stage) {
            if (k == 2 && r == 2)
              mbar_wait(barE, par);  // row h + 5 takes the slot of row h
            st8(sdst ^ ((k / 3) << 5), v);
          }
        }
      }
    }

    // Rows h + 4 and h + 5 are staged as far as this warp is concerned.
    __syncwarp();
    if (lane == 0)
      mbar_arrive(barF);
    __syncwarp();

    // Where a channel's piece starts 16 bytes off a sector, the first lane of each quad stores its
    // groups in the order 1, 2, 3, 0, so that the quad's 64 bytes are two whole sectors.
    const bool rot = (lane & 3) == 0 && ((((lane >> 2) ^ (h >> 1)) & 1) != 0);
    float *oh = obase + h * 126;
    float *op = oh + (rot ? 16 : 0);  // g = 0..2 at op + 16 * g
    float *ol = oh + (rot ? 0 : 48);  // g = 3
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int hf = 0; hf < 2; ++hf) {
        float cbv, bv;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(cbv), "=f"(bv)
                     : "r"(biasAddr + (16 * i + 8 * hf) * 8));
        const int off = (16 * i + 8 * hf) * kOutPlane;
        float4 o[4];
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          o[g].x = relu_bias(acc[i][2 * g][2 * hf], cbv, bv);
          o[g].y = relu_bias(acc[i][2 * g][2 * hf + 1], cbv, bv);
          o[g].z = relu_bias(acc[i][2 * g + 1][2 * hf], cbv, bv);
          o[g].w = relu_bias(acc[i][2 * g + 1][2 * hf + 1], cbv, bv);
        }
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          float4 u;
          u.x = rot ? o[(g + 1) & 3].x : o[g].x;
          u.y = rot ? o[(g + 1) & 3].y : o[g].y;
          u.z = rot ? o[(g + 1) & 3].z : o[g].z;
          u.w = rot ? o[(g + 1) & 3].w : o[g].w;
          if (g < 3) {
            *reinterpret_cast<float4 *>(op + off + 16 * g) = u;
          } else if (pw < 204) {  // pixels 252..255 do not exist
            *reinterpret_cast<float4 *>(ol + off) = u;
          }
        }
      }
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
  conv_kernel<<<128, 256, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), wp, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), result.data_ptr<float>());
  return result;
}
