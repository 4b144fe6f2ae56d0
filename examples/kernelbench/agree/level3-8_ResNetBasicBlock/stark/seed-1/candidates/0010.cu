// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_pipeline.h>

static constexpr int kHW = 224 * 224;             // 50176 pixels of an image
static constexpr int kQuads = kHW / 4;            // 12544 float4 per channel plane
static constexpr int kXBlocks = 35;               // 35 * 3584 = 10 * 12544 quads
static constexpr int kQuadsPerBlock = 3584;       // 14 * 256
static constexpr int kPlaneParts = 7;             // blocks of a plane in the BN2 statistics
static constexpr int kPartQuads = kQuads / kPlaneParts; // 1792 = 7 * 256
static constexpr int kStatBlocks = 10 * 64 * kPlaneParts; // 4480
static constexpr int kChanParts = 10 * kPlaneParts;       // 70 partial sums of a channel
static constexpr int kTailBlocks = 10 * 4 * 49;   // image, group of 16 channels, 256 quads
static constexpr int kPartDoubles = 64 * 2 * kChanParts;
static constexpr int kXPartDoubles = 9 * kXBlocks;
static constexpr int kCoefFloats = 5 * 64;

static __device__ __forceinline__ double warp_sum(double v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

static __device__ __forceinline__ void add_x_moments(float (&a)[9], float d0, float d1, float d2) {
  a[0] += d0;
  a[1] += d1;
  a[2] += d2;
  a[3] = fmaf(d0, d0, a[3]);
  a[4] = fmaf(d0, d1, a[4]);
  a[5] = fmaf(d0, d2, a[5]);
  a[6] = fmaf(d1, d1, a[6]);
  a[7] = fmaf(d1, d2, a[7]);
  a[8] = fmaf(d2, d2, a[8]);
}

// Blocks 0..34: moments of x. Blocks 35..4514: sums of a seventh of a plane of conv2 (NCHW), from its end to its start.
static __global__ void __launch_bounds__(256, 4)
stats_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
             double *__restrict__ part, double *__restrict__ xpart) {
  __shared__ double red[8 * 9];
  const int t = threadIdx.x;
  const int lane = t & 31;
  const int warp = t >> 5;

  if (blockIdx.x < kXBlocks) {
    const float k0 = x[0];
    const float k1 = x[kHW];
    const float k2 = x[2 * kHW];
    float a[9];
#pragma unroll
    for (int m = 0; m < 9; ++m)
      a[m] = 0.f;
#pragma unroll 2
    for (int k = 0; k < 14; ++k) {
      const int i = (int)blockIdx.x * kQuadsPerBlock + t + 256 * k;
      const int n = i / kQuads;
      const int r = i - n * kQuads;
      const float *p = x + (size_t)n * (3 * kHW) + 4 * r;
      const float4 v0 = *reinterpret_cast<const float4 *>(p);
      const float4 v1 = *reinterpret_cast<const float4 *>(p + kHW);
      const float4 v2 = *reinterpret_cast<const float4 *>(p + 2 * kHW);
      add_x_moments(a, v0.x - k0, v1.x - k1, v2.x - k2);
      add_x_moments(a, v0.y - k0, v1.y - k1, v2.y - k2);
      add_x_moments(a, v0.z - k0, v1.z - k1, v2.z - k2);
      add_x_moments(a, v0.w - k0, v1.w - k1, v2.w - k2);
    }
#pragma unroll
    for (int m = 0; m < 9; ++m) {
      const double d = warp_sum((double)a[m]);
      if (lane == 0)
        red[warp * 9 + m] = d;
    }
    __syncthreads();
    if (t < 9) {
      double d = 0.0;
#pragma unroll
      for (int w = 0; w < 8; ++w)
        d += red[w * 9 + t];
      xpart[t * kXBlocks + (int)blockIdx.x] = d;
    }
  } else {
    const int b = kStatBlocks - 1 - ((int)blockIdx.x - kXBlocks);
    const int plane = b / kPlaneParts;
    const int piece = b - plane * kPlaneParts;
    const int n = plane >> 6;
    const int c = plane & 63;
    const float4 *p = reinterpret_cast<const float4 *>(conv2) + (size_t)b * kPartQuads + t;
    const float pv = conv2[(size_t)c * kHW];
    float4 v[7];
#pragma unroll
    for (int u = 0; u < 7; ++u)
      v[u] = p[u * 256];
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
    float q0 = 0.f, q1 = 0.f, q2 = 0.f, q3 = 0.f;
#pragma unroll
    for (int u = 0; u < 7; ++u) {
      const float d0 = v[u].x - pv;
      const float d1 = v[u].y - pv;
      const float d2 = v[u].z - pv;
      const float d3 = v[u].w - pv;
      s0 += d0;
      s1 += d1;
      s2 += d2;
      s3 += d3;
      q0 = fmaf(d0, d0, q0);
      q1 = fmaf(d1, d1, q1);
      q2 = fmaf(d2, d2, q2);
      q3 = fmaf(d3, d3, q3);
    }
    const double s = warp_sum(((double)s0 + (double)s1) + ((double)s2 + (double)s3));
    const double q = warp_sum(((double)q0 + (double)q1) + ((double)q2 + (double)q3));
    if (lane == 0) {
      red[warp * 2 + 0] = s;
      red[warp * 2 + 1] = q;
    }
    __syncthreads();
    if (t < 2) {
      double d = 0.0;
#pragma unroll
      for (int w = 0; w < 8; ++w)
        d += red[w * 2 + t];
      part[(c * 2 + t) * kChanParts + n * kPlaneParts + piece] = d; // t: 0 sum, 1 sum of squares
    }
  }
}

