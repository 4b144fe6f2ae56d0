// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_runtime.h>

static constexpr int kInK = 16384;          // inner size of all three products
static constexpr int kHidden = 16384;
static constexpr int kOutN = 8192;
static constexpr int kStages = 4;
static constexpr int kWBytes = 32768;       // 256 features x 32 k, fp32
static constexpr int kXBytes = 16384;       // 128 batch rows x (32 hi + 32 lo) bf16
static constexpr int kStageBytes = kWBytes + kXBytes;
static constexpr int kSmemBytes = kStages * kStageBytes + 2 * kStages * 8;

static __device__ __forceinline__ unsigned pack_bf16(float a, float b) { // a in the low half
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return r;
}

static __device__ __forceinline__ void split2(float a, float b, unsigned &hi, unsigned &lo) {
  hi = pack_bf16(a, b);
  lo = pack_bf16(a - __uint_as_float(hi << 16), b - __uint_as_float(hi & 0xffff0000u));
}

// 16 consecutive k's (group h of chunk kc) of batch row b, split in hi and lo, permuted and swizzled.
static __device__ __forceinline__ void emit16(char *X, int kc, int b, int h, const float (&v)[16]) {
  unsigned hi[8], lo[8];
#pragma unroll
  for (int q = 0; q < 8; ++q)
    split2(v[2 * q], v[2 * q + 1], hi[q], lo[q]);
  char *row = X + ((size_t)kc * 128 + b) * 128;
  int s = b & 7;
  *reinterpret_cast<uint4 *>(row + (((2 * h) ^ s) << 4)) = make_uint4(hi[0], hi[2], hi[4], hi[6]);
  *reinterpret_cast<uint4 *>(row + (((2 * h + 1) ^ s) << 4)) = make_uint4(hi[1], hi[3], hi[5], hi[7]);
  *reinterpret_cast<uint4 *>(row + (((4 + 2 * h) ^ s) << 4)) = make_uint4(lo[0], lo[2], lo[4], lo[6]);
  *reinterpret_cast<uint4 *>(row + (((5 + 2 * h) ^ s) << 4)) = make_uint4(lo[1], lo[3], lo[5], lo[7]);
}

static __global__ __launch_bounds__(256) void mlp_prep_x(const float *__restrict__ x, char *__restrict__ X) {
  int kc = blockIdx.x;
  int h = threadIdx.x & 1;
  int b = threadIdx.x >> 1;
  const float4 *src = reinterpret_cast<const float4 *>(x + (size_t)b * kInK + kc * 32 + h * 16);
  float v[16];
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    float4 u = src[q];
    v[4 * q + 0] = u.x;
    v[4 * q + 1] = u.y;
    v[4 * q + 2] = u.z;
    v[4 * q + 3] = u.w;
  }
  emit16(X, kc, b, h, v);
}

static __global__ __launch_bounds__(256) void mlp_finish_hidden(const float *__restrict__ P,
                                                                const float *__restrict__ bias,
                                                                char *__restrict__ X) {
  int kc = blockIdx.x;
  int b = threadIdx.x & 127;
  int h = threadIdx.x >> 7;
  int f0 = kc * 32 + h * 16;
  float p0[16], p1[16], v[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    p0[j] = P[(size_t)(f0 + j) * 128 + b];
    p1[j] = P[((size_t)kHidden + f0 + j) * 128 + b];
  }
#pragma unroll
  for (int j = 0; j < 16; ++j)
    v[j] = fmaxf(p0[j] + p1[j] + bias[f0 + j], 0.f);
  emit16(X, kc, b, h, v);
}

static __global__ __launch_bounds__(256) void mlp_finish_out(const float *__restrict__ P,
                                                             const float *__restrict__ bias,
                                                             float *__restrict__ out) {
  __shared__ float tile[32][33];
  int f0 = blockIdx.x * 32;
  int b0 = blockIdx.y * 32;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int f = f0 + threadIdx.y + 8 * j;
    int b = b0 + threadIdx.x;
    float s = 0.f;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      s += P[((size_t)q * kOutN + f) * 128 + b];
    tile[threadIdx.y + 8 * j][threadIdx.x] = s;
  }
  __syncthreads();
  int f = f0 + threadIdx.x;
  float bi = bias[f];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int b = b0 + threadIdx.y + 8 * j;
    out[(size_t)b * kOutN + f] = tile[threadIdx.x][threadIdx.y + 8 * j] + bi;
  }
}

