// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_runtime.h>

static constexpr int kRbC = 64;           // channels
static constexpr int kRbNB = 10;          // batches
static constexpr int kRbHW = 50176;       // pixels of a plane, 98 * 512
static constexpr int kRbHW4 = 12544;      // float4 of a plane, 49 * 256
static constexpr int kRbCnt = 501760;     // elements of a channel
static constexpr int kRbParts = 7;        // blocks of a plane in the streaming passes
static constexpr int kRbPart4 = 1792;     // float4 of such a block, 7 * 256
static constexpr int kRbMomBlocks = 98;   // blocks of rb_x_moments

static __device__ __forceinline__ double rb_warp_sum(double v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    v += __shfl_xor_sync(0xffffffffu, v, o, 32);
  return v;
}

// Sums and second moments of the three input channels: 98 blocks, 9 doubles each.
static __global__ void __launch_bounds__(256) rb_x_moments(const float4 *__restrict__ x, double *__restrict__ mom) {
  __shared__ double red[8][9];
  const int tid = threadIdx.x;
  const int p = blockIdx.x % 49;
  const int h = blockIdx.x / 49;
  const float4 *src = x + (size_t)(h * 15) * kRbHW4 + p * 256 + tid;
  float4 v[15];
#pragma unroll
  for (int i = 0; i < 15; ++i)
    v[i] = src[(size_t)i * kRbHW4];
  double s[9];
#pragma unroll
  for (int i = 0; i < 9; ++i)
    s[i] = 0.0;
#pragma unroll
  for (int n = 0; n < 5; ++n) {
    const float a[4] = {v[3 * n].x, v[3 * n].y, v[3 * n].z, v[3 * n].w};
    const float b[4] = {v[3 * n + 1].x, v[3 * n + 1].y, v[3 * n + 1].z, v[3 * n + 1].w};
    const float c[4] = {v[3 * n + 2].x, v[3 * n + 2].y, v[3 * n + 2].z, v[3 * n + 2].w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const double da = (double)a[e], db = (double)b[e], dc = (double)c[e];
      s[0] += da;
      s[1] += db;
      s[2] += dc;
      s[3] += da * da;
      s[4] += da * db;
      s[5] += da * dc;
      s[6] += db * db;
      s[7] += db * dc;
      s[8] += dc * dc;
    }
  }
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    const double r = rb_warp_sum(s[i]);
    if ((tid & 31) == 0)
      red[tid >> 5][i] = r;
  }
  __syncthreads();
  if (tid < 9) {
    double r = 0.0;
#pragma unroll
    for (int w = 0; w < 8; ++w)
      r += red[w][tid];
    mom[blockIdx.x * 9 + tid] = r;
  }
}

// Shifted sums and sums of squares of conv2: 4480 blocks, batches backwards.
static __global__ void __launch_bounds__(256, 5) rb_stats2(const float *in, double2 *part2) {
  __shared__ double red_s[8], red_q[8];
  const int tid = threadIdx.x;
  const int rest = blockIdx.x % (kRbParts * kRbC);
  const int n = kRbNB - 1 - blockIdx.x / (kRbParts * kRbC);
  const int part = kRbParts - 1 - rest / kRbC;
  const int c = rest % kRbC;
  const float shift = in[(size_t)c * kRbHW];
  const float4 *p =
      reinterpret_cast<const float4 *>(in) + (size_t)(n * kRbC + c) * kRbHW4 + part * kRbPart4 + tid;

  float4 v[7];
#pragma unroll
  for (int i = 0; i < 7; ++i)
    v[i] = p[i * 256];
  float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
  float q0 = 0.f, q1 = 0.f, q2 = 0.f, q3 = 0.f;
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    const float d0 = v[i].x - shift;
    const float d1 = v[i].y - shift;
    const float d2 = v[i].z - shift;
    const float d3 = v[i].w - shift;
    s0 += d0;
    s1 += d1;
    s2 += d2;
    s3 += d3;
    q0 = fmaf(d0, d0, q0);
    q1 = fmaf(d1, d1, q1);
    q2 = fmaf(d2, d2, q2);
    q3 = fmaf(d3, d3, q3);
  }
  const double s = rb_warp_sum(((double)s0 + (double)s1) + ((double)s2 + (double)s3));
  const double q = rb_warp_sum(((double)q0 + (double)q1) + ((double)q2 + (double)q3));
  if ((tid & 31) == 0) {
    red_s[tid >> 5] = s;
    red_q[tid >> 5] = q;
  }
  __syncthreads();
  if (tid == 0) {
    double S = 0.0, Q = 0.0;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      S += red_s[w];
      Q += red_q[w];
    }
    part2[(n * kRbParts + part) * kRbC + c] = make_double2(S, Q);
  }
}

