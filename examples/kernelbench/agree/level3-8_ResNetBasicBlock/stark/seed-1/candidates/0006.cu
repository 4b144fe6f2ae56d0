// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

namespace {

constexpr int kC = 64;                       // channels
constexpr int kHW = 50176;                   // 224 * 224
constexpr int kNB = 10;                      // images
constexpr int kP = kNB * kHW;                // 501760 pixels
constexpr int kPlane4 = kHW / 4;             // 12544 float4 a plane, 49 * 256
constexpr int kSegs = 7;                     // blocks a plane in the streaming passes
constexpr int kSeg4 = kPlane4 / kSegs;       // 1792 float4 a block, 7 * 256
constexpr int kBlocks = kNB * kC * kSegs;    // 4480 blocks
constexpr int kParts = kNB * kSegs;          // 70 partial sums a channel
constexpr int kMoms = 490;                   // blocks of the moments of x
constexpr int kGroup = 8;                    // channels a thread in the tail

} // namespace

// relu in place; backwards, so that the start of the tensor is in L2 when the convolution begins
static __global__ void __launch_bounds__(256, 5) relu_inplace_kernel(float4 *y) {
  float4 *p = y + ((size_t)(kBlocks - 1 - (int)blockIdx.x) * kSeg4 + threadIdx.x);
  float4 v[7];
#pragma unroll
  for (int i = 0; i < 7; ++i)
    v[i] = p[i * 256];
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    float4 o;
    o.x = v[i].x < 0.f ? 0.f : v[i].x;
    o.y = v[i].y < 0.f ? 0.f : v[i].y;
    o.z = v[i].z < 0.f ? 0.f : v[i].z;
    o.w = v[i].w < 0.f ? 0.f : v[i].w;
    p[i * 256] = o;
  }
}

// Blocks 0..4479: shifted sums and sums of squares of conv2 (NCHW), a seventh of a plane a block.
// Blocks 4480..4969: the 3 sums and 6 products of the channels of x.
static __global__ void __launch_bounds__(256, 4)
bn2_stats_and_x_moments_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
                               double *__restrict__ part, double *__restrict__ mom) {
  __shared__ double sh[8 * 9];
  const int t = threadIdx.x;

  if (blockIdx.x < kBlocks) {
    const int b = kBlocks - 1 - (int)blockIdx.x; // backwards: the end of conv2 is in L2
    const int plane = b / kSegs;
    const int seg = b - plane * kSegs;
    const int c = plane & (kC - 1);
    const int img = plane >> 6;
    const float4 *src = reinterpret_cast<const float4 *>(conv2) + ((size_t)b * kSeg4 + t);
    float4 v[7];
#pragma unroll
    for (int i = 0; i < 7; ++i)
      v[i] = __ldg(src + i * 256);
    const float shift = __ldg(conv2 + (size_t)c * kHW);

    float su0 = 0.f, su1 = 0.f, su2 = 0.f, su3 = 0.f;
    float sq0 = 0.f, sq1 = 0.f, sq2 = 0.f, sq3 = 0.f;
#pragma unroll
    for (int i = 0; i < 7; ++i) {
      const float d0 = v[i].x - shift;
      const float d1 = v[i].y - shift;
      const float d2 = v[i].z - shift;
      const float d3 = v[i].w - shift;
      su0 += d0;
      su1 += d1;
      su2 += d2;
      su3 += d3;
      sq0 = fmaf(d0, d0, sq0);
      sq1 = fmaf(d1, d1, sq1);
      sq2 = fmaf(d2, d2, sq2);
      sq3 = fmaf(d3, d3, sq3);
    }
    double s = ((double)su0 + (double)su1) + ((double)su2 + (double)su3);
    double q = ((double)sq0 + (double)sq1) + ((double)sq2 + (double)sq3);
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
      s += __shfl_down_sync(0xffffffffu, s, o);
      q += __shfl_down_sync(0xffffffffu, q, o);
    }
    if ((t & 31) == 0) {
      sh[t >> 5] = s;
      sh[8 + (t >> 5)] = q;
    }
    __syncthreads();
    if (t < 2) {
      double r = 0.0;
#pragma unroll
      for (int w = 0; w < 8; ++w)
        r += sh[t * 8 + w];
      part[(t * kC + c) * kParts + img * kSegs + seg] = r;
    }
  } else {
    const int b = (int)blockIdx.x - kBlocks;
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
      mom[t * kMoms + b] = r;
    }
  }
}

