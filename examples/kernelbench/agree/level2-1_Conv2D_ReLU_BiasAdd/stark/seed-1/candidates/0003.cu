// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

// Rounding of inputs and weights to TF32: ties away from zero, or to even.
static constexpr bool kTiesAway = true;

static constexpr int kPackedElems = 9 * 128 * 64;                    // 73728
static constexpr int kWeightBytes = kPackedElems * 2;                // 147456
static constexpr int kTapBytes = 128 * 64 * 2;                       // 16384
static constexpr int kSlots = 5;
static constexpr int kSlotBytes = 128 * 64 * 2;                      // 16384
static constexpr int kRingOff = kWeightBytes;
static constexpr int kBiasOff = kRingOff + kSlots * kSlotBytes;      // 229376
static constexpr int kSmemBytes = kBiasOff + 128 * 8;                // 230400
static constexpr int kVirtualRows = 128 * 128 - 2;                   // 16382
static constexpr int kChanStride = 128 * 128;                        // floats between channels of x
static constexpr int kOutPlane = 126 * 126;                          // floats between channels of out
static constexpr int kSteps = 36;                                    // 9 taps x 4 steps of 16 channels

// Two floats, rounded to 10 bits of mantissa, as two halves (lo in the low half).
static __device__ __forceinline__ uint32_t pack_half2(float lo, float hi) {
  uint32_t d;
  if (kTiesAway) {
    lo = __uint_as_float(__float_as_uint(lo) + 0x1000u);
    hi = __uint_as_float(__float_as_uint(hi) + 0x1000u);
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  }
  return d;
}

static __device__ __forceinline__ float2 load_stream2(const float *p) {
  float2 r;
  asm volatile("ld.global.cs.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(p));
  return r;
}

static __device__ __forceinline__ void store_shared16(uint32_t addr, uint32_t a, uint32_t b,
                                                      uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

static __device__ __forceinline__ void copy_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

static __device__ __forceinline__ void copy_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

static __device__ __forceinline__ void bar_sync(int id, int n) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}

static __device__ __forceinline__ void bar_arrive(int id, int n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
}

static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

static __device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                               uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// relu(acc + conv_bias) + bias; NaN stays NaN.
static __device__ __forceinline__ float finish(float acc, float2 bb) {
  float u = acc + bb.x;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(u) : "f"(u), "f"(0.0f));
  return u + bb.y;
}

// Position of a pixel's 16-byte chunks in its 128 bytes: chunk ch lies at ch ^ pixel_key(px).
static __device__ __forceinline__ int pixel_key(int px) { return ((px >> 1) & 6) | (px & 1); }

// Eight channels of the pixels 2*pr and 2*pr+1 (v[k].x and v[k].y) to shared memory. Odd lanes store
// their second pixel first: then eight lanes in a row never meet in a bank.
static __device__ __forceinline__ void store_pixels(const float2 (&v)[8], uint32_t first,
                                                    uint32_t second, bool odd) {
  uint32_t lo[4], hi[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    lo[k] = pack_half2(v[2 * k].x, v[2 * k + 1].x);
    hi[k] = pack_half2(v[2 * k].y, v[2 * k + 1].y);
  }
  store_shared16(first, odd ? hi[0] : lo[0], odd ? hi[1] : lo[1], odd ? hi[2] : lo[2],
                 odd ? hi[3] : lo[3]);
  store_shared16(second, odd ? lo[0] : hi[0], odd ? lo[1] : hi[1], odd ? lo[2] : hi[2],
                 odd ? lo[3] : hi[3]);
}

// Batch B of a row: 16 channels, by the 128 threads of a group.
template <int B>
static __device__ __forceinline__ void load_batch(float2 (&v)[8], const float *src) {
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = load_stream2(src + (B * 16 + k) * kChanStride);
}

