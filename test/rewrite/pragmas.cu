// What stands instead of a loop takes its pragmas' place, and names of what is
// declared are none of the file's macros.
// RUN: split-file %s %t
// RUN: %stark-tool rewrites %t/loops.cu --check | FileCheck %s
// RUN: %stark-tool rewrites %t/loops.cu --apply vector-access@rows:loop1 | FileCheck %s --check-prefix=ROWS
// RUN: %stark-tool rewrites %t/macros.cu | FileCheck %s --check-prefix=MACROS
// CHECK: {{^[1-9][0-9]*}} rewrites, 0 of them bad
// ROWS: {{^[^/]*}}void rows(const float *x, float *y, int n) {
// ROWS-NOT: unroll 4
// ROWS: // 16 bytes at a time
// MACROS: not vector-access@rows:loop1: {{.*}} the file uses the name 'Width', which the rewrite needs, for something else

//--- loops.cu
#define N 1024
#define T float
__global__ void rows(const float *x, float *y, int n) {
  #pragma unroll 4
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = 2 * x[blockIdx.x * n + i];
}
__global__ void tree(const float *x, float *y) {
  __shared__ float part[256];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = part[0];
}
void launch(const float *x, float *y, int n) {
  rows<<<4, 256>>>(x, y, n);
  tree<<<4, 256>>>(x, y);
}

//--- macros.cu
#define Width 1024
__global__ void rows(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = 2 * x[blockIdx.x * n + i];
}
void launch(const float *x, float *y, int n) { rows<<<4, 256>>>(x, y, n); }
