// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

// Inputs and weights are rounded to TF32's 10 mantissa bits and held as half, which has as many: the products are those of
// a TF32 convolution. Relied on: |x|, |w| < 65504; below 2^-14 the absolute error is at most 2^-24.
static constexpr bool kTiesAway = true;  // TF32 rounding: ties away from zero (true) or to even (false)

static constexpr int kPlaneIn = 128 * 128;   // one channel of the input
static constexpr int kPlaneOut = 126 * 126;  // one channel of the output
static constexpr int kSlots = 8;             // converted input rows in the ring, and raw stages
static constexpr int kSlotBytes = 5120;      // [40 pixels, 34 of them used][64 channels] halves
static constexpr int kRows = 512;            // input rows a block goes through: four images
static constexpr int kLead = 3;              // rows that the conversion is ahead; goes with kSlots == 8
static constexpr int kRawPitch = 36;         // floats of one channel in a raw stage
static constexpr int kRawWarpBytes = 8 * kRawPitch * 4;               // 1152: the 8 channels of a warp
static constexpr int kRawStageBytes = 8 * kRawWarpBytes;              // 9216
static constexpr int kRawOffset = kSlots * kSlotBytes;                // 40960
static constexpr int kImageStepIn = 32 * 64 * kPlaneIn;               // from one image of a block to its next
static constexpr int kImageStepOut = 32 * 128 * kPlaneOut;
static constexpr int kWeightOffset = kRawOffset + kSlots * kRawStageBytes;  // 114688
static constexpr int kWeightBytes = 8 * 4096;                     // k-steps 4..11
                     // k-steps 8..11
static constexpr int kBiasOffset = kWeightOffset + kWeightBytes;  // 147456
  // 131072
static constexpr int kBarOffset = kBiasOffset + 128 * 8;          // 148480
          // 132096
static constexpr int kSmemBytes = kBarOffset + 8 * kSlots;        // 148544
        // 132160
static constexpr int kConvThreads = 256;

// Two floats to two halves; lo has the lower k index and goes to the low 16 bits.
static __device__ __forceinline__ uint32_t pack2(float lo, float hi) {
  uint32_t d;
  if constexpr (kTiesAway) {
    // Half a TF32 ulp is added, then the rest is cut off: what cvt.rna.tf32 does.
    lo = __uint_as_float(__float_as_uint(lo) + 0x1000u);
    hi = __uint_as_float(__float_as_uint(hi) + 0x1000u);
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  }
  return d;
}

static __device__ __forceinline__ void mbar_init(uint32_t a, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(count) : "memory");
}

static __device__ __forceinline__ void mbar_arrive(uint32_t a) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}

static __device__ __forceinline__ void mbar_wait(uint32_t a, uint32_t parity) {
  uint32_t ok;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(ok)
        : "r"(a), "r"(parity)
        : "memory");
  } while (!ok);
  __syncwarp();
}

static __device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

// Eight channels of one pixel, rounded and packed, as one 16-byte chunk.
static __device__ __forceinline__ void store_chunk(uint32_t addr, float v0, float v1, float v2, float v3, float v4,
                                                   float v5, float v6, float v7) {
  const uint32_t p0 = pack2(v0, v1);
  const uint32_t p1 = pack2(v2, v3);
  const uint32_t p2 = pack2(v4, v5);
  const uint32_t p3 = pack2(v6, v7);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(p0), "r"(p1), "r"(p2), "r"(p3) : "memory");
}

// The A fragment (weights) of one k-step, from shared memory.
static __device__ __forceinline__ void load_a(uint32_t (&fa)[4], uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(addr)
               : "memory");
}

// The A fragment (weights) of one k-step, from global memory; volatile, so that it stays in registers.
static __device__ __forceinline__ void load_w(uint32_t (&fa)[4], const uint4 *p) {
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "l"(p));
}

// The B fragments (pixels) of four n-tiles.
static __device__ __forceinline__ void load_b(uint32_t (&fb)[4][2], uint32_t addr) {
#pragma unroll
  for (int jp = 0; jp < 2; ++jp) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fb[2 * jp][0]), "=r"(fb[2 * jp][1]), "=r"(fb[2 * jp + 1][0]), "=r"(fb[2 * jp + 1][1])
                 : "r"(addr + jp * 2048)
                 : "memory");
  }
}