// One block per channel: statistics, running statistics, folded coefficients.
static __global__ void __launch_bounds__(128)
finalize_kernel(const double *__restrict__ part, const double *__restrict__ xpart,
                const float *__restrict__ conv2, const float *__restrict__ x,
                const float *__restrict__ bn2_w, const float *__restrict__ bn2_b,
                const float *__restrict__ ds_conv_w, const float *__restrict__ ds_w,
                const float *__restrict__ ds_b, float *bn2_rm, float *bn2_rv, float *ds_rm,
                float *ds_rv, int64_t *count0, int64_t *count1, int64_t *count2,
                float *__restrict__ coef) {
  __shared__ double xm[9];
  __shared__ double ws[4];
  __shared__ double wq[4];
  const int t = threadIdx.x;
  const int c = blockIdx.x;

  double S = 0.0;
  double Q = 0.0;
  if (t < kChanParts) {
    S = part[(c * 2 + 0) * kChanParts + t];
    Q = part[(c * 2 + 1) * kChanParts + t];
  }
  S = warp_sum(S);
  Q = warp_sum(Q);
  if ((t & 31) == 0) {
    ws[t >> 5] = S;
    wq[t >> 5] = Q;
  }
  if (t < 9) {
    double d = 0.0;
#pragma unroll
    for (int i = 0; i < kXBlocks; ++i)
      d += xpart[t * kXBlocks + i];
    xm[t] = d;
  }
  __syncthreads();

  if (t == 0) {
    const double Md = 501760.0;
    const double eps = 1e-5;

    // BN2
    const double sum = ws[0] + ws[1] + ws[2] + ws[3];
    const double sq = wq[0] + wq[1] + wq[2] + wq[3];
    const double m = sum / Md;
    const double mean2 = (double)conv2[(size_t)c * kHW] + m;
    double var2 = sq / Md - m * m;
    var2 = var2 < 0.0 ? 0.0 : var2;
    const double a2 = (double)bn2_w[c] / sqrt(var2 + eps);

    // Downsample: mean and variance of w . x from the moments of x
    const double e0 = xm[0] / Md;
    const double e1 = xm[1] / Md;
    const double e2 = xm[2] / Md;
    const double mu0 = (double)x[0] + e0;
    const double mu1 = (double)x[kHW] + e1;
    const double mu2 = (double)x[2 * kHW] + e2;
    const double c00 = xm[3] / Md - e0 * e0;
    const double c01 = xm[4] / Md - e0 * e1;
    const double c02 = xm[5] / Md - e0 * e2;
    const double c11 = xm[6] / Md - e1 * e1;
    const double c12 = xm[7] / Md - e1 * e2;
    const double c22 = xm[8] / Md - e2 * e2;
    const double w0 = (double)ds_conv_w[c * 3 + 0];
    const double w1 = (double)ds_conv_w[c * 3 + 1];
    const double w2 = (double)ds_conv_w[c * 3 + 2];
    const double meand = w0 * mu0 + w1 * mu1 + w2 * mu2;
    double vard = w0 * w0 * c00 + w1 * w1 * c11 + w2 * w2 * c22 +
                  2.0 * (w0 * w1 * c01 + w0 * w2 * c02 + w1 * w2 * c12);
    vard = vard < 0.0 ? 0.0 : vard;
    const double ad = (double)ds_w[c] / sqrt(vard + eps);

    coef[c] = (float)a2;
    coef[64 + c] = (float)(ad * w0);
    coef[128 + c] = (float)(ad * w1);
    coef[192 + c] = (float)(ad * w2);
    coef[256 + c] = (float)((double)bn2_b[c] - mean2 * a2 + (double)ds_b[c] - meand * ad);

    const double unbias = Md / (Md - 1.0);
    bn2_rm[c] = (float)(0.1 * mean2 + 0.9 * (double)bn2_rm[c]);
    bn2_rv[c] = (float)(0.1 * (var2 * unbias) + 0.9 * (double)bn2_rv[c]);
    ds_rm[c] = (float)(0.1 * meand + 0.9 * (double)ds_rm[c]);
    ds_rv[c] = (float)(0.1 * (vard * unbias) + 0.9 * (double)ds_rv[c]);

    if (c == 0) {
      *count0 += 1;
      *count1 += 1;
      *count2 += 1;
    }
  }
}

