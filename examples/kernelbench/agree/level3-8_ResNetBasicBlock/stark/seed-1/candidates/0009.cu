// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime.h>

namespace {

constexpr int kN = 10;
constexpr int kC = 64;
constexpr int kHW = 50176;
constexpr int kHW4 = 12544;
constexpr int kCount = 501760;
constexpr int kChunk = 49;
constexpr int kChain = 980;       // values of one Welford chain
constexpr int kWarpCount = 31360; // values of one warp's 32 chains
constexpr int kMomBlocks = 140;

// ---------------------------------------------------------------------------------------------
// Welford statistics of conv2 (512 chains per channel, spread over four blocks).
// ---------------------------------------------------------------------------------------------

__device__ __forceinline__ void load49(float (&a)[kChunk], const float *p) {
#pragma unroll
  for (int k = 0; k < kChunk; ++k)
    a[k] = __ldg(p + k * 512);
}

__device__ __forceinline__ void consume49(const float (&a)[kChunk], const float *rc, float n0,
                                          float &avg, float &var_n) {
#pragma unroll
  for (int k = 0; k < kChunk; ++k) {
    const float v = a[k];
    const float fn = n0 + (float)k;
    const float r = rc[k];
    const float d1 = __fsub_rn(v, avg);
    // d1 / n, correctly rounded: r is the correctly rounded 1 / n.
    float q = __fmul_rn(d1, r);
    q = __fmaf_rn(__fmaf_rn(-fn, q, d1), r, q);
    q = __fmaf_rn(__fmaf_rn(-fn, q, d1), r, q);
    avg = __fadd_rn(avg, q);
    var_n = __fmaf_rn(d1, __fsub_rn(v, avg), var_n);
  }
}

__device__ __forceinline__ void merge_warp(int &n, float &avg, float &var_n) {
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

__global__ void __launch_bounds__(128, 2)
welford_kernel(const float *__restrict__ in, float2 *__restrict__ part, int n_chain) {
  __shared__ float rcp[kChain];
  const int c = blockIdx.x >> 2;
  const int t = (blockIdx.x & 3) * 128 + threadIdx.x;
  const float *p = in + (size_t)c * kHW + t;

  float cur[kChunk], nxt[kChunk];
  load49(cur, p);

  for (int i = threadIdx.x; i < kChain; i += 128)
    rcp[i] = __frcp_rn((float)(i + 1));
  __syncthreads();

  float avg = 0.f, var_n = 0.f;
#pragma unroll 1
  for (int b = 0; b < kN; ++b) {
    load49(nxt, p + kChunk * 512);
    consume49(cur, rcp + 98 * b, (float)(98 * b + 1), avg, var_n);
    p += (size_t)kC * kHW;
    if (b < kN - 1)
      load49(cur, p);
    consume49(nxt, rcp + 98 * b + kChunk, (float)(98 * b + kChunk + 1), avg, var_n);
  }

  int n = n_chain;
  merge_warp(n, avg, var_n);
  if ((threadIdx.x & 31) == 0)
    part[c * 16 + (t >> 5)] = make_float2(avg, var_n);
}

// One warp finishes one channel.
__device__ __forceinline__ void finalize_channel(int c, int lane, const float2 *part, int n_warp,
                                                 const float *gamma, const float *beta,
                                                 float *running_mean, float *running_var,
                                                 int64_t *num_batches_tracked, float4 *params) {
  int n = 0;
  float avg = 0.f, var_n = 0.f;
  if (lane < 16) {
    const float2 v = part[c * 16 + lane];
    n = n_warp;
    avg = v.x;
    var_n = v.y;
  }
  __syncwarp();
  merge_warp(n, avg, var_n);
  if (lane == 0) {
    const float var = var_n / (float)kCount;
    const float invstd = rsqrtf(var + 1e-5f);
    const float momentum = 0.1f;
    const float unbiased = var * (float)(501760.0 / 501759.0);
    running_mean[c] = avg * momentum + (1 - momentum) * running_mean[c];
    running_var[c] = unbiased * momentum + (1 - momentum) * running_var[c];
    params[c] = make_float4(avg, invstd, gamma[c], beta[c]);
    if (c == 0 && num_batches_tracked != nullptr)
      *num_batches_tracked += 1;
  }
}

// <<<8, 256>>>, one warp per channel; bn1's batch is counted in finalize_bn2_ds_kernel.
__global__ void __launch_bounds__(256)
finalize_bn1_kernel(const float2 *part, int n_warp, const float *gamma, const float *beta,
                    float *running_mean, float *running_var, float4 *params) {
  finalize_channel(blockIdx.x * 8 + (threadIdx.x >> 5), threadIdx.x & 31, part, n_warp, gamma,
                   beta, running_mean, running_var, nullptr, params);
}

// ---------------------------------------------------------------------------------------------
// Downsample branch: statistics of the 1x1 convolution from the moments of x.
// ---------------------------------------------------------------------------------------------

__device__ __forceinline__ void add_moments(double (&s)[9], float a, float b, float c) {
  const double x0 = a, x1 = b, x2 = c;
  s[0] += x0;
  s[1] += x1;
  s[2] += x2;
  s[3] += x0 * x0;
  s[4] += x0 * x1;
  s[5] += x0 * x2;
  s[6] += x1 * x1;
  s[7] += x1 * x2;
  s[8] += x2 * x2;
}

// <<<140, 224>>>
__global__ void __launch_bounds__(224)
moments_kernel(const float *__restrict__ x, double *__restrict__ mom) {
  __shared__ double sh[7][9];
  const int b = blockIdx.x / 14;
  const int s = blockIdx.x % 14;
  const float4 *p =
      reinterpret_cast<const float4 *>(x) + (size_t)b * 3 * kHW4 + s * 896 + threadIdx.x;

  float4 v[3][4];
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[i][k] = __ldg(p + i * kHW4 + k * 224);

  double acc[9];
#pragma unroll
  for (int j = 0; j < 9; ++j)
    acc[j] = 0.0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    add_moments(acc, v[0][k].x, v[1][k].x, v[2][k].x);
    add_moments(acc, v[0][k].y, v[1][k].y, v[2][k].y);
    add_moments(acc, v[0][k].z, v[1][k].z, v[2][k].z);
    add_moments(acc, v[0][k].w, v[1][k].w, v[2][k].w);
  }

  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int j = 0; j < 9; ++j) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
      acc[j] += __shfl_xor_sync(0xffffffffu, acc[j], o);
    if (lane == 0)
      sh[warp][j] = acc[j];
  }
  __syncthreads();
  if (threadIdx.x < 9) {
    double sum = 0.0;
#pragma unroll
    for (int w = 0; w < 7; ++w)
      sum += sh[w][threadIdx.x];
    mom[blockIdx.x * 9 + threadIdx.x] = sum;
  }
}