// Coefficients of the last pass, the running statistics of bn2 and of the downsample branch, and all three counters.
static __global__ void __launch_bounds__(640)
    rb_finalize2(const double2 *part2, const double *mom, const float *conv2, const float *ds_weight,
                 const float *w2, const float *b2, const float *wd, const float *bd, float *running_mean2,
                 float *running_var2, float *running_mean_d, float *running_var_d, int64_t *counter1,
                 int64_t *counter2, int64_t *counter_d, float *coef) {
  __shared__ double M[9];
  __shared__ double2 red[kRbNB][kRbC];
  const int tid = threadIdx.x;
  const int warp = tid >> 5;
  const int lane = tid & 31;
  const int c = tid & 63;
  const int n = tid >> 6;

  double2 pv[kRbParts];
#pragma unroll
  for (int i = 0; i < kRbParts; ++i)
    pv[i] = part2[(n * kRbParts + i) * kRbC + c];
  double m = 0.0;
  if (warp < 9) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane + 32 * i;
      if (row < kRbMomBlocks)
        m += mom[row * 9 + warp];
    }
  }
  double shift = 0.0, dw0 = 0.0, dw1 = 0.0, dw2 = 0.0;
  double g2 = 0.0, o2 = 0.0, gd = 0.0, od = 0.0;
  double rm2 = 0.0, rv2 = 0.0, rmd = 0.0, rvd = 0.0;
  if (tid < 64) {
    shift = (double)conv2[(size_t)c * kRbHW];
    dw0 = (double)ds_weight[c * 3];
    dw1 = (double)ds_weight[c * 3 + 1];
    dw2 = (double)ds_weight[c * 3 + 2];
    g2 = (double)w2[c];
    o2 = (double)b2[c];
    gd = (double)wd[c];
    od = (double)bd[c];
    rm2 = (double)running_mean2[c];
    rv2 = (double)running_var2[c];
    rmd = (double)running_mean_d[c];
    rvd = (double)running_var_d[c];
  }
  double ps = 0.0, pq = 0.0;
#pragma unroll
  for (int i = 0; i < kRbParts; ++i) {
    ps += pv[i].x;
    pq += pv[i].y;
  }
  red[n][c] = make_double2(ps, pq);
  if (warp < 9) {
    m = rb_warp_sum(m);
    if (lane == 0)
      M[warp] = m;
  }
  __syncthreads();

  if (tid < 64) {
    const double inv = 1.0 / (double)kRbCnt;
    const double bessel = 501760.0 / 501759.0;
    double S = 0.0, Q = 0.0;
#pragma unroll
    for (int i = 0; i < kRbNB; ++i) {
      const double2 r = red[i][c];
      S += r.x;
      Q += r.y;
    }
    const double ms = S * inv;
    const double mean2 = shift + ms;
    double var2 = Q * inv - ms * ms;
    if (var2 < 0.0)
      var2 = 0.0;
    const double sc2 = g2 / sqrt(var2 + 1e-5);

    const double m0 = M[0] * inv, m1 = M[1] * inv, m2 = M[2] * inv;
    const double c00 = M[3] * inv - m0 * m0;
    const double c01 = M[4] * inv - m0 * m1;
    const double c02 = M[5] * inv - m0 * m2;
    const double c11 = M[6] * inv - m1 * m1;
    const double c12 = M[7] * inv - m1 * m2;
    const double c22 = M[8] * inv - m2 * m2;
    const double mean_d = dw0 * m0 + dw1 * m1 + dw2 * m2;
    double var_d = dw0 * dw0 * c00 + dw1 * dw1 * c11 + dw2 * dw2 * c22 +
                   2.0 * (dw0 * dw1 * c01 + dw0 * dw2 * c02 + dw1 * dw2 * c12);
    if (var_d < 0.0)
      var_d = 0.0;
    const double scd = gd / sqrt(var_d + 1e-5);

    coef[c * 8 + 0] = (float)sc2;
    coef[c * 8 + 1] = (float)(o2 - mean2 * sc2 + od - mean_d * scd);
    coef[c * 8 + 2] = (float)(dw0 * scd);
    coef[c * 8 + 3] = (float)(dw1 * scd);
    coef[c * 8 + 4] = (float)(dw2 * scd);
    coef[c * 8 + 5] = 0.f;
    coef[c * 8 + 6] = 0.f;
    coef[c * 8 + 7] = 0.f;
    running_mean2[c] = (float)(0.1 * mean2 + 0.9 * rm2);
    running_var2[c] = (float)(0.1 * (var2 * bessel) + 0.9 * rv2);
    running_mean_d[c] = (float)(0.1 * mean_d + 0.9 * rmd);
    running_var_d[c] = (float)(0.1 * (var_d * bessel) + 0.9 * rvd);
    if (tid == 0) {
      *counter1 += 1;
      *counter2 += 1;
      *counter_d += 1;
    }
  }
}

