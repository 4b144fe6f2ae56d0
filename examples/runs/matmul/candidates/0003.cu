// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"
#include <cuda_bf16.h>
#include <cstdint>

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
static constexpr int kSmemBytes = 2 * kStageBytes;

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

static __device__ __forceinline__ void mma_bf16(float (&d)[4],
                                                const uint32_t (&a)[4],
                                                uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t bf162_bits(__nv_bfloat162 v) {
  return *reinterpret_cast<uint32_t *>(&v);
}

// Splits four floats into bf16 high and low parts and stores 8 bytes of each.
static __device__ __forceinline__ void split_store(unsigned char *hi,
                                                   unsigned char *lo,
                                                   float4 v) {
  const __nv_bfloat162 h01 = __floats2bfloat162_rn(v.x, v.y);
  const __nv_bfloat162 h23 = __floats2bfloat162_rn(v.z, v.w);
  const float2 f01 = __bfloat1622float2(h01);
  const float2 f23 = __bfloat1622float2(h23);
  const __nv_bfloat162 l01 = __floats2bfloat162_rn(v.x - f01.x, v.y - f01.y);
  const __nv_bfloat162 l23 = __floats2bfloat162_rn(v.z - f23.x, v.w - f23.y);
  *reinterpret_cast<uint2 *>(hi) = make_uint2(bf162_bits(h01), bf162_bits(h23));
  *reinterpret_cast<uint2 *>(lo) = make_uint2(bf162_bits(l01), bf162_bits(l23));
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

  float4 sa[2];
  float4 sb[4];

  // Fill stage 0 and fetch the first half of the next k tile; all loads are
  // issued before the first store.
  {
    float4 ta[2], tb[4], ua[2], ub[4];
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
      sa[i] = load_float4(pa + i * a_step);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sb[i] = load_float4(pb + i * b_step);

#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA;
      split_store(p + kOffAhi, p + kOffAlo, ta[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + b_st + i * 4 * kPitchB;
      split_store(p + kOffBhi, p + kOffBlo, tb[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA + 32;
      split_store(p + kOffAhi, p + kOffAlo, ua[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + b_st + (16 + i * 4) * kPitchB;
      split_store(p + kOffBhi, p + kOffBlo, ub[i]);
    }
  }
  __syncthreads();

  // Where the fragments come from.
  uint32_t a_frag;
  uint32_t b_frag;
  {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int wm = warp >> 2;
    const int wn = warp & 3;
    const uint32_t smem_u32 =
        static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    a_frag = smem_u32 + kOffAhi + (wm * 64 + (lane & 15)) * kPitchA +
             (lane >> 4) * 16;
    b_frag = smem_u32 + kOffBhi + (lane & 15) * kPitchB +
             (wn * 64 + (lane >> 4) * 8) * 2;
  }

  // Fragments of the first step.
  uint32_t ahi[4][4];
  uint32_t alo[4][4];
  uint32_t bhi[2][4];
  uint32_t blo[4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    ldsm_x4(alo[mi], a_frag + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
    ldsm_x4(ahi[mi], a_frag + mi * 16 * kPitchA);
  }
  ldsm_x4_trans(bhi[0], b_frag);
  ldsm_x4_trans(blo, b_frag + (kOffBlo - kOffBhi));

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
  uint32_t cur_off = 0;
#pragma unroll 1
  while (true) {
    const uint32_t nxt_off = (uint32_t)kStageBytes - cur_off;
    const uint32_t a_cur = a_frag + cur_off;
    const uint32_t a_nxt = a_frag + nxt_off;
    const uint32_t b_cur = b_frag + cur_off;
    const uint32_t b_nxt = b_frag + nxt_off;
    unsigned char *st = smem + nxt_off;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // The half that replaces the staged one: the second half of the next
      // step, or the first half of the one after it.
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
        // All stores to the next stage are done and all fragments of the
        // current one are in registers.
        if (h == 1 && j == 3)
          __syncthreads();

        // B of the next step.
        const uint32_t q = j < 3 ? b_cur + h * 16 * kPitchB + (j + 1) * 32
                                 : (h == 0 ? b_cur + 16 * kPitchB : b_nxt);
        ldsm_x4_trans(bhi[(j + 1) & 1], q);

        // Pass 1: Alo * Bhi.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_bf16(acc[mi][2 * j], alo[mi], bhi[j & 1][0], bhi[j & 1][1]);
          mma_bf16(acc[mi][2 * j + 1], alo[mi], bhi[j & 1][2], bhi[j & 1][3]);
          if (j == 3)
            ldsm_x4(alo[mi], a_pf + mi * 16 * kPitchA + (kOffAlo - kOffAhi));
        }

        // Pieces of the staged half: A_j (j < 2) and B_i, i0 <= i < i1.
        const int i0 = (h == 1 && j == 3) ? 4 : j;
        const int i1 = (h == 1 && j >= 2) ? 4 : j + 1;
        if (j < 2) {
          unsigned char *p = st + a_st + (j & 1) * 64 * kPitchA + h * 32;
          split_store(p + kOffAhi, p + kOffAlo, sa[j & 1]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i >= i0 && i < i1) {
            unsigned char *p = st + b_st + (h * 16 + i * 4) * kPitchB;
            split_store(p + kOffBhi, p + kOffBlo, sb[i]);
          }
        }

        // Pass 2: Ahi * Blo.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_bf16(acc[mi][2 * j], ahi[mi], blo[0], blo[1]);
          mma_bf16(acc[mi][2 * j + 1], ahi[mi], blo[2], blo[3]);
        }
        ldsm_x4_trans(blo, q + (kOffBlo - kOffBhi));

        // Refill the staging registers just stored.
        if (j < 2)
          sa[j & 1] = load_float4(pa + (j & 1) * a_step);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i >= i0 && i < i1)
            sb[i] = load_float4(pb + i * b_step);
        }

        // Pass 3: Ahi * Bhi.
#pragma unroll
        for (int mi = 0; mi < 4; ++mi) {
          mma_bf16(acc[mi][2 * j], ahi[mi], bhi[j & 1][0], bhi[j & 1][1]);
          mma_bf16(acc[mi][2 * j + 1], ahi[mi], bhi[j & 1][2], bhi[j & 1][3]);
          if (j == 3)
            ldsm_x4(ahi[mi], a_pf + mi * 16 * kPitchA);
        }
      }
    }
    cur_off = nxt_off;

    if (--kt_left == 0) {
      // The tile is done: store it, without waiting, and go on to the next
      // one, whose first fragments are in registers already.
      const int tm = m / kBM;
      const int tn = n / kBN;
      const int lane = threadIdx.x & 31;
      const int warp = threadIdx.x >> 5;
      int m0, n0;
      tile_origin(tile, tm, tn, m0, n0);
      float *c_ptr = c + (size_t)(m0 + (warp >> 2) * 64 + (lane >> 2)) * n +
                     n0 + (warp & 3) * 64 + (lane & 3) * 2;
#pragma unroll
      for (int mi = 0; mi < 4; ++mi) {
        float *row0 = c_ptr + (size_t)(mi * 16) * n;
        float *row8 = row0 + (size_t)8 * n;
#pragma unroll
        for (int ni = 0; ni < 8; ++ni) {
          __stcs(reinterpret_cast<float2 *>(row0 + ni * 8),
                 make_float2(acc[mi][ni][0], acc[mi][ni][1]));
          __stcs(reinterpret_cast<float2 *>(row8 + ni * 8),
                 make_float2(acc[mi][ni][2], acc[mi][ni][3]));
        }
      }
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

void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(a) |
                         reinterpret_cast<uintptr_t>(b) |
                         reinterpret_cast<uintptr_t>(c)) %
                        16) == 0;
  if (aligned && m > 0 && n > 0 && k > 0 && m % kBM == 0 && n % kBN == 0 &&
      k % kBK == 0 && k <= (1 << 24) && n <= (1 << 24)) {
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
