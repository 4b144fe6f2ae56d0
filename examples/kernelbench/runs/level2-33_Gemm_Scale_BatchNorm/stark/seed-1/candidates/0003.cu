// Model of 33_Gemm_Scale_BatchNorm.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <cuda_bf16.h>

// Splits each fp32 value v into hi = bf16(v) and lo = bf16(v - hi). One block per row of 8192 floats.
// Rows of w2: [ hi | lo ], rows of a2: [ lo | hi ].
static __global__ void __launch_bounds__(256) split_kernel(const float *__restrict__ x,
                                                           const float *__restrict__ w,
                                                           __nv_bfloat16 *__restrict__ a2,
                                                           __nv_bfloat16 *__restrict__ w2) {
  int row = blockIdx.x;
  const float *src;
  __nv_bfloat16 *hi, *lo;
  if (row < 8192) {
    src = w + (size_t)row * 8192;
    hi = w2 + (size_t)row * 16384;
    lo = hi + 8192;
  } else {
    row -= 8192;
    src = x + (size_t)row * 8192;
    lo = a2 + (size_t)row * 16384;
    hi = lo + 8192;
  }
  const int tid = threadIdx.x;
  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldcs(reinterpret_cast<const float4 *>(src) + i * 256 + tid);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    __nv_bfloat162 h0 = __floats2bfloat162_rn(v[i].x, v[i].y);
    __nv_bfloat162 h1 = __floats2bfloat162_rn(v[i].z, v[i].w);
    __nv_bfloat162 l0 = __floats2bfloat162_rn(v[i].x - __low2float(h0), v[i].y - __high2float(h0));
    __nv_bfloat162 l1 = __floats2bfloat162_rn(v[i].z - __low2float(h1), v[i].w - __high2float(h1));
    uint2 H, L;
    H.x = *reinterpret_cast<unsigned *>(&h0);
    H.y = *reinterpret_cast<unsigned *>(&h1);
    L.x = *reinterpret_cast<unsigned *>(&l0);
    L.y = *reinterpret_cast<unsigned *>(&l1);
    reinterpret_cast<uint2 *>(hi)[i * 256 + tid] = H;
    reinterpret_cast<uint2 *>(lo)[i * 256 + tid] = L;
  }
}

static __device__ __forceinline__ float4 column_sum(float4 t, float (*red)[16], int tid) {
#pragma unroll
  for (int m = 4; m <= 16; m <<= 1) {
    t.x += __shfl_xor_sync(0xffffffffu, t.x, m);
    t.y += __shfl_xor_sync(0xffffffffu, t.y, m);
    t.z += __shfl_xor_sync(0xffffffffu, t.z, m);
    t.w += __shfl_xor_sync(0xffffffffu, t.w, m);
  }
  const int lane = tid & 31, warp = tid >> 5;
  if (lane < 4)
    *reinterpret_cast<float4 *>(&red[warp][lane * 4]) = t;
  __syncthreads();
  const int q = tid & 3;
  float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float4 p = *reinterpret_cast<const float4 *>(&red[k][q * 4]);
    s.x += p.x;
    s.y += p.y;
    s.z += p.z;
    s.w += p.w;
  }
  return s;
}

