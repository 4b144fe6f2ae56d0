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
static __device__ __forceinline__ void mma_zero(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
}
static __device__ __forceinline__ void mma_acc(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
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
  const unsigned boff = (lane & 7) * 128 + (((lane >> 3) ^ (lane & 7)) << 4);

  float acc[2][16][4];
#pragma unroll
  for (int mt = 0; mt < 2; ++mt)
#pragma unroll
    for (int nt = 0; nt < 16; ++nt)
#pragma unroll
      for (int q = 0; q < 4; ++q)
        acc[mt][nt][q] = 0.f;

#pragma unroll 1
  for (int i = 0; i < NK; ++i) {
    const int slot = i & 3;

    cp_async_wait_group2();
    if (tid == 0 && i + 2 < NK) {
      const int c = i + 2;
      const int cs = c & 3;
      if (c >= kStages)
        mbar_wait(empty + cs * 8, ((c >> 2) - 1) & 1);
      bulk_load_x(sbase + cs * kStageBytes + kWBytes, xsrc + (size_t)c * kXBytes, full + cs * 8);
    }
    mbar_wait(full + slot * 8, (i >> 2) & 1);
    __syncwarp();

    // The slot refilled here is the one this warp left before the __syncwarp above.
    if (i + 3 < NK) {
      const unsigned dst = wdst + ((i + 3) & 3) * kStageBytes;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        cp_async_w(dst + j * 512, wsrc + (size_t)j * 4 * kInK);
      wsrc += 32;
    }
    cp_async_commit_group();

    const unsigned char *sW = smem + slot * kStageBytes;
    unsigned ah[2][2][4], al[2][2][4]; // [m tile][k16 step][register]
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int mt = 0; mt < 2; ++mt) {
        float4 u = *reinterpret_cast<const float4 *>(sW + mt * 2048 + (aoff ^ (s << 6)));
        float4 v = *reinterpret_cast<const float4 *>(sW + mt * 2048 + 1024 + (aoff ^ (s << 6)));
        split2(u.x, u.y, ah[mt][s][0], al[mt][s][0]);
        split2(v.x, v.y, ah[mt][s][1], al[mt][s][1]);
        split2(u.z, u.w, ah[mt][s][2], al[mt][s][2]);
        split2(v.z, v.w, ah[mt][s][3], al[mt][s][3]);
      }

    const unsigned sX = sbase + slot * kStageBytes + kWBytes;
    const unsigned xh = sX + boff;
    const unsigned xl = sX + (boff ^ 64u);
#pragma unroll
    for (int np = 0; np < 8; ++np) {
      unsigned bh[2][4], bl[2][4]; // registers 2s, 2s+1 = b0, b1 of step s
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        ldmatrix_x4(bh[j], xh + (np * 2 + j) * 1024);
        ldmatrix_x4(bl[j], xl + (np * 2 + j) * 1024);
      }
      float d[2][2][4];
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_zero(d[mt][j], al[mt][0], bh[j][0], bh[j][1]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_acc(d[mt][j], ah[mt][0], bl[j][0], bl[j][1]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_acc(d[mt][j], ah[mt][0], bh[j][0], bh[j][1]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_acc(d[mt][j], al[mt][1], bh[j][2], bh[j][3]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_acc(d[mt][j], ah[mt][1], bl[j][2], bl[j][3]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
          mma_acc(d[mt][j], ah[mt][1], bh[j][2], bh[j][3]);
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
          for (int q = 0; q < 4; ++q)
            acc[mt][np * 2 + j][q] += d[mt][j][q];
    }

    __syncwarp();
    if (lane == 0)
      mbar_arrive(empty + slot * 8);
  }

  // Partial sums, P[split][feature][batch].
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
    const int f = tile * 256 + warp * 32 + mt * 16 + g;
    float *p0 = P + ((size_t)split * N + f) * 128 + 2 * t;
    float *p1 = p0 + 8 * 128;
#pragma unroll
    for (int nt = 0; nt < 16; ++nt) {
      *reinterpret_cast<float2 *>(p0 + nt * 8) = make_float2(acc[mt][nt][0], acc[mt][nt][1]);
      *reinterpret_cast<float2 *>(p1 + nt * 8) = make_float2(acc[mt][nt][2], acc[mt][nt][3]);
    }
  }
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