// <<<9, 288>>>: blocks 0..7 finish bn2, block 8 finishes the downsample branch and counts bn1's batch.
__global__ void __launch_bounds__(288)
finalize_bn2_ds_kernel(const float2 *part, int n_warp, const float *gamma, const float *beta,
                       float *running_mean, float *running_var, int64_t *num_batches_tracked,
                       float4 *params, const double *mom, const float *ds_weight,
                       const float *ds_gamma, const float *ds_beta, float *ds_running_mean,
                       float *ds_running_var, int64_t *ds_num_batches_tracked,
                       int64_t *bn1_num_batches_tracked, float4 *dsp) {
  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;

  if (blockIdx.x < 8) {
    if (warp < 8)
      finalize_channel(blockIdx.x * 8 + warp, lane, part, n_warp, gamma, beta, running_mean,
                       running_var, num_batches_tracked, params);
    return;
  }

  __shared__ double E[9];
  double sum = 0.0;
  for (int i = lane; i < kMomBlocks; i += 32)
    sum += mom[i * 9 + warp];
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0)
    E[warp] = sum / 501760.0;
  __syncthreads();

  const int c = threadIdx.x;
  if (c < kC) {
    const double w0 = ds_weight[3 * c];
    const double w1 = ds_weight[3 * c + 1];
    const double w2 = ds_weight[3 * c + 2];
    const double m0 = E[0], m1 = E[1], m2 = E[2];
    const double s00 = E[3] - m0 * m0;
    const double s01 = E[4] - m0 * m1;
    const double s02 = E[5] - m0 * m2;
    const double s11 = E[6] - m1 * m1;
    const double s12 = E[7] - m1 * m2;
    const double s22 = E[8] - m2 * m2;
    const double mean = w0 * m0 + w1 * m1 + w2 * m2;
    double var = w0 * w0 * s00 + w1 * w1 * s11 + w2 * w2 * s22 +
                 2.0 * (w0 * w1 * s01 + w0 * w2 * s02 + w1 * w2 * s12);
    var = var < 0.0 ? 0.0 : var;
    const double g = (double)ds_gamma[c] / sqrt(var + 1e-5);
    dsp[c] = make_float4((float)(g * w0), (float)(g * w1), (float)(g * w2),
                         (float)((double)ds_beta[c] - g * mean));
    const float momentum = 0.1f;
    const float unbiased = (float)(var * (501760.0 / 501759.0));
    ds_running_mean[c] = (float)mean * momentum + (1 - momentum) * ds_running_mean[c];
    ds_running_var[c] = unbiased * momentum + (1 - momentum) * ds_running_var[c];
    if (c == 0) {
      *ds_num_batches_tracked += 1;
      *bn1_num_batches_tracked += 1;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Elementwise passes: <<<dim3(49, 8, 10), 256>>>, 8 channels of one float4 column per thread.
// ---------------------------------------------------------------------------------------------

// gamma * (v - mean) * invstd + beta; prm = (mean, invstd, gamma, beta).
__device__ __forceinline__ float bn_value(float v, const float4 &prm) {
  return __fmaf_rn(__fmul_rn(prm.z, __fsub_rn(v, prm.x)), prm.y, prm.w);
}

__device__ __forceinline__ float relu_value(float y) { return y < 0.f ? 0.f : y; }

// Nothing is rounded here: the input of conv2 keeps the bits of ATen's batch norm.
__global__ void __launch_bounds__(256, 3)
bn_relu_inplace_kernel(float *data, const float4 *__restrict__ params) {
  const int pix = blockIdx.x * 256 + threadIdx.x;
  const int c0 = 8 * blockIdx.y;
  const int b = (kN - 1) - (int)blockIdx.z;
  float4 *d = reinterpret_cast<float4 *>(data) + ((size_t)b * kC + c0) * kHW4 + pix;

  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldcs(d + i * kHW4);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float4 prm = __ldg(params + c0 + i); // mean, invstd, gamma, beta
    float4 y;
    y.x = relu_value(bn_value(v[i].x, prm));
    y.y = relu_value(bn_value(v[i].y, prm));
    y.z = relu_value(bn_value(v[i].z, prm));
    y.w = relu_value(bn_value(v[i].w, prm));
    d[i * kHW4] = y; // plain store: conv2 reads it next
  }
}

__device__ __forceinline__ float final_value(float v, float x0, float x1, float x2,
                                             const float4 &prm, const float4 &ds) {
  const float down = __fmaf_rn(ds.x, x0, __fmaf_rn(ds.y, x1, __fmaf_rn(ds.z, x2, ds.w)));
  return relu_value(__fadd_rn(bn_value(v, prm), down));
}

__global__ void __launch_bounds__(256, 3)
final_kernel(const float *__restrict__ conv2, const float *__restrict__ x,
             const float4 *__restrict__ params2, const float4 *__restrict__ dsp,
             float *__restrict__ out) {
  const int pix = blockIdx.x * 256 + threadIdx.x;
  const int c0 = 8 * blockIdx.y;
  const int b = (kN - 1) - (int)blockIdx.z;
  const size_t base = ((size_t)b * kC + c0) * kHW4 + pix;
  const float4 *src = reinterpret_cast<const float4 *>(conv2) + base;
  const float4 *xs = reinterpret_cast<const float4 *>(x) + (size_t)b * 3 * kHW4 + pix;
  float4 *dst = reinterpret_cast<float4 *>(out) + base;

  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldcs(src + i * kHW4);
  const float4 x0 = __ldg(xs);
  const float4 x1 = __ldg(xs + kHW4);
  const float4 x2 = __ldg(xs + 2 * kHW4);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float4 prm = __ldg(params2 + c0 + i);
    const float4 ds = __ldg(dsp + c0 + i);
    float4 y;
    y.x = final_value(v[i].x, x0.x, x1.x, x2.x, prm, ds);
    y.y = final_value(v[i].y, x0.y, x1.y, x2.y, prm, ds);
    y.z = final_value(v[i].z, x0.z, x1.z, x2.z, prm, ds);
    y.w = final_value(v[i].w, x0.w, x1.w, x2.w, prm, ds);
    __stcs(dst + i * kHW4, y);
  }
}

} // namespace

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

  at::Tensor mom = at::empty({kMomBlocks, 9}, x.options().dtype(at::kDouble));
  at::Tensor part = at::empty({64, 16, 2}, x.options());
  at::Tensor prm = at::empty({3, 64, 4}, x.options()); // bn2, downsample, bn1
  at::Tensor out = at::empty({10, 64, 224, 224}, x.options());

  const float *x_ptr = x.const_data_ptr<float>();
  double *mom_ptr = mom.data_ptr<double>();
  float2 *part_ptr = reinterpret_cast<float2 *>(part.data_ptr<float>());
  float4 *prm2 = reinterpret_cast<float4 *>(prm.data_ptr<float>());
  float4 *dsp = prm2 + 64;
  float4 *prm1 = prm2 + 128;
  const dim3 grid(49, 8, 10);

  // moments of x, for the statistics of the downsample branch
  moments_kernel<<<kMomBlocks, 224, 0, stream>>>(x_ptr, mom_ptr);
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  // The input of conv2 is rounded to TF32: bn1 and its statistics are computed in ATen's order of operations,
  // bit for bit as in the source, and written over conv1.
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  float *conv1_ptr = conv1.data_ptr<float>();

  welford_kernel<<<256, 128, 0, stream>>>(conv1_ptr, part_ptr, kChain);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  finalize_bn1_kernel<<<8, 256, 0, stream>>>(
      part_ptr, kWarpCount, bn1_weight.const_data_ptr<float>(), bn1_bias.const_data_ptr<float>(),
      bn1_running_mean.data_ptr<float>(), bn1_running_var.data_ptr<float>(), prm1);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  bn_relu_inplace_kernel<<<grid, 256, 0, stream>>>(conv1_ptr, prm1);
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  at::Tensor conv2 = at::conv2d(conv1, conv2_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  const float *conv2_ptr = conv2.const_data_ptr<float>();

  welford_kernel<<<256, 128, 0, stream>>>(conv2_ptr, part_ptr, kChain);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  finalize_bn2_ds_kernel<<<9, 288, 0, stream>>>(
      part_ptr, kWarpCount, bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      bn2_num_batches_tracked.data_ptr<int64_t>(), prm2, mom_ptr,
      downsample_0_weight.const_data_ptr<float>(), downsample_1_weight.const_data_ptr<float>(),
      downsample_1_bias.const_data_ptr<float>(), downsample_1_running_mean.data_ptr<float>(),
      downsample_1_running_var.data_ptr<float>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(),
      bn1_num_batches_tracked.data_ptr<int64_t>(), dsp);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  final_kernel<<<grid, 256, 0, stream>>>(conv2_ptr, x_ptr, prm2, dsp, out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  return out;
}