static __device__ __forceinline__ float rb_tail_one(float v, float x0, float x1, float x2, const float4 &k,
                                                    float a2) {
  float o = fmaf(v, k.x, k.y);
  o = fmaf(k.z, x0, o);
  o = fmaf(k.w, x1, o);
  o = fmaf(a2, x2, o);
  return o <= 0.f ? 0.f : o;
}

// bn2 + downsample + relu, in place: 4 pixels and 16 channels a thread.
static __global__ void __launch_bounds__(256, 3)
    rb_tail(float4 *y, const float4 *__restrict__ x, const float *__restrict__ coef) {
  __shared__ float4 sk[32];
  const int tid = threadIdx.x;
  const int p = blockIdx.x % 49;
  const int g = (blockIdx.x / 49) % 4;
  const int n = blockIdx.x / 196;
  const int q = p * 256 + tid;
  float4 *yp = y + (size_t)(n * kRbC + g * 16) * kRbHW4 + q;
  const float4 *xp = x + (size_t)(n * 3) * kRbHW4 + q;

  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = yp[i * kRbHW4];
  const float4 x0 = xp[0];
  const float4 x1 = xp[kRbHW4];
  const float4 x2 = xp[2 * kRbHW4];
  if (tid < 32)
    sk[tid] = reinterpret_cast<const float4 *>(coef)[g * 32 + tid];
  __syncthreads();

#pragma unroll
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        v[i] = yp[(8 + i) * kRbHW4];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 k = sk[(round * 8 + i) * 2];
      const float a2 = sk[(round * 8 + i) * 2 + 1].x;
      float4 o;
      o.x = rb_tail_one(v[i].x, x0.x, x1.x, x2.x, k, a2);
      o.y = rb_tail_one(v[i].y, x0.y, x1.y, x2.y, k, a2);
      o.z = rb_tail_one(v[i].z, x0.z, x1.z, x2.z, k, a2);
      o.w = rb_tail_one(v[i].w, x0.w, x1.w, x2.w, k, a2);
      yp[(round * 8 + i) * kRbHW4] = o;
    }
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
  cudaStream_t st = at::cuda::getCurrentCUDAStream();

  // scratch: part2[70 * 64] double2, mom[98 * 9] double; coef[512] float
  at::Tensor dscr = at::empty({2 * kRbNB * kRbParts * kRbC + kRbMomBlocks * 9}, x.options().dtype(at::kDouble));
  at::Tensor fscr = at::empty({kRbC * 8}, x.options());
  double *dptr = dscr.data_ptr<double>();
  double2 *part2 = reinterpret_cast<double2 *>(dptr);
  double *mom = dptr + 2 * kRbNB * kRbParts * kRbC;
  float *coef = fscr.data_ptr<float>();
  const float4 *x4 = reinterpret_cast<const float4 *>(x.const_data_ptr<float>());

  rb_x_moments<<<kRbMomBlocks, 256, 0, st>>>(x4, mom);

  // conv2 rounds its input to TF32, so its input has to be bit for bit that of the source: the same operators of ATen
  // on the same tensors, without a change of layout between them.
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  at::Tensor bn1 = at::batch_norm(conv1, bn1_weight, bn1_bias, bn1_running_mean, bn1_running_var, true, 0.1, 1e-05, false); // [10, 64, 224, 224]
  bn1.relu_();

  at::Tensor conv2 = at::conv2d(bn1, conv2_weight, {}, {1, 1}, {1, 1}).contiguous(); // [10, 64, 224, 224]
  rb_stats2<<<kRbNB * kRbParts * kRbC, 256, 0, st>>>(conv2.data_ptr<float>(), part2);
  rb_finalize2<<<1, 640, 0, st>>>(
      part2, mom, conv2.data_ptr<float>(), downsample_0_weight.const_data_ptr<float>(),
      bn2_weight.const_data_ptr<float>(), bn2_bias.const_data_ptr<float>(),
      downsample_1_weight.const_data_ptr<float>(), downsample_1_bias.const_data_ptr<float>(),
      bn2_running_mean.data_ptr<float>(), bn2_running_var.data_ptr<float>(),
      downsample_1_running_mean.data_ptr<float>(), downsample_1_running_var.data_ptr<float>(),
      bn1_num_batches_tracked.data_ptr<int64_t>(), bn2_num_batches_tracked.data_ptr<int64_t>(),
      downsample_1_num_batches_tracked.data_ptr<int64_t>(), coef);
  rb_tail<<<1960, 256, 0, st>>>(reinterpret_cast<float4 *>(conv2.data_ptr<float>()), x4, coef);
  return conv2;
}