template <int B>
static __device__ __forceinline__ void store_batch(const float2 (&v)[8], uint32_t dst,
                                                   uint32_t first, uint32_t second, bool odd) {
  store_pixels(v, dst + (first ^ (uint32_t)(B * 32)), dst + (second ^ (uint32_t)(B * 32)), odd);
}

// Step S = tap * 4 + cc: 16 channels of one tap. Fetches the fragments of what comes next.
template <int S>
static __device__ __forceinline__ void mma_step(float (&acc)[4][8][4], uint32_t (&a)[2][4],
                                                uint32_t (&b)[2][4][4],
                                                const uint32_t (&a_addr)[4],
                                                const int (&b_lo)[3],
                                                const uint32_t (&slot)[3]) {
  constexpr bool kNext = S + 1 < kSteps;
  constexpr int kN = kNext ? S + 1 : 0;
  constexpr int kNTap = kN / 4;
  constexpr int kNCc = kN % 4;
  const uint32_t b_next = slot[kNTap / 3] + (uint32_t)(b_lo[kNTap % 3] ^ (kNCc * 32));
#pragma unroll
  for (int mt = 0; mt < 4; ++mt) {
    if (mt < 3)
      ldmatrix_x4(a[(mt + 1) & 1], a_addr[S % 4] + (uint32_t)((S / 4) * kTapBytes + (mt + 1) * 2048));
    else if (kNext)
      ldmatrix_x4(a[0], a_addr[kNCc] + (uint32_t)(kNTap * kTapBytes));
    if (kNext)
      ldmatrix_x4(b[(S + 1) & 1][mt], b_next + (uint32_t)(mt * 2048));
#pragma unroll
    for (int j = 0; j < 8; ++j)
      mma_f16(acc[mt][j], a[mt & 1], b[S & 1][j >> 1][(j & 1) * 2], b[S & 1][j >> 1][(j & 1) * 2 + 1]);
  }
}

// Steps S up to, but without, E.
template <int S, int E>
static __device__ __forceinline__ void mma_steps(float (&acc)[4][8][4], uint32_t (&a)[2][4],
                                                 uint32_t (&b)[2][4][4],
                                                 const uint32_t (&a_addr)[4],
                                                 const int (&b_lo)[3],
                                                 const uint32_t (&slot)[3]) {
  if constexpr (S < E) {
    mma_step<S>(acc, a, b, a_addr, b_lo, slot);
    mma_steps<S + 1, E>(acc, a, b, a_addr, b_lo, slot);
  }
}

// Weights as rounded halves, in the order (and with the swizzle) that conv_rows keeps in shared memory.
static __global__ void __launch_bounds__(256) pack_weights(const float *__restrict__ w,
                                                           unsigned short *__restrict__ packed) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  if (idx >= kPackedElems)
    return;
  const int co = idx / 576;
  const int rem = idx - co * 576;
  const int c = rem / 9;
  const int tap = rem - c * 9;
  const uint32_t h = pack_half2(w[idx], 0.0f);
  packed[(tap * 128 + co) * 64 + (((c >> 3) ^ (co & 7)) << 3) + (c & 7)] =
      (unsigned short)(h & 0xffffu);
}