static __device__ __forceinline__ void cp_async_w(unsigned dst, const void *src) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}
static __device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
static __device__ __forceinline__ void cp_async_wait_group2() {
  asm volatile("cp.async.wait_group 2;" ::: "memory");
}
static __device__ __forceinline__ void mbar_init(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
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
  } while (!ok);
}
static __device__ __forceinline__ void mbar_arrive(unsigned bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
// One X chunk, copied linearly; completes on `bar`.
static __device__ __forceinline__ void bulk_load_x(unsigned dst, const void *src, unsigned bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"((unsigned)kXBytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
               "l"(src), "r"((unsigned)kXBytes), "r"(bar)
               : "memory");
}
static __device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], unsigned addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}
// Raw fp32 fragment of one m tile and one k16 step (rows g and g + 8), split in bf16 hi and lo.
static __device__ __forceinline__ void split_frag(const float4 &u, const float4 &v, unsigned (&h)[4],
                                                  unsigned (&l)[4]) {
  split2(u.x, u.y, h[0], l[0]);
  split2(v.x, v.y, h[1], l[1]);
  split2(u.z, u.w, h[2], l[2]);
  split2(v.z, v.w, h[3], l[3]);
}

// Moves one m16n8 accumulator tile to P (p: its row g, column 2t) and clears it.
template <bool kFirst>
static __device__ __forceinline__ void flush_acc(float *p, float (&d)[4]) {
  float2 lo = make_float2(d[0], d[1]);
  float2 hi = make_float2(d[2], d[3]);
  if (kFirst) {
    *reinterpret_cast<float2 *>(p) = lo;
    *reinterpret_cast<float2 *>(p + 1024) = hi;
  } else {
    atomicAdd(reinterpret_cast<float2 *>(p), lo);
    atomicAdd(reinterpret_cast<float2 *>(p + 1024), hi);
  }
  d[0] = 0.f;
  d[1] = 0.f;
  d[2] = 0.f;
  d[3] = 0.f;
}

