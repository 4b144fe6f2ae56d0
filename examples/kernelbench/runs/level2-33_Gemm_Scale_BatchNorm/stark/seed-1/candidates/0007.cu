// Model of 33_Gemm_Scale_BatchNorm.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

static constexpr int kRows = 1024;   // batch
static constexpr int kIn = 8192;     // K
static constexpr int kOut = 8192;    // N
static constexpr int kIn2 = 2 * kIn; // K of the concatenated int8 cross products
 // K of the concatenated product

static constexpr int kSplitThreads = 256;
static constexpr int kSplitVec = kIn / (4 * kSplitThreads); // float4s of a row that a thread holds: 8

static constexpr int kBnThreads = 512;
static constexpr int kBnCols = 32;
static constexpr int kBnIter = 16; // rows a thread holds: 1024 / 64

// Splits two floats into packed high parts and packed low parts (first float in the low half).
// a, b: scaled values, magnitude below 2^14. hi: the two fp16 high parts; h8, l8: int8 fixed point of the values and
// of what the high parts leave, in the two low bytes (the upper two are not meaningful).
static __device__ __forceinline__ void split_pair(float a, float b, unsigned &hi, unsigned &h8, unsigned &l8) {
  __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  hi = *reinterpret_cast<unsigned *>(&h);
  // Adding 1.5 * 2^23 rounds to an integer; its low byte is the value in two's complement.
  const unsigned ha = __float_as_uint(fmaf(a, 127.0f / 16384.0f, 12582912.0f));
  const unsigned hb = __float_as_uint(fmaf(b, 127.0f / 16384.0f, 12582912.0f));
  const unsigned la = __float_as_uint(fmaf(a - f.x, 31.75f, 12582912.0f));
  const unsigned lb = __float_as_uint(fmaf(b - f.y, 31.75f, 12582912.0f));
  h8 = __byte_perm(ha, hb, 0x0040);
  l8 = __byte_perm(la, lb, 0x0040);
}

// Rows 0..kOut-1 of the grid: weight -> (hi, lo, hi); the rest: x -> (lo, hi, hi).
static __global__ __launch_bounds__(kSplitThreads) void split_kernel(
    const float *__restrict__ x, const float *__restrict__ w,
    __half *__restrict__ xh, __half *__restrict__ wh,
    int8_t *__restrict__ x8, int8_t *__restrict__ w8, float *__restrict__ inv) {
  __shared__ unsigned sm[kSplitThreads / 32];

  const int t = threadIdx.x;
  const bool is_weight = blockIdx.x < (unsigned)kOut;
  const int row = is_weight ? (int)blockIdx.x : (int)blockIdx.x - kOut;

  const float4 *src = reinterpret_cast<const float4 *>((is_weight ? w : x) + (int64_t)row * kIn) + t;
  float4 v[kSplitVec];
#pragma unroll
  for (int j = 0; j < kSplitVec; ++j)
    v[j] = __ldcs(src + j * kSplitThreads);

  // Largest magnitude of the row, as bits.
  float m = 0.f;
#pragma unroll
  for (int j = 0; j < kSplitVec; ++j)
    m = fmaxf(m, fmaxf(fmaxf(fabsf(v[j].x), fabsf(v[j].y)), fmaxf(fabsf(v[j].z), fabsf(v[j].w))));
  unsigned mb = __reduce_max_sync(0xffffffffu, __float_as_uint(m));
  if ((t & 31) == 0)
    sm[t >> 5] = mb;
  __syncthreads();
  mb = sm[0];
#pragma unroll
  for (int i = 1; i < kSplitThreads / 32; ++i)
    mb = max(mb, sm[i]);

  // Exact power of two that brings the row's maximum to [2^13, 2^14).
  const int be = max((int)(mb >> 23), 20);
  const float s = __int_as_float((267 - be) << 23);
  if (t == 0)
    inv[blockIdx.x] = __int_as_float((be - 13) << 23); // 1 / s

  uint2 *dh = reinterpret_cast<uint2 *>((is_weight ? wh : xh) + (int64_t)row * kIn) + t;
  unsigned *d8 = reinterpret_cast<unsigned *>((is_weight ? w8 : x8) + (int64_t)row * kIn2) + t;
  // Weight rows are [lo8 | hi8], rows of x are [hi8 | lo8].
  unsigned *dhi8 = d8 + (is_weight ? kIn / 4 : 0);
  unsigned *dlo8 = d8 + (is_weight ? 0 : kIn / 4);

#pragma unroll
  for (int j = 0; j < kSplitVec; ++j) {
    uint2 h;
    unsigned h80, h81, l80, l81;
    split_pair(v[j].x * s, v[j].y * s, h.x, h80, l80);
    split_pair(v[j].z * s, v[j].w * s, h.y, h81, l81);
    dh[j * kSplitThreads] = h;
    dhi8[j * kSplitThreads] = __byte_perm(h80, h81, 0x5410);
    dlo8[j * kSplitThreads] = __byte_perm(l80, l81, 0x5410);
  }
}

