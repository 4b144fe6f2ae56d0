// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"
#include <cuda_bf16.h>
#include <cstdint>
#include <cuda_fp16.h>

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
// The address, in the cluster's shared window, of `addr` in block `rank`.
static __device__ __forceinline__ uint32_t map_to_rank(uint32_t addr,
                                                       uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;\n"
               : "=r"(r)
               : "r"(addr), "r"(rank));
  return r;
}

// Asynchronous 8-byte store; the bytes are counted by the mbarrier. Both
// addresses are in the partner's shared memory.
static __device__ __forceinline__ void st_async8(uint32_t addr, uint2 v,
                                                 uint32_t bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 "
               "[%0], {%1, %2}, [%3];\n" ::"r"(addr),
               "r"(v.x), "r"(v.y), "r"(bar)
               : "memory");
}

// Plain 8-byte store to the partner's shared memory.
static __device__ __forceinline__ void st_peer8(uint32_t addr, uint2 v) {
  asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};\n" ::"r"(addr),
               "r"(v.x), "r"(v.y)
               : "memory");
}

// Makes the mbarrier.init of this thread visible to the cluster.
static __device__ __forceinline__ void fence_bar_init() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

// All threads of both blocks.
static __device__ __forceinline__ void cluster_sync_all() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;\n" ::
                   : "memory");
}

static constexpr int kGroupM = 8; // in pair tiles of 2 * kBM rows

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
// Own barrier: arrive and announce this warp's share of the partner's bytes
// (8 warps * 2048 = 16384). Partner's barrier: a plain arrive.
static __device__ __forceinline__ void
bar_arrive_pair_lane0(uint32_t bar, uint32_t peer_bar, uint32_t lane) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b64 t;\n"
      "setp.eq.u32 p, %2, 0;\n"
      "@p mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], 2048;\n"
      "@p mbarrier.arrive.shared::cluster.b64 _, [%1];\n"
      "}\n" ::"r"(bar),
      "r"(peer_bar), "r"(lane)
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
static constexpr int kSmemBytes = kOffBar + 8 * kStages;

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

static __device__ __forceinline__ void split_b(float4 v, uint2 &hi, uint2 &lo) {
  const __half2 h01 = __floats2half2_rn(v.x, v.y);
  const __half2 h23 = __floats2half2_rn(v.z, v.w);
  const float2 f01 = __half22float2(h01);
  const float2 f23 = __half22float2(h23);
  const __half2 l01 = __floats2half2_rn(fmaf(-63.0f, f01.x, 64.0f * v.x),
                                        fmaf(-63.0f, f01.y, 64.0f * v.y));
  const __half2 l23 = __floats2half2_rn(fmaf(-63.0f, f23.x, 64.0f * v.z),
                                        fmaf(-63.0f, f23.y, 64.0f * v.w));
  hi = make_uint2(half2_bits(h01), half2_bits(h23));
  lo = make_uint2(half2_bits(l01), half2_bits(l23));
}

// Prologue: `p` is the place in this block's stage (without kOffBhi/kOffBlo);
// the same place of the partner gets the same values.
static __device__ __forceinline__ void split_store_b_pair(unsigned char *p,
                                                          uint32_t peer,
                                                          float4 v) {
  uint2 hi, lo;
  split_b(v, hi, lo);
  *reinterpret_cast<uint2 *>(p + kOffBhi) = hi;
  *reinterpret_cast<uint2 *>(p + kOffBlo) = lo;
  const uint32_t r = static_cast<uint32_t>(__cvta_generic_to_shared(p)) + peer;
  st_peer8(r + kOffBhi, hi);
  st_peer8(r + kOffBlo, lo);
}

static __device__ __forceinline__ float4 load_float4(const float *p) {
  return __ldg(reinterpret_cast<const float4 *>(p));
}

// Blocks of the persistent kernel: one per SM. Any number is correct.
static constexpr int kMaxBlocks = 132;

// Groups of kGroupM tiles along m share the columns of b in L2.
// `tile` is a pair tile of 2 * kBM rows, `tm` counts such tiles; the origin is
// that of this block's half.
static __device__ __forceinline__ void tile_origin(int tile, int tm, int tn,
                                                   int &m0, int &n0) {
  const int per = kGroupM * tn;
  const int g = tile / per;
  const int first = g * kGroupM;
  const int gs = min(tm - first, kGroupM);
  const int rem = tile - g * per;
  m0 = (first + rem % gs) * (2 * kBM) + (int)(blockIdx.x & 1) * kBM;
  n0 = (rem / gs) * kBN;
}

