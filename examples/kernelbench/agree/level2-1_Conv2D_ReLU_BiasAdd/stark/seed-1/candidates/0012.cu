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
static constexpr int kSmemBytes = kBarOffset + 16;              // 230432
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
static __device__ __forceinline__ int pix_key(int p) { return ((p >> 2) & 7) ^ ((p & 3) << 1); }

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
// The four m16-tiles of weights at filter column s, channels 16 * kk .. 16 * kk + 15.
static __device__ __forceinline__ void load_a(unsigned (&a)[4][4], unsigned aAddr, int s, int kk) {
  const unsigned p = aAddr ^ ((unsigned)kk << 5);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    ldsm4(a[i], p + s * 16384 + i * 2048);
}

// Addresses of the pixels (at s = 0) of the four groups, output row 0 reading slot sl.
// One pair of pixel tiles (offset bov) for both groups of 32 pixels, channels 16 * kk .. 16 * kk + 15;
// base is the slot of the wanted input row.
static __device__ __forceinline__ void load_b(unsigned (&b)[2][4], unsigned base, int bov, int kk) {
  const unsigned p = (base + (unsigned)bov) ^ ((unsigned)kk << 5);
  ldsm4(b[0], p);
  ldsm4(b[1], p + 4096);
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

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp >> 2;
  const int wn = warp & 3;

  const unsigned sb = (unsigned)__cvta_generic_to_shared(smem);
  const unsigned ringB = sb + kWeightBytes;
  const unsigned barF = sb + kBarOffset;       // rows h+4, h+5 are staged
  const unsigned barE = sb + kBarOffset + 8;   // row h is read to the end

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
    }

#pragma unroll
    for (int b = 0; b < 16; ++b)
      st8((sAddr + (b >> 2) * kRowBytes) ^ ((b & 3) << 5), v0[b]);

    asm volatile("cp.async.wait_group 0;" : : : "memory");
    __syncthreads();
  }

  const unsigned aBase =
      sb + (64 * wm + (lane & 15)) * 128 + (((lane >> 4) ^ (lane & 7)) << 4);

  // A warp's 64 pixels lie in one output row and start at column colb. Tile u, mma column n of the
  // group g is the input column colb + 32 * g + 16 * (n & 1) + 4 * (n >> 1) + u; output tile j at
  // filter column s takes tile u = j + s. Columns -2, -1, 128 and 129 read beside the slot, still in
  // shared memory, and reach only outputs that are not stored.
  const int row = wn >> 1;
  const int colb = 64 * (wn & 1) - 2 * row;

  // For this lane's row of the ldmatrix: the offset in a slot of the tiles 2 * v and 2 * v + 1.
  int bo[3];
  {
    const int khalf = (lane >> 3) & 1;
    const int jj = lane >> 4;
    const int rr = lane & 7;
#pragma unroll
    for (int v = 0; v < 3; ++v) {
      const int c = colb + 16 * (rr & 1) + 4 * (rr >> 1) + 2 * v + jj;
      bo[v] = c * 128 + ((khalf ^ pix_key(c)) << 4);
    }
  }

  // Epilogue: this thread's first output channel and pixel.
  const int pw = 124 * row + 64 * (wn & 1) + 4 * (lane & 3);
  const bool cutHi = wn == 1 && (lane & 3) == 3;  // pixels 124..127, only 124 and 125 are row 0's
  const bool cutLo = wn == 2 && (lane & 3) == 0;  // pixels 124..127, only 126 and 127 are row 1's
  const unsigned biasAddr = sb + kBiasOffset + (64 * wm + (lane >> 2)) * 8;
  float *obase =
      out + ((size_t)blockIdx.x * 128 + 64 * wm + (lane >> 2)) * (size_t)kOutPlane + pw;

  float acc[4][8][4];
  unsigned fa[2][4][4];    // weights, by the parity of the k-step
  unsigned fb[4][2][4];    // pixels: 0: tiles 0, 1; 1 and 2: tiles 2, 3 by parity of kk; 3: tiles 4, 5
  unsigned aAddr = aBase;  // weights of filter row r
  int sl = 0;              // slot of input row h + r

  {
    const unsigned rb0 = ringB + row * kRowBytes;
    load_a(fa[0], aBase, 0, 0);
    load_b(fb[0], rb0, bo[0], 0);
    load_b(fb[1], rb0, bo[1], 0);
  }