static __global__ void __launch_bounds__(256, 1)
conv_rows(const float *__restrict__ x, const unsigned short *__restrict__ packed,
          const float *__restrict__ conv_bias, const float *__restrict__ bias,
          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sw = (uint32_t)__cvta_generic_to_shared(smem);
  const uint32_t ring = sw + (uint32_t)kRingOff;

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);
  const int group = warp >> 2;

  // Virtual output rows g0 .. g0 + T - 1 are this block's.
  const int g0 = (int)(blockIdx.x * (unsigned)kVirtualRows / gridDim.x);
  const int g1 = (int)((blockIdx.x + 1u) * (unsigned)kVirtualRows / gridDim.x);
  const int T = g1 - g0;

  // Prologue: weights, biases, input rows g0 .. g0 + 3.
  {
    const unsigned char *wsrc = reinterpret_cast<const unsigned char *>(packed);
#pragma unroll 4
    for (int c = tid; c < kWeightBytes / 16; c += 256)
      copy_async16(sw + (uint32_t)(c * 16), wsrc + c * 16);
    if (tid < 128)
      reinterpret_cast<float2 *>(smem + kBiasOff)[tid] = make_float2(conv_bias[tid], bias[tid]);

    const int pr = tid & 63;
    const int cq = tid >> 6;
    const bool odd = (pr & 1) != 0;
    float2 v[8][8];
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int r = g0 + (u >> 1);
      const int ch = cq + 4 * (u & 1);
      const float *s =
          x + (size_t)((r >> 7) * 64 + ch * 8) * kChanStride + (r & 127) * 128 + 2 * pr;
#pragma unroll
      for (int k = 0; k < 8; ++k)
        v[u][k] = load_stream2(s + k * kChanStride);
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int ch = cq + 4 * (u & 1);
      const uint32_t base = ring + (uint32_t)((u >> 1) * kSlotBytes);
      const uint32_t lo = base + (uint32_t)((2 * pr) * 128 + ((ch ^ pixel_key(2 * pr)) << 4));
      const uint32_t hi = base + (uint32_t)((2 * pr + 1) * 128 + ((ch ^ pixel_key(2 * pr + 1)) << 4));
      store_pixels(v[u], odd ? hi : lo, odd ? lo : hi, odd);
    }
    copy_async_wait_all();
    __syncthreads();
  }

  // What a thread loads of the row that its group brings in during a tile.
  const int pr = tid & 63;
  const int tc = (tid & 127) >> 6;
  const bool odd = (pr & 1) != 0;
  const float *xt = x + (size_t)(tc * 8) * kChanStride + 2 * pr;
  const uint32_t st_lo = (uint32_t)((2 * pr) * 128 + ((tc ^ pixel_key(2 * pr)) << 4));
  const uint32_t st_hi = (uint32_t)((2 * pr + 1) * 128 + ((tc ^ pixel_key(2 * pr + 1)) << 4));
  const uint32_t st_first = odd ? st_hi : st_lo;
  const uint32_t st_second = odd ? st_lo : st_hi;

  // Where a thread's fragments lie.
  const int wq = warp & 3;
  const int co0 = (wq & 1) * 64;
  const int px0 = (wq >> 1) * 64;
  const int shift = 2 * ((g0 + group) & 1);

  uint32_t a_addr[4];
  {
    const int arow = (lane & 7) + ((lane >> 3) & 1) * 8;
    const int akh = lane >> 4;
    const int a_lo = (co0 + arow) * 128 + ((akh ^ (lane & 7)) << 4);
#pragma unroll
    for (int cc = 0; cc < 4; ++cc)
      a_addr[cc] = sw + (uint32_t)(a_lo ^ (cc * 32));
  }
  int b_lo[3];
  {
    const int bkh = (lane >> 3) & 1;
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      const int px = px0 + 4 * ((lane & 7) >> 1) + (lane & 1) + 2 * (lane >> 4) - shift + kw;
      b_lo[kw] = px * 128 + ((bkh ^ pixel_key(px)) << 4);
    }
  }

  const int co_t = co0 + (lane >> 2);
  const float2 *bv = reinterpret_cast<const float2 *>(smem + kBiasOff) + co_t;
  const int out_px = px0 + 4 * (lane & 3) - shift;
  const bool edge_lo = shift == 2 && px0 == 0 && (lane & 3) == 0;
  const bool edge_hi = shift == 0 && px0 == 64 && (lane & 3) == 3;

