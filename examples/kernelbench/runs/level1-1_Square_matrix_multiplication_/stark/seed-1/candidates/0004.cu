// Model of 1_Square_matrix_multiplication_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

static constexpr int kN = 4096;
static constexpr int kSplitThreads = 256;
static constexpr int kSplitVecs = kN / (4 * kSplitThreads); // float4 a thread

// hi and lo: two bf16 each, x in the low half (the lower address)
static __device__ __forceinline__ void split2(float x, float y, unsigned &hi, unsigned &lo) {
  __nv_bfloat162 h = __floats2bfloat162_rn(x, y);
  __nv_bfloat162 l = __floats2bfloat162_rn(x - __low2float(h), y - __high2float(h));
  hi = *reinterpret_cast<unsigned *>(&h);
  lo = *reinterpret_cast<unsigned *>(&l);
}

// Blocks 0..kN-1: a row of a, into a row [lo | hi | hi] of ap. Blocks kN..2*kN-1: a row of b, into the slabs
// [hi ; lo ; hi] of bp.
static __global__ void __launch_bounds__(kSplitThreads)
split_kernel(const float *__restrict__ a, const float *__restrict__ b,
             __nv_bfloat16 *__restrict__ ap, __nv_bfloat16 *__restrict__ bp) {
  const int block = (int)blockIdx.x;
  const bool isB = block >= kN;
  const int row = isB ? block - kN : block;
  const float4 *src = reinterpret_cast<const float4 *>((isB ? b : a) + (long long)row * kN);

  float4 v[kSplitVecs];
#pragma unroll
  for (int k = 0; k < kSplitVecs; ++k)
    v[k] = __ldcs(src + threadIdx.x + k * kSplitThreads);

  __nv_bfloat16 *dlo;
  __nv_bfloat16 *dhi0;
  __nv_bfloat16 *dhi1;
  if (!isB) {
    __nv_bfloat16 *base = ap + (long long)row * (3 * kN);
    dlo = base;
    dhi0 = base + kN;
    dhi1 = base + 2 * kN;
  } else {
    __nv_bfloat16 *base = bp + (long long)row * kN;
    dhi0 = base;
    dlo = base + (long long)kN * kN;
    dhi1 = base + 2LL * kN * kN;
  }

#pragma unroll
  for (int k = 0; k < kSplitVecs; ++k) {
    uint2 h, l;
    split2(v[k].x, v[k].y, h.x, l.x);
    split2(v[k].z, v[k].w, h.y, l.y);
    const int i = (int)threadIdx.x + k * kSplitThreads; // in units of 4 bf16 = 8 bytes
    reinterpret_cast<uint2 *>(dlo)[i] = l;
    reinterpret_cast<uint2 *>(dhi0)[i] = h;
    reinterpret_cast<uint2 *>(dhi1)[i] = h;
  }
}

at::Tensor Square_matrix_multiplication(
    const at::Tensor &a /* [4096, 4096] */,
    const at::Tensor &b /* [4096, 4096] */) {
  auto opt = a.options().dtype(at::kBFloat16);
  at::Tensor ap = at::empty({kN, 3 * kN}, opt); // [alo | ahi | ahi]
  at::Tensor bp = at::empty({3 * kN, kN}, opt); // [bhi ; blo ; bhi]
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  split_kernel<<<2 * kN, kSplitThreads, 0, stream>>>(
      a.const_data_ptr<float>(), b.const_data_ptr<float>(),
      reinterpret_cast<__nv_bfloat16 *>(ap.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16 *>(bp.data_ptr<at::BFloat16>()));
  // bf16 operands, fp32 accumulation and fp32 output: alo@bhi + ahi@blo + ahi@bhi
  at::Tensor matmul = at::mm(ap, bp, at::kFloat); // [4096, 4096]
  return matmul;
}
