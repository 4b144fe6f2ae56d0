// Model of 33_Gemm_Scale_BatchNorm.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

static constexpr int kRows = 1024;   // rows of x
static constexpr int kCols = 8192;   // columns of the output, rows of the weight
static constexpr int kDepth = 8192;  // length of the product's sums

// Four floats to packed e4m3, a in the lowest byte.
static __device__ __forceinline__ unsigned fp8x4(float a, float b, float c, float d) {
  const unsigned lo = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
  const unsigned hi = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, __NV_E4M3);
  return lo | (hi << 16);
}

// The largest magnitude of four floats.
static __device__ __forceinline__ float absmax4(float4 a) {
  return fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w)));
}

// Four floats (already scaled) to packed halves, packed v / 64 and packed (v - half) * 32.
static __device__ __forceinline__ void split4(float4 a, uint2 &h, unsigned &h8, unsigned &l8) {
  __half2 p = __floats2half2_rn(a.x, a.y);
  __half2 q = __floats2half2_rn(a.z, a.w);
  float2 fp = __half22float2(p);
  float2 fq = __half22float2(q);
  h.x = *reinterpret_cast<unsigned *>(&p);
  h.y = *reinterpret_cast<unsigned *>(&q);
  h8 = fp8x4(a.x * 0.015625f, a.y * 0.015625f, a.z * 0.015625f, a.w * 0.015625f);
  l8 = fp8x4((a.x - fp.x) * 32.f, (a.y - fp.y) * 32.f, (a.z - fq.x) * 32.f, (a.w - fq.y) * 32.f);
}

// One block a row of 8192 floats: rows of w first, then rows of x (centred by their mean).
// wh, xh: the halves; w8 rows are [lo8 | hi8], x8 rows are [hi8 | lo8].
// inv: 9216 factors 1 / s, then 9216 row sums (of w) or row means (of x).
static __global__ void __launch_bounds__(256)
split_kernel(const float *__restrict__ w, const float *__restrict__ x, __half *__restrict__ wh,
             __half *__restrict__ xh, uint8_t *__restrict__ w8, uint8_t *__restrict__ x8,
             float *__restrict__ inv, float *__restrict__ one) {
  const int t = threadIdx.x;
  const int r = blockIdx.x;
  const bool isw = r < kCols;
  const int row = isw ? r : r - kCols;
  const float4 *src = reinterpret_cast<const float4 *>((isw ? w : x) + (size_t)row * kDepth);
  uint2 *dh = reinterpret_cast<uint2 *>((isw ? wh : xh) + (size_t)row * kDepth);
  uint8_t *d8 = (isw ? w8 : x8) + (size_t)row * (2 * kDepth);
  unsigned *dhi8 = reinterpret_cast<unsigned *>(d8 + (isw ? kDepth : 0));
  unsigned *dlo8 = reinterpret_cast<unsigned *>(d8 + (isw ? 0 : kDepth));

  float4 v[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    v[j] = __ldcs(src + j * 256 + t);

  float sum = 0.f;
  float m = 0.f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
    m = fmaxf(m, absmax4(v[j]));
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1)
    sum += __shfl_xor_sync(0xffffffffu, sum, o);

  // Non-negative floats order like their bits.
  unsigned mb = __reduce_max_sync(0xffffffffu, __float_as_uint(m));
  __shared__ float ss[8];
  __shared__ unsigned sm[8];
  __shared__ unsigned smc[8];
  if ((t & 31) == 0) {
    ss[t >> 5] = sum;
    sm[t >> 5] = mb;
  }
  __syncthreads();
  sum = ((ss[0] + ss[1]) + (ss[2] + ss[3])) + ((ss[4] + ss[5]) + (ss[6] + ss[7]));

  float extra = sum;  // kept for the tail: the sum of a row of w, the mean of a row of x
  if (isw) {          // uniform over the block
#pragma unroll
    for (int i = 0; i < 8; ++i)
      mb = max(mb, sm[i]);
  } else {
    const float centre = sum * (1.f / (float)kDepth);
    extra = centre;
    m = 0.f;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      v[j].x -= centre;
      v[j].y -= centre;
      v[j].z -= centre;
      v[j].w -= centre;
      m = fmaxf(m, absmax4(v[j]));
    }
    mb = __reduce_max_sync(0xffffffffu, __float_as_uint(m));
    if ((t & 31) == 0)
      smc[t >> 5] = mb;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i)
      mb = max(mb, smc[i]);
  }

  const int be = max((int)(mb >> 23), 20);            // biased exponent of the row's largest magnitude
  const float s = __int_as_float((267 - be) << 23);   // 2^(13 - (be - 127)), exact
  if (t == 0) {
    inv[r] = __int_as_float((be - 13) << 23);         // 1 / s, exact
    inv[kCols + kRows + r] = extra;
    if (r == 0)
      *one = 1.f;
  }

