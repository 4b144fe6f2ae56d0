// Matrix multiplication, as one writes it first: a thread per element of c,
// which reads a whole row of a and a whole column of b.

#include "matmul.h"
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

static constexpr int kMmTileM = 128;
static constexpr int kMmTileN = 256;
static constexpr int kMmSlotBytes = 24576; // one k-slice of 16: A 8 KB, B 16 KB
static constexpr int kMmPartB = 8192;      // offset of B's hi part in a slot
static constexpr int kMmLoB = 8192;        // from B's hi part to its lo part
static constexpr int kMmSmemBytes = 4 * kMmSlotBytes;

// x = hi + lo in bf16, for two numbers; the lower half of a register holds x.
static __device__ __forceinline__ void mm_split2(float x, float y, uint32_t &h,
                                                 uint32_t &l) {
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(y), "f"(x));
  float rx = x - __uint_as_float(h << 16);
  float ry = y - __uint_as_float(h & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(l) : "f"(ry), "f"(rx));
}

// Splits eight floats and stores them as two 16-byte chunks.
static __device__ __forceinline__ void
mm_put8(unsigned char *hi, unsigned char *lo, const float4 (&v)[2]) {
  uint4 h, l;
  mm_split2(v[0].x, v[0].y, h.x, l.x);
  mm_split2(v[0].z, v[0].w, h.y, l.y);
  mm_split2(v[1].x, v[1].y, h.z, l.z);
  mm_split2(v[1].z, v[1].w, h.w, l.w);
  *reinterpret_cast<uint4 *>(hi) = h;
  *reinterpret_cast<uint4 *>(lo) = l;
}

static __device__ __forceinline__ void mm_get8(const float *p,
                                               float4 (&v)[2]) {
  v[0] = __ldg(reinterpret_cast<const float4 *>(p));
  v[1] = __ldg(reinterpret_cast<const float4 *>(p) + 1);
}

static __device__ __forceinline__ void mm_ldsm(uint32_t (&r)[4],
                                               uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

static __device__ __forceinline__ void mm_ldsm_t(uint32_t (&r)[4],
                                                 uint32_t addr) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(addr)
      : "memory");
}

static __device__ __forceinline__ void
mm_mma(float (&d)[4], const uint32_t (&x)[4], uint32_t y0, uint32_t y1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}