static __device__ __forceinline__ float tail_one(float v, float x0, float x1, float x2, float a, float b0,
                                                 float b1, float b2, float sh) {
  const float y = fmaf(a, v, fmaf(b0, x0, fmaf(b1, x1, fmaf(b2, x2, sh))));
  return y < 0.f ? 0.f : y;
}

// BN2 + downsample conv + downsample BN + add + ReLU in place (NCHW): 4 pixels and 16 channels a thread.
static __global__ void __launch_bounds__(256, 3)
tail_kernel(float *y, const float *__restrict__ x, const float *__restrict__ coef) {
  __shared__ float sc[5 * 16];

  const int t = threadIdx.x;
  const int b = blockIdx.x;
  const int p = b % 49;
  const int g = (b / 49) & 3;
  const int n = b / 196;
  const int quad = p * 256 + t;

  float4 *yp = reinterpret_cast<float4 *>(y) + (size_t)(n * 64 + g * 16) * kQuads + quad;
  const float4 *xp = reinterpret_cast<const float4 *>(x) + (size_t)(n * 3) * kQuads + quad;

  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = yp[i * kQuads];
  const float4 x0 = xp[0];
  const float4 x1 = xp[kQuads];
  const float4 x2 = xp[2 * kQuads];

  if (t < 80)
    sc[t] = coef[(t >> 4) * 64 + g * 16 + (t & 15)];
  __syncthreads();

#pragma unroll
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        v[i] = yp[(8 + i) * kQuads];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int c = round * 8 + i;
      const float a = sc[c];
      const float b0 = sc[16 + c];
      const float b1 = sc[32 + c];
      const float b2 = sc[48 + c];
      const float sh = sc[64 + c];
      float4 o;
      o.x = tail_one(v[i].x, x0.x, x1.x, x2.x, a, b0, b1, b2, sh);
      o.y = tail_one(v[i].y, x0.y, x1.y, x2.y, a, b0, b1, b2, sh);
      o.z = tail_one(v[i].z, x0.z, x1.z, x2.z, a, b0, b1, b2, sh);
      o.w = tail_one(v[i].w, x0.w, x1.w, x2.w, a, b0, b1, b2, sh);
      yp[c * kQuads] = o;
    }
  }
}

static constexpr int kBn1RowFloats = 512;                     // ATen's block: 512 chains a channel
static constexpr int kBn1PlaneRows = kHW / kBn1RowFloats;     // 98
static constexpr int kBn1Steps = 10 * kBn1PlaneRows;          // 980 values a chain
static constexpr int kBn1Group = 20;                          // rows of a slot
static constexpr int kBn1Groups = kBn1Steps / kBn1Group;      // 49
static constexpr int kBn1Slots = 4;
static constexpr int kBn1Blocks = 10 * 64 * 7;                // 4480 blocks of 1792 float4
static constexpr int kBn1StatFloats = 64 * 16 * 2;            // (avg, var_n) of 16 warps a channel

