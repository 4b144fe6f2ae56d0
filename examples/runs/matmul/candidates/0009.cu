// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"
#include <cuda_bf16.h>
#include <cstdint>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cstddef>

__global__ void matmul_kernel(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i)
    sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}

static constexpr int kBM = 128;
static constexpr int kBN = 256;
static constexpr int kBK = 32;
static constexpr int kThreads = 256;
static constexpr int kGroupM = 16;

// Row pitches in bytes: free of bank conflicts for ldmatrix, multiples of 16.
static constexpr int kPitchA = 40 * 2;
static constexpr int kPitchB = 264 * 2;

// Byte offsets within one stage.
static constexpr int kOffAhi = 0;
static constexpr int kOffAlo = kOffAhi + kBM * kPitchA;
static constexpr int kOffBhi = kOffAlo + kBM * kPitchA;
static constexpr int kOffBlo = kOffBhi + kBK * kPitchB;
static constexpr int kStageBytes = kOffBlo + kBK * kPitchB;
// A split block barrier: one mbarrier in shared memory, one arrival per warp.
static __device__ __forceinline__ void bar_init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(bar),
               "r"(count)
               : "memory");
}

// Lane 0 arrives (release.cta); predicated, without a branch.
static __device__ __forceinline__ void bar_arrive_lane0(uint32_t bar,
                                                        uint32_t lane) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b64 t;\n"
      "setp.eq.u32 p, %1, 0;\n"
      "@p mbarrier.arrive.shared::cta.b64 t, [%0];\n"
      "}\n" ::"r"(bar),
      "r"(lane)
      : "memory");
}

// Waits until the phase of this parity is complete (acquire.cta).
static __device__ __forceinline__ void bar_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  } while (done == 0);
}

// Stages of the shared-memory ring; stores run two steps ahead of the reads.
static constexpr int kStages = 4;
static constexpr int kOffBar = kStages * kStageBytes;
static constexpr int kSmemBytes = kOffBar + 16;

static_assert(kStageBytes == 54272, "stage size");