// Full tiles only: m % 128 == 0, n % 256 == 0, k % 32 == 0, k > 0, and all
// pointers 16-byte aligned.
static __global__ void __launch_bounds__(256, 1)
    mm_bf16x3(const float *__restrict__ a, const float *__restrict__ b,
              float *__restrict__ c, int m, int n, int k) {
  extern __shared__ __align__(1024) unsigned char mm_smem[];

  const int tid = threadIdx.x;
  const int l = tid & 31;
  const int warp = tid >> 5;
  const int wm = warp & 1;
  const int wn = warp >> 1;

  // Which tile: groups of eight row tiles, walked down the rows first.
  const int mTiles = m / kMmTileM;
  const int nTiles = n / kMmTileN;
  const int per = 8 * nTiles;
  const int bid = (int)blockIdx.x;
  const int g = bid / per;
  const int first = g * 8;
  const int gs = min(8, mTiles - first);
  const int rest = bid - g * per;
  const int m0 = (first + rest % gs) * kMmTileM;
  const int n0 = (rest / gs) * kMmTileN;

  // What this thread loads and where it stores it.
  const int u = tid >> 1;
  const int ac = tid & 1;
  const int ar = (u & ~6) | ((u & 2) << 1) | ((u & 4) >> 1);
  const int bj = tid & 31;
  const int bk = tid >> 5;
  const float *pa = a + (size_t)(m0 + ar) * k + 8 * ac;
  const float *pb = b + (size_t)bk * n + n0 + 8 * bj;
  const size_t bHalf = (size_t)8 * n;
  const size_t bStep = (size_t)16 * n;
  const int stA = ar * 64 + ((ac ^ ((ar >> 1) & 3)) * 16);
  const int stAlo = stA ^ 32;
  const int stB = kMmPartB + bk * 512 + ((bj ^ (bk & 7)) * 16);

  // Fragment offsets inside a slot.
  const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(mm_smem);
  const uint32_t aOff = (uint32_t)((wm * 64 + (l & 15)) * 64 +
                                   (((l >> 4) ^ ((l >> 1) & 3)) * 16));
  const uint32_t aOffLo = aOff ^ 32u;
  const uint32_t bOff = (uint32_t)((l & 15) * 512 + wn * 128 +
                                   (((l >> 4) ^ (l & 7)) * 16));

  float acc[4][8][4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[i][j][e] = 0.0f;

  float4 va[2], vb0[2], vb1[2];
  const int Q = k / 16; // even, at least 2

#pragma unroll
  for (int s = 0; s < 2; ++s) {
    mm_get8(pa, va);
    mm_get8(pb, vb0);
    mm_get8(pb + bHalf, vb1);
    pa += 16;
    pb += bStep;
    unsigned char *ws = mm_smem + s * kMmSlotBytes;
    mm_put8(ws + stA, ws + stAlo, va);
    mm_put8(ws + stB, ws + stB + kMmLoB, vb0);
    mm_put8(ws + stB + 8 * 512, ws + stB + 8 * 512 + kMmLoB, vb1);
  }
  if (Q > 2) {
    mm_get8(pa, va);
    mm_get8(pb, vb0);
    mm_get8(pb + bHalf, vb1);
    pa += 16;
    pb += bStep;
  }
  __syncthreads();

#pragma unroll 1
  for (int q0 = 0; q0 < Q; q0 += 2) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int q = q0 + h;
      const uint32_t rs = sbase + (uint32_t)((q & 3) * kMmSlotBytes);
      unsigned char *ws = mm_smem + ((q + 2) & 3) * kMmSlotBytes;
      const bool st = q + 2 < Q;
      const bool ld = q + 3 < Q;

      uint32_t ah[4][4], al[4][4];
#pragma unroll
      for (int mt = 0; mt < 4; ++mt) {
        mm_ldsm(al[mt], rs + aOffLo + mt * 1024);
        mm_ldsm(ah[mt], rs + aOff + mt * 1024);
      }

#pragma unroll
      for (int jg = 0; jg < 4; ++jg) {
        uint32_t bh[4], bl[4];
        const uint32_t bAddr = rs + kMmPartB + (bOff ^ (uint32_t)(jg * 32));
        mm_ldsm_t(bh, bAddr);
        mm_ldsm_t(bl, bAddr + kMmLoB);

#pragma unroll
        for (int mt = 0; mt < 4; ++mt)
#pragma unroll
          for (int t = 0; t < 2; ++t)
            mm_mma(acc[mt][2 * jg + t], al[mt], bh[2 * t], bh[2 * t + 1]);
#pragma unroll
        for (int mt = 0; mt < 4; ++mt)
#pragma unroll
          for (int t = 0; t < 2; ++t)
            mm_mma(acc[mt][2 * jg + t], ah[mt], bl[2 * t], bl[2 * t + 1]);
#pragma unroll
        for (int mt = 0; mt < 4; ++mt)
#pragma unroll
          for (int t = 0; t < 2; ++t)
            mm_mma(acc[mt][2 * jg + t], ah[mt], bh[2 * t], bh[2 * t + 1]);

        if (jg == 0) {
          if (st)
            mm_put8(ws + stA, ws + stAlo, va);
          if (ld) {
            mm_get8(pa, va);
            pa += 16;
          }
        }
        if (jg == 1) {
          if (st)
            mm_put8(ws + stB, ws + stB + kMmLoB, vb0);
          if (ld)
            mm_get8(pb, vb0);
        }
        if (jg == 2) {
          if (st)
            mm_put8(ws + stB + 8 * 512, ws + stB + 8 * 512 + kMmLoB, vb1);
          if (ld) {
            mm_get8(pb + bHalf, vb1);
            pb += bStep;
          }
        }
      }
    }
    __syncthreads();
  }

  const int row0 = m0 + wm * 64 + (l >> 2);
  const int col0 = n0 + wn * 64 + 2 * (l & 3);
#pragma unroll
  for (int mt = 0; mt < 4; ++mt) {
    float *p0 = c + (size_t)(row0 + mt * 16) * n + col0;
    float *p1 = p0 + bHalf;
#pragma unroll
    for (int nt = 0; nt < 8; ++nt) {
      *reinterpret_cast<float2 *>(p0 + nt * 8) =
          make_float2(acc[mt][nt][0], acc[mt][nt][1]);
      *reinterpret_cast<float2 *>(p1 + nt * 8) =
          make_float2(acc[mt][nt][2], acc[mt][nt][3]);
    }
  }
}

void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream) {
  const bool aligned =
      ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 == 0;
  if (aligned && m > 0 && n > 0 && k > 0 && m % kMmTileM == 0 &&
      n % kMmTileN == 0 && k % 32 == 0) {
    cudaFuncSetAttribute(mm_bf16x3, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         kMmSmemBytes);
    const int blocks = (m / kMmTileM) * (n / kMmTileN);
    mm_bf16x3<<<blocks, 256, kMmSmemBytes, stream>>>(a, b, c, m, n, k);
    return;
  }
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