static_assert(kBn1PlaneRows * kBn1RowFloats == kHW, "rows fill a plane");
static_assert(kBn1Groups * kBn1Group == kBn1Steps, "groups fill a chain");

// The merge of ATen's batch_norm_collect_statistics_kernel over a warp, expression by expression.
static __device__ __forceinline__ void welford_merge(float &avg, float &var_n, int &n) {
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    float o_avg = __shfl_xor_sync(0xffffffffu, avg, 1 << i);
    int o_n = __shfl_xor_sync(0xffffffffu, n, 1 << i);
    float factor = 1.0 / fmaxf(1.0, n + o_n);
    var_n += __shfl_xor_sync(0xffffffffu, var_n, 1 << i) +
             (avg - o_avg) * (avg - o_avg) * n * o_n * factor;
    avg = (n * avg + o_n * o_avg) * factor;
    n += o_n;
  }
}

// Copies 20 rows of 32 floats into a slot. src points at the lane's column of image 0; a plane is 98 rows, so the next
// image is 63 planes further than the row number says.
static __device__ __forceinline__ void bn1_issue(float *slot, const float *src, int row0, int lane) {
#pragma unroll
  for (int j = 0; j < kBn1Group / 4; ++j) {
    const int rr = 4 * j + (lane >> 3);
    const int row = row0 + rr;
    const int n = row / kBn1PlaneRows;
    __pipeline_memcpy_async(slot + rr * 32 + (lane & 7) * 4,
                            src + (row * kBn1RowFloats + n * (63 * kHW)), 16);
  }
}

// ATen's Welford chains of BN1, bit for bit: a block does 128 of a channel's 512 chains, a warp 32 of them.
static __global__ void __launch_bounds__(128, 2)
bn1_chain_kernel(const float *conv1, float2 *wstat, int steps) {
  __shared__ __align__(16) float ring[4][kBn1Slots][kBn1Group * 32];
  __shared__ __align__(16) float rc[kBn1Steps];

  const int t = threadIdx.x;
  const int lane = t & 31;
  const int warp = t >> 5;
  const int c = (int)blockIdx.x >> 2;
  const int quarter = (int)blockIdx.x & 3;

  const float *src = conv1 + (size_t)c * kHW + 128 * quarter + 32 * warp + (lane & 7) * 4;

  bn1_issue(ring[warp][0], src, 0, lane);
  __pipeline_commit();
  bn1_issue(ring[warp][1], src, kBn1Group, lane);
  __pipeline_commit();
  bn1_issue(ring[warp][2], src, 2 * kBn1Group, lane);
  __pipeline_commit();

  for (int i = t; i < kBn1Steps; i += 128)
    rc[i] = __frcp_rn((float)(i + 1));
  __syncthreads();

  float avg = 0.f;
  float var_n = 0.f;

#pragma unroll 1
  for (int s = 0; s < kBn1Groups; ++s) {
    __pipeline_wait_prior(2);
    __syncwarp();
    if (s + 3 < kBn1Groups)
      bn1_issue(ring[warp][(s + 3) & 3], src, (s + 3) * kBn1Group, lane);
    __pipeline_commit();

    const float *slot = ring[warp][s & 3] + lane;
    float v[kBn1Group];
    float r[kBn1Group];
#pragma unroll
    for (int u = 0; u < kBn1Group; ++u)
      v[u] = slot[u * 32];
    const float4 *rp = reinterpret_cast<const float4 *>(rc + s * kBn1Group);
#pragma unroll
    for (int u = 0; u < kBn1Group / 4; ++u) {
      const float4 q4 = rp[u];
      r[4 * u + 0] = q4.x;
      r[4 * u + 1] = q4.y;
      r[4 * u + 2] = q4.z;
      r[4 * u + 3] = q4.w;
    }

    const float avg0 = avg;
    const float var0 = var_n;
    const float nbase = (float)(s * kBn1Group);
    float lo = 3.0e38f;
    float hi = 0.f;
#pragma unroll
    for (int u = 0; u < kBn1Group; ++u) {
      const float nf = __fadd_rn(nbase, (float)(u + 1)); // exact
      const float d1 = __fsub_rn(v[u], avg);
      const float q = __fmul_rn(d1, r[u]);
      const float e = __fmaf_rn(-nf, q, d1); // exact
      avg = __fadd_rn(avg, __fmaf_rn(e, r[u], q)); // avg + d1 / n, the quotient correctly rounded
      var_n = __fmaf_rn(d1, __fsub_rn(v[u], avg), var_n);
      lo = fminf(lo, fabsf(d1));
      hi = fmaxf(hi, fabsf(d1));
    }

    // Zero, tiny or huge differences: the group again with the full division.
    if (!(lo >= 1e-30f && hi <= 1e37f)) {
      avg = avg0;
      var_n = var0;
#pragma unroll 1
      for (int u = 0; u < kBn1Group; ++u) {
        const float w = slot[u * 32];
        const float d1 = __fsub_rn(w, avg);
        avg = __fadd_rn(avg, __fdiv_rn(d1, (float)(s * kBn1Group + u + 1)));
        var_n = __fmaf_rn(d1, __fsub_rn(w, avg), var_n);
      }
    }
  }
  __syncwarp();

  int n = steps;
  welford_merge(avg, var_n, n);
  if (lane == 0)
    wstat[c * 16 + quarter * 4 + warp] = make_float2(avg, var_n);
}

