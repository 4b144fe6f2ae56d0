// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"
#include <cuda_bf16.h>
#include <cstdint>
#include <cuda_fp16.h>
#include <cooperative_groups.h>

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
// Row pitch in bytes of the raw fp32 rows of B in a stage (from kOffBhi on):
// 256 floats and 16 bytes, so that the fragment reads have no bank conflicts.
static constexpr int kPitchRaw = 1040;
static_assert(kOffBhi + kBK * kPitchRaw <= kStageBytes, "raw B fits its area");

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
static constexpr int kSmemBytes = kOffBar + 64;

static_assert(kStageBytes == 54272, "stage size");

static __device__ __forceinline__ void ldsm_x4(uint32_t (&r)[4],
                                               uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

static __device__ __forceinline__ float2 lds_f2(uint32_t addr) {
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\n"
               : "=f"(v.x), "=f"(v.y)
               : "r"(addr)
               : "memory");
  return v;
}

// Rows 2t, 2t+1, 2t+8, 2t+9 of a k16 block of raw B: this thread's fragments
// of two n tiles, whose columns alternate.
static __device__ __forceinline__ void load_raw(float2 (&r)[4], uint32_t addr) {
  r[0] = lds_f2(addr);
  r[1] = lds_f2(addr + kPitchRaw);
  r[2] = lds_f2(addr + 8 * kPitchRaw);
  r[3] = lds_f2(addr + 9 * kPitchRaw);
}

// Recomputes in fp32 those of this thread's 128 elements of a tile that came
// out infinite or NaN. A thread reads back only what it wrote itself.
static __device__ __forceinline__ void
repair_elements(const float *a, const float *b, float *c, int n, int k,
                int first_row, int first_col) {
#pragma unroll 1
  for (int e = 0; e < 128; ++e) {
    const int row = first_row + (e >> 5) * 16 + ((e >> 4) & 1) * 8;
    const int col = first_col + ((e >> 2) & 3) * 16 + (e & 3);
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

// Y1 and Y2 of two floats (neighbours in k).
static __device__ __forceinline__ void split_b2(float x, float y, uint32_t &hi,
                                                uint32_t &lo) {
  const __half2 h = __floats2half2_rn(x, y);
  const float2 f = __half22float2(h);
  const __half2 l = __floats2half2_rn(fmaf(-63.0f, f.x, 64.0f * x),
                                      fmaf(-63.0f, f.y, 64.0f * y));
  hi = half2_bits(h);
  lo = half2_bits(l);
}

// Register `i` (0..3, a constant after unrolling) of the B fragments of two
// n tiles: b0 and b1 of the even columns, b0 and b1 of the odd ones.
static __device__ __forceinline__ void pack_b(const float2 (&raw)[4], int i,
                                              uint32_t (&hi)[4],
                                              uint32_t (&lo)[4]) {
  const int p = (i & 1) * 2;
  if (i < 2)
    split_b2(raw[p].x, raw[p + 1].x, hi[i], lo[i]);
  else
    split_b2(raw[p].y, raw[p + 1].y, hi[i], lo[i]);
}

// Called by all lanes. Lane 0 announces and fetches this warp's four rows
// (4096 bytes) of B. dst: this warp's first row in the stage; pb: that row in
// global memory.
static __device__ __forceinline__ void fetch_b(uint32_t dst, uint32_t full,
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
                       dst + i * kPitchRaw),
                   "l"(__cvta_generic_to_global(pb + (size_t)i * n)),
                   "r"(1024), "r"(full)
                   : "memory");
  }
  __syncwarp();
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
// (For B: the first of this warp's four rows of the step.) A half warp holds
// rows of A of one parity, which keeps the 8-byte stores at pitch 80 free of
// bank conflicts.
static __device__ __forceinline__ int loader_row_a() {
  const int t = threadIdx.x;
  return (t >> 5) * 8 + ((t >> 2) & 3) * 2 + ((t >> 4) & 1);
}

static __device__ __forceinline__ void
loader_origin(const float *a, const float *b, int m, int n, int k, int tile,
              const float *&pa, const float *&pb) {
  int m0, n0;
  tile_origin(tile, m / kBM, n / kBN, m0, n0);
  const int t = threadIdx.x;
  pa = a + (size_t)(m0 + loader_row_a()) * k + (t & 3) * 4;
  pb = b + (size_t)((t >> 5) * 4) * n + n0;
}