static __device__ __forceinline__ void ldsm_x4(uint32_t (&r)[4],
                                               uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

static __device__ __forceinline__ void ldsm_x4_trans(uint32_t (&r)[4],
                                                     uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

// Recomputes in fp32 those of this thread's 128 elements of a tile that came
// out infinite or NaN. A thread reads back only what it wrote itself.
static __device__ __forceinline__ void
repair_elements(const float *a, const float *b, float *c, int n, int k,
                int first_row, int first_col) {
#pragma unroll 1
  for (int e = 0; e < 128; ++e) {
    const int row = first_row + (e >> 5) * 16 + ((e >> 4) & 1) * 8;
    const int col = first_col + ((e >> 1) & 7) * 8 + (e & 1);
    float *p = c + (size_t)row * n + col;
    const float v = *reinterpret_cast<volatile float *>(p);
    if (!(fabsf(v) < __int_as_float(0x7f800000))) {
      float sum = 0.0f;
#pragma unroll 1
      for (int i = 0; i < k; ++i)
        sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
      *p = sum;
    }
  }
}

static __device__ __forceinline__ void mma_f16(float (&d)[4],
                                               const uint32_t (&a)[4],
                                               uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t half2_bits(__half2 v) {
  return *reinterpret_cast<uint32_t *>(&v);
}

// Splits four floats into bf16 high and low parts and stores 8 bytes of each.
// (In fp16, and so that two products are enough:)
//   X1 = fl16(31.5 A)   X2 = fl16(32 A - X1)
//   Y1 = fl16(B)        Y2 = fl16(64 B - 63 Y1)
//   32 A B ~= X1 Y1 + X2 Y2
// With r the rounding error of X1 and b that of Y1 the sum is, before the
// rounding of X2 and Y2, 32 A B + 64 r b: both first-order errors cancel. The
// roundings of X2 and Y2 count 1/64, as that product has 1/64 of the weight.
// The constants belong together.
// Range: deviations of A and B down to about 1e-4 keep the precision. |A| above
// about 2079 or |B| near 65504 makes the accumulator infinite or NaN, never
// wrong and finite; the kernel recomputes such elements in fp32.
static __device__ __forceinline__ void split_store_a(unsigned char *hi,
                                                     unsigned char *lo,
                                                     float4 v) {
  const __half2 h01 = __floats2half2_rn(31.5f * v.x, 31.5f * v.y);
  const __half2 h23 = __floats2half2_rn(31.5f * v.z, 31.5f * v.w);
  const float2 f01 = __half22float2(h01);
  const float2 f23 = __half22float2(h23);
  const __half2 l01 = __floats2half2_rn(fmaf(32.0f, v.x, -f01.x),
                                        fmaf(32.0f, v.y, -f01.y));
  const __half2 l23 = __floats2half2_rn(fmaf(32.0f, v.z, -f23.x),
                                        fmaf(32.0f, v.w, -f23.y));
  *reinterpret_cast<uint2 *>(hi) = make_uint2(half2_bits(h01), half2_bits(h23));
  *reinterpret_cast<uint2 *>(lo) = make_uint2(half2_bits(l01), half2_bits(l23));
}

static __device__ __forceinline__ void split_store_b(unsigned char *hi,
                                                     unsigned char *lo,
                                                     float4 v) {
  const __half2 h01 = __floats2half2_rn(v.x, v.y);
  const __half2 h23 = __floats2half2_rn(v.z, v.w);
  const float2 f01 = __half22float2(h01);
  const float2 f23 = __half22float2(h23);
  const __half2 l01 = __floats2half2_rn(fmaf(-63.0f, f01.x, 64.0f * v.x),
                                        fmaf(-63.0f, f01.y, 64.0f * v.y));
  const __half2 l23 = __floats2half2_rn(fmaf(-63.0f, f23.x, 64.0f * v.z),
                                        fmaf(-63.0f, f23.y, 64.0f * v.w));
  *reinterpret_cast<uint2 *>(hi) = make_uint2(half2_bits(h01), half2_bits(h23));
  *reinterpret_cast<uint2 *>(lo) = make_uint2(half2_bits(l01), half2_bits(l23));
}

static __device__ __forceinline__ float4 load_float4(const float *p) {
  return __ldg(reinterpret_cast<const float4 *>(p));
}

// Blocks of the persistent kernel: one per SM. Any number is correct.
static constexpr int kMaxBlocks = 132;

// Groups of kGroupM tiles along m share the columns of b in L2.
static __device__ __forceinline__ void tile_origin(int tile, int tm, int tn,
                                                   int &m0, int &n0) {
  const int per = kGroupM * tn;
  const int g = tile / per;
  const int first = g * kGroupM;
  const int gs = min(tm - first, kGroupM);
  const int rem = tile - g * per;
  m0 = (first + rem % gs) * kBM;
  n0 = (rem / gs) * kBN;
}

// This thread's first float4 of A and of B in the first half tile of `tile`.
static __device__ __forceinline__ void
loader_origin(const float *a, const float *b, int m, int n, int k, int tile,
              const float *&pa, const float *&pb) {
  int m0, n0;
  tile_origin(tile, m / kBM, n / kBN, m0, n0);
  const int t = threadIdx.x;
  pa = a + (size_t)(m0 + (t >> 2)) * k + (t & 3) * 4;
  pb = b + (size_t)(t >> 6) * n + n0 + (t & 63) * 4;
}

// From the second half of a k tile to the first half of the next one, which
// may belong to the block's next output tile. After the last tile the loader
// reads that tile again: in bounds, and never used.
static __device__ __forceinline__ void
loader_next(const float *a, const float *b, int m, int n, int k, int &ld_tile,
            int &ld_left, const float *&pa, const float *&pb) {
  if (--ld_left > 0) {
    pa += 16;
    pb += (size_t)16 * n;
  } else {
    ld_left = k / kBK;
    const int next = ld_tile + (int)gridDim.x;
    if (next < (m / kBM) * (n / kBN))
      ld_tile = next;
    loader_origin(a, b, m, n, k, ld_tile, pa, pb);
  }
}

// Needs m % 128 == 0, n % 256 == 0, k % 32 == 0 and 16-byte aligned pointers.
// Two compensated fp16 products (see split_store_a); the kernel's name dates
// from three bf16 products. The "hi" areas hold X1 and Y1, "lo" X2 and Y2.
static __global__ void __launch_bounds__(kThreads, 1)
    matmul_split_bf16_kernel(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(16) unsigned char smem[];

  // 32-bit steps of the loader: from piece i to piece i + 1.
  const int a_step = 64 * k;
  const int b_step = 4 * n;

  // Loader state: where the next half tile comes from.
  const float *pa;
  const float *pb;
  int ld_tile = blockIdx.x;
  int ld_left = k / kBK; // k tiles left in ld_tile, the present one included
  loader_origin(a, b, m, n, k, ld_tile, pa, pb);

  // Where the staged pieces go within a stage.
  const int a_st = (threadIdx.x >> 2) * kPitchA + (threadIdx.x & 3) * 8;
  const int b_st = (threadIdx.x >> 6) * kPitchB + (threadIdx.x & 63) * 8;

  if (threadIdx.x == 0)
    bar_init(static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar,
             kThreads / 32);

  float4 sa[2];
  float4 sb[4];

  // Fill stages 0 and 1 and fetch the first half of step 2; all loads are
  // issued before the first store.
  {
    float4 ta[2], tb[4], ua[2], ub[4];
    float4 va[2], vb[4], wa[2], wb[4];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ta[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      tb[i] = load_float4(pb + i * b_step);
    pa += 16;
    pb += (size_t)4 * b_step;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ua[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      ub[i] = load_float4(pb + i * b_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      va[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      vb[i] = load_float4(pb + i * b_step);
    pa += 16;
    pb += (size_t)4 * b_step;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      wa[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      wb[i] = load_float4(pb + i * b_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sa[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sb[i] = load_float4(pb + i * b_step);

#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, ta[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + b_st + i * 4 * kPitchB;
      split_store_b(p + kOffBhi, p + kOffBlo, tb[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, ua[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + b_st + (16 + i * 4) * kPitchB;
      split_store_b(p + kOffBhi, p + kOffBlo, ub[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, va[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + kStageBytes + b_st + i * 4 * kPitchB;
      split_store_b(p + kOffBhi, p + kOffBlo, vb[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, wa[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + kStageBytes + b_st + (16 + i * 4) * kPitchB;
      split_store_b(p + kOffBhi, p + kOffBlo, wb[i]);
    }
  }
  // Publishes stages 0 and 1 and the mbarrier.
  __syncthreads();

  // Where the fragments of the current stage come from.
  uint32_t a_cur;
  uint32_t b_cur;
  {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int wm = warp >> 2;
    const int wn = warp & 3;
    const uint32_t smem_u32 =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    a_cur = smem_u32 + kOffAhi + (wm * 64 + (lane & 15)) * kPitchA +
            (lane >> 4) * 16;
    b_cur = smem_u32 + kOffBhi + (lane & 15) * kPitchB +
            (wn * 64 + (lane >> 4) * 8) * 2;
  }

  // Fragments of the first step.
  uint32_t ahi[4][4];
  uint32_t alo[4][4];
  uint32_t bhi[2][4];
  uint32_t blo[4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    ldsm_x4(alo[mi], a_cur + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
    ldsm_x4(ahi[mi], a_cur + mi * 16 * kPitchA);
  }
  ldsm_x4_trans(bhi[0], b_cur);
  ldsm_x4_trans(blo, b_cur + (kOffBlo - kOffBhi));

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][ni][e] = 0.0f;

  int tile = blockIdx.x;
  int kt_left = k / kBK; // k tiles left to multiply in `tile`
  int stage = 0;         // step s modulo kStages; runs on across output tiles
#pragma unroll 1
  while (true) {
    // To the next stage; the way back to stage 0 wraps on purpose.
    const uint32_t d = stage == kStages - 1
                           ? (uint32_t)(-(kStages - 1) * kStageBytes)
                           : (uint32_t)kStageBytes;
    const uint32_t a_nxt = a_cur + d;
    const uint32_t b_nxt = b_cur + d;
    // The stage of step s + 2, last read in step s - 2.
    unsigned char *st = smem + (stage ^ 2) * kStageBytes;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // The half that replaces the staged one: the second half of step s + 2,
      // or the first half of step s + 3.
      if (h == 0) {
        pa += 16;
        pb += (size_t)4 * b_step;
      } else {
        loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
      }
      // A of the next half.
      const uint32_t a_pf = h == 0 ? a_cur + 32 : a_nxt;

#pragma unroll
      for (int j = 0; j < 4; ++j) {
        // This warp's stores of this step are done and all its fragments of
        // the current stage are in registers: wait for what all warps had
        // done by the end of step s - 1, then arrive for step s.
        if (h == 1 && j == 3) {
          const uint32_t bar =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
          bar_wait(bar, (uint32_t)((stage & 1) ^ 1));
          __syncwarp();
          bar_arrive_lane0(bar, threadIdx.x & 31);
        }

        // B of the next step.
        const uint32_t q = j < 3 ? b_cur + h * 16 * kPitchB + (j + 1) * 32
                                 : (h == 0 ? b_cur + 16 * kPitchB : b_nxt);
        ldsm_x4_trans(bhi[(j + 1) & 1], q);

        // Pass 1: X2 * Y2.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_f16(acc[mi][2 * j], alo[mi], blo[0], blo[1]);
          mma_f16(acc[mi][2 * j + 1], alo[mi], blo[2], blo[3]);
          if (j == 3)
            ldsm_x4(alo[mi], a_pf + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
        }
        ldsm_x4_trans(blo, q + (kOffBlo - kOffBhi));

        // Pieces of the staged half: A_j (j < 2) and B_i, i0 <= i < i1. Each
        // is stored and its staging registers are refilled at once.
        const int i0 = (h == 1 && j == 3) ? 4 : j;
        const int i1 = (h == 1 && j >= 2) ? 4 : j + 1;
        if (j < 2) {
          unsigned char *p = st + a_st + (j & 1) * 64 * kPitchA + h * 32;
          split_store_a(p + kOffAhi, p + kOffAlo, sa[j & 1]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i >= i0 && i < i1) {
            unsigned char *p = st + b_st + (h * 16 + i * 4) * kPitchB;
            split_store_b(p + kOffBhi, p + kOffBlo, sb[i]);
          }
        }
        if (j < 2)
          sa[j & 1] = load_float4(pa + (j & 1) * a_step);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i >= i0 && i < i1)
            sb[i] = load_float4(pb + i * b_step);
        }

        // Pass 2: X1 * Y1.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_f16(acc[mi][2 * j], ahi[mi], bhi[j & 1][0], bhi[j & 1][1]);
          mma_f16(acc[mi][2 * j + 1], ahi[mi], bhi[j & 1][2], bhi[j & 1][3]);
          if (j == 3)
            ldsm_x4(ahi[mi], a_pf + mi * 16 * kPitchA);
        }
      }
    }
    a_cur += d;
    b_cur += d;
    stage = (stage + 1) & (kStages - 1);

    if (--kt_left == 0) {
      // The tile is done: store it, without waiting, and go on to the next
      // one, whose first fragments are in registers already.
      const int tm = m / kBM;
      const int tn = n / kBN;
      const int lane = threadIdx.x & 31;
      const int warp = threadIdx.x >> 5;
      int m0, n0;
      tile_origin(tile, tm, tn, m0, n0);
      const int first_row = m0 + (warp >> 2) * 64 + (lane >> 2);
      const int first_col = n0 + (warp & 3) * 64 + (lane & 3) * 2;
      float *c_ptr = c + (size_t)first_row * n + first_col;
      float chk = 0.0f; // becomes NaN if any accumulator is not finite
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *row0 = c_ptr + (size_t)(mi * 16) * n;
        float *row8 = row0 + (size_t)8 * n;
#pragma unroll
        for (int ni = 0; ni < 8; ++ni) {
#pragma unroll
          for (int e = 0; e < 4; ++e)
            chk = fmaf(acc[mi][ni][e], 0.0f, chk);
          __stcs(reinterpret_cast<float2 *>(row0 + ni * 8),
                 make_float2(acc[mi][ni][0] * 0.03125f,
                             acc[mi][ni][1] * 0.03125f));
          __stcs(reinterpret_cast<float2 *>(row8 + ni * 8),
                 make_float2(acc[mi][ni][2] * 0.03125f,
                             acc[mi][ni][3] * 0.03125f));
        }
      }
      if (chk != 0.0f) // true for NaN
        repair_elements(a, b, c, n, k, first_row, first_col);
      __syncwarp();

      tile += (int)gridDim.x;
      if (tile >= tm * tn)
        break;
      kt_left = k / kBK;
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
#pragma unroll
        for (int ni = 0; ni < 8; ++ni)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[mi][ni][e] = 0.0f;
    }
  }
}

// Converts B once. Row r, columns 256 j to 256 j + 255 of c get
// [256 halves Y1 | 256 halves Y2] of row r, column block j of B. Needs
// n % 256 == 0 and k * n % 4096 == 0; the grid has k * n / 4096 blocks.
static __global__ void __launch_bounds__(256)
    convert_b_kernel(const float *__restrict__ b, float *__restrict__ c) {
  const size_t e0 = (size_t)blockIdx.x * 4096 + (size_t)threadIdx.x * 4;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    v[i] = __ldcs(reinterpret_cast<const float4 *>(b + e0 + i * 1024));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const size_t e = e0 + (size_t)(i * 1024);
    unsigned char *p = reinterpret_cast<unsigned char *>(c) +
                       (e & ~(size_t)255) * 4 + (e & 255) * 2;
    split_store_b(p, p + 512, v[i]);
  }
}

// Shared memory of the kernel with the converted B. A row of B: 512 bytes Y1,
// 512 bytes Y2 and 16 bytes of padding (ldmatrix without bank conflicts).
static constexpr int kPsPitchB = 1040;
static constexpr int kPsOffB = 2 * kBM * kPitchA;
static constexpr int kPsStage = kPsOffB + kBK * kPsPitchB;
static constexpr int kPsOffBar = 4 * kPsStage;
static constexpr int kPsSmem = kPsOffBar + 64;
static_assert(kPsStage % 16 == 0 && kPsOffB % 16 == 0, "16-byte bulk copies");

// Called by all lanes. Lane 0 announces and fetches this warp's four rows
// (4096 bytes) of a step of B. dst: this warp's first row in the stage; pb:
// that row in global memory.
static __device__ __forceinline__ void ps_fetch_b(uint32_t dst, uint32_t full,
                                                  const float *pb, int n) {
  if ((threadIdx.x & 31) == 0) {
    asm volatile("{\n"
                 ".reg .b64 t;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], 4096;\n"
                 "}\n" ::"r"(full)
                 : "memory");
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::"
                   "complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
                       dst + i * kPsPitchB),
                   "l"(__cvta_generic_to_global(pb + (size_t)i * n)),
                   "r"(1024), "r"(full)
                   : "memory");
  }
  __syncwarp();
}

// From the second half of A and the rows of B of a step to the first half of A
// and the rows of B of the next one, which may belong to the block's next
// column block. Past the end B is read from the input b: in bounds, never used,
// and not being overwritten as c is.
static __device__ __forceinline__ void
ps_next(const float *b, int m, int n, int k, int &ld_tiles, int &ld_left,
        const float *&pa, const float *&pb) {
  if (--ld_left > 0) {
    pa += 16;
    pb += (size_t)kBK * n;
  } else {
    ld_left = k / kBK;
    pa -= k - 16; // A again from k = 0
    if (--ld_tiles > 0) {
      const int cols = (int)gridDim.x / (m / kBM);
      pb += (ptrdiff_t)cols * kBN - (ptrdiff_t)(k - kBK) * n;
    } else {
      pb = b + (size_t)((threadIdx.x >> 5) * 4) * n;
    }
  }
}

// As matmul_split_bf16_kernel, but B comes converted (convert_b_kernel), from
// the columns of c that this kernel has not yet written. Cooperative launch;
// gridDim.x is a multiple of m / kBM, and gridDim.x / (m / kBM) divides
// n / kBN. Needs k <= m besides. A wave does whole column blocks of c, and a
// grid barrier before its stores says that nobody reads them any more.
static __global__ void __launch_bounds__(kThreads, 1)
    matmul_presplit_kernel(const float *__restrict__ a, const float *b,
                           float *c, int m, int n, int k) {
  extern __shared__ __align__(16) unsigned char smem[];

  // 32-bit step of the loader of A: from piece i to piece i + 1.
  const int a_step = 64 * k;

  // Loader state: where the next half tile of A and the next rows of B come
  // from.
  const float *pa;
  const float *pb;
  int ld_left = k / kBK; // k tiles left in the loader's column block
  int ld_tiles;          // column blocks left, the present one included
  int a_st;              // where the staged pieces of A go within a stage
  {
    const int tm = m / kBM;
    const int bx = (int)blockIdx.x;
    ld_tiles = (n / kBN) / ((int)gridDim.x / tm);
    const int t = (int)threadIdx.x;
    // A half warp holds rows of one parity: no bank conflicts of the 8-byte
    // stores at pitch 80.
    const int row_a = (t >> 5) * 8 + ((t >> 2) & 3) * 2 + ((t >> 4) & 1);
    pa = a + (size_t)((bx % tm) * kBM + row_a) * k + (t & 3) * 4;
    pb = c + (size_t)((t >> 5) * 4) * n + (size_t)(bx / tm) * kBN;
    a_st = row_a * kPitchA + (t & 3) * 8;
  }

  // The step barrier at kPsOffBar; after it one barrier per stage for B.
  if (threadIdx.x == 0) {
    const uint32_t bars =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kPsOffBar;
    bar_init(bars, kThreads / 32);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      bar_init(bars + 8 + 8 * q, kThreads / 32);
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  }
  __syncthreads();

  float4 sa[2];

  // Fetch B of steps 0 to 2, fill A of stages 0 and 1 and load the first half
  // of A of step 2; all loads are issued before the first store.
  {
    const uint32_t smem_u32 =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    const uint32_t full = smem_u32 + kPsOffBar + 8;
    const uint32_t dst =
        smem_u32 + kPsOffB + (threadIdx.x >> 5) * (4 * kPsPitchB);
    float4 ta[2], ua[2], va[2], wa[2];
    ps_fetch_b(dst, full, pb, n);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ta[i] = load_float4(pa + i * a_step);
    pa += 16;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ua[i] = load_float4(pa + i * a_step);
    ps_next(b, m, n, k, ld_tiles, ld_left, pa, pb);
    ps_fetch_b(dst + kPsStage, full + 8, pb, n);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      va[i] = load_float4(pa + i * a_step);
    pa += 16;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      wa[i] = load_float4(pa + i * a_step);
    ps_next(b, m, n, k, ld_tiles, ld_left, pa, pb);
    ps_fetch_b(dst + 2 * kPsStage, full + 16, pb, n);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sa[i] = load_float4(pa + i * a_step);

#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, ta[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, ua[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kPsStage + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, va[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kPsStage + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, wa[i]);
    }
  }
  // Publishes A of stages 0 and 1; B of stage 0 has landed.
  __syncthreads();
  bar_wait(static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kPsOffBar +
               8,
           0);

  // Where the fragments of the current stage come from.
  uint32_t a_cur;
  uint32_t b_cur;
  {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int wm = warp >> 2;
    const int wn = warp & 3;
    const uint32_t smem_u32 =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    a_cur = smem_u32 + kOffAhi + (wm * 64 + (lane & 15)) * kPitchA +
            (lane >> 4) * 16;
    b_cur = smem_u32 + kPsOffB + (lane & 15) * kPsPitchB +
            (wn * 64 + (lane >> 4) * 8) * 2;
  }

  // Fragments of the first step.
  uint32_t ahi[4][4];
  uint32_t alo[4][4];
  uint32_t bhi[2][4];
  uint32_t blo[2][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    ldsm_x4(alo[mi], a_cur + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
    ldsm_x4(ahi[mi], a_cur + mi * 16 * kPitchA);
  }
  ldsm_x4_trans(bhi[0], b_cur);
  ldsm_x4_trans(blo[0], b_cur + 512);

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][ni][e] = 0.0f;

  int wave = 0;
  int kt_left = k / kBK; // k tiles left to multiply in this wave
  // Step s modulo 8, on across waves: the low two bits are the stage, the
  // third is the parity of its barrier for B.
  uint32_t ring = 0;
#pragma unroll 1
  while (true) {
    // To the next stage; the way back to stage 0 wraps on purpose.
    const uint32_t d =
        (ring & 3) == 3 ? (uint32_t)(-3 * kPsStage) : (uint32_t)kPsStage;
    const uint32_t a_nxt = a_cur + d;
    const uint32_t b_nxt = b_cur + d;
    // The stage of step s + 2, whose A was last read in step s - 2.
    unsigned char *st = smem + ((ring & 3) ^ 2) * kPsStage;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // The half of A that replaces the staged one: the second half of step
      // s + 2, or the first half of step s + 3.
      if (h == 0)
        pa += 16;
      else
        ps_next(b, m, n, k, ld_tiles, ld_left, pa, pb);
      // A of the next half.
      const uint32_t a_pf = h == 0 ? a_cur + 32 : a_nxt;

#pragma unroll
      for (int j = 0; j < 4; ++j) {
        // This warp's stores of this step are done and all its fragments of
        // the current stage are read: wait for what all warps had done by
        // this point of step s - 1 and for B of step s + 1, then arrive for
        // step s.
        if (h == 1 && j == 3) {
          const uint32_t bar =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kPsOffBar;
          bar_wait(bar, (ring & 1) ^ 1);
          bar_wait(bar + 8 + ((ring + 1) & 3) * 8, ((ring + 1) & 7) >> 2);
          __syncwarp();
          bar_arrive_lane0(bar, threadIdx.x & 31);
        }

        // B of the next unit.
        const uint32_t q = j < 3 ? b_cur + h * 16 * kPsPitchB + (j + 1) * 32
                                 : (h == 0 ? b_cur + 16 * kPsPitchB : b_nxt);
        ldsm_x4_trans(bhi[(j + 1) & 1], q);
        ldsm_x4_trans(blo[(j + 1) & 1], q + 512);

        // Pass 1: X2 * Y2.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_f16(acc[mi][2 * j], alo[mi], blo[j & 1][0], blo[j & 1][1]);
          mma_f16(acc[mi][2 * j + 1], alo[mi], blo[j & 1][2], blo[j & 1][3]);
          if (j == 3)
            ldsm_x4(alo[mi], a_pf + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
        }

        // Pieces of the staged half of A: stored, and the staging registers
        // refilled at once.
        if (j < 2) {
          unsigned char *p = st + a_st + (j & 1) * 64 * kPitchA + h * 32;
          split_store_a(p + kOffAhi, p + kOffAlo, sa[j & 1]);
          sa[j & 1] = load_float4(pa + (j & 1) * a_step);
        }
        // B of step s + 3, into the stage of step s - 1.
        if (h == 1 && j == 3) {
          const uint32_t smem_u32 =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem));
          const uint32_t slot = (ring + 3) & 3;
          ps_fetch_b(smem_u32 + slot * kPsStage + kPsOffB +
                         (threadIdx.x >> 5) * (4 * kPsPitchB),
                     smem_u32 + kPsOffBar + 8 + slot * 8, pb, n);
        }

        // Pass 2: X1 * Y1.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_f16(acc[mi][2 * j], ahi[mi], bhi[j & 1][0], bhi[j & 1][1]);
          mma_f16(acc[mi][2 * j + 1], ahi[mi], bhi[j & 1][2], bhi[j & 1][3]);
          if (j == 3)
            ldsm_x4(ahi[mi], a_pf + mi * 16 * kPitchA);
        }
      }
    }
    a_cur += d;
    b_cur += d;
    ring = (ring + 1) & 7;

    if (--kt_left == 0) {
      // All blocks have all of this wave's columns of B: what is still in
      // flight belongs to later waves' columns, or to b. Now c may be written.
      cooperative_groups::this_grid().sync();

      const int tm = m / kBM;
      const int cols = (int)gridDim.x / tm;
      const int lane = threadIdx.x & 31;
      const int warp = threadIdx.x >> 5;
      const int m0 = ((int)blockIdx.x % tm) * kBM;
      const int n0 = (wave * cols + (int)blockIdx.x / tm) * kBN;
      const int first_row = m0 + (warp >> 2) * 64 + (lane >> 2);
      const int first_col = n0 + (warp & 3) * 64 + (lane & 3) * 2;
      float *c_ptr = c + (size_t)first_row * n + first_col;
      float chk = 0.0f; // becomes NaN if any accumulator is not finite
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *row0 = c_ptr + (size_t)(mi * 16) * n;
        float *row8 = row0 + (size_t)8 * n;
#pragma unroll
        for (int ni = 0; ni < 8; ++ni) {
#pragma unroll
          for (int e = 0; e < 4; ++e)
            chk = fmaf(acc[mi][ni][e], 0.0f, chk);
          __stcs(reinterpret_cast<float2 *>(row0 + ni * 8),
                 make_float2(acc[mi][ni][0] * 0.03125f,
                             acc[mi][ni][1] * 0.03125f));
          __stcs(reinterpret_cast<float2 *>(row8 + ni * 8),
                 make_float2(acc[mi][ni][2] * 0.03125f,
                             acc[mi][ni][3] * 0.03125f));
        }
      }
      if (chk != 0.0f) // true for NaN
        repair_elements(a, b, c, n, k, first_row, first_col);
      __syncwarp();

      if (++wave == (n / kBN) / cols)
        break;
      kt_left = k / kBK;
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
#pragma unroll
        for (int ni = 0; ni < 8; ++ni)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            acc[mi][ni][e] = 0.0f;
    }
  }

  // The bulk copies of the two steps past the end have landed before the block
  // exits (that of the step before them was waited for in the last step).
  {
    const uint32_t full =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kPsOffBar + 8;
    bar_wait(full + ((ring + 1) & 3) * 8, ((ring + 1) & 7) >> 2);
    bar_wait(full + ((ring + 2) & 3) * 8, ((ring + 2) & 7) >> 2);
  }
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(a) |
                         reinterpret_cast<uintptr_t>(b) |
                         reinterpret_cast<uintptr_t>(c)) %
                        16) == 0;
  if (aligned && m > 0 && n > 0 && k > 0 && m % kBM == 0 && n % kBN == 0 &&
      k % kBK == 0 && k <= (1 << 24) && n <= (1 << 24)) {
    const int tm = m / kBM;
    const int tn = n / kBN;
    if (k <= m && tm <= kMaxBlocks) {
      // The converted B fits c; each wave does whole column blocks of c.
      int g = kMaxBlocks / tm;
      if (g > tn)
        g = tn;
      while (tn % g != 0)
        --g; // ends at 1 at the latest
      cudaFuncSetAttribute(matmul_presplit_kernel,
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           kPsSmem);
      convert_b_kernel<<<(unsigned)((size_t)k * n / 4096), 256, 0, stream>>>(b,
                                                                             c);
      void *args[] = {&a, &b, &c, &m, &n, &k};
      if (cudaLaunchCooperativeKernel(
              reinterpret_cast<const void *>(&matmul_presplit_kernel),
              dim3((unsigned)(tm * g)), dim3((unsigned)kThreads), args,
              (size_t)kPsSmem, stream) == cudaSuccess)
        return;
      // Fall through to the kernel without a grid barrier.
      (void)cudaGetLastError();
    }
    cudaFuncSetAttribute(matmul_split_bf16_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kSmemBytes);
    const unsigned tiles = (unsigned)(m / kBM) * (unsigned)(n / kBN);
    const unsigned blocks =
        tiles < (unsigned)kMaxBlocks ? tiles : (unsigned)kMaxBlocks;
    matmul_split_bf16_kernel<<<blocks, kThreads, kSmemBytes, stream>>>(a, b, c,
                                                                       m, n, k);
    return;
  }
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
