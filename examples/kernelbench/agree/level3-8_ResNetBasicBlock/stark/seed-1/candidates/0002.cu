// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <tuple>

static constexpr int kHW = 224 * 224;             // 50176 pixels of an image
static constexpr int kTilesPerImage = kHW / 64;   // 784 tiles of 64 pixels
static constexpr int kTotalTiles = 10 * kTilesPerImage; // 7840
static constexpr int kQuads = kHW / 4;            // 12544 float4 per channel plane
static constexpr int kXBlocks = 35;               // 35 * 3584 = 10 * 12544 quads
static constexpr int kQuadsPerBlock = 3584;       // 14 * 256
static constexpr int kRowBlocks = 490;            // blocks of the BN2 statistics
static constexpr int kRowsPerChunk = kRowBlocks * 128; // 62720 rows, 8 chunks in all
static constexpr int kPartDoubles = 64 * 2 * kRowBlocks;
static constexpr int kXPartDoubles = 9 * kXBlocks;
static constexpr int kCoefFloats = 5 * 64;

// BN1 (in the order of operations of ATen's kernel) + ReLU, NCHW -> NHWC.
static __global__ void __launch_bounds__(256, 6)
bn1_relu_nhwc(const float *__restrict__ conv1, const float *__restrict__ mean,
              const float *__restrict__ var, const float *__restrict__ gamma,
              const float *__restrict__ beta, float *__restrict__ h) {
  __shared__ float s[64][65];
  __shared__ float s_mean[64];
  __shared__ float s_invstd[64];
  __shared__ float s_gamma[64];
  __shared__ float s_beta[64];

  const int t = threadIdx.x;
  const int tile = kTotalTiles - 1 - (int)blockIdx.x;
  const int n = tile / kTilesPerImage;
  const int p0 = (tile - n * kTilesPerImage) * 64;
  const int q = t & 15;
  const int r = t >> 4;

  const float *src = conv1 + ((size_t)n * 64 + r) * kHW + p0 + 4 * q;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    v[k] = __ldcs(reinterpret_cast<const float4 *>(src + (size_t)k * (16 * kHW)));

  if (t < 64) {
    s_mean[t] = mean[t];
    s_invstd[t] = rsqrtf(__fadd_rn(var[t], 1e-5f));
    s_gamma[t] = gamma[t];
    s_beta[t] = beta[t];
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int c = r + 16 * k;
    const float m = s_mean[c];
    const float is = s_invstd[c];
    const float ga = s_gamma[c];
    const float be = s_beta[c];
    float y0 = __fmaf_rn(__fmul_rn(ga, __fsub_rn(v[k].x, m)), is, be);
    float y1 = __fmaf_rn(__fmul_rn(ga, __fsub_rn(v[k].y, m)), is, be);
    float y2 = __fmaf_rn(__fmul_rn(ga, __fsub_rn(v[k].z, m)), is, be);
    float y3 = __fmaf_rn(__fmul_rn(ga, __fsub_rn(v[k].w, m)), is, be);
    s[c][4 * q + 0] = y0 < 0.f ? 0.f : y0;
    s[c][4 * q + 1] = y1 < 0.f ? 0.f : y1;
    s[c][4 * q + 2] = y2 < 0.f ? 0.f : y2;
    s[c][4 * q + 3] = y3 < 0.f ? 0.f : y3;
  }
  __syncthreads();

  float *dst = h + ((size_t)n * kHW + p0 + r) * 64 + 4 * q;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int p = r + 16 * k;
    float4 y;
    y.x = s[4 * q + 0][p];
    y.y = s[4 * q + 1][p];
    y.z = s[4 * q + 2][p];
    y.w = s[4 * q + 3][p];
    *reinterpret_cast<float4 *>(dst + k * (16 * 64)) = y;
  }
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

