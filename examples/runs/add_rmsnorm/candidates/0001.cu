// Residual add and RMSNorm, fused but otherwise as one writes it first: half
// by half, the sum of squares through shared memory.

#include "add_rmsnorm.h"

#include <cstdint>

namespace {

constexpr int kThreads = 256;

__global__ void add_rmsnorm_kernel(const __half *x, __half *residual,
                                   const __half *weight, __half *y, int hidden,
                                   float eps) {
  size_t row = (size_t)blockIdx.x * hidden;
  __shared__ float partial[kThreads];

  float squares = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float value = __half2float(x[row + i]) + __half2float(residual[row + i]);
    residual[row + i] = __float2half(value);
    squares += value * value;
  }
  partial[threadIdx.x] = squares;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  float scale = rsqrtf(partial[0] / hidden + eps);

  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float value = __half2float(residual[row + i]);
    y[row + i] = __float2half(value * scale * __half2float(weight[i]));
  }
}

constexpr int kVecThreads = 256;
constexpr int kVecWarps = kVecThreads / 32;

__device__ __forceinline__ float2 unpack_halves(unsigned bits) {
  return __half22float2(*reinterpret_cast<const __half2 *>(&bits));
}

__device__ __forceinline__ unsigned pack_halves(float2 v) {
  __half2 h = __floats2half2_rn(v.x, v.y);
  return *reinterpret_cast<const unsigned *>(&h);
}

// The rounded sum of two pairs; the squares of the unrounded sums are added to
// squares.
__device__ __forceinline__ unsigned add_pair(unsigned a, unsigned r,
                                             float &squares) {
  float2 p = unpack_halves(a);
  float2 q = unpack_halves(r);
  float2 v = make_float2(p.x + q.x, p.y + q.y);
  squares += v.x * v.x;
  squares += v.y * v.y;
  return pack_halves(v);
}

__device__ __forceinline__ unsigned scale_pair(unsigned r, unsigned w,
                                               float scale) {
  float2 v = unpack_halves(r);
  float2 u = unpack_halves(w);
  return pack_halves(make_float2(v.x * scale * u.x, v.y * scale * u.y));
}

// One row a block, held in registers: kVecs vectors of eight halves a thread.
// With kFull the row has exactly kVecs * kVecThreads vectors. Needs hidden to be
// a multiple of 8, at most 8 * kVecs * kVecThreads, and 16-byte aligned pointers.
template <int kVecs, bool kFull>
__global__ void __launch_bounds__(kVecThreads)
    add_rmsnorm_vec_kernel(const __half *x, __half *residual,
                           const __half *weight, __half *y, int hidden,
                           float eps) {
  __shared__ float partial[kVecWarps];

  const int n8 = hidden / 8;
  const int tid = threadIdx.x;
  const size_t row = (size_t)blockIdx.x * hidden;
  const uint4 *xv = reinterpret_cast<const uint4 *>(x + row);
  uint4 *rv = reinterpret_cast<uint4 *>(residual + row);
  const uint4 *wv = reinterpret_cast<const uint4 *>(weight);
  uint4 *yv = reinterpret_cast<uint4 *>(y + row);

  uint4 a[kVecs];
  uint4 r[kVecs];
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    if (kFull || i < n8) {
      a[k] = __ldcs(xv + i);
      r[k] = __ldcs(rv + i);
    } else {
      a[k] = make_uint4(0u, 0u, 0u, 0u);
      r[k] = make_uint4(0u, 0u, 0u, 0u);
    }
  }

  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    r[k].x = add_pair(a[k].x, r[k].x, squares);
    r[k].y = add_pair(a[k].y, r[k].y, squares);
    r[k].z = add_pair(a[k].z, r[k].z, squares);
    r[k].w = add_pair(a[k].w, r[k].w, squares);
    if (kFull || i < n8)
      __stcs(rv + i, r[k]);
  }

  // Before the barrier, so that the latency lies under the reduction.
  uint4 w[kVecs];
#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    if (kFull || i < n8)
      w[k] = __ldg(wv + i);
    else
      w[k] = make_uint4(0u, 0u, 0u, 0u);
  }

#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  if (tid % 32 == 0)
    partial[tid / 32] = squares;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int j = 0; j < kVecWarps; ++j)
    total += partial[j];
  const float scale = rsqrtf(total / hidden + eps);

#pragma unroll
  for (int k = 0; k < kVecs; ++k) {
    const int i = tid + k * kVecThreads;
    uint4 out;
    out.x = scale_pair(r[k].x, w[k].x, scale);
    out.y = scale_pair(r[k].y, w[k].y, scale);
    out.z = scale_pair(r[k].z, w[k].z, scale);
    out.w = scale_pair(r[k].w, w[k].w, scale);
    if (kFull || i < n8)
      __stcs(yv + i, out);
  }
}

} // namespace

void add_rmsnorm(const __half *x, __half *residual, const __half *weight,
                 __half *y, int tokens, int hidden, float eps,
                 cudaStream_t stream) {
  if (tokens <= 0)
    return;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(x) |
        reinterpret_cast<std::uintptr_t>(residual) |
        reinterpret_cast<std::uintptr_t>(weight) |
        reinterpret_cast<std::uintptr_t>(y)) % 16) == 0;
  if (aligned && hidden > 0 && hidden % 8 == 0 && hidden <= 8192) {
    if (hidden == 8192)
      add_rmsnorm_vec_kernel<4, true><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden == 4096)
      add_rmsnorm_vec_kernel<2, true><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden <= 2048)
      add_rmsnorm_vec_kernel<1, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else if (hidden <= 4096)
      add_rmsnorm_vec_kernel<2, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    else
      add_rmsnorm_vec_kernel<4, false><<<tokens, kVecThreads, 0, stream>>>(
          x, residual, weight, y, hidden, eps);
    return;
  }
  add_rmsnorm_kernel<<<tokens, kThreads, 0, stream>>>(x, residual, weight, y,
                                                      hidden, eps);
}