#pragma unroll 1
  for (int i = group; i < T; i += 2) {
    const int g = g0 + i;
    const bool more = i + 4 < T + 2;  // row g + 4 is needed by this block
    uint32_t slot[3];
#pragma unroll
    for (int kh = 0; kh < 3; ++kh)
      slot[kh] = ring + ((unsigned)(i + kh) % (unsigned)kSlots) * (unsigned)kSlotBytes;
    const uint32_t dst = ring + ((unsigned)(i + 4) % (unsigned)kSlots) * (unsigned)kSlotBytes;
    const int r = g + 4;
    const float *src = xt + (size_t)(r >> 7) * (64 * kChanStride) + (r & 127) * 128;

    float acc[4][8][4];
#pragma unroll
    for (int mt = 0; mt < 4; ++mt)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          acc[mt][j][e] = 0.0f;

    uint32_t a[2][4];
    uint32_t b[2][4][4];
    float2 v[8];
    ldmatrix_x4(a[0], a_addr[0]);
#pragma unroll
    for (int p = 0; p < 4; ++p)
      ldmatrix_x4(b[0][p], slot[0] + (uint32_t)b_lo[0] + (uint32_t)(p * 2048));

    mma_steps<0, 13>(acc, a, b, a_addr, b_lo, slot);
    if (more)
      load_batch<0>(v, src);
    mma_steps<13, 19>(acc, a, b, a_addr, b_lo, slot);
    if (i > 0)
      bar_sync(2 - group, 256);  // tile i - 1, of the other group, is done: row i - 1 is free
    if (more) {
      store_batch<0>(v, dst, st_first, st_second, odd);
      load_batch<1>(v, src);
    }
    mma_steps<19, 24>(acc, a, b, a_addr, b_lo, slot);
    if (more) {
      store_batch<1>(v, dst, st_first, st_second, odd);
      load_batch<2>(v, src);
    }
    mma_steps<24, 29>(acc, a, b, a_addr, b_lo, slot);
    if (more) {
      store_batch<2>(v, dst, st_first, st_second, odd);
      load_batch<3>(v, src);
    }
    mma_steps<29, 34>(acc, a, b, a_addr, b_lo, slot);
    if (more)
      store_batch<3>(v, dst, st_first, st_second, odd);
    mma_steps<34, 36>(acc, a, b, a_addr, b_lo, slot);

    // The ring is not touched any more in this tile.
    if (i + 1 < T)
      bar_arrive(1 + group, 256);
    bar_sync(3 + group, 128);  // row g + 4 is visible to the group, row g + 1 is read by all of it

    const int h = g & 127;
    if (h < 126) {
      float *o = out + ((long long)((g >> 7) * 128 + co_t) * 126 + h) * 126 + out_px;
#pragma unroll
      for (int mt = 0; mt < 4; ++mt) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float2 bb = bv[mt * 16 + half * 8];
          float *orow = o + (mt * 16 + half * 8) * kOutPlane;
#pragma unroll
          for (int p = 0; p < 4; ++p) {
            float4 u;
            u.x = finish(acc[mt][2 * p][2 * half], bb);
            u.y = finish(acc[mt][2 * p][2 * half + 1], bb);
            u.z = finish(acc[mt][2 * p + 1][2 * half], bb);
            u.w = finish(acc[mt][2 * p + 1][2 * half + 1], bb);
            if (p == 0 && edge_lo)
              *reinterpret_cast<float2 *>(orow + 2) = make_float2(u.z, u.w);
            else if (p == 3 && edge_hi)
              *reinterpret_cast<float2 *>(orow + 48) = make_float2(u.x, u.y);
            else
              *reinterpret_cast<float4 *>(orow + 16 * p) = u;
          }
        }
      }
    }
    __syncwarp();
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor result = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({kPackedElems}, x.options().dtype(at::kHalf));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  unsigned short *packed_ptr = reinterpret_cast<unsigned short *>(packed.data_ptr<at::Half>());
  pack_weights<<<kPackedElems / 256, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packed_ptr);
  cudaFuncSetAttribute(conv_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  conv_rows<<<132, 256, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packed_ptr, conv_bias.const_data_ptr<float>(),
      bias.const_data_ptr<float>(), result.data_ptr<float>());
  return result;
}
