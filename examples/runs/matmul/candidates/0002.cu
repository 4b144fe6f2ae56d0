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

// Needs m % 128 == 0, n % 256 == 0, k % 32 == 0 and 16-byte aligned pointers.
static __global__ void __launch_bounds__(kThreads, 1)
    matmul_split_bf16_kernel(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(16) unsigned char smem[];

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp >> 2;
  const int wn = warp & 3;

  // Groups of kGroupM tiles along m share the columns of b in L2.
  const int tm = m / kBM;
  const int tn = n / kBN;
  const int bid = blockIdx.x;
  const int per = kGroupM * tn;
  const int g = bid / per;
  const int first = g * kGroupM;
  const int gs = min(tm - first, kGroupM);
  const int rem = bid - g * per;
  const int m0 = (first + rem % gs) * kBM;
  const int n0 = (rem / gs) * kBN;

  // Global addresses of this thread's first float4 of A and of B.
  const int a_row = tid >> 2;
  const int a_kc = (tid & 3) * 4;
  const int b_kr = tid >> 6;
  const int b_nc = (tid & 63) * 4;
  const float *a_ptr = a + (size_t)(m0 + a_row) * k + a_kc;
  const float *b_ptr = b + (size_t)b_kr * n + n0 + b_nc;
  const size_t a_step = (size_t)64 * k; // from i to i + 1
  const size_t b_step = (size_t)4 * n;

  // Where they go within a stage.
  const int a_st = a_row * kPitchA + a_kc * 2;
  const int b_st = b_kr * kPitchB + b_nc * 2;

  // Where the fragments come from.
  const uint32_t smem_u32 =
      static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t a_frag = smem_u32 + kOffAhi +
                          (wm * 64 + (lane & 15)) * kPitchA + (lane >> 4) * 16;
  const uint32_t b_frag = smem_u32 + kOffBhi + (lane & 15) * kPitchB +
                          (wn * 64 + (lane >> 4) * 8) * 2;

  float acc[4][8][4];
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[mi][ni][e] = 0.0f;

  float4 sa[2];
  float4 sb[4];
  const int KT = k / kBK;
  const int k_last = k - 16; // the last half tile, where loads are clamped to

  // Fill stage 0, both halves; then fetch the first half of tile 1.
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sa[i] = load_float4(a_ptr + i * a_step + h * 16);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sb[i] = load_float4(b_ptr + (size_t)(h * 16) * n + i * b_step);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned char *p = smem + a_st + i * 64 * kPitchA + h * 32;
      split_store(p + kOffAhi, p + kOffAlo, sa[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned char *p = smem + b_st + (h * 16 + i * 4) * kPitchB;
      split_store(p + kOffBhi, p + kOffBlo, sb[i]);
    }
  }
  {
    const int k_first = min(kBK + 0, k_last);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      sa[i] = load_float4(a_ptr + i * a_step + k_first);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sb[i] = load_float4(b_ptr + (size_t)k_first * n + i * b_step);
  }
  __syncthreads();

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

  uint32_t cur_off = 0;
#pragma unroll 1
  for (int kt = 0; kt < KT; ++kt) {
    const uint32_t nxt_off = (uint32_t)kStageBytes - cur_off;
    const uint32_t a_cur = a_frag + cur_off;
    const uint32_t a_nxt = a_frag + nxt_off;
    const uint32_t b_cur = b_frag + cur_off;
    const uint32_t b_nxt = b_frag + nxt_off;
    unsigned char *st = smem + nxt_off;

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // The half that replaces the staged one: (kt+1, 1) or (kt+2, 0),
      // clamped to the last half of the matrix.
      const int k_next =
          min(h == 0 ? (kt + 1) * kBK + 16 : (kt + 2) * kBK, k_last);
      const float *a_next = a_ptr + k_next;
      const float *b_next = b_ptr + (size_t)k_next * n;
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
          sa[j & 1] = load_float4(a_next + (j & 1) * a_step);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i >= i0 && i < i1)
            sb[i] = load_float4(b_next + i * b_step);
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
  }

  float *c_ptr = c + (size_t)(m0 + wm * 64 + (lane >> 2)) * n + n0 + wn * 64 +
                 (lane & 3) * 2;
#pragma unroll
  for (int mi = 0; mi < 4; ++mi) {
    float *row0 = c_ptr + (size_t)(mi * 16) * n;
    float *row8 = row0 + (size_t)8 * n;
#pragma unroll
    for (int ni = 0; ni < 8; ++ni) {
      *reinterpret_cast<float2 *>(row0 + ni * 8) =
          make_float2(acc[mi][ni][0], acc[mi][ni][1]);
      *reinterpret_cast<float2 *>(row8 + ni * 8) =
          make_float2(acc[mi][ni][2], acc[mi][ni][3]);
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
      k % kBK == 0) {
    cudaFuncSetAttribute(matmul_split_bf16_kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kSmemBytes);
    const unsigned blocks = (unsigned)(m / kBM) * (unsigned)(n / kBN);
    matmul_split_bf16_kernel<<<blocks, kThreads, kSmemBytes, stream>>>(a, b, c,
                                                                       m, n, k);
    return;
  }
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