#pragma unroll 1
  for (int h = 0; h < 126; h += 2) {
    const unsigned par = (unsigned)(h >> 1) & 1u;

#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[i][j][e] = 0.f;

#pragma unroll 1
    for (int r = 0; r < 3; ++r) {
      const bool stage = r > 0 && h + 3 + r < 128;  // r = 1: row h + 4, r = 2: row h + 5
      const float *xrow = xs + (h + 3 + r) * 128;
      const unsigned sdst = sAddr + wrap5(sl + 3) * kRowBytes;
      // This filter row's input row, and the next one's; after r = 2 comes row h + 2 again.
      const int sln = r == 2 ? sl : wrap5(sl + 1);
      const unsigned rb = ringB + wrap5(sl + row) * kRowBytes;
      const unsigned rbn = ringB + wrap5(sln + row) * kRowBytes;
      float v[8];

      if (r == 2 && h < 122) {  // rows h + 6 and h + 7, for the next step
        if (lane < 8)
          prefetch_l2(xpre + (h + 6) * 128, 1024);
        __syncwarp();
      }

#pragma unroll
      for (int k = 0; k < 12; ++k) {
        const int kk = k / 3;  // channels 16 * kk ..
        const int s = k % 3;   // filter column

        if (s == 0) {
          if (stage)
            ld8(v, xrow + kk * (16 * kPlane));
        }

        if (k == 10) {
          if (r == 0) {
            // All reads of row h by this warp are done; rows h + 2 and h + 3 come next.
            __syncwarp();
            if (lane == 0)
              mbar_arrive(barE);
            __syncwarp();
            mbar_wait(barF, par ^ 1u);
          }
        }

        if (k == 11) {
          // On to the next filter row, after the last one to the first of the next step.
          if (r == 2)
            aAddr = aBase;
          else
            aAddr += 3 * 16384;
        }

        // Fragments for later k-steps.
        const int kn = k < 11 ? k + 1 : 0;
        const int kb = (kk + 1) & 3;
        load_a(fa[(k + 1) & 1], aAddr, kn % 3, kn / 3);
        if (s == 0)
          load_b(fb[3], rb, bo[2], kk);
        if (s == 1)
          load_b(fb[1 + (kb & 1)], kk == 3 ? rbn : rb, bo[1], kb);
        if (s == 2)
          load_b(fb[0], kk == 3 ? rbn : rb, bo[0], kb);

        // The mma of k-step k.
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int jx = 0; jx < 8; ++jx) {
            const int jt = (i & 1) ? 7 - jx : jx;  // 4 * g + j
            const int g = jt >> 2;
            const int u = (jt & 3) + s;
            const int q = u >> 1;
            const int f = q == 0 ? 0 : (q == 1 ? 1 + (kk & 1) : 3);
            mma16816(acc[i][jt], fa[k & 1][i], fb[f][g][(u & 1) * 2],
                     fb[f][g][(u & 1) * 2 + 1]);
          }
        }

        if (s == 2) {
          if (stage) {
            if (k == 2 && r == 2)
              mbar_wait(barE, par);  // row h + 5 takes the slot of row h
            st8(sdst ^ ((unsigned)kk << 5), v);
          }
        }
      }

      sl = sln;
    }

    // Rows h + 4 and h + 5 are staged as far as this warp is concerned.
    __syncwarp();
    if (lane == 0)
      mbar_arrive(barF);
    __syncwarp();

    float *oh = obase + h * 126;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int hf = 0; hf < 2; ++hf) {
        float cbv, bv;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(cbv), "=f"(bv)
                     : "r"(biasAddr + (16 * i + 8 * hf) * 8));
        const int off = (16 * i + 8 * hf) * kOutPlane;
#pragma unroll
        for (int G = 0; G < 4; ++G) {
          const int g4 = 4 * (G >> 1);
          const int e = 2 * hf + (G & 1);
          float4 o;
          o.x = relu_bias(acc[i][g4][e], cbv, bv);
          o.y = relu_bias(acc[i][g4 + 1][e], cbv, bv);
          o.z = relu_bias(acc[i][g4 + 2][e], cbv, bv);
          o.w = relu_bias(acc[i][g4 + 3][e], cbv, bv);
          float *dst = oh + off + 16 * G;
          if (G == 3 && cutHi)
            *reinterpret_cast<float2 *>(dst) = make_float2(o.x, o.y);
          else if (G == 0 && cutLo)
            *reinterpret_cast<float2 *>(dst + 2) = make_float2(o.z, o.w);
          else
            *reinterpret_cast<float4 *>(dst) = o;
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