// One block a channel: the coefficients of the tail, running statistics, counters.
static __global__ void __launch_bounds__(128)
finalize_kernel(const double *__restrict__ part, const double *__restrict__ mom,
                const float *__restrict__ conv2, const float *__restrict__ ds_conv_w,
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
  if (t < kParts) {
    acc[0] = part[c * kParts + t];
    acc[1] = part[(kC + c) * kParts + t];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int b = t + 128 * k;
    if (b < kMoms) {
#pragma unroll
      for (int m = 0; m < 9; ++m)
        acc[2 + m] += mom[m * kMoms + b];
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

    const double m2 = (double)conv2[(size_t)c * kHW] + v[0];
    const double v2 = fmax(v[1] - v[0] * v[0], 0.0);

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
    coef[c * 8 + 5] = 0.f;
    coef[c * 8 + 6] = 0.f;
    coef[c * 8 + 7] = 0.f;

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

// relu(bn2(conv2) + bn(downsample(x))), in place: 4 pixels of 8 channels a thread.
// Grid: 49 x 8 x 10; forwards, as the statistics ended at the start of conv2.
static __global__ void __launch_bounds__(256, 3)
tail_kernel(float4 *y, const float4 *__restrict__ x, const float *__restrict__ coef) {
  __shared__ float4 sk[2 * kGroup];
  const int t = threadIdx.x;
  const int pix = (int)blockIdx.x * 256 + t;
  const int c0 = (int)blockIdx.y * kGroup;
  const int img = (int)blockIdx.z;
  float4 *yp = y + ((size_t)(img * kC + c0) * kPlane4 + pix);
  const float4 *xp = x + ((size_t)(img * 3) * kPlane4 + pix);

  float4 v[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i)
    v[i] = __ldcs(yp + i * kPlane4);
  const float4 x0 = __ldg(xp);
  const float4 x1 = __ldg(xp + kPlane4);
  const float4 x2 = __ldg(xp + 2 * kPlane4);
  if (t < 2 * kGroup)
    sk[t] = __ldg(reinterpret_cast<const float4 *>(coef) + 2 * c0 + t);
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const float4 q = sk[2 * i];
    const float b = sk[2 * i + 1].x;
    float4 o;
    o.x = tail_value(v[i].x, x0.x, x1.x, x2.x, q, b);
    o.y = tail_value(v[i].y, x0.y, x1.y, x2.y, q, b);
    o.z = tail_value(v[i].z, x0.z, x1.z, x2.z, q, b);
    o.w = tail_value(v[i].w, x0.w, x1.w, x2.w, q, b);
    __stcs(yp + i * kPlane4, o);
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

  // scratch
  at::Tensor part = at::empty({2 * kC * kParts}, x.options().dtype(at::kDouble));
  at::Tensor mom = at::empty({9 * kMoms}, x.options().dtype(at::kDouble));
  at::Tensor coef = at::empty({8 * kC}, x.options());

  // Up to conv2 bit for bit as in the source: the same operators on the same layouts. The batch norm
  // must stay this call, as its backend decides over the last bits, which the TF32 rounding magnifies.
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  at::Tensor bn1 = at::batch_norm(conv1, bn1_weight, bn1_bias, bn1_running_mean, bn1_running_var, true, 0.1, 1e-05, false); // [10, 64, 224, 224]
  if (bn1.is_contiguous()) {
    relu_inplace_kernel<<<kBlocks, 256, 0, stream>>>(
        reinterpret_cast<float4 *>(bn1.data_ptr<float>()));
  } else {
    bn1.relu_();
  }
  at::Tensor conv2 = at::conv2d(bn1, conv2_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  if (!conv2.is_contiguous())
    conv2 = conv2.contiguous();

  bn2_stats_and_x_moments_kernel<<<kBlocks + kMoms, 256, 0, stream>>>(
      conv2.const_data_ptr<float>(), x.const_data_ptr<float>(), part.data_ptr<double>(),
      mom.data_ptr<double>());

  finalize_kernel<<<kC, 128, 0, stream>>>(
      part.const_data_ptr<double>(), mom.const_data_ptr<double>(), conv2.const_data_ptr<float>(),
      downsample_0_weight.const_data_ptr<float>(),
      bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      downsample_1_weight.const_data_ptr<float>(), downsample_1_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      downsample_1_running_mean.data_ptr<float>(), downsample_1_running_var.data_ptr<float>(),
      bn1_num_batches_tracked.data_ptr<int64_t>(), bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), coef.data_ptr<float>());

  tail_kernel<<<dim3(49, kC / kGroup, kNB), 256, 0, stream>>>(
      reinterpret_cast<float4 *>(conv2.data_ptr<float>()),
      reinterpret_cast<const float4 *>(x.const_data_ptr<float>()), coef.const_data_ptr<float>());
  return conv2;
}