// From the second half of a k tile to the first half of the next one, which
// may belong to the block's next output tile. After the last tile the loader
// reads that tile again: in bounds, and never used.
static __device__ __forceinline__ void
loader_next(const float *a, const float *b, int m, int n, int k, int &ld_tile,
            int &ld_left, const float *&pa, const float *&pb) {
  if (--ld_left > 0) {
    pa += 16;
    pb += (size_t)32 * n;
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
// B is fetched raw, three steps ahead, by bulk copies into the area from
// kOffBhi on, and converted in registers by the warps that multiply with it.
static __global__ void __launch_bounds__(kThreads, 1)
    matmul_split_bf16_kernel(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(16) unsigned char smem[];

  // 32-bit step of the loader of A: from piece i to piece i + 1.
  const int a_step = 64 * k;

  // Loader state: where the next half tile of A and the next rows of B come
  // from.
  const float *pa;
  const float *pb;
  int ld_tile = blockIdx.x;
  int ld_left = k / kBK; // k tiles left in ld_tile, the present one included
  loader_origin(a, b, m, n, k, ld_tile, pa, pb);

  // Where the staged pieces of A go within a stage.
  const int a_st = loader_row_a() * kPitchA + (threadIdx.x & 3) * 8;

  // The step barrier at kOffBar; after it one barrier per stage for B.
  if (threadIdx.x == 0) {
    const uint32_t bars =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
    bar_init(bars, kThreads / 32);
#pragma unroll
    for (int q = 0; q < kStages; ++q)
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
    const uint32_t full = smem_u32 + kOffBar + 8;
    const uint32_t dst =
        smem_u32 + kOffBhi + (threadIdx.x >> 5) * (4 * kPitchRaw);
    float4 ta[2], ua[2], va[2], wa[2];
    fetch_b(dst, full, pb, n);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ta[i] = load_float4(pa + i * a_step);
    pa += 16;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ua[i] = load_float4(pa + i * a_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
    fetch_b(dst + kStageBytes, full + 8, pb, n);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      va[i] = load_float4(pa + i * a_step);
    pa += 16;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      wa[i] = load_float4(pa + i * a_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
    fetch_b(dst + 2 * kStageBytes, full + 16, pb, n);
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
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, va[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, wa[i]);
    }
  }
  // Publishes A of stages 0 and 1.
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
    b_cur = smem_u32 + kOffBhi + (2 * (lane & 3)) * kPitchRaw +
            (wn * 64 + 2 * (lane >> 2)) * 4;
  }

  // Fragments of the first unit, and the raw B of the second.
  uint32_t ahi[4][4];
  uint32_t alo[4][4];
  uint32_t bhi[2][4];
  uint32_t blo[2][4];
  float2 raw[4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    ldsm_x4(alo[mi], a_cur + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
    ldsm_x4(ahi[mi], a_cur + mi * 16 * kPitchA);
  }
  bar_wait(static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar + 8,
           0);
  load_raw(raw, b_cur);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    pack_b(raw, i, bhi[0], blo[0]);
  load_raw(raw, b_cur + 64);

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
  // Step s modulo 2 * kStages, on across output tiles: the low two bits are
  // the stage, the third is the parity of its barrier for B.
  uint32_t ring = 0;
#pragma unroll 1
  while (true) {
    // To the next stage; the way back to stage 0 wraps on purpose.
    const uint32_t d = (ring & 3) == kStages - 1
                           ? (uint32_t)(-(kStages - 1) * kStageBytes)
                           : (uint32_t)kStageBytes;
    const uint32_t a_nxt = a_cur + d;
    const uint32_t b_nxt = b_cur + d;
    // The stage of step s + 2, whose A was last read in step s - 2.
    unsigned char *st = smem + ((ring & 3) ^ 2) * kStageBytes;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // The half of A that replaces the staged one: the second half of step
      // s + 2, or the first half of step s + 3.
      if (h == 0)
        pa += 16;
      else
        loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
      // A of the next half.
      const uint32_t a_pf = h == 0 ? a_cur + 32 : a_nxt;

      // At the top of unit 4h + j: bhi/blo[j & 1] hold this unit's B, raw
      // holds that of the next unit.
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        // This warp's stores of this step are done and its last reads of the
        // current stage are issued: wait for what all warps had done by this
        // point of step s - 1 and for B of step s + 1, then arrive for step s
        // and fetch B of step s + 3 into the stage of step s - 1.
        if (h == 1 && j == 2) {
          const uint32_t smem_u32 =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem));
          const uint32_t bar = smem_u32 + kOffBar;
          bar_wait(bar, (ring & 1) ^ 1);
          bar_wait(bar + 8 + ((ring + 1) & 3) * 8, ((ring + 1) & 7) >> 2);
          __syncwarp();
          bar_arrive_lane0(bar, threadIdx.x & 31);
          const uint32_t slot = (ring + 3) & 3;
          fetch_b(smem_u32 + slot * kStageBytes + kOffBhi +
                      (threadIdx.x >> 5) * (4 * kPitchRaw),
                  bar + 8 + slot * 8, pb, n);
        }

        // Pass 1: X2 * Y2; between the products B of the next unit is
        // converted.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_f16(acc[mi][2 * j], alo[mi], blo[j & 1][0], blo[j & 1][1]);
          mma_f16(acc[mi][2 * j + 1], alo[mi], blo[j & 1][2], blo[j & 1][3]);
          pack_b(raw, mi, bhi[(j + 1) & 1], blo[(j + 1) & 1]);
          if (j == 3)
            ldsm_x4(alo[mi], a_pf + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
        }

        // Raw B of the unit after the next.
        {
          const int u = 4 * h + j + 2;
          load_raw(raw, u < 8 ? b_cur + (u >> 2) * 16 * kPitchRaw + (u & 3) * 64
                              : b_nxt + (u & 3) * 64);
        }

        // Pieces of the staged half of A: stored, and the staging registers
        // refilled at once.
        if (j < 2) {
          unsigned char *p = st + a_st + (j & 1) * 64 * kPitchA + h * 32;
          split_store_a(p + kOffAhi, p + kOffAlo, sa[j & 1]);
          sa[j & 1] = load_float4(pa + (j & 1) * a_step);
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
      // The tile is done: store it, without waiting, and go on to the next
      // one, whose first fragments are in registers already.
      const int tm = m / kBM;
      const int tn = n / kBN;
      const int lane = threadIdx.x & 31;
      const int warp = threadIdx.x >> 5;
      int m0, n0;
      tile_origin(tile, tm, tn, m0, n0);
      const int first_row = m0 + (warp >> 2) * 64 + (lane >> 2);
      const int first_col = n0 + (warp & 3) * 64 + (lane & 3) * 4;
      float *c_ptr = c + (size_t)first_row * n + first_col;
      float chk = 0.0f; // becomes NaN if any accumulator is not finite
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *row0 = c_ptr + (size_t)(mi * 16) * n;
        float *row8 = row0 + (size_t)8 * n;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            chk = fmaf(acc[mi][2 * j][e], 0.0f, chk);
            chk = fmaf(acc[mi][2 * j + 1][e], 0.0f, chk);
          }
          // The columns of the two n tiles alternate.
          __stcs(reinterpret_cast<float4 *>(row0 + j * 16),
                 make_float4(acc[mi][2 * j][0] * 0.03125f,
                             acc[mi][2 * j + 1][0] * 0.03125f,
                             acc[mi][2 * j][1] * 0.03125f,
                             acc[mi][2 * j + 1][1] * 0.03125f));
          __stcs(reinterpret_cast<float4 *>(row8 + j * 16),
                 make_float4(acc[mi][2 * j][2] * 0.03125f,
                             acc[mi][2 * j + 1][2] * 0.03125f,
                             acc[mi][2 * j][3] * 0.03125f,
                             acc[mi][2 * j + 1][3] * 0.03125f));
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

  // The bulk copies of the two steps past the end have landed before the block
  // exits (that of the step before them was waited for in the last step).
  {
    const uint32_t full =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar + 8;
    bar_wait(full + ((ring + 1) & 3) * 8, ((ring + 1) & 7) >> 2);
    bar_wait(full + ((ring + 2) & 3) * 8, ((ring + 2) & 7) >> 2);
  }
}

// Converts B once, into c: for row i and the 256 columns from n0 on, the 1024
// bytes at c + i * n + n0 become 256 halves Y1 and then 256 halves Y2, in
// natural order. A warp converts four rows of one tile of 256 columns.
static __global__ void __launch_bounds__(256)
    convert_b_kernel(const float *__restrict__ b, float *__restrict__ c,
                     int n) {
  const int lane = threadIdx.x & 31;
  const size_t off =
      (size_t)(blockIdx.y * 32 + (threadIdx.x >> 5) * 4) * (size_t)n +
      (size_t)blockIdx.x * kBN;
  float4 v[4][2];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    v[r][0] = load_float4(b + off + (size_t)r * n + lane * 8);
    v[r][1] = load_float4(b + off + (size_t)r * n + lane * 8 + 4);
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    uint4 hi, lo;
    split_b2(v[r][0].x, v[r][0].y, hi.x, lo.x);
    split_b2(v[r][0].z, v[r][0].w, hi.y, lo.y);
    split_b2(v[r][1].x, v[r][1].y, hi.z, lo.z);
    split_b2(v[r][1].z, v[r][1].w, hi.w, lo.w);
    unsigned char *p =
        reinterpret_cast<unsigned char *>(c + off + (size_t)r * n) + lane * 16;
    *reinterpret_cast<uint4 *>(p) = hi;
    *reinterpret_cast<uint4 *>(p + 512) = lo;
  }
}

static __device__ __forceinline__ void ldsm_x4_trans(uint32_t (&r)[4],
                                                     uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

// As repair_elements, for n tiles whose columns do not alternate. Reads the
// raw B, never the scratch.
static __device__ __forceinline__ void
conv_repair_elements(const float *a, const float *b, float *c, int n, int k,
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

// From the second half of a k tile to the first half of the next one, which
// may belong to the next wave. Past the last wave the rows come from b: valid
// addresses that nobody writes, and never used.
static __device__ __forceinline__ void
conv_loader_next(const float *b, const float *c, int n, int k, int cpw,
                 int &ld_n0, int &ld_left, const float *&pa,
                 const float *&pb) {
  if (--ld_left > 0) {
    pa += kBK;
    pb += (size_t)kBK * n;
  } else {
    ld_left = k / kBK;
    ld_n0 += cpw * kBN;
    pa -= k - kBK; // pa stands at the last k tile
    pb = (ld_n0 < n ? c + ld_n0 : b) + (size_t)((threadIdx.x >> 5) * 4) * n;
  }
}

// As matmul_split_bf16_kernel, with B converted beforehand into c (see
// convert_b_kernel). Cooperative: gridDim.x = m / kBM * cpw, and cpw divides
// n / kBN. In each wave the grid computes cpw whole columns of tiles; when all
// blocks have read the scratch of these columns they are overwritten.
static __global__ void __launch_bounds__(kThreads, 1)
    matmul_conv_kernel(const float *__restrict__ a,
                       const float *__restrict__ b, float *c, int m, int n,
                       int k, int cpw) {
  extern __shared__ __align__(16) unsigned char smem[];

  // From the X1 to the X2 area of a stage.
  constexpr int kLoA = kOffAlo - kOffAhi;

  // 32-bit step of the loader of A: from piece i to piece i + 1.
  const int a_step = 64 * k;

  const int tm = m / kBM;
  const int m0 = ((int)blockIdx.x % tm) * kBM;
  int n0 = ((int)blockIdx.x / tm) * kBN;

  // Loader state: where the next tile of A (pa: its first half; the second is
  // at pa + 16) and the next rows of B come from.
  int ld_n0 = n0;
  int ld_left = k / kBK; // k tiles left at ld_n0, the present one included
  const float *pa =
      a + (size_t)(m0 + loader_row_a()) * k + (threadIdx.x & 3) * 4;
  const float *pb = c + (size_t)((threadIdx.x >> 5) * 4) * n + ld_n0;

  // Where the staged pieces of A go within a stage.
  const int a_st = loader_row_a() * kPitchA + (threadIdx.x & 3) * 8;

  // The step barrier at kOffBar; after it one barrier per stage for B.
  if (threadIdx.x == 0) {
    const uint32_t bars =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
    bar_init(bars, kThreads / 32);
#pragma unroll
    for (int q = 0; q < kStages; ++q)
      bar_init(bars + 8 + 8 * q, kThreads / 32);
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  }
  __syncthreads();

  // Staged A of one step: sa[q] is half q >> 1, row piece q & 1.
  float4 sa[4];

  // Fetch B of steps 0 to 2, fill A of stages 0 and 1 and load A of step 2;
  // all loads are issued before the first store.
  {
    const uint32_t smem_u32 =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    const uint32_t full = smem_u32 + kOffBar + 8;
    const uint32_t dst =
        smem_u32 + kOffBhi + (threadIdx.x >> 5) * (4 * kPitchRaw);
    float4 ta[4], ua[4];
    fetch_b(dst, full, pb, n);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      ta[q] = load_float4(pa + (q >> 1) * 16 + (q & 1) * a_step);
    conv_loader_next(b, c, n, k, cpw, ld_n0, ld_left, pa, pb);
    fetch_b(dst + kStageBytes, full + 8, pb, n);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      ua[q] = load_float4(pa + (q >> 1) * 16 + (q & 1) * a_step);
    conv_loader_next(b, c, n, k, cpw, ld_n0, ld_left, pa, pb);
    fetch_b(dst + 2 * kStageBytes, full + 16, pb, n);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      sa[q] = load_float4(pa + (q >> 1) * 16 + (q & 1) * a_step);

#pragma unroll
    for (int q = 0; q < 4; ++q) {
      unsigned char *p = smem + a_st + (q & 1) * 64 * kPitchA + (q >> 1) * 32;
      split_store_a(p + kOffAhi, p + kOffAlo, ta[q]);
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      unsigned char *p = smem + kStageBytes + a_st + (q & 1) * 64 * kPitchA +
                         (q >> 1) * 32;
      split_store_a(p + kOffAhi, p + kOffAlo, ua[q]);
    }
  }
  // Publishes A of stages 0 and 1.
  __syncthreads();

  // Where the fragments of the current stage come from. Y2 lies 512 bytes
  // after Y1.
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
    b_cur = smem_u32 + kOffBhi + (lane & 15) * kPitchRaw +
            (wn * 64 + (lane >> 4) * 8) * 2;
  }

  // Fragments: af[0] is X2, af[1] is X1 (one phase each); unit u uses
  // bf[u & 3]. Loaded here: A of the first phase, B of the first two units.
  uint32_t af[2][4][4];
  uint32_t bf[4][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
    ldsm_x4(af[0][mi], a_cur + mi * 16 * kPitchA + kLoA);
  bar_wait(static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar + 8,
           0);
  __syncwarp();
  ldsm_x4_trans(bf[0], b_cur + 512);
  ldsm_x4_trans(bf[1], b_cur + 512 + 32);

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][ni][e] = 0.0f;

  int kt_left = k / kBK; // k tiles left to multiply in this wave
  // Step s modulo 2 * kStages, on across waves: the low two bits are the
  // stage, the third is the parity of its barrier for B.
  uint32_t ring = 0;
#pragma unroll 1
  while (true) {
    // To the next stage; the way back to stage 0 wraps on purpose.
    const uint32_t d = (ring & 3) == kStages - 1
                           ? (uint32_t)(-(kStages - 1) * kStageBytes)
                           : (uint32_t)kStageBytes;
    const uint32_t a_nxt = a_cur + d;
    const uint32_t b_nxt = b_cur + d;
    // The stage of step s + 2, whose A was last read in step s - 2.
    unsigned char *st = smem + ((ring & 3) ^ 2) * kStageBytes;

    // To A and B of step s + 3.
    conv_loader_next(b, c, n, k, cpw, ld_n0, ld_left, pa, pb);

    // Unit u: phase ph = u >> 2 (k16 half ph >> 1; X2 * Y2 if ph is even,
    // X1 * Y1 if it is odd) and pair of n tiles j = u & 3.
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      const int ph = u >> 2;
      const int j = u & 3;

      if (u == 12) {
        // Wait for what all warps had done by unit 14 of step s - 1 (A of step
        // s + 1 is stored, the stage of step s - 1 is read) and for B of step
        // s + 1; then fetch B of step s + 3 into the stage of step s - 1.
        const uint32_t smem_u32 =
            static_cast<uint32_t>(__cvta_generic_to_shared(smem));
        const uint32_t bar = smem_u32 + kOffBar;
        bar_wait(bar, (ring & 1) ^ 1);
        bar_wait(bar + 8 + ((ring + 1) & 3) * 8, ((ring + 1) & 7) >> 2);
        __syncwarp();
        const uint32_t slot = (ring + 3) & 3;
        fetch_b(smem_u32 + slot * kStageBytes + kOffBhi +
                    (threadIdx.x >> 5) * (4 * kPitchRaw),
                bar + 8 + slot * 8, pb, n);
      }
      if (u == 14) {
        // All reads of the current stage are issued (B of unit 15 in unit 13),
        // all stores of A of this step are done.
        __syncwarp();
        bar_arrive_lane0(
            static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar,
            threadIdx.x & 31);
      }

      // A of the next phase, one fragment per unit.
      {
        const int np = ph + 1;
        const uint32_t base = np == 4 ? a_nxt : a_cur + (np >> 1) * 32;
        ldsm_x4(af[np & 1][j],
                base + j * 16 * kPitchA + ((np & 1) == 0 ? kLoA : 0));
      }

#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        mma_f16(acc[mi][2 * j], af[ph & 1][mi], bf[u & 3][0], bf[u & 3][1]);
        mma_f16(acc[mi][2 * j + 1], af[ph & 1][mi], bf[u & 3][2],
                bf[u & 3][3]);
        if (mi == 1) {
          // B of the unit after the next.
          const int v = (u + 2) & 15;
          const uint32_t base = u + 2 < 16 ? b_cur : b_nxt;
          ldsm_x4_trans(bf[v & 3], base + (v >> 3) * 16 * kPitchRaw +
                                       (v & 3) * 32 +
                                       (((v >> 2) & 1) == 0 ? 512 : 0));
        }
      }

      // One staged piece of A, in units 1, 4, 7 and 10; its registers are
      // refilled at once, for the next step.
      if (u % 3 == 1 && u < 12) {
        const int q = u / 3;
        unsigned char *p = st + a_st + (q & 1) * 64 * kPitchA + (q >> 1) * 32;
        split_store_a(p + kOffAhi, p + kOffAlo, sa[q]);
        sa[q] = load_float4(pa + (q >> 1) * 16 + (q & 1) * a_step);
      }
    }
    a_cur += d;
    b_cur += d;
    ring = (ring + 1) & 7;

    if (--kt_left == 0) {
      // All reads of the scratch in this wave's columns are done, in every
      // block, when this barrier opens; the copies under way belong to the
      // next wave's columns (or to b).
      cooperative_groups::this_grid().sync();

      const int lane = threadIdx.x & 31;
      const int warp = threadIdx.x >> 5;
      const int first_row = ((int)blockIdx.x % (m / kBM)) * kBM +
                            (warp >> 2) * 64 + (lane >> 2);
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
        conv_repair_elements(a, b, c, n, k, first_row, first_col);
      __syncwarp();

      n0 += cpw * kBN;
      if (n0 >= n)
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
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar + 8;
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
    // The converted B is kept in the first k rows of c.
    if (k <= m && tm <= kMaxBlocks && k / kBK <= 65535) {
      // Columns of tiles per wave: as many as fit, and a divisor of tn.
      int cpw = kMaxBlocks / tm < tn ? kMaxBlocks / tm : tn;
      while (tn % cpw != 0)
        --cpw;
      const int conv_blocks = tm * cpw;
      if (cpw == tn || 2 * conv_blocks >= kMaxBlocks) {
        cudaFuncSetAttribute(matmul_conv_kernel,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kSmemBytes);
        convert_b_kernel<<<dim3((unsigned)(n / kBN), (unsigned)(k / kBK)), 256,
                           0, stream>>>(b, c, n);
        void *args[] = {(void *)&a, (void *)&b, (void *)&c,  (void *)&m,
                        (void *)&n, (void *)&k, (void *)&cpw};
        if (cudaLaunchCooperativeKernel(
                (const void *)matmul_conv_kernel, dim3((unsigned)conv_blocks),
                dim3((unsigned)kThreads), args, (size_t)kSmemBytes,
                stream) == cudaSuccess)
          return;
        // Not co-resident: the path below overwrites all of c.
        (void)cudaGetLastError();
      }
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
