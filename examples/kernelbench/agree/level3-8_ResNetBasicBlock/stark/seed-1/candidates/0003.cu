// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <tuple>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

namespace {

constexpr int kC = 64;              // channels
constexpr int kHW = 50176;          // 224 * 224
constexpr int kNB = 10;             // images
constexpr int kP = kNB * kHW;       // 501760 pixels
constexpr int kTilesPerImage = 784; // tiles of 64 pixels
constexpr int kTiles = kNB * kTilesPerImage;
constexpr int kParts = 490;         // blocks of 1024 pixels; also the blocks of the moments of x
constexpr int kPlane4 = kHW / 4;    // 12544 float4 a plane, 49 * 256
constexpr int kPitch = 65;

} // namespace

static __device__ __forceinline__ float bn_relu_exact(float v, float4 q) {
  // q = {gamma, mean, invstd, beta}; the order of operations of ATen's kernel
  float r = __fmaf_rn(__fmul_rn(q.x, __fsub_rn(v, q.y)), q.z, q.w);
  return r < 0.f ? 0.f : r;
}

// conv1 (NCHW) -> batch norm, relu -> h (NHWC)
static __global__ void __launch_bounds__(256, 6)
bn1_relu_to_nhwc_kernel(const float *__restrict__ conv1, const float *__restrict__ gamma,
                        const float *__restrict__ beta, const float *__restrict__ mean,
                        const float *__restrict__ var, float *__restrict__ h) {
  __shared__ float s[64 * kPitch];
  __shared__ float4 sp[kC];

  const int tile = kTiles - 1 - (int)blockIdx.x;
  const int img = tile / kTilesPerImage;
  const int p0 = (tile - img * kTilesPerImage) * 64;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int hf = warp & 1;
  const int row = 4 * (warp >> 1) + (lane >> 3); // + 16 * k
  const int col = 32 * hf + 4 * (lane & 7);

  const float *src = conv1 + ((img * kC + row) * kHW + p0 + col);
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    v[k] = __ldcs(reinterpret_cast<const float4 *>(src + k * 16 * kHW));

  if (threadIdx.x < kC) {
    const int c = threadIdx.x;
    sp[c] = make_float4(gamma[c], mean[c], rsqrtf(__fadd_rn(var[c], 1e-5f)), beta[c]);
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int c = row + 16 * k;
    const float4 q = sp[c];
    s[(col + 0) * kPitch + c] = bn_relu_exact(v[k].x, q);
    s[(col + 1) * kPitch + c] = bn_relu_exact(v[k].y, q);
    s[(col + 2) * kPitch + c] = bn_relu_exact(v[k].z, q);
    s[(col + 3) * kPitch + c] = bn_relu_exact(v[k].w, q);
  }
  __syncthreads();

  float *dst = h + ((img * kHW + p0 + row) * kC + col);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float *t = s + (row + 16 * k) * kPitch + col;
    const float4 o = make_float4(t[0], t[1], t[2], t[3]);
    *reinterpret_cast<float4 *>(dst + k * 16 * kC) = o;
  }
}