// Input row m of the block's stream, this warp's 8 channels, to raw stage m % 8. Always exactly one commit.
// xl and rawLane are those of the lane: channel lane / 8, pixels 4 * (lane % 8) and on.
static __device__ __forceinline__ void issue_row(int m, const float *xl, uint32_t rawLane, bool halo, int lane) {
  if (m < kRows) {
    const float *src = xl + (size_t)(m >> 7) * kImageStepIn + (m & 127) * 128;
    const uint32_t d = rawLane + (m & 7) * kRawStageBytes;
    cp_async16(d, src);
    cp_async16(d + 4 * kRawPitch * 4, src + 4 * kPlaneIn);
    if (halo)  // pixels 32..35 of channel lane (0..7); the lane's own base is at pixel 4 * lane of channel 0
      cp_async16(d + lane * (kRawPitch * 4 - 16) + 128, src + lane * (kPlaneIn - 4) + 32);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Row m from its raw stage to its slot, this warp's 8 channels; then the stage is filled with row m + 8.
// rw: this warp's part of raw stage 0. Before the call the rows up to m + 7 are committed.
static __device__ __forceinline__ void convert_row(int m, const float *rw, uint32_t cvtLane, uint32_t cvtHalo,
                                                   uint32_t full0, const float *xl, uint32_t rawLane, bool halo,
                                                   int lane) {
  asm volatile("cp.async.wait_group 7;" ::: "memory");
  __syncwarp();
  const float *r = rw + (m & 7) * (kRawStageBytes / 4);
  float v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = r[k * kRawPitch + lane];
  float h0 = 0.0f;
  float h1 = 0.0f;
  if (halo) {  // pixels 32 and 33: lane = channel pair * 2 + pixel
    const float *h = r + (lane >> 1) * (2 * kRawPitch) + 32 + (lane & 1);
    h0 = h[0];
    h1 = h[kRawPitch];
  }
  const uint32_t so = (m & 7) * kSlotBytes;
  store_chunk(cvtLane + so, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
  if (halo) {
    const uint32_t p = pack2(h0, h1);
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(cvtHalo + so), "r"(p) : "memory");
  }
  __syncwarp();  // the raw stage is read and the slot is written by all lanes
  if (lane == 0)
    mbar_arrive(full0 + 8 * (m & 7));
  issue_row(m + 8, xl, rawLane, halo, lane);
}

static __device__ __forceinline__ float lds32(uint32_t a) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory");
  return v;
}

// convert_row in three parts, for the main loop. First: the raw values of row m to registers, v[8] and v[9] being the halo's.
// rwLane and rwHalo are the lane's addresses in raw stage 0; all lanes read the halo (undefined in strip 3, and unused there).
static __device__ __forceinline__ void convert_load(float (&v)[10], int m, uint32_t rwLane, uint32_t rwHalo) {
  asm volatile("cp.async.wait_group 7;" ::: "memory");
  __syncwarp();
  const uint32_t ro = (m & 7) * kRawStageBytes;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = lds32(rwLane + ro + k * (kRawPitch * 4));
  v[8] = lds32(rwHalo + ro);
  v[9] = lds32(rwHalo + ro + kRawPitch * 4);
}

// Second: rounded and packed to the slot.
static __device__ __forceinline__ void convert_store(const float (&v)[10], int m, uint32_t cvtLane, uint32_t cvtHalo,
                                                     bool halo) {
  const uint32_t so = (m & 7) * kSlotBytes;
  store_chunk(cvtLane + so, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
  const uint32_t p = pack2(v[8], v[9]);
  if (halo)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(cvtHalo + so), "r"(p) : "memory");
}

// Third: the row is announced, and its raw stage filled with row m + 8.
static __device__ __forceinline__ void convert_publish(int m, uint32_t full0, const float *xl, uint32_t rawLane,
                                                       bool halo, int lane) {
  __syncwarp();  // the raw stage is read and the slot is written by all lanes
  if (lane == 0)
    mbar_arrive(full0 + 8 * (m & 7));
  issue_row(m + 8, xl, rawLane, halo, lane);
}

// Finished pairs of two neighbouring n-tiles. Neighbouring rows swap n-tiles, so that a store covers runs of 64 bytes.
static __device__ __forceinline__ void store_pairs(float *p, float2 v0, float2 v1, int odd, bool inside) {
  float2 r2;
  r2.x = __shfl_xor_sync(0xffffffffu, odd ? v0.x : v1.x, 4);
  r2.y = __shfl_xor_sync(0xffffffffu, odd ? v0.y : v1.y, 4);
  if (inside) {
    *reinterpret_cast<float2 *>(p) = odd ? r2 : v0;
    *reinterpret_cast<float2 *>(p + kPlaneOut) = odd ? v1 : r2;
  }
}

// The first product of a sum: C is zero.
static __device__ __forceinline__ void mma16816_first(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

static __device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ float finish(float a, float2 b) {
  a += b.x;
  a = a < 0.0f ? 0.0f : a;
  return a + b.y;
}

// Weights [128][64][3][3] to A fragments [k-step 36][m-tile 8][lane 32] of 16 bytes. 36 blocks of 256 threads.
static __global__ void __launch_bounds__(256) pack_weights_kernel(const float *__restrict__ w,
                                                                  uint4 *__restrict__ packed) {
  const int idx = blockIdx.x * 256 + threadIdx.x;
  const int s = idx >> 8;
  const int mt = (idx >> 5) & 7;
  const int lane = idx & 31;
  const int g = lane >> 2;
  const int t = lane & 3;
  const int tap = s >> 2;
  const int ks = s & 3;
  uint32_t r[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int oc = mt * 16 + g + 8 * (i & 1);
    const int ic = ks * 16 + 2 * t + 8 * (i >> 1);
    r[i] = pack2(w[oc * 576 + ic * 9 + tap], w[oc * 576 + (ic + 1) * 9 + tap]);
  }
  packed[idx] = make_uint4(r[0], r[1], r[2], r[3]);
}

// One block does a strip of 32 columns of four images, as one stream of 512 input rows. Warp w owns output channels
// 16w..16w+15, whose weights stay in registers, and converts input channels 8w..8w+7. A fragment of an input row is used for
// the three output rows that need it. In the ring the 16-byte chunk c of pixel px lies at slot + px * 128 +
// ((c ^ (px & 7)) << 4). A warp at row q converts row q + 3 into the slot of row q - 5: having passed full[q - 1], it knows
// that every warp has converted row q - 1, and so is done with row q - 5.
static __global__ void __launch_bounds__(kConvThreads, 1)
    conv_relu_bias_kernel(const float *__restrict__ x, const uint4 *__restrict__ packed,
                          const float *__restrict__ convBias, const float *__restrict__ bias,
                          float *__restrict__ out) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const uint32_t sbase = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
  const uint32_t full0 = sbase + kBarOffset;
  float2 *biasTab = reinterpret_cast<float2 *>(smem + kBiasOffset);

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = __shfl_sync(0xffffffffu, tid >> 5, 0);
  const int strip = blockIdx.x & 3;
  const int n0 = blockIdx.x >> 2;

  // Loading and converting. Strip 3 ends with the image: its pixels 32 and 33 stay undefined and reach only the output
  // columns 126 and 127, which are not stored.
  const bool halo = strip < 3 && lane < 8;
  const float *xl = x + ((size_t)n0 * 64 + warp * 8 + (lane >> 3)) * kPlaneIn + strip * 32 + (lane & 7) * 4;
  const uint32_t rawLane =
      sbase + kRawOffset + warp * kRawWarpBytes + (lane >> 3) * (kRawPitch * 4) + (lane & 7) * 16;
  const float *rw = reinterpret_cast<const float *>(smem + kRawOffset + warp * kRawWarpBytes);
  const uint32_t rwLane = sbase + kRawOffset + warp * kRawWarpBytes + lane * 4;
  const uint32_t rwHalo = sbase + kRawOffset + warp * kRawWarpBytes +
                          (((lane & 7) >> 1) * (2 * kRawPitch) + 32 + (lane & 1)) * 4;
  const uint32_t cvtLane = sbase + lane * 128 + ((warp ^ (lane & 7)) << 4);
  const uint32_t cvtHalo = sbase + (32 + (lane & 1)) * 128 + ((warp ^ (lane & 1)) << 4) + (lane >> 1) * 4;

#pragma unroll 1
  for (int m = 0; m < kSlots; ++m)
    issue_row(m, xl, rawLane, halo, lane);

  if (tid == 0) {
    for (int i = 0; i < kSlots; ++i)
      mbar_init(full0 + 8 * i, 8);
  }
  if (tid < 128)
    biasTab[tid] = make_float2(convBias[tid], bias[tid]);

  // The weights: k-steps 0..3 in w[0..3], 12..35 in w[4..27], 4..11 in shared memory (read back by the same thread).
  uint32_t w[28][4];
#pragma unroll
  for (int s = 0; s < 8; ++s) {
    uint32_t tmp[4];
    load_w(tmp, packed + (s + 4) * 256 + tid);
    *reinterpret_cast<uint4 *>(smem + kWeightOffset + s * 4096 + tid * 16) = make_uint4(tmp[0], tmp[1], tmp[2], tmp[3]);
  }
#pragma unroll
  for (int s = 0; s < 28; ++s)
    load_w(w[s], packed + (s < 4 ? s : s + 8) * 256 + tid);
  const uint32_t wS = sbase + kWeightOffset + tid * 16;

  __syncthreads();

#pragma unroll 1
  for (int m = 0; m < kLead; ++m)
    convert_row(m, rw, cvtLane, cvtHalo, full0, xl, rawLane, halo, lane);

  // Consuming: 16 output channels by 32 pixels by 3 output rows a warp.
  uint32_t bOff[3];
  {
    const int pxl = (lane & 7) + ((lane >> 4) << 3);
    const int khalf = (lane >> 3) & 1;
#pragma unroll
    for (int kw = 0; kw < 3; ++kw) {
      const int px = pxl + kw;
      bOff[kw] = sbase + px * 128 + ((khalf ^ (px & 7)) << 4);
    }
  }
  const int g = lane >> 2;
  const int t = lane & 3;
  const int odd = g & 1;
  const bool lastInside = strip < 3 || odd * 8 + 2 * t + 16 < 30;
  float *ob = out + ((size_t)n0 * 128 + warp * 16 + (g & 6)) * kPlaneOut + strip * 32 + odd * 8 + 2 * t;
  const float2 b0 = biasTab[warp * 16 + g];
  const float2 b1 = biasTab[warp * 16 + 8 + g];

  float acc[3][4][4];  // the output row that starts at input row q is in set q % 3
#pragma unroll
  for (int i = 0; i < 3; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc[i][j][e] = 0.0f;
    }
  }
  uint32_t fb[2][4][2];
  mbar_wait(full0, 0);
  load_b(fb[0], bOff[0]);  // row 0, slot 0

  // Row q: its products; in steps 0..4 the output row that row q - 1 has finished is stored, in steps 5..8 row q + 3 is
  // converted, in steps 10 and 11 row q + 1 is waited for and its first fragments are loaded. Rows 512..514 are converted
  // from what lies in the raw stages; no product uses them.
#pragma unroll 1
  for (int q0 = 0; q0 < kRows; q0 += 3) {
#pragma unroll
    for (int ph = 0; ph < 3; ++ph) {
      const int q = q0 + ph;
      if (ph < 2 || q < kRows) {  // false only for q == 512; the last q0 is 510
        const uint32_t so = (q & 7) * kSlotBytes;
        const uint32_t soNext = ((q + 1) & 7) * kSlotBytes;
        const int qf = q - 1;  // the row that finished the output row that is stored now
        // Accumulators that mix two images are finished at the rows 0 and 1 of an image.
        const bool keep = q > 0 && (qf & 127) >= 2;
        float *o = ob + ((long long)(qf >> 7) * kImageStepOut + ((qf & 127) - 2) * 126);
        float fin[4][4];
        float sg[10];
#pragma unroll
        for (int st = 0; st < 12; ++st) {  // kw = st / 4, channels 16 * (st % 4) and on
          if (st < 11)
            load_b(fb[(st + 1) & 1], (bOff[st < 11 ? (st + 1) >> 2 : 0] + so) ^ (((st + 1) & 3) << 5));
          else
            load_b(fb[0], bOff[0] + soNext);
          uint32_t a0[4] = {0u, 0u, 0u, 0u};
          if (st >= 4)
            load_a(a0, wS + (st - 4) * 4096);

          // Output rows q - 2 and q - 1.
#pragma unroll
          for (int kh = 2; kh >= 1; --kh) {
#pragma unroll
            for (int j = 0; j < 4; ++j)
              mma16816(acc[(ph + 3 - kh) % 3][j], w[kh * 12 + st - 8], fb[st & 1][j]);
          }

          // Side work, under these products.
          if (st == 0) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              fin[j][0] = finish(acc[ph][j][0], b0);
              fin[j][1] = finish(acc[ph][j][1], b0);
              fin[j][2] = finish(acc[ph][j][2], b1);
              fin[j][3] = finish(acc[ph][j][3], b1);
            }
          }
          if (st >= 1 && st <= 4) {
            const int grp = (st - 1) & 3;
            const int hf = grp >> 1;
            const int jp = grp & 1;
            store_pairs(o + hf * 8 * kPlaneOut + jp * 16,
                        make_float2(fin[2 * jp][2 * hf], fin[2 * jp][2 * hf + 1]),
                        make_float2(fin[2 * jp + 1][2 * hf], fin[2 * jp + 1][2 * hf + 1]), odd,
                        keep && (jp == 0 || lastInside));  // the pair is inside or outside together
          }
          if (st == 5)
            convert_load(sg, q + kLead, rwLane, rwHalo);
          if (st == 7)
            convert_store(sg, q + kLead, cvtLane, cvtHalo, halo);
          if (st == 8)
            convert_publish(q + kLead, full0, xl, rawLane, halo, lane);
          if (st == 10)
            mbar_wait(full0 + 8 * ((q + 1) & 7), ((q + 1) >> 3) & 1);

          // Output row q; its first products replace the set that has been read out.
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            if (st == 0)
              mma16816_first(acc[ph][j], w[0], fb[0][j]);
            else if (st < 4)
              mma16816(acc[ph][j], w[st < 4 ? st : 0], fb[st & 1][j]);
            else
              mma16816(acc[ph][j], a0, fb[st & 1][j]);
          }
        }
      }
    }
  }

  // The last output row, finished at row 511, is in set 2.
  {
    float *o = ob + ((long long)3 * kImageStepOut + 125 * 126);
#pragma unroll
    for (int hf = 0; hf < 2; ++hf) {
      const float2 b = hf == 0 ? b0 : b1;
#pragma unroll
      for (int jp = 0; jp < 2; ++jp) {
        const float2 v0 =
            make_float2(finish(acc[2][2 * jp][2 * hf], b), finish(acc[2][2 * jp][2 * hf + 1], b));
        const float2 v1 =
            make_float2(finish(acc[2][2 * jp + 1][2 * hf], b), finish(acc[2][2 * jp + 1][2 * hf + 1], b));
        store_pairs(o + hf * 8 * kPlaneOut + jp * 16, v0, v1, odd, jp == 0 || lastInside);
      }
    }
  }
}

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor out = at::empty({128, 128, 126, 126}, x.options());
  at::Tensor packed = at::empty({128 * 576}, x.options().dtype(at::kHalf));
  uint4 *packedPtr = reinterpret_cast<uint4 *>(packed.data_ptr());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(cudaFuncSetAttribute(conv_relu_bias_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  pack_weights_kernel<<<36, 256, 0, stream>>>(conv_weight.const_data_ptr<float>(), packedPtr);
  conv_relu_bias_kernel<<<128, kConvThreads, kSmemBytes, stream>>>(
      x.const_data_ptr<float>(), packedPtr, conv_bias.const_data_ptr<float>(), bias.const_data_ptr<float>(),
      out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