// One warp per channel: ATen's merge of the 16 warp results, inverse deviation, running statistics.
static __global__ void __launch_bounds__(32)
bn1_merge_kernel(const float2 *wstat, float *stat, float *running_mean, float *running_var, int warp_n, int N) {
  const int lane = threadIdx.x;
  const int c = blockIdx.x;
  int n = 0;
  float avg = 0.f;
  float var_n = 0.f;
  if (lane < 16) {
    const float2 w = wstat[c * 16 + lane];
    n = warp_n;
    avg = w.x;
    var_n = w.y;
  }
  __syncwarp();
  welford_merge(avg, var_n, n);
  if (lane == 0) {
    const float var = var_n / N;
    stat[c] = avg;
    stat[64 + c] = rsqrtf(var + 1e-5f);
    running_mean[c] = 0.1f * avg + 0.9f * running_mean[c];
    running_var[c] = 0.1f * (var * (501760.0f / 501759.0f)) + 0.9f * running_var[c];
  }
}

// BN1 + ReLU in place (NCHW), in ATen's order of operations: a seventh of a plane per block, from the end to the start.
static __global__ void __launch_bounds__(256, 4)
bn1_relu_kernel(float *y, const float *stat, const float *gamma, const float *beta) {
  const int b = kBn1Blocks - 1 - (int)blockIdx.x;
  const int c = (b / 7) & 63;
  float4 *p = reinterpret_cast<float4 *>(y) + (size_t)b * 1792 + threadIdx.x;

  float4 v[7];
#pragma unroll
  for (int u = 0; u < 7; ++u)
    v[u] = p[u * 256];
  const float mean_c = stat[c];
  const float invstd_c = stat[64 + c];
  const float gamma_c = gamma[c];
  const float beta_c = beta[c];

#pragma unroll
  for (int u = 0; u < 7; ++u) {
    float4 o;
    o.x = __fmaf_rn(__fmul_rn(gamma_c, __fsub_rn(v[u].x, mean_c)), invstd_c, beta_c);
    o.y = __fmaf_rn(__fmul_rn(gamma_c, __fsub_rn(v[u].y, mean_c)), invstd_c, beta_c);
    o.z = __fmaf_rn(__fmul_rn(gamma_c, __fsub_rn(v[u].z, mean_c)), invstd_c, beta_c);
    o.w = __fmaf_rn(__fmul_rn(gamma_c, __fsub_rn(v[u].w, mean_c)), invstd_c, beta_c);
    o.x = o.x < 0.f ? 0.f : o.x;
    o.y = o.y < 0.f ? 0.f : o.y;
    o.z = o.z < 0.f ? 0.f : o.z;
    o.w = o.w < 0.f ? 0.f : o.w;
    p[u * 256] = o;
  }
}