static __device__ __forceinline__ void mma_zero(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
}
static __device__ __forceinline__ void mma_acc(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int N, int SPLIT>
static __global__ __launch_bounds__(256, 1) void mlp_gemm(const float *__restrict__ W, const char *__restrict__ X,
                                                          float *__restrict__ P) {
  extern __shared__ __align__(1024) unsigned char smem[];
  constexpr int NT = N / 256;
  constexpr int NK = 512 / SPLIT;
  static_assert(NK % 64 == 0, "the staggered flush covers 64 chunks");

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int tile = blockIdx.x % NT;
  const int split = blockIdx.x / NT;
  const int kc0 = split * NK;

  const unsigned sbase = (unsigned)__cvta_generic_to_shared(smem);
  const unsigned full = sbase + kStages * kStageBytes;
  const unsigned empty = full + kStages * 8;

  if (tid == 0) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      mbar_init(full + s * 8, 1);
      mbar_init(empty + s * 8, 8);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  // Every warp loads its own 32 weight rows: 8 copies of 4 rows x 128 bytes.
  const int wc = lane & 7;
  const int wr = lane >> 3;
  const float *wsrc = W + (size_t)(tile * 256 + warp * 32 + wr) * kInK + (size_t)kc0 * 32 + wc * 4;
  const unsigned wdst = sbase + (warp * 32 + wr) * 128 + ((wc ^ ((wr & 1) << 2)) << 4);
  const char *xsrc = X + (size_t)kc0 * kXBytes;

  if (tid == 0) {
    bulk_load_x(sbase + kWBytes, xsrc, full);
    bulk_load_x(sbase + kStageBytes + kWBytes, xsrc + kXBytes, full + 8);
  }
#pragma unroll
  for (int s = 0; s < 3; ++s) {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      cp_async_w(wdst + s * kStageBytes + j * 512, wsrc + (size_t)j * 4 * kInK);
    wsrc += 32;
    cp_async_commit_group();
  }

  const unsigned aoff = (warp * 32 + g) * 128 + ((t ^ ((g & 1) << 2)) << 4);
  // Matrices of one ldmatrix.x4: hi k 0-7, hi k 8-15, lo k 0-7, lo k 8-15 of one k16 step; step s is at ^ (s << 5).
  const unsigned boff =
      (lane & 7) * 128 + (((((lane >> 3) & 1) | ((lane >> 4) << 2)) ^ (lane & 7)) << 4);

  float acc[2][16][4];
#pragma unroll
  for (int mt = 0; mt < 2; ++mt)
#pragma unroll
    for (int nt = 0; nt < 16; ++nt)
#pragma unroll
      for (int q = 0; q < 4; ++q)
        acc[mt][nt][q] = 0.f;

  unsigned ah[2][2][4], al[2][2][4]; // [set of the k16 step][m tile][register]
  unsigned b[2][4][4];               // [buffer][n tile of the group][bh0 bh1 bl0 bl1]
  float4 ru[2], rv[2];               // raw W of the next step: rows g and g + 8 of each m tile

  cp_async_wait_group2(); // chunk 0
  mbar_wait(full, 0);
  __syncwarp();
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
    ru[mt] = *reinterpret_cast<const float4 *>(smem + mt * 2048 + aoff);
    rv[mt] = *reinterpret_cast<const float4 *>(smem + mt * 2048 + 1024 + aoff);
    split_frag(ru[mt], rv[mt], ah[0][mt], al[0][mt]);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    ldmatrix_x4(b[0][j], sbase + kWBytes + boff + j * 1024);

#pragma unroll 1
  for (int i = 0; i < NK; ++i) {
    const int slot = i & 3;
    const int nslot = (i + 1) & 3;

    if (tid == 0 && i + 2 < NK) {
      const int c = i + 2;
      const int cs = c & 3;
      if (c >= kStages)
        mbar_wait(empty + cs * 8, ((c >> 2) - 1) & 1);
      bulk_load_x(sbase + cs * kStageBytes + kWBytes, xsrc + (size_t)c * kXBytes, full + cs * 8);
    }
    __syncwarp();

    // The slot refilled here was last read by this warp before the __syncwarp in step 1 of the last iteration.
    if (i + 3 < NK) {
      const unsigned dst = wdst + ((i + 3) & 3) * kStageBytes;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        cp_async_w(dst + j * 512, wsrc + (size_t)j * 4 * kInK);
      wsrc += 32;
    }
    cp_async_commit_group();

    const unsigned sX = sbase + slot * kStageBytes + kWBytes;
    const unsigned sXn = sbase + nslot * kStageBytes + kWBytes;

#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if (s == 1) { // the next chunk is read from here on
        cp_async_wait_group2();
        if (i + 1 < NK)
          mbar_wait(full + nslot * 8, ((i + 1) >> 2) & 1);
        __syncwarp();
      }

      // Raw W of the next step.
      const unsigned char *sWn = smem + (s == 0 ? slot : nslot) * kStageBytes;
      const unsigned an = aoff ^ (unsigned)((s ^ 1) << 6);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
        ru[mt] = *reinterpret_cast<const float4 *>(sWn + mt * 2048 + an);
        rv[mt] = *reinterpret_cast<const float4 *>(sWn + mt * 2048 + 1024 + an);
      }

#pragma unroll
      for (int q = 0; q < 4; ++q) { // n tiles 4q .. 4q + 3
        const int cur = q & 1;
        // B of the next group: of this step, of step 1 of this chunk, or of step 0 of the next chunk.
        const unsigned nb = q < 3 ? sX + (boff ^ (unsigned)(s << 5)) + (q + 1) * 4096
                                  : (s == 0 ? sX + (boff ^ 32u) : sXn + boff);
#pragma unroll
        for (int j = 0; j < 4; ++j)
          ldmatrix_x4(b[cur ^ 1][j], nb + j * 1024);

#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_acc(acc[mt][4 * q + j], al[s][mt], b[cur][j][0], b[cur][j][1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_acc(acc[mt][4 * q + j], ah[s][mt], b[cur][j][2], b[cur][j][3]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            mma_acc(acc[mt][4 * q + j], ah[s][mt], b[cur][j][0], b[cur][j][1]);

        if (q == 1)
          split_frag(ru[0], rv[0], ah[s ^ 1][0], al[s ^ 1][0]);
        if (q == 2)
          split_frag(ru[1], rv[1], ah[s ^ 1][1], al[s ^ 1][1]);
      }
    }

    __syncwarp();
    if (lane == 0)
      mbar_arrive(empty + slot * 8);

    // Staggered flush against the truncation of the mma's accumulation: n tiles 2 fp, 2 fp + 1.
    if ((i & 7) == 7) {
      const int fp = (i >> 3) & 7;
      float *p = P + ((size_t)split * N + tile * 256 + warp * 32 + g) * 128 + 2 * t;
#pragma unroll
      for (int np = 0; np < 8; ++np) {
        if (np == fp) {
          if (i < 64) {
#pragma unroll
            for (int mt = 0; mt < 2; ++mt)
#pragma unroll
              for (int j = 0; j < 2; ++j)
                flush_acc<true>(p + mt * 2048 + (2 * np + j) * 8, acc[mt][2 * np + j]);
          } else {
#pragma unroll
            for (int mt = 0; mt < 2; ++mt)
#pragma unroll
              for (int j = 0; j < 2; ++j)
                flush_acc<false>(p + mt * 2048 + (2 * np + j) * 8, acc[mt][2 * np + j]);
          }
        }
      }
    }
  }

  // What is left, to P[split][feature][batch]; n tiles 14 and 15 were flushed in the last iteration.
  float *p = P + ((size_t)split * N + tile * 256 + warp * 32 + g) * 128 + 2 * t;