// This thread's first row of A within the tile: a half warp holds rows of one
// parity, which keeps the 8-byte stores at pitch 80 free of bank conflicts.
static __device__ __forceinline__ int loader_row_a() {
  const int t = threadIdx.x;
  return (t >> 5) * 8 + ((t >> 2) & 3) * 2 + ((t >> 4) & 1);
}

// This thread's first row of B within a half step: eight rows for each block
// of the pair.
static __device__ __forceinline__ int loader_row_b() {
  return (int)(blockIdx.x & 1) * 8 + (int)(threadIdx.x >> 6);
}

// This thread's first float4 of A and of B in the first half tile of `tile`.
static __device__ __forceinline__ void
loader_origin(const float *a, const float *b, int m, int n, int k, int tile,
              const float *&pa, const float *&pb) {
  int m0, n0;
  tile_origin(tile, m / (2 * kBM), n / kBN, m0, n0);
  const int t = threadIdx.x;
  pa = a + (size_t)(m0 + loader_row_a()) * k + (t & 3) * 4;
  pb = b + (size_t)loader_row_b() * n + n0 + (t & 63) * 4;
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
    const int next = ld_tile + (int)(gridDim.x >> 1);
    if (next < (m / (2 * kBM)) * (n / kBN))
      ld_tile = next;
    loader_origin(a, b, m, n, k, ld_tile, pa, pb);
  }
}