// Sums over the lanes of a warp that hold the same four columns (lane & 7).
static __device__ __forceinline__ float4 reduce_same_columns(float4 s) {
#pragma unroll
  for (int m = 8; m <= 16; m <<= 1) {
    s.x += __shfl_xor_sync(0xffffffffu, s.x, m);
    s.y += __shfl_xor_sync(0xffffffffu, s.y, m);
    s.z += __shfl_xor_sync(0xffffffffu, s.z, m);
    s.w += __shfl_xor_sync(0xffffffffu, s.w, m);
  }
  return s;
}

static __global__ __launch_bounds__(kBnThreads, 1) void scale_bn_kernel(
    const float *__restrict__ c, const int *__restrict__ cross,
    const float *__restrict__ inv, float *__restrict__ out,
    const float *__restrict__ scale, const float *__restrict__ gemm_bias,
    const float *__restrict__ bn_weight, const float *__restrict__ bn_bias,
    float *__restrict__ running_mean, float *__restrict__ running_var,
    int64_t *__restrict__ num_batches_tracked) {
  __shared__ __align__(16) float red[kBnThreads / 32][kBnCols];
  __shared__ __align__(16) float red2[kBnThreads / 32][kBnCols];
  __shared__ __align__(16) float s_mean[kBnCols];
  __shared__ __align__(16) float s_mul[kBnCols];
  __shared__ __align__(16) float s_add[kBnCols];

  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp = tid >> 5;
  const int c4 = tid & 7;
  const int r = tid >> 3; // 0..63
  const int64_t base = (int64_t)r * kOut + blockIdx.x * kBnCols + 4 * c4;

  float4 v[kBnIter];
#pragma unroll
  for (int i = 0; i < kBnIter; ++i)
    v[i] = __ldcs(reinterpret_cast<const float4 *>(c + base + (int64_t)i * 64 * kOut));

  const float4 iw = *reinterpret_cast<const float4 *>(inv + blockIdx.x * kBnCols + 4 * c4);

  const int n = blockIdx.x * kBnCols + lane;
  float p_scale = 0.f, p_gbias = 0.f, p_weight = 0.f, p_bias = 0.f, p_rmean = 0.f, p_rvar = 0.f;
  if (tid < kBnCols) {
    p_scale = scale[n];
    p_gbias = gemm_bias[n];
    p_weight = bn_weight[n];
    p_bias = bn_bias[n];
    p_rmean = running_mean[n];
    p_rvar = running_var[n];
  }

  // Add the cross products, hi8 * lo8 carries (127 / 16384) * 31.75, and undo the scaling of the rows of x and weight.
  constexpr float kCross = (float)(16384.0 / (127.0 * 31.75));
#pragma unroll
  for (int g = 0; g < kBnIter / 4; ++g) {
    int4 cr[4];
    float ix[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      cr[k] = __ldcs(reinterpret_cast<const int4 *>(cross + base + (int64_t)(4 * g + k) * 64 * kOut));
      ix[k] = inv[kOut + r + 64 * (4 * g + k)];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = 4 * g + k;
      v[i].x = fmaf((float)cr[k].x, kCross, v[i].x) * (ix[k] * iw.x);
      v[i].y = fmaf((float)cr[k].y, kCross, v[i].y) * (ix[k] * iw.y);
      v[i].z = fmaf((float)cr[k].z, kCross, v[i].z) * (ix[k] * iw.z);
      v[i].w = fmaf((float)cr[k].w, kCross, v[i].w) * (ix[k] * iw.w);
    }
  }

  // Mean of the raw product.
  float4 s = v[0];
#pragma unroll
  for (int i = 1; i < kBnIter; ++i) {
    s.x += v[i].x;
    s.y += v[i].y;
    s.z += v[i].z;
    s.w += v[i].w;
  }
  s = reduce_same_columns(s);
  if (lane < 8)
    *reinterpret_cast<float4 *>(&red[warp][4 * c4]) = s;
  __syncthreads();
  if (tid < kBnCols) {
    float t = 0.f;
#pragma unroll
    for (int i = 0; i < kBnThreads / 32; ++i)
      t += red[i][tid];
    s_mean[tid] = t * (1.0f / kRows);
  }
  __syncthreads();

  // Centre, then the biased variance.
  const float4 mean = *reinterpret_cast<const float4 *>(&s_mean[4 * c4]);
  float4 q = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int i = 0; i < kBnIter; ++i) {
    v[i].x -= mean.x;
    v[i].y -= mean.y;
    v[i].z -= mean.z;
    v[i].w -= mean.w;
    q.x = fmaf(v[i].x, v[i].x, q.x);
    q.y = fmaf(v[i].y, v[i].y, q.y);
    q.z = fmaf(v[i].z, v[i].z, q.z);
    q.w = fmaf(v[i].w, v[i].w, q.w);
  }
  q = reduce_same_columns(q);
  if (lane < 8)
    *reinterpret_cast<float4 *>(&red2[warp][4 * c4]) = q;
  __syncthreads();
  if (tid < kBnCols) {
    float t = 0.f;
#pragma unroll
    for (int i = 0; i < kBnThreads / 32; ++i)
      t += red2[i][tid];
    const float var = t * (1.0f / kRows);
    const float mean_mul = (s_mean[tid] + p_gbias) * p_scale;
    const float var_mul = p_scale * p_scale * var;
    s_mul[tid] = p_scale * p_weight / sqrtf(var_mul + 1e-5f);
    s_add[tid] = p_bias;
    running_mean[n] = 0.9f * p_rmean + 0.1f * mean_mul;
    running_var[n] = 0.9f * p_rvar + 0.1f * (var_mul * (1024.0f / 1023.0f));
    if (blockIdx.x == 0 && tid == 0)
      *num_batches_tracked += 1;
  }
  __syncthreads();

  const float4 mul = *reinterpret_cast<const float4 *>(&s_mul[4 * c4]);
  const float4 add = *reinterpret_cast<const float4 *>(&s_add[4 * c4]);