// Blocks 0..489: per-channel sums and sums of squares of conv2 (NHWC), 1024 pixels a block.
// Blocks 490..979: the 3 sums and 6 products of the channels of x.
static __global__ void __launch_bounds__(256, 4)
bn2_stats_and_x_moments_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
                               double *__restrict__ part, double *__restrict__ mom) {
  __shared__ double sh[2 * 16 * kC];
  const int t = threadIdx.x;

  if (blockIdx.x < kParts) {
    const int blk = kParts - 1 - (int)blockIdx.x;
    const int c4 = t & 15;
    const int pr = t >> 4;
    const float4 *src = reinterpret_cast<const float4 *>(conv2) + (blk * 16384 + t);
    float su0 = 0.f, su1 = 0.f, su2 = 0.f, su3 = 0.f;
    float sq0 = 0.f, sq1 = 0.f, sq2 = 0.f, sq3 = 0.f;
#pragma unroll 1
    for (int i = 0; i < 64; i += 8) {
      float4 y[8];
#pragma unroll
      for (int k = 0; k < 8; ++k)
        y[k] = __ldg(src + (i + k) * 256);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        su0 += y[k].x;
        su1 += y[k].y;
        su2 += y[k].z;
        su3 += y[k].w;
        sq0 = fmaf(y[k].x, y[k].x, sq0);
        sq1 = fmaf(y[k].y, y[k].y, sq1);
        sq2 = fmaf(y[k].z, y[k].z, sq2);
        sq3 = fmaf(y[k].w, y[k].w, sq3);
      }
    }
    double *a = sh + pr * kC + 4 * c4;
    a[0] = su0;
    a[1] = su1;
    a[2] = su2;
    a[3] = su3;
    double *b = a + 16 * kC;
    b[0] = sq0;
    b[1] = sq1;
    b[2] = sq2;
    b[3] = sq3;
    __syncthreads();
    if (t < 2 * kC) {
      const int q = t >> 6;
      const int c = t & 63;
      double acc = 0.0;
#pragma unroll
      for (int r = 0; r < 16; ++r)
        acc += sh[(q * 16 + r) * kC + c];
      part[t * kParts + blk] = acc;
    }
  } else {
    const int b = (int)blockIdx.x - kParts;
    const int img = b / 49;
    const int idx = (b - img * 49) * 256 + t;
    const float4 *src = reinterpret_cast<const float4 *>(x) + (img * 3 * kPlane4 + idx);
    const float4 f0 = __ldg(src);
    const float4 f1 = __ldg(src + kPlane4);
    const float4 f2 = __ldg(src + 2 * kPlane4);
    const float a0[4] = {f0.x, f0.y, f0.z, f0.w};
    const float a1[4] = {f1.x, f1.y, f1.z, f1.w};
    const float a2[4] = {f2.x, f2.y, f2.z, f2.w};
    double acc[9];
#pragma unroll
    for (int m = 0; m < 9; ++m)
      acc[m] = 0.0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double d0 = a0[j], d1 = a1[j], d2 = a2[j];
      acc[0] += d0;
      acc[1] += d1;
      acc[2] += d2;
      acc[3] += d0 * d0;
      acc[4] += d0 * d1;
      acc[5] += d0 * d2;
      acc[6] += d1 * d1;
      acc[7] += d1 * d2;
      acc[8] += d2 * d2;
    }
#pragma unroll
    for (int m = 0; m < 9; ++m) {
#pragma unroll
      for (int o = 16; o > 0; o >>= 1)
        acc[m] += __shfl_down_sync(0xffffffffu, acc[m], o);
    }
    if ((t & 31) == 0) {
      double *w = sh + (t >> 5) * 9;
#pragma unroll
      for (int m = 0; m < 9; ++m)
        w[m] = acc[m];
    }
    __syncthreads();
    if (t < 9) {
      double r = 0.0;
#pragma unroll
      for (int w = 0; w < 8; ++w)
        r += sh[w * 9 + t];
      mom[t * kParts + b] = r;
    }
  }
}

// One block a channel: the coefficients of the tail, running statistics, counters.
static __global__ void __launch_bounds__(128)
finalize_kernel(const double *__restrict__ part, const double *__restrict__ mom,
                const float *__restrict__ ds_conv_w,
                const float *__restrict__ bn2_w, const float *__restrict__ bn2_b,
                const float *__restrict__ ds_w, const float *__restrict__ ds_b,
                float *bn2_rm, float *bn2_rv, float *ds_rm, float *ds_rv,
                int64_t *cnt1, int64_t *cnt2, int64_t *cnt3,
                float *__restrict__ coef) {
  __shared__ double red[4 * 11];
  const int c = blockIdx.x;
  const int t = threadIdx.x;
  double acc[11];
#pragma unroll
  for (int m = 0; m < 11; ++m)
    acc[m] = 0.0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int b = t + 128 * k;
    if (b < kParts) {
      acc[0] += part[c * kParts + b];
      acc[1] += part[(kC + c) * kParts + b];
#pragma unroll
      for (int m = 0; m < 9; ++m)
        acc[2 + m] += mom[m * kParts + b];
    }
  }