#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float4 a = make_float4(v[j].x * s, v[j].y * s, v[j].z * s, v[j].w * s);
    uint2 h;
    unsigned h8, l8;
    split4(a, h, h8, l8);
    dh[j * 256 + t] = h;
    dhi8[j * 256 + t] = h8;
    dlo8[j * 256 + t] = l8;
  }
}

static __device__ __forceinline__ float4 add4(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Sum over the lanes of the warp that have the same lane & 3.
static __device__ __forceinline__ float4 warp_sum_q(float4 a) {
#pragma unroll
  for (int o = 4; o < 32; o <<= 1) {
    a.x += __shfl_xor_sync(0xffffffffu, a.x, o);
    a.y += __shfl_xor_sync(0xffffffffu, a.y, o);
    a.z += __shfl_xor_sync(0xffffffffu, a.z, o);
    a.w += __shfl_xor_sync(0xffffffffu, a.w, o);
  }
  return a;
}

// (h + 2 * cross) / (sx * sw) * scale + mean(x row) * sum(w row) * scale.
static __device__ __forceinline__ float combine(float h, float cr, float ix, float a, float cb) {
  return fmaf(fmaf(cr, 2.f, h) * ix, a, cb);
}

// A block owns 16 columns and all 1024 rows, held in registers; works in place in hh.
static __global__ void __launch_bounds__(512, 2)
tail_kernel(float *hh, const float *cross, const float *inv, const float *gemm_bias, const float *scale,
            const float *bn_weight, const float *bn_bias, float *running_mean, float *running_var,
            int64_t *num_batches) {
  __shared__ float4 red_sum[16][4];
  __shared__ float4 red_sq[16][4];

  const int t = threadIdx.x;
  const int lane = t & 31;
  const int warp = t >> 5;
  const int q = t & 3;
  const int r0 = t >> 2;
  const int c = blockIdx.x * 16 + 4 * q;
  const size_t base = (size_t)r0 * kCols + c;
  const size_t step = (size_t)128 * kCols;

  float4 v[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    v[j] = *reinterpret_cast<const float4 *>(hh + base + j * step);

  // The bias of the gemm is constant in a column: it cancels here and only moves the running mean.
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  {
    float4 a = *reinterpret_cast<const float4 *>(inv + c);
    float4 b = *reinterpret_cast<const float4 *>(inv + kCols + kRows + c);
    {
      const float4 sc = *reinterpret_cast<const float4 *>(scale + c);
      a.x *= sc.x;
      a.y *= sc.y;
      a.z *= sc.z;
      a.w *= sc.w;
      b.x *= sc.x;
      b.y *= sc.y;
      b.z *= sc.z;
      b.w *= sc.w;
    }
    const float *rowinv = inv + kCols + r0;
    const float *rowmean = inv + kCols + kRows + kCols + r0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 cr = __ldcs(reinterpret_cast<const float4 *>(cross + base + j * step));
      const float ix = rowinv[128 * j];
      const float cm = rowmean[128 * j];
      v[j].x = combine(v[j].x, cr.x, ix, a.x, cm * b.x);
      v[j].y = combine(v[j].y, cr.y, ix, a.y, cm * b.y);
      v[j].z = combine(v[j].z, cr.z, ix, a.z, cm * b.z);
      v[j].w = combine(v[j].w, cr.w, ix, a.w, cm * b.w);
      sum = add4(sum, v[j]);
    }
  }

  sum = warp_sum_q(sum);
  if (lane < 4)
    red_sum[warp][lane] = sum;
  __syncthreads();
  float4 mean = red_sum[0][q];
#pragma unroll
  for (int i = 1; i < 16; ++i)
    mean = add4(mean, red_sum[i][q]);
  const float rn = 1.f / (float)kRows;
  mean.x *= rn;
  mean.y *= rn;
  mean.z *= rn;
  mean.w *= rn;

  float4 sq = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    v[j].x -= mean.x;
    v[j].y -= mean.y;
    v[j].z -= mean.z;
    v[j].w -= mean.w;
    sq.x = fmaf(v[j].x, v[j].x, sq.x);
    sq.y = fmaf(v[j].y, v[j].y, sq.y);
    sq.z = fmaf(v[j].z, v[j].z, sq.z);
    sq.w = fmaf(v[j].w, v[j].w, sq.w);
  }
  sq = warp_sum_q(sq);
  if (lane < 4)
    red_sq[warp][lane] = sq;
  __syncthreads();
  float4 total = red_sq[0][q];
#pragma unroll
  for (int i = 1; i < 16; ++i)
    total = add4(total, red_sq[i][q]);

  const float4 bw = *reinterpret_cast<const float4 *>(bn_weight + c);
  const float4 bb = *reinterpret_cast<const float4 *>(bn_bias + c);
  float4 g;
  g.x = bw.x / sqrtf(total.x * rn + 1e-5f);
  g.y = bw.y / sqrtf(total.y * rn + 1e-5f);
  g.z = bw.z / sqrtf(total.z * rn + 1e-5f);
  g.w = bw.w / sqrtf(total.w * rn + 1e-5f);

#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float4 o;
    o.x = fmaf(v[j].x, g.x, bb.x);
    o.y = fmaf(v[j].y, g.y, bb.y);
    o.z = fmaf(v[j].z, g.z, bb.z);
    o.w = fmaf(v[j].w, g.w, bb.w);
    *reinterpret_cast<float4 *>(hh + base + j * step) = o;
  }

  if (t < 4) {
    const float ru = 1.f / (float)(kRows - 1);
    const float4 gb = *reinterpret_cast<const float4 *>(gemm_bias + c);
    const float4 sc = *reinterpret_cast<const float4 *>(scale + c);
    float4 rm = *reinterpret_cast<const float4 *>(running_mean + c);
    rm.x = 0.9f * rm.x + 0.1f * fmaf(sc.x, gb.x, mean.x);
    rm.y = 0.9f * rm.y + 0.1f * fmaf(sc.y, gb.y, mean.y);
    rm.z = 0.9f * rm.z + 0.1f * fmaf(sc.z, gb.z, mean.z);
    rm.w = 0.9f * rm.w + 0.1f * fmaf(sc.w, gb.w, mean.w);
    *reinterpret_cast<float4 *>(running_mean + c) = rm;
    float4 rv = *reinterpret_cast<const float4 *>(running_var + c);
    rv.x = 0.9f * rv.x + 0.1f * (total.x * ru);
    rv.y = 0.9f * rv.y + 0.1f * (total.y * ru);
    rv.z = 0.9f * rv.z + 0.1f * (total.z * ru);
    rv.w = 0.9f * rv.w + 0.1f * (total.w * ru);
    *reinterpret_cast<float4 *>(running_var + c) = rv;
  }
  if (blockIdx.x == 0 && t == 0)
    *num_batches += 1;
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
  at::Tensor wh = at::empty({kCols, kDepth}, x.options().dtype(at::kHalf));
  at::Tensor xh = at::empty({kRows, kDepth}, x.options().dtype(at::kHalf));
  at::Tensor w8 = at::empty({kCols, 2 * kDepth}, x.options().dtype(at::kFloat8_e4m3fn)); // rows [lo8 | hi8]
  at::Tensor x8 = at::empty({kRows, 2 * kDepth}, x.options().dtype(at::kFloat8_e4m3fn)); // rows [hi8 | lo8]
  at::Tensor inv = at::empty({2 * (kCols + kRows)}, x.options());
  at::Tensor one = at::empty({1}, x.options()); // scale of the fp8 product, written by split_kernel

  split_kernel<<<kCols + kRows, 256, 0, stream>>>(
      gemm_weight.const_data_ptr<float>(), x.const_data_ptr<float>(),
      reinterpret_cast<__half *>(wh.data_ptr<at::Half>()),
      reinterpret_cast<__half *>(xh.data_ptr<at::Half>()),
      static_cast<uint8_t *>(w8.data_ptr()), static_cast<uint8_t *>(x8.data_ptr()),
      inv.data_ptr<float>(), one.data_ptr<float>());

  // x * w_lo + x_lo * w in one fp8 product, and x_hi * w_hi from halves to floats.
  at::Tensor cross = at::_scaled_mm(x8, w8.t(), one, one, std::nullopt, std::nullopt, at::kFloat,
                                    /*use_fast_accum=*/true); // float [1024, 8192], K = 16384
  at::Tensor hh = at::mm(xh, wh.t(), at::kFloat); // float [1024, 8192], K = 8192

  tail_kernel<<<kCols / 16, 512, 0, stream>>>(
      hh.data_ptr<float>(), cross.const_data_ptr<float>(), inv.const_data_ptr<float>(),
      gemm_bias.const_data_ptr<float>(), scale.const_data_ptr<float>(),
      bn_weight.const_data_ptr<float>(), bn_bias.const_data_ptr<float>(),
      bn_running_mean.data_ptr<float>(), bn_running_var.data_ptr<float>(),
      bn_num_batches_tracked.data_ptr<int64_t>());
  return hh;
}
