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
static constexpr int kIn2 = 2 * kIn; // two fp16 parts, side by side
 // K of the concatenated int8 cross products
 // K of the concatenated product

static constexpr int kSplitThreads = 256;
static constexpr int kSplitVec = kIn / (4 * kSplitThreads); // float4s of a row that a thread holds: 8

static constexpr int kBnThreads = 512;
static constexpr int kBnCols = 32;
static constexpr int kBnIter = 16; // rows a thread holds: 1024 / 64

// Splits two floats into packed high parts and packed low parts (first float in the low half).
// a, b: scaled values, magnitude below 2^14. hi: the two fp16 high parts; h8, l8: int8 fixed point of the values and
// of what the high parts leave, in the two low bytes (the upper two are not meaningful).
// Now both fp16. With h = fp16(u), l = u - h and e = fp16(h + 65 l), for x and for the weight,
//   h_x.h_w + (1/64) e_x.e_w = 65/64 * (x.w + 64 l_x.l_w),
// so one product of twice the depth holds both cross terms.
// hi: the two fp16 parts; ext: fp16 of (hi + 65 * rest) * es, es a power of two.
static __device__ __forceinline__ void split_pair(float a, float b, float es, unsigned &hi, unsigned &ext) {
  __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  __half2 e = __floats2half2_rn(fmaf(65.0f, a - f.x, f.x) * es, fmaf(65.0f, b - f.y, f.y) * es);
  hi = *reinterpret_cast<unsigned *>(&h);
  ext = *reinterpret_cast<unsigned *>(&e);
}

// Rows 0..kOut-1 of the grid: weight -> (hi, lo, hi); the rest: x -> (lo, hi, hi).
// Weight rows come out as [e | h], in descending order of the rows; rows of x as [e / 64 | h].
static __global__ __launch_bounds__(kSplitThreads) void split_kernel(
    const float *__restrict__ x, const float *__restrict__ w,
    __half *__restrict__ x2, __half *__restrict__ w2, float *__restrict__ inv) {
  __shared__ unsigned sm[kSplitThreads / 32];

  const int t = threadIdx.x;
  const bool is_weight = blockIdx.x < (unsigned)kOut;
  // Descending weight rows: what the product reads first is then still in L2.
  const int row = is_weight ? kOut - 1 - (int)blockIdx.x : (int)blockIdx.x - kOut;

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
    inv[is_weight ? row : kOut + row] = __int_as_float((be - 13) << 23); // 1 / s

  const float es = is_weight ? 1.0f : 1.0f / 64.0f;
  uint2 *de = reinterpret_cast<uint2 *>((is_weight ? w2 : x2) + (int64_t)row * kIn2) + t; // e
  uint2 *dh = de + kIn / 4;                                                               // h

#pragma unroll
  for (int j = 0; j < kSplitVec; ++j) {
    uint2 h, e;
    split_pair(v[j].x * s, v[j].y * s, es, h.x, e.x);
    split_pair(v[j].z * s, v[j].w * s, es, h.y, e.y);
    de[j * kSplitThreads] = e;
    dh[j * kSplitThreads] = h;
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
    const float *__restrict__ c,
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

  float4 iw = *reinterpret_cast<const float4 *>(inv + blockIdx.x * kBnCols + 4 * c4);
  float ix[kBnIter];
#pragma unroll
  for (int i = 0; i < kBnIter; ++i)
    ix[i] = __ldg(inv + kOut + r + 64 * i);

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

  // c is 65/64 of the scaled product: undo that and the scaling of the rows of x and weight.
  constexpr float kUndo = 64.0f / 65.0f;
  iw.x *= kUndo;
  iw.y *= kUndo;
  iw.z *= kUndo;
  iw.w *= kUndo;
#pragma unroll
  for (int i = 0; i < kBnIter; ++i) {
    v[i].x *= ix[i] * iw.x;
    v[i].y *= ix[i] * iw.y;
    v[i].z *= ix[i] * iw.z;
    v[i].w *= ix[i] * iw.w;
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
    __stcs(reinterpret_cast<float4 *>(out + base + (int64_t)i * 64 * kOut), o);
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
  at::Tensor w2 = at::empty({kOut, kIn2}, hopt);  // row n: [ e | h ]
  at::Tensor x2 = at::empty({kRows, kIn2}, hopt); // row m: [ e / 64 | h ]
  at::Tensor inv = at::empty({kOut + kRows}, x.options());
  at::Tensor out = at::empty({kRows, kOut}, x.options());

  split_kernel<<<kOut + kRows, kSplitThreads, 0, stream>>>(
      x.const_data_ptr<float>(), gemm_weight.const_data_ptr<float>(),
      reinterpret_cast<__half *>(x2.data_ptr<at::Half>()),
      reinterpret_cast<__half *>(w2.data_ptr<at::Half>()), inv.data_ptr<float>());

  // fp16 in, f32 accumulation, f32 out, K = 16384: 65/64 of the scaled product, [1024, 8192]
  at::Tensor c = at::mm(x2, w2.t(), at::kFloat);

  scale_bn_kernel<<<kOut / kBnCols, kBnThreads, 0, stream>>>(
      c.const_data_ptr<float>(), inv.const_data_ptr<float>(), out.data_ptr<float>(),
      scale.const_data_ptr<float>(), gemm_bias.const_data_ptr<float>(),
      bn_weight.const_data_ptr<float>(), bn_bias.const_data_ptr<float>(),
      bn_running_mean.data_ptr<float>(), bn_running_var.data_ptr<float>(),
      bn_num_batches_tracked.data_ptr<int64_t>());
  return out;
}