#pragma unroll
  for (int m = 0; m < 11; ++m) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      acc[m] += __shfl_down_sync(0xffffffffu, acc[m], o);
  }
  if ((t & 31) == 0) {
#pragma unroll
    for (int m = 0; m < 11; ++m)
      red[(t >> 5) * 11 + m] = acc[m];
  }
  __syncthreads();
  if (t == 0) {
    const double P = (double)kP;
    double v[11];
#pragma unroll
    for (int m = 0; m < 11; ++m)
      v[m] = (red[m] + red[11 + m] + red[22 + m] + red[33 + m]) / P;

    const double m2 = v[0];
    const double v2 = fmax(v[1] - m2 * m2, 0.0);

    const double w0 = ds_conv_w[c * 3 + 0];
    const double w1 = ds_conv_w[c * 3 + 1];
    const double w2 = ds_conv_w[c * 3 + 2];
    const double x0 = v[2], x1 = v[3], x2 = v[4];
    const double c00 = v[5] - x0 * x0;
    const double c01 = v[6] - x0 * x1;
    const double c02 = v[7] - x0 * x2;
    const double c11 = v[8] - x1 * x1;
    const double c12 = v[9] - x1 * x2;
    const double c22 = v[10] - x2 * x2;
    const double md = w0 * x0 + w1 * x1 + w2 * x2;
    const double vd = fmax(w0 * w0 * c00 + w1 * w1 * c11 + w2 * w2 * c22 +
                               2.0 * (w0 * w1 * c01 + w0 * w2 * c02 + w1 * w2 * c12),
                           0.0);

    const double s2 = (double)bn2_w[c] / sqrt(v2 + 1e-5);
    const double sd = (double)ds_w[c] / sqrt(vd + 1e-5);
    coef[c * 8 + 0] = (float)s2;
    coef[c * 8 + 1] = (float)(sd * w0);
    coef[c * 8 + 2] = (float)(sd * w1);
    coef[c * 8 + 3] = (float)(sd * w2);
    coef[c * 8 + 4] = (float)((double)bn2_b[c] - s2 * m2 + (double)ds_b[c] - sd * md);

    const double unbias = P / (P - 1.0);
    bn2_rm[c] = (float)(0.1 * m2 + 0.9 * (double)bn2_rm[c]);
    bn2_rv[c] = (float)(0.1 * (v2 * unbias) + 0.9 * (double)bn2_rv[c]);
    ds_rm[c] = (float)(0.1 * md + 0.9 * (double)ds_rm[c]);
    ds_rv[c] = (float)(0.1 * (vd * unbias) + 0.9 * (double)ds_rv[c]);

    if (c == 0) {
      *cnt1 += 1;
      *cnt2 += 1;
      *cnt3 += 1;
    }
  }
}

static __device__ __forceinline__ float tail_value(float y, float x0, float x1, float x2, float4 q,
                                                   float b) {
  float r = fmaf(q.y, x0, b);
  r = fmaf(q.z, x1, r);
  r = fmaf(q.w, x2, r);
  r = fmaf(q.x, y, r);
  return r < 0.f ? 0.f : r;
}