// Needs m % 128 == 0, n % 256 == 0, k % 32 == 0 and 16-byte aligned pointers.
// Two compensated fp16 products (see split_store_a); the kernel's name dates
// from three bf16 products. The "hi" areas hold X1 and Y1, "lo" X2 and Y2.
// Clusters of two blocks, neighbours along m (so m % 256 == 0), share B: each
// converts half of its rows and stores them in both shared memories.
static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(kThreads, 1)
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
  int ld_tile = (int)(blockIdx.x >> 1);
  int ld_left = k / kBK; // k tiles left in ld_tile, the present one included
  loader_origin(a, b, m, n, k, ld_tile, pa, pb);

  // Where the staged pieces go within a stage.
  const int a_st = loader_row_a() * kPitchA + (threadIdx.x & 3) * 8;
  const int b_st = loader_row_b() * kPitchB + (threadIdx.x & 63) * 8;

  // One mbarrier per stage: 8 own and 8 partner warps arrive in each step.
  if (threadIdx.x == 0) {
    const uint32_t bars =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
#pragma unroll
    for (int i = 0; i < kStages; ++i)
      bar_init(bars + i * 8, 2 * (kThreads / 32));
    fence_bar_init();
  }

  // Own 32-bit shared address + peer = the partner's address of that place.
  uint32_t peer;
  {
    const uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    peer = map_to_rank(own, (blockIdx.x & 1) ^ 1) - own;
  }

  float4 sa[2];
  float4 sb[2];

  // Fill stages 0 and 1 and fetch the first half of step 2; all loads are
  // issued before the first store.
  {
    float4 ta[2], tb[2], ua[2], ub[2];
    float4 va[2], vb[2], wa[2], wb[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ta[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      tb[i] = load_float4(pb + i * b_step);
    pa += 16;
    pb += (size_t)4 * b_step;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ua[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ub[i] = load_float4(pb + i * b_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      va[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      vb[i] = load_float4(pb + i * b_step);
    pa += 16;
    pb += (size_t)4 * b_step;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      wa[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      wb[i] = load_float4(pb + i * b_step);
    loader_next(a, b, m, n, k, ld_tile, ld_left, pa, pb);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sa[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sb[i] = load_float4(pb + i * b_step);

    // The partner runs, and its barriers exist.
    cluster_sync_all();

#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, ta[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
      split_store_b_pair(smem + b_st + i * 4 * kPitchB, peer, tb[i]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, ua[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
      split_store_b_pair(smem + b_st + (16 + i * 4) * kPitchB, peer, ub[i]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA;
      split_store_a(p + kOffAhi, p + kOffAlo, va[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
      split_store_b_pair(smem + kStageBytes + b_st + i * 4 * kPitchB, peer,
                         vb[i]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + kStageBytes + a_st + i * 64 * kPitchA + 32;
      split_store_a(p + kOffAhi, p + kOffAlo, wa[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
      split_store_b_pair(smem + kStageBytes + b_st + (16 + i * 4) * kPitchB,
                         peer, wb[i]);
  }
  // Publishes stages 0 and 1 of both blocks.
  cluster_sync_all();

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

  int tile = (int)(blockIdx.x >> 1);
  int kt_left = k / kBK; // k tiles left to multiply in `tile`
  // Step s modulo 2 * kStages, on across output tiles: the low two bits are
  // the stage and the barrier, the third is the parity of that barrier.
  uint32_t ring = 0;
#pragma unroll 1
  while (true) {
    // To the next stage; the way back to stage 0 wraps on purpose.
    const uint32_t d = (ring & 3) == kStages - 1
                           ? (uint32_t)(-(kStages - 1) * kStageBytes)
                           : (uint32_t)kStageBytes;
    const uint32_t a_nxt = a_cur + d;
    const uint32_t b_nxt = b_cur + d;
    // The stage of step s + 2, last read in step s - 2.
    unsigned char *st = smem + ((ring & 3) ^ 2) * kStageBytes;

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
        // the current stage are in registers: wait for what all warps of both
        // blocks had done by the end of step s - 1 and for the partner's bytes
        // of that step, then arrive for step s on both blocks' barriers.
        if (h == 1 && j == 3) {
          const uint32_t bars =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
          const uint32_t prev = (ring + 7) & 7;
          bar_wait(bars + (prev & 3) * 8, prev >> 2);
          __syncwarp();
          const uint32_t bar = bars + (ring & 3) * 8;
          bar_arrive_pair_lane0(bar, bar + peer, threadIdx.x & 31);
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

        // Pieces of the staged half: B_j (j < 2), which goes to both blocks,
        // and both of A (j == 2). The staging registers are refilled at once.
        if (j < 2) {
          unsigned char *p = st + b_st + (h * 16 + (j & 1) * 4) * kPitchB;
          uint2 hi, lo;
          split_b(sb[j & 1], hi, lo);
          *reinterpret_cast<uint2 *>(p + kOffBhi) = hi;
          *reinterpret_cast<uint2 *>(p + kOffBlo) = lo;
          const uint32_t r =
              static_cast<uint32_t>(__cvta_generic_to_shared(p)) + peer;
          const uint32_t rb =
              static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar +
              (ring & 3) * 8 + peer;
          st_async8(r + kOffBhi, hi, rb);
          st_async8(r + kOffBlo, lo, rb);
          sb[j & 1] = load_float4(pb + (j & 1) * b_step);
        }
        if (j == 2) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            unsigned char *p = st + a_st + i * 64 * kPitchA + h * 32;
            split_store_a(p + kOffAhi, p + kOffAlo, sa[i]);
          }
#pragma unroll
          for (int i = 0; i < 2; ++i)
            sa[i] = load_float4(pa + i * a_step);
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
      const int tm = m / (2 * kBM);
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

      tile += (int)(gridDim.x >> 1);
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

  // Everything that the partner sends here has landed; then neither block
  // exits while the other still writes to it.
  {
    const uint32_t bars =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem)) + kOffBar;
    const uint32_t last = (ring + 7) & 7;
    bar_wait(bars + (last & 3) * 8, last >> 2);
  }
  cluster_sync_all();
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(a) |
                         reinterpret_cast<uintptr_t>(b) |
                         reinterpret_cast<uintptr_t>(c)) %
                        16) == 0;
  if (aligned && m > 0 && n > 0 && k > 0 && m % (2 * kBM) == 0 &&
      n % kBN == 0 && k % kBK == 0 && k <= (1 << 24) && n <= (1 << 24)) {
    cudaFuncSetAttribute(matmul_split_bf16_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kSmemBytes);
    // Pair tiles, each done by a cluster of two blocks.
    const unsigned tiles = (unsigned)(m / (2 * kBM)) * (unsigned)(n / kBN);
    const unsigned pairs = tiles < (unsigned)(kMaxBlocks / 2)
                               ? tiles
                               : (unsigned)(kMaxBlocks / 2);
    const unsigned blocks = 2 * pairs;
    matmul_split_bf16_kernel<<<blocks, kThreads, kSmemBytes, stream>>>(a, b, c,
                                                                       m, n, k);
    return;
  }
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