#pragma unroll
  for (int i = 0; i < kBnIter; ++i) {
    float4 o;
    o.x = fmaf(v[i].x, mul.x, add.x);
    o.y = fmaf(v[i].y, mul.y, add.y);
    o.z = fmaf(v[i].z, mul.z, add.z);
    o.w = fmaf(v[i].w, mul.w, add.w);
    *reinterpret_cast<float4 *>(out + base + (int64_t)i * 64 * kOut) = o;
  }
}

at::Tensor Gemm_Scale_BatchNorm(
    const at::Tensor &x /* [1024, 8192] */,
    const at::Tensor &scale /* [8192] */,
    const at::Tensor &gemm_weight /* [8192, 8192] */,
    const at::Tensor &gemm_bias /* [8192] */,
    const at::Tensor &bn_weight /* [8192] */,
    const at::Tensor &bn_bias /* [8192] */,
    const at::Tensor &bn_running_mean /* [8192], changed */,
    const at::Tensor &bn_running_var /* [8192], changed */,
    const at::Tensor &bn_num_batches_tracked /* i64 [], changed */) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  auto hopt = x.options().dtype(at::kHalf);
  auto iopt = x.options().dtype(at::kChar);
  at::Tensor wh = at::empty({kOut, kIn}, hopt);
  at::Tensor xh = at::empty({kRows, kIn}, hopt);
  at::Tensor w8 = at::empty({kOut, kIn2}, iopt);  // [8192, 16384]: lo8, hi8
  at::Tensor x8 = at::empty({kRows, kIn2}, iopt); // [1024, 16384]: hi8, lo8
  at::Tensor inv = at::empty({kOut + kRows}, x.options());

  split_kernel<<<kOut + kRows, kSplitThreads, 0, stream>>>(
      x.const_data_ptr<float>(), gemm_weight.const_data_ptr<float>(),
      reinterpret_cast<__half *>(xh.data_ptr<at::Half>()),
      reinterpret_cast<__half *>(wh.data_ptr<at::Half>()),
      x8.data_ptr<int8_t>(), w8.data_ptr<int8_t>(), inv.data_ptr<float>());

  // Both cross products, exact in int32: [1024, 8192]
  at::Tensor cross = at::_int_mm(x8, w8.t());
  // fp16 in, f32 accumulation, f32 out: [1024, 8192]
  at::Tensor c = at::mm(xh, wh.t(), at::kFloat);

  at::Tensor out = at::empty({kRows, kOut}, x.options());
  scale_bn_kernel<<<kOut / kBnCols, kBnThreads, 0, stream>>>(
      c.const_data_ptr<float>(), cross.const_data_ptr<int>(),
      inv.const_data_ptr<float>(), out.data_ptr<float>(),
      scale.const_data_ptr<float>(), gemm_bias.const_data_ptr<float>(),
      bn_weight.const_data_ptr<float>(), bn_bias.const_data_ptr<float>(),
      bn_running_mean.data_ptr<float>(), bn_running_var.data_ptr<float>(),
      bn_num_batches_tracked.data_ptr<int64_t>());
  return out;
}
