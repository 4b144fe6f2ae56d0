// A loop that threads share moves 16 bytes at a time, unless which thread runs
// an iteration could be seen in what the kernel computes.
// RUN: env CUDA_PATH=%cuda %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: env CUDA_PATH=%cuda %stark-tool rewrites %s --apply vector-access@sum_rows:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: env CUDA_PATH=%cuda %stark-tool rewrites %s --apply vector-access@scale:loop1 | FileCheck %s --check-prefix=SCALE
// RUN: env CUDA_PATH=%cuda %stark-tool rewrites %s --apply vector-access@halves:loop1 -o %t.half.cu && FileCheck %s --check-prefix=HALF < %t.half.cu
// RUN: env CUDA_PATH=%cuda not %stark-tool rewrites %s --apply vector-access@columns:loop1 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.half.cu -o %t.half.ptx && FileCheck %s --check-prefix=PTX < %t.half.ptx %}
// PTX: ld.global.v4
// NOT: error: 'vector-access@columns:loop1' does not apply: what a thread collects in 'sum' goes elsewhere
#include <cuda_fp16.h>

// LIST-DAG: {{^}}vector-access@sum_rows:loop1: line [[#@LINE+7]]: Load and store 16 bytes at a time
// CHECK: {{^[^/]*}}struct alignas(16) wide_vec
__global__ void sum_rows(const float *x, float *y, int n) {
  __shared__ float partial[128];
  const float *row = x + (size_t)blockIdx.x * n;
  float sum = 0;
  // CHECK: {{^[^/]*}}const int whole ={{[[:space:]]+}}is_wide_aligned(&row[0]) ? n / 4 * 4 : 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += row[i];
  // CHECK: {{^[^/]*}}for (int at = threadIdx.x; at < whole / 4; at += blockDim.x) {
  // CHECK: {{^[^/]*}}const int i = at * 4;
  // CHECK: {{^[^/]*}}*reinterpret_cast<const wide_vec<float, 4> *>(&row[i]);
  // CHECK: {{^[^/]*}}sum += row_vec.at[lane];
  // CHECK: {{^[^/]*}}for (int i = whole + threadIdx.x; i < n; i += blockDim.x)
  // CHECK-NEXT: {{^[^/]*}}sum += row[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = partial[0];
}

// Pointers that may overlap are compared at run time; the index itself is the
// element's.
// LIST-DAG: {{^}}vector-access@scale:loop1:
// SCALE: {{^[^/]*}}is_wide_aligned(&y[0]) && is_wide_aligned(&x[0]) &&{{[[:space:]]+}}((const void *)&y[0] == (const void *)&x[0] ||{{[[:space:]]+}}lie_apart(
// SCALE: {{^[^/]*}}y_vec.at[lane] = x_vec.at[lane] * (i + lane);
// SCALE: {{^[^/]*}}*reinterpret_cast<wide_vec<float, 4> *>(&y[i]) =
__global__ void scale(const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    y[i] = x[i] * i;
}

// LIST-DAG: {{^}}vector-access@halves:loop1:
// HALF: {{^[^/]*}}wide_vec<__half, 8>
__global__ void halves(const __half *x, __half *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = __float2half(2 * __half2float(x[i]));
}

// Thread t sums up column t.
// LIST-DAG: not vector-access@columns:loop1: line [[#@LINE+3]]: what a thread collects in 'sum' goes elsewhere than into a reduction of the whole block
__global__ void columns(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  y[threadIdx.x] = sum;
}

// Half of the reductions are of another kind.
// LIST-DAG: not vector-access@mixed:loop1: {{.*}}: what a thread collects in 'most' goes elsewhere
__global__ void mixed(const float *x, float *y, int n) {
  __shared__ float partial[128];
  float most = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    most = fmaxf(most, x[i]);
  partial[threadIdx.x] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[0] = partial[0];
}

// The same thread reads again what it wrote; with no barrier no other may.
// LIST-DAG: not vector-access@twice:loop1: {{.*}} may be the same memory, with no barrier between them
// LIST-DAG: not vector-access@twice:loop2: {{.*}} may be the same memory, with no barrier between them
__global__ void twice(float *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i] = x[i] + 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i] = x[i] * 2;
}

// LIST-DAG: not vector-access@running:loop1: {{.*}} may be the same memory, at different indices
__global__ void running(float *x, int n, int width) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    x[i + width] = x[i] + 1;
}

// LIST-DAG: not vector-access@own_factor:loop1: {{.*}} 'factor' may differ from thread to thread
__global__ void own_factor(const float *f, const float *x, float *y, int n) {
  float factor = f[threadIdx.x];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = factor * x[i];
}

// LIST-DAG: not vector-access@by_thread:loop1: {{.*}} its body uses threadIdx
__global__ void by_thread(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i] + threadIdx.x;
}

// LIST-DAG: not vector-access@guarded:loop1: {{.*}} it stores to 'y' under a condition
__global__ void guarded(const float *x, float *y, int n, int m) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (i < m)
      y[i] = x[i];
}

// LIST-DAG: not vector-access@first_of:loop1: {{.*}} 'best' outlives an iteration
__global__ void first_of(const float *x, int *y, int n) {
  float best = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] > best)
      best = x[i];
  y[threadIdx.x] = best;
}

// LIST-DAG: not vector-access@modulo:loop1: {{.*}} it stores to an element whose index is not the loop's
__global__ void modulo(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i % blockDim.x] = x[i];
}

// A quarter of the threads would go along four columns each.
// LIST-DAG: not vector-access@own_columns:loop1: {{.*}} within it takes the time, and a quarter of the threads would run it
__global__ void own_columns(const float *x, const float *m, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float sum = x[i];
    for (int j = 0; j < n; ++j)
      sum += m[j * n + i];
    y[i] = sum;
  }
}

// LIST-DAG: not vector-access@calls:loop1: {{.*}} its body has a call of tell
__device__ void tell(float);
__global__ void calls(const float *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    tell(x[i]);
}

// LIST-DAG: not vector-access@changing:loop1: {{.*}} it accesses volatile memory
__global__ void changing(const volatile float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i];
}

// LIST-DAG: not vector-access@branches: {{.*}} it holds preprocessor directives
__global__ void branches(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
#ifdef TWICE
    y[i] = 2 * x[i];
#else
    y[i] = x[i];
#endif
}

void launch(const float *x, float *y, int n) {
  sum_rows<<<1, 128>>>(x, y, n);
  mixed<<<1, 128>>>(x, y, n);
}