at::Tensor ResNetBasicBlock(
    const at::Tensor &x /* [10, 3, 224, 224] */,
    const at::Tensor &conv1_weight /* [64, 3, 3, 3] */,
    const at::Tensor &bn1_weight /* [64] */,
    const at::Tensor &bn1_bias /* [64] */,
    const at::Tensor &conv2_weight /* [64, 64, 3, 3] */,
    const at::Tensor &bn2_weight /* [64] */,
    const at::Tensor &bn2_bias /* [64] */,
    const at::Tensor &downsample_0_weight /* [64, 3, 1, 1] */,
    const at::Tensor &downsample_1_weight /* [64] */,
    const at::Tensor &downsample_1_bias /* [64] */,
    const at::Tensor &bn1_running_mean /* [64], changed */,
    const at::Tensor &bn1_running_var /* [64], changed */,
    const at::Tensor &bn1_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &bn2_running_mean /* [64], changed */,
    const at::Tensor &bn2_running_var /* [64], changed */,
    const at::Tensor &bn2_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &downsample_1_running_mean /* [64], changed */,
    const at::Tensor &downsample_1_running_var /* [64], changed */,
    const at::Tensor &downsample_1_num_batches_tracked /* i64 [], changed */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  // conv1 and conv2 by the very operators of the source, in its layout: conv2 rounds its input to TF32, so its input has
  // to be the same bit for bit. BN1 + ReLU between them repeat ATen's operations in ATen's order.
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  at::Tensor bn1; // [10, 64, 224, 224]
  if (conv1.is_contiguous()) {
    // Scratch: results of ATen's warps, then mean and inverse deviation.
    at::Tensor s1 = at::empty({kBn1StatFloats + 128}, x.options());
    float *stat = s1.data_ptr<float>() + kBn1StatFloats;
    float2 *wstat = reinterpret_cast<float2 *>(s1.data_ptr<float>());
    float *conv1_p = conv1.data_ptr<float>();

    bn1_chain_kernel<<<256, 128, 0, stream>>>(conv1_p, wstat, kBn1Steps);

    bn1_merge_kernel<<<64, 32, 0, stream>>>(wstat, stat, bn1_running_mean.data_ptr<float>(),
                                            bn1_running_var.data_ptr<float>(), 32 * kBn1Steps, 10 * kHW);

    bn1_relu_kernel<<<kBn1Blocks, 256, 0, stream>>>(conv1_p, stat, bn1_weight.const_data_ptr<float>(),
                                                    bn1_bias.const_data_ptr<float>());
    bn1 = conv1;
  } else {
    bn1 = at::batch_norm(conv1, bn1_weight, bn1_bias, bn1_running_mean, bn1_running_var, true, 0.1, 1e-05, false);
    bn1.relu_();
  }
  at::Tensor conv2 = at::conv2d(bn1, conv2_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  if (!conv2.is_contiguous())
    conv2 = conv2.contiguous();

  // Scratch: partial sums of conv2, partial sums of x, folded coefficients.
  at::Tensor scratch = at::empty({kPartDoubles + kXPartDoubles + kCoefFloats / 2},
                                 x.options().dtype(at::kDouble));
  double *part = scratch.data_ptr<double>();
  double *xpart = part + kPartDoubles;
  float *coef = reinterpret_cast<float *>(xpart + kXPartDoubles);

  float *conv2_p = conv2.data_ptr<float>();
  const float *x_p = x.const_data_ptr<float>();

  stats_kernel<<<kXBlocks + kStatBlocks, 256, 0, stream>>>(conv2_p, x_p, part, xpart);

  finalize_kernel<<<64, 128, 0, stream>>>(
      part, xpart, conv2_p, x_p, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      downsample_0_weight.const_data_ptr<float>(), downsample_1_weight.const_data_ptr<float>(),
      downsample_1_bias.const_data_ptr<float>(), bn2_running_mean.data_ptr<float>(),
      bn2_running_var.data_ptr<float>(), downsample_1_running_mean.data_ptr<float>(),
      downsample_1_running_var.data_ptr<float>(), bn1_num_batches_tracked.data_ptr<int64_t>(),
      bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), coef);

  tail_kernel<<<kTailBlocks, 256, 0, stream>>>(conv2_p, x_p, coef);
  return conv2;
}