// A block owns 16 columns and all 1024 rows; 4 threads side by side take 4 columns each.
static __global__ void __launch_bounds__(512, 2)
    scale_bn_kernel(const float *__restrict__ c_hi, const float *__restrict__ c_lo,
                    const float *__restrict__ gemm_bias, const float *__restrict__ scale,
                    const float *__restrict__ bn_weight, const float *__restrict__ bn_bias,
                    float *running_mean, float *running_var, int64_t *num_batches,
                    float *__restrict__ out) {
  __shared__ __align__(16) float red1[16][16];
  __shared__ __align__(16) float red2[16][16];

  const int tid = threadIdx.x;
  const int q = tid & 3;
  const int r = tid >> 2;
  const int col = blockIdx.x * 16 + q * 4;
  const size_t base = (size_t)r * 8192 + col;
  constexpr size_t kStep = (size_t)128 * 8192;

  float4 v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    v[i] = __ldg(reinterpret_cast<const float4 *>(c_hi + base + i * kStep));
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float4 l[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      l[i] = __ldg(reinterpret_cast<const float4 *>(c_lo + base + (h * 4 + i) * kStep));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[h * 4 + i].x += l[i].x;
      v[h * 4 + i].y += l[i].y;
      v[h * 4 + i].z += l[i].z;
      v[h * 4 + i].w += l[i].w;
    }
  }

  float4 t = make_float4(0.f, 0.f, 0.f, 0.f);
  {
    const float4 b = __ldg(reinterpret_cast<const float4 *>(gemm_bias + col));
    const float4 s = __ldg(reinterpret_cast<const float4 *>(scale + col));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      v[i].x = (v[i].x + b.x) * s.x;
      v[i].y = (v[i].y + b.y) * s.y;
      v[i].z = (v[i].z + b.z) * s.z;
      v[i].w = (v[i].w + b.w) * s.w;
      t.x += v[i].x;
      t.y += v[i].y;
      t.z += v[i].z;
      t.w += v[i].w;
    }
  }

  float4 mean = column_sum(t, red1, tid);
  mean.x *= 1.0f / 1024.0f;
  mean.y *= 1.0f / 1024.0f;
  mean.z *= 1.0f / 1024.0f;
  mean.w *= 1.0f / 1024.0f;

  t = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    v[i].x -= mean.x;
    v[i].y -= mean.y;
    v[i].z -= mean.z;
    v[i].w -= mean.w;
    t.x = fmaf(v[i].x, v[i].x, t.x);
    t.y = fmaf(v[i].y, v[i].y, t.y);
    t.z = fmaf(v[i].z, v[i].z, t.z);
    t.w = fmaf(v[i].w, v[i].w, t.w);
  }
  const float4 m2 = column_sum(t, red2, tid);

  const float4 g = __ldg(reinterpret_cast<const float4 *>(bn_weight + col));
  const float4 a = __ldg(reinterpret_cast<const float4 *>(bn_bias + col));
  float4 f;
  f.x = g.x / sqrtf(m2.x * (1.0f / 1024.0f) + 1e-5f);
  f.y = g.y / sqrtf(m2.y * (1.0f / 1024.0f) + 1e-5f);
  f.z = g.z / sqrtf(m2.z * (1.0f / 1024.0f) + 1e-5f);
  f.w = g.w / sqrtf(m2.w * (1.0f / 1024.0f) + 1e-5f);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float4 y;
    y.x = fmaf(v[i].x, f.x, a.x);
    y.y = fmaf(v[i].y, f.y, a.y);
    y.z = fmaf(v[i].z, f.z, a.z);
    y.w = fmaf(v[i].w, f.w, a.w);
    *reinterpret_cast<float4 *>(out + base + i * kStep) = y;
  }

  if (tid < 4) {
    float4 rm = *reinterpret_cast<float4 *>(running_mean + col);
    float4 rv = *reinterpret_cast<float4 *>(running_var + col);
    rm.x = 0.9f * rm.x + 0.1f * mean.x;
    rm.y = 0.9f * rm.y + 0.1f * mean.y;
    rm.z = 0.9f * rm.z + 0.1f * mean.z;
    rm.w = 0.9f * rm.w + 0.1f * mean.w;
    rv.x = 0.9f * rv.x + 0.1f * (m2.x / 1023.0f);
    rv.y = 0.9f * rv.y + 0.1f * (m2.y / 1023.0f);
    rv.z = 0.9f * rv.z + 0.1f * (m2.z / 1023.0f);
    rv.w = 0.9f * rv.w + 0.1f * (m2.w / 1023.0f);
    *reinterpret_cast<float4 *>(running_mean + col) = rm;
    *reinterpret_cast<float4 *>(running_var + col) = rv;
    if (blockIdx.x == 0 && tid == 0)
      *num_batches += 1;
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

  auto hopt = x.options().dtype(at::kBFloat16);
  at::Tensor A2 = at::empty({1024, 16384}, hopt); // row m: [ x_lo | x_hi ]
  at::Tensor W2 = at::empty({8192, 16384}, hopt); // row n: [ w_hi | w_lo ]
  at::Tensor out = at::empty({1024, 8192}, x.options());

  split_kernel<<<8192 + 1024, 256, 0, stream>>>(
      x.const_data_ptr<float>(), gemm_weight.const_data_ptr<float>(),
      reinterpret_cast<__nv_bfloat16 *>(A2.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16 *>(W2.data_ptr<at::BFloat16>()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();

  // K = 16384: x_lo . w_hi + x_hi . w_lo
  at::Tensor c_lo = at::mm(A2, W2.t(), at::kFloat);
  // K = 8192: x_hi . w_hi
  at::Tensor c_hi = at::mm(A2.narrow(1, 8192, 8192), W2.narrow(1, 0, 8192).t(), at::kFloat);

  scale_bn_kernel<<<512, 512, 0, stream>>>(
      c_hi.const_data_ptr<float>(), c_lo.const_data_ptr<float>(),
      gemm_bias.const_data_ptr<float>(), scale.const_data_ptr<float>(),
      bn_weight.const_data_ptr<float>(), bn_bias.const_data_ptr<float>(),
      bn_running_mean.data_ptr<float>(), bn_running_var.data_ptr<float>(),
      bn_num_batches_tracked.data_ptr<int64_t>(), out.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
