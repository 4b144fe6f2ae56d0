// The generated call takes every kind of parameter that a workload can give,
// after a source with hostile macros, pragmas and no final newline, and nvcc
// compiles it; a reference's call stands beside it.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: env CUDA_PATH=%cuda %stark-tool workload %t/all.cu --check %t/all.json --call > %t/call
// RUN: FileCheck --check-prefix=ALL --input-file=%t/call %s
// RUN: env CUDA_PATH=%cuda %stark-tool workload %t/all.cu --check %t/kernel.json --call > %t/call2
// RUN: FileCheck --check-prefix=KERNEL --input-file=%t/call2 %s
// ALL: entry ns::launch<float>, line [[#]]
// ALL: size n=1000: compared and timed, {{[0-9]+}} bytes
// ALL: #line 1 "stark_call"
// ALL: stark_set(stark_value.dims[1],
// ALL: void stark_call(void **stark_leaves)
// ALL: ::ns::launch<float>(
// ALL: #line 1 "stark_reference"
// ALL: void stark_reference(void **stark_leaves)
// KERNEL: ::scale_kernel<<<dim3(

// The first lines say what was checked; the call follows.
// RUN: sed -n '/^#line/,$p' %t/call > %t/code
// RUN: sed -n '/^#line/,$p' %t/call2 > %t/code2
// RUN: printf '%%s' "$(cat %t/all.cu)" > %t/whole.cu
// RUN: (echo; cat %t/code; sed 's/stark_call/stark_kernel/g' %t/code2) >> %t/whole.cu
// RUN: nvcc -arch=sm_75 -std=c++17 -D__CUDA_NO_HALF_CONVERSIONS__ -c -Werror all-warnings -Xcompiler -Wall,-Wno-comment -o %t/whole.o %t/whole.cu
// RUN: nm %t/whole.o | FileCheck --check-prefix=SYMBOLS %s
// SYMBOLS-DAG: T stark_call
// SYMBOLS-DAG: T stark_kernel
// SYMBOLS-DAG: T stark_reference

//--- all.cu
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#define T nothing_of_yours
#define Value 3
#define Pointer class
#define Real "real"
#define set(a) a
#define leaf -1
#pragma GCC visibility push(hidden)
enum class Mode : int { Plain, Fast };
namespace ns {
struct Shape {
  int rows;
  long long cols;
};
namespace {
struct Params {
  float eps;
  __half scale;
  Shape shape;
  int dims[3];
  const float *__restrict__ bias;
  bool flag;
  Mode mode;
};
} // namespace
inline namespace inner {
template <class E>
static cudaError_t launch(const E *__restrict__ x, E *y, const int &n,
                          const E &alpha, float4 *v, __half h,
                          const __nv_bfloat16 b, const void *any, Mode mode,
                          bool flag, unsigned char small, int64_t wide,
                          size_t count, double d, Params params, float2 pair,
                          const uint8_t *mask, const __half2 *halves,
                          const long *longs, int8_t tiny[],
                          cudaStream_t stream) {
  (void)x, (void)y, (void)n, (void)alpha, (void)v, (void)h, (void)b;
  (void)any, (void)mode, (void)flag, (void)small, (void)wide, (void)count;
  (void)d, (void)params, (void)pair, (void)mask, (void)halves, (void)longs;
  (void)tiny, (void)stream;
  return cudaSuccess;
}
template <class E>
cudaError_t plain(const E *x, E *y, const int &n, const E &alpha, float4 *v,
                  __half h, const __nv_bfloat16 b, const void *any, Mode mode,
                  bool flag, unsigned char small, int64_t wide, size_t count,
                  double d, Params params, float2 pair, const uint8_t *mask,
                  const __half2 *halves, const long *longs, int8_t tiny[],
                  cudaStream_t stream) {
  return launch<E>(x, y, n, alpha, v, h, b, any, mode, flag, small, wide, count,
                   d, params, pair, mask, halves, longs, tiny, stream);
}
} // namespace inner
} // namespace ns
__global__ void scale_kernel(float *y, const __grid_constant__ ns::Shape shape,
                             int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && shape.rows)
    y[i] *= by;
}
#pragma pack(1)
// The end of the file, without a newline \
//--- all.json
{ "entry": "ns::inner::launch<float>", "reference": "ns::plain<float>",
  "sizes": [{"n": 1000}],
  "arguments": {
    "x": {"dtype": "f32", "shape": ["n"]},
    "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
    "n": {"value": "n"}, "alpha": {"value": 0.5},
    "v": {"dtype": "f32", "shape": ["n", 4], "role": "inout"},
    "h": {"value": "1.0 / n"}, "b": {"value": 2},
    "any": {"dtype": "u8", "shape": [16]},
    "mode": {"value": 1}, "flag": {"value": true}, "small": {"value": 255},
    "wide": {"value": "n << 32"}, "count": {"value": "n"}, "d": {"value": 1e-9},
    "params.eps": {"value": "1e-5"}, "params.scale": {"value": 1},
    "params.shape.rows": {"value": "n % 7"}, "params.shape.cols": {"value": "n"},
    "params.dims[0]": {"value": 1}, "params.dims[1]": {"value": 2}, "params.dims[2]": {"value": 3},
    "params.bias": {"dtype": "f32", "shape": ["n"], "init": "ones"},
    "params.flag": {"value": false}, "params.mode": {"value": 0},
    "pair.x": {"value": 1}, "pair.y": {"value": 2},
    "mask": {"dtype": "u8", "shape": ["n"], "init": {"uniform": [0, 2]}},
    "halves": {"dtype": "f16", "shape": ["n", 2]},
    "longs": {"dtype": "i64", "shape": ["n"], "init": "permutation"},
    "tiny": {"dtype": "u8", "shape": ["n"], "role": "scratch"} } }
//--- kernel.json
{ "launch": {"kernel": "scale_kernel", "grid": "(n + 255) / 256, min(n, 2)", "block": "256", "shared_bytes": "4 * 256"},
  "sizes": [{"n": 1000}],
  "arguments": {
    "y": {"dtype": "f32", "shape": ["n"], "role": "inout"},
    "shape.rows": {"value": "n"}, "shape.cols": {"value": "n"},
    "n": {"value": "n"}, "by": {"value": 2} } }