// conv2 (NHWC) and x (NCHW) -> relu(bn2(conv2) + bn(downsample(x))) (NCHW)
static __global__ void __launch_bounds__(256, 5)
tail_to_nchw_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
                    const float *__restrict__ coef, float *__restrict__ out) {
  __shared__ float s[64 * kPitch];

  const int tile = blockIdx.x;
  const int img = tile / kTilesPerImage;
  const int p0 = (tile - img * kTilesPerImage) * 64;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int hf = warp & 1;
  const int row = 4 * (warp >> 1) + (lane >> 3); // + 16 * k
  const int col = 32 * hf + 4 * (lane & 7);

  const float *src = conv2 + ((img * kHW + p0 + row) * kC + col);
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    v[k] = __ldcs(reinterpret_cast<const float4 *>(src + k * 16 * kC));

  const float *xs = x + (img * 3 * kHW + p0 + col);
  const float4 x0 = __ldg(reinterpret_cast<const float4 *>(xs));
  const float4 x1 = __ldg(reinterpret_cast<const float4 *>(xs + kHW));
  const float4 x2 = __ldg(reinterpret_cast<const float4 *>(xs + 2 * kHW));

#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float *t = s + (row + 16 * k) * kPitch + col;
    t[0] = v[k].x;
    t[1] = v[k].y;
    t[2] = v[k].z;
    t[3] = v[k].w;
  }
  __syncthreads();

  float *dst = out + ((img * kC + row) * kHW + p0 + col);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int c = row + 16 * k;
    const float4 q = __ldg(reinterpret_cast<const float4 *>(coef + 8 * c));
    const float b = __ldg(coef + 8 * c + 4);
    float4 o;
    o.x = tail_value(s[(col + 0) * kPitch + c], x0.x, x1.x, x2.x, q, b);
    o.y = tail_value(s[(col + 1) * kPitch + c], x0.y, x1.y, x2.y, q, b);
    o.z = tail_value(s[(col + 2) * kPitch + c], x0.z, x1.z, x2.z, q, b);
    o.w = tail_value(s[(col + 3) * kPitch + c], x0.w, x1.w, x2.w, q, b);
    __stcs(reinterpret_cast<float4 *>(dst + k * 16 * kHW), o);
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

  // outputs and scratch
  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());
  at::Tensor h = at::empty({10, 64, 224, 224}, x.options(), at::MemoryFormat::ChannelsLast);
  at::Tensor part = at::empty({128 * kParts}, x.options().dtype(at::kDouble));
  at::Tensor mom = at::empty({9 * kParts}, x.options().dtype(at::kDouble));
  at::Tensor coef = at::empty({512}, x.options());
  at::Tensor w2_cl = conv2_weight.contiguous(at::MemoryFormat::ChannelsLast);

  // first convolution and its statistics: as in the source, bit for bit
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224], NCHW
  std::tuple<at::Tensor, at::Tensor> stats1 =
      at::batch_norm_update_stats(conv1, bn1_running_mean, bn1_running_var, 0.1);
  const at::Tensor &mean1 = std::get<0>(stats1);
  const at::Tensor &var1 = std::get<1>(stats1);

  bn1_relu_to_nhwc_kernel<<<kTiles, 256, 0, stream>>>(
      conv1.const_data_ptr<float>(), bn1_weight.const_data_ptr<float>(),
      bn1_bias.const_data_ptr<float>(), mean1.const_data_ptr<float>(),
      var1.const_data_ptr<float>(), h.data_ptr<float>());

  at::Tensor conv2 = at::conv2d(h, w2_cl, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224], NHWC
  if (!conv2.is_contiguous(at::MemoryFormat::ChannelsLast))
    conv2 = conv2.contiguous(at::MemoryFormat::ChannelsLast);

  bn2_stats_and_x_moments_kernel<<<2 * kParts, 256, 0, stream>>>(
      conv2.const_data_ptr<float>(), x.const_data_ptr<float>(), part.data_ptr<double>(),
      mom.data_ptr<double>());

  finalize_kernel<<<kC, 128, 0, stream>>>(
      part.const_data_ptr<double>(), mom.const_data_ptr<double>(),
      downsample_0_weight.const_data_ptr<float>(),
      bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      downsample_1_weight.const_data_ptr<float>(), downsample_1_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      downsample_1_running_mean.data_ptr<float>(), downsample_1_running_var.data_ptr<float>(),
      bn1_num_batches_tracked.data_ptr<int64_t>(), bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), coef.data_ptr<float>());

  tail_to_nchw_kernel<<<kTiles, 256, 0, stream>>>(
      conv2.const_data_ptr<float>(), x.const_data_ptr<float>(), coef.const_data_ptr<float>(),
      out.data_ptr<float>());
  return out;
}