#pragma unroll
  for (int mt = 0; mt < 2; ++mt)
#pragma unroll
    for (int nt = 0; nt < 14; ++nt)
      flush_acc<false>(p + mt * 2048 + nt * 8, acc[mt][nt]);
}

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  at::Tensor out = at::empty({128, 8192}, x.options());
  at::Tensor partial = at::empty({2 * 16384 * 128}, x.options()); // also 4 * 8192 * 128
  at::Tensor packed = at::empty({128 * 16384}, x.options());      // hi and lo, bf16 each

  float *P = partial.data_ptr<float>();
  char *X = reinterpret_cast<char *>(packed.data_ptr<float>());

  cudaFuncSetAttribute(mlp_gemm<16384, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);
  cudaFuncSetAttribute(mlp_gemm<8192, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes);

  mlp_prep_x<<<512, 256, 0, stream>>>(x.const_data_ptr<float>(), X);

  mlp_gemm<16384, 2><<<128, 256, kSmemBytes, stream>>>(network_0_weight.const_data_ptr<float>(), X, P);
  mlp_finish_hidden<<<512, 256, 0, stream>>>(P, network_0_bias.const_data_ptr<float>(), X);

  mlp_gemm<16384, 2><<<128, 256, kSmemBytes, stream>>>(network_2_weight.const_data_ptr<float>(), X, P);
  mlp_finish_hidden<<<512, 256, 0, stream>>>(P, network_2_bias.const_data_ptr<float>(), X);

  mlp_gemm<8192, 4><<<128, 256, kSmemBytes, stream>>>(network_4_weight.const_data_ptr<float>(), X, P);
  mlp_finish_out<<<dim3(256, 4), dim3(32, 8), 0, stream>>>(P, network_4_bias.const_data_ptr<float>(),
                                                           out.data_ptr<float>());
  return out;
}