// Blocks 0..34: moments of x. Blocks 35..524: sums per channel of conv2 (NHWC).
static __global__ void __launch_bounds__(256, 4)
stats_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
             double *__restrict__ part, double *__restrict__ xpart) {
  __shared__ double red[8 * 64 * 2];
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
      double d = (double)a[m];
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        d += __shfl_xor_sync(0xffffffffu, d, o);
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
    const int b = kRowBlocks - 1 - ((int)blockIdx.x - kXBlocks);
    const int g = t & 15;
    const int r0 = t >> 4;
    const float4 pv = *reinterpret_cast<const float4 *>(conv2 + 4 * g);
    const float *base = conv2 + ((size_t)b * 128 + r0) * 64 + 4 * g;
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
    float q0 = 0.f, q1 = 0.f, q2 = 0.f, q3 = 0.f;
    // All blocks together sweep the rows from the end to the start, 16 MB at a time.
#pragma unroll 1
    for (int k = 7; k >= 0; --k) {
      const float *p = base + (size_t)k * ((size_t)kRowsPerChunk * 64);
      float4 v[8];
#pragma unroll
      for (int u = 0; u < 8; ++u)
        v[u] = *reinterpret_cast<const float4 *>(p + u * (16 * 64));
#pragma unroll
      for (int u = 0; u < 8; ++u) {
        const float d0 = v[u].x - pv.x;
        const float d1 = v[u].y - pv.y;
        const float d2 = v[u].z - pv.z;
        const float d3 = v[u].w - pv.w;
        s0 += d0;
        s1 += d1;
        s2 += d2;
        s3 += d3;
        q0 = fmaf(d0, d0, q0);
        q1 = fmaf(d1, d1, q1);
        q2 = fmaf(d2, d2, q2);
        q3 = fmaf(d3, d3, q3);
      }
    }
    double e[8];
    e[0] = (double)s0;
    e[1] = (double)q0;
    e[2] = (double)s1;
    e[3] = (double)q1;
    e[4] = (double)s2;
    e[5] = (double)q2;
    e[6] = (double)s3;
    e[7] = (double)q3;
#pragma unroll
    for (int m = 0; m < 8; ++m) {
      e[m] += __shfl_xor_sync(0xffffffffu, e[m], 16);
      if (lane < 16)
        red[warp * 128 + 8 * g + m] = e[m]; // (channel 4g + m/2) * 2 + m%2
    }
    __syncthreads();
    if (t < 128) {
      double d = 0.0;
#pragma unroll
      for (int w = 0; w < 8; ++w)
        d += red[w * 128 + t];
      part[t * kRowBlocks + b] = d; // t = channel * 2 + (0: sum, 1: sum of squares)
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
  for (int i = t; i < kRowBlocks; i += 128) {
    S += part[(c * 2 + 0) * kRowBlocks + i];
    Q += part[(c * 2 + 1) * kRowBlocks + i];
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) {
    S += __shfl_xor_sync(0xffffffffu, S, o);
    Q += __shfl_xor_sync(0xffffffffu, Q, o);
  }
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
    const double mean2 = (double)conv2[c] + m;
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

// BN2 + downsample conv + downsample BN + add + ReLU, NHWC -> NCHW.
static __global__ void __launch_bounds__(256, 5)
tail_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
            const float *__restrict__ coef, float *__restrict__ out) {
  __shared__ float s[64][65];
  __shared__ float sc[kCoefFloats];

  const int t = threadIdx.x;
  const int tile = blockIdx.x;
  const int n = tile / kTilesPerImage;
  const int p0 = (tile - n * kTilesPerImage) * 64;
  const int q = t & 15; // channel quad while loading, pixel quad while storing
  const int r = t >> 4;

  const float *src = conv2 + ((size_t)n * kHW + p0 + r) * 64 + 4 * q;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    v[k] = __ldcs(reinterpret_cast<const float4 *>(src + k * (16 * 64)));

  const float *xs = x + (size_t)n * (3 * kHW) + p0 + 4 * q;
  const float4 x0 = *reinterpret_cast<const float4 *>(xs);
  const float4 x1 = *reinterpret_cast<const float4 *>(xs + kHW);
  const float4 x2 = *reinterpret_cast<const float4 *>(xs + 2 * kHW);

  for (int i = t; i < kCoefFloats; i += 256)
    sc[i] = coef[i];

#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int p = r + 16 * k;
    s[4 * q + 0][p] = v[k].x;
    s[4 * q + 1][p] = v[k].y;
    s[4 * q + 2][p] = v[k].z;
    s[4 * q + 3][p] = v[k].w;
  }
  __syncthreads();

  float *dst = out + ((size_t)n * 64 + r) * kHW + p0 + 4 * q;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int c = r + 16 * k;
    const float a = sc[c];
    const float b0 = sc[64 + c];
    const float b1 = sc[128 + c];
    const float b2 = sc[192 + c];
    const float sh = sc[256 + c];
    float4 y;
    y.x = fmaf(a, s[c][4 * q + 0], fmaf(b0, x0.x, fmaf(b1, x1.x, fmaf(b2, x2.x, sh))));
    y.y = fmaf(a, s[c][4 * q + 1], fmaf(b0, x0.y, fmaf(b1, x1.y, fmaf(b2, x2.y, sh))));
    y.z = fmaf(a, s[c][4 * q + 2], fmaf(b0, x0.z, fmaf(b1, x1.z, fmaf(b2, x2.z, sh))));
    y.w = fmaf(a, s[c][4 * q + 3], fmaf(b0, x0.w, fmaf(b1, x1.w, fmaf(b2, x2.w, sh))));
    y.x = y.x < 0.f ? 0.f : y.x;
    y.y = y.y < 0.f ? 0.f : y.y;
    y.z = y.z < 0.f ? 0.f : y.z;
    y.w = y.w < 0.f ? 0.f : y.w;
    __stcs(reinterpret_cast<float4 *>(dst + (size_t)k * (16 * kHW)), y);
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

  // conv1 and its statistics: bit for bit what the source computes.
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  auto st = at::batch_norm_update_stats(conv1, bn1_running_mean, bn1_running_var, 0.1);
  if (!conv1.is_contiguous())
    conv1 = conv1.contiguous();
  at::Tensor mean1 = std::get<0>(st);
  at::Tensor var1 = std::get<1>(st);

  // BN1 + ReLU, written channels-last.
  at::Tensor h = at::empty({10, 64, 224, 224}, x.options(), at::MemoryFormat::ChannelsLast);
  bn1_relu_nhwc<<<kTotalTiles, 256, 0, stream>>>(
      conv1.const_data_ptr<float>(), mean1.const_data_ptr<float>(), var1.const_data_ptr<float>(),
      bn1_weight.const_data_ptr<float>(), bn1_bias.const_data_ptr<float>(), h.data_ptr<float>());

  // conv2 on channels-last data.
  at::Tensor conv2 = at::conv2d(h, conv2_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  if (!conv2.is_contiguous(at::MemoryFormat::ChannelsLast))
    conv2 = conv2.contiguous(at::MemoryFormat::ChannelsLast);

  // Scratch: partial sums of conv2, partial sums of x, folded coefficients.
  at::Tensor scratch = at::empty({kPartDoubles + kXPartDoubles + kCoefFloats / 2},
                                 x.options().dtype(at::kDouble));
  double *part = scratch.data_ptr<double>();
  double *xpart = part + kPartDoubles;
  float *coef = reinterpret_cast<float *>(xpart + kXPartDoubles);

  const float *conv2_p = conv2.const_data_ptr<float>();
  const float *x_p = x.const_data_ptr<float>();

  stats_kernel<<<kXBlocks + kRowBlocks, 256, 0, stream>>>(conv2_p, x_p, part, xpart);

  finalize_kernel<<<64, 128, 0, stream>>>(
      part, xpart, conv2_p, x_p, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      downsample_0_weight.const_data_ptr<float>(), downsample_1_weight.const_data_ptr<float>(),
      downsample_1_bias.const_data_ptr<float>(), bn2_running_mean.data_ptr<float>(),
      bn2_running_var.data_ptr<float>(), downsample_1_running_mean.data_ptr<float>(),
      downsample_1_running_var.data_ptr<float>(), bn1_num_batches_tracked.data_ptr<int64_t>(),
      bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), coef);

  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());
  tail_kernel<<<kTotalTiles, 256, 0, stream>>>(conv2_p, x_p, coef, out.data_ptr<float>());
  return out;
}
