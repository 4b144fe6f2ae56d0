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

static constexpr int kRows = 1024;   // batch
static constexpr int kIn = 8192;     // K
static constexpr int kOut = 8192;    // N
static constexpr int kIn3 = 3 * kIn; // K of the concatenated product

static constexpr int kSplitThreads = 256;
static constexpr int kSplitVec = 8;

static constexpr int kBnThreads = 512;
static constexpr int kBnCols = 32;
static constexpr int kBnIter = 16; // rows a thread holds: 1024 / 64

// Splits two floats into packed high parts and packed low parts (first float in the low half).
static __device__ __forceinline__ void split_pair(float a, float b, unsigned &hi, unsigned &lo) {
  const __nv_bfloat16 ha = __float2bfloat16_rn(a);
  const __nv_bfloat16 hb = __float2bfloat16_rn(b);
  const __nv_bfloat16 la = __float2bfloat16_rn(a - __bfloat162float(ha));
  const __nv_bfloat16 lb = __float2bfloat16_rn(b - __bfloat162float(hb));
  hi = (unsigned)__bfloat16_as_ushort(ha) | ((unsigned)__bfloat16_as_ushort(hb) << 16);
  lo = (unsigned)__bfloat16_as_ushort(la) | ((unsigned)__bfloat16_as_ushort(lb) << 16);
}

// Rows 0..kOut-1 of the grid: weight -> (hi, lo, hi); the rest: x -> (lo, hi, hi).
static __global__ __launch_bounds__(kSplitThreads) void split_kernel(
    const float *__restrict__ x, const float *__restrict__ w,
    __nv_bfloat16 *__restrict__ a3, __nv_bfloat16 *__restrict__ b3) {
  const int col = (blockIdx.x * kSplitThreads + threadIdx.x) * kSplitVec;
  const bool is_weight = blockIdx.y < (unsigned)kOut;
  const int row = is_weight ? (int)blockIdx.y : (int)blockIdx.y - kOut;

  const float *src = (is_weight ? w : x) + (int64_t)row * kIn + col;
  const float4 p = __ldcs(reinterpret_cast<const float4 *>(src));
  const float4 q = __ldcs(reinterpret_cast<const float4 *>(src) + 1);

  uint4 hi, lo;
  split_pair(p.x, p.y, hi.x, lo.x);
  split_pair(p.z, p.w, hi.y, lo.y);
  split_pair(q.x, q.y, hi.z, lo.z);
  split_pair(q.z, q.w, hi.w, lo.w);

  __nv_bfloat16 *dst = (is_weight ? b3 : a3) + (int64_t)row * kIn3 + col;
  *reinterpret_cast<uint4 *>(dst) = is_weight ? hi : lo;
  *reinterpret_cast<uint4 *>(dst + kIn) = is_weight ? lo : hi;
  *reinterpret_cast<uint4 *>(dst + 2 * kIn) = hi;
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
    const float *__restrict__ c, float *__restrict__ out,
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

  auto bopt = x.options().dtype(at::kBFloat16);
  at::Tensor a3 = at::empty({kRows, kIn3}, bopt); // [1024, 24576]: lo, hi, hi
  at::Tensor b3 = at::empty({kOut, kIn3}, bopt);  // [8192, 24576]: hi, lo, hi

  split_kernel<<<dim3(kIn / (kSplitThreads * kSplitVec), kOut + kRows), kSplitThreads, 0, stream>>>(
      x.const_data_ptr<float>(), gemm_weight.const_data_ptr<float>(),
      reinterpret_cast<__nv_bfloat16 *>(a3.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16 *>(b3.data_ptr<at::BFloat16>()));

  // bf16 in, f32 accumulation, f32 out: [1024, 8192]
  at::Tensor c = at::mm(a3, b3.t(), at::kFloat);

  at::Tensor out = at::empty({kRows, kOut}, x.options());
  scale_bn_kernel<<<kOut / kBnCols, kBnThreads, 0, stream>>>(
      c.const_data_ptr<float>(), out.data_ptr<float>(),
      scale.const_data_ptr<float>(), gemm_bias.const_data_ptr<float>(),
      bn_weight.const_data_ptr<float>(), bn_bias.const_data_ptr<float>(),
      bn_running_mean.data_ptr<float>(), bn_running_var.data_ptr<float>(),
      bn_num_batches_tracked.data_ptr<int64_t>());
  return out;
}
