// An index that a loop's body names counts as what it stands for.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/named-index.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/named-index.workload.json --apply warp-rows@rows -o %t.rows.cu && FileCheck %s --check-prefix=ROWS < %t.rows.cu
// RUN: %stark-tool rewrites %s --workload %S/Inputs/named-index.workload.json --apply row-vectors@rows:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply vector-access@shifted:loop1 | FileCheck %s --check-prefix=SHIFT
// RUN: %stark-tool simulate %s --workload %S/Inputs/named-index.workload.json --candidate %t.rows.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool simulate %s --workload %S/Inputs/named-index.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)

// LIST-DAG: {{^}}warp-rows@rows: line
// LIST-DAG: {{^}}row-vectors@rows:loop1: line
// ROWS: {{^[^/]*}}for (size_t j = 0 + lane; j < cols; j += 32) {
// ROWS-NEXT: {{^[^/]*}}size_t at = i * cols + j;
// ROWS-NEXT: {{^[^/]*}}sum += x[at];
// ROWS: {{^[^/]*}}for (size_t j = 0 + lane; j < cols; j += 32) {
// ROWS-NEXT: {{^[^/]*}}const size_t at = i * cols + j;
// ROWS-NEXT: {{^[^/]*}}y[at] = x[at] / sum;
// CHECK: {{^[^/]*}}&x[static_cast<size_t>(i * cols + j)]);
// CHECK: {{^[^/]*}}sum += x_vec.at[lane];
__global__ void rows(const float *x, float *y, size_t n, size_t cols) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (size_t j = 0; j < cols; ++j) {
    size_t at = i * cols + j;
    sum += x[at];
  }
  for (size_t j = 0; j < cols; ++j) {
    const size_t at = i * cols + j;
    y[at] = x[at] / sum;
  }
}

// LIST-DAG: {{^}}vector-access@shifted:loop1: line
// SHIFT: {{^[^/]*}}&x[static_cast<int>(static_cast<int>(blockIdx.x * n) + i)]);
__global__ void shifted(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int first = blockIdx.x * n;
    int at = first + i;
    y[at] = 2 * x[at];
  }
}

// A name that is changed, of too narrow a type, or for something else.
// LIST-DAG: not warp-rows@moves: {{.*}} it stores to an element whose index is not the loop's plus something that stays the same
__global__ void moves(const float *x, float *y, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int j = 0; j < cols; ++j) {
    int at = i * cols + j;
    at += j;
    y[at] = x[at];
  }
}
// LIST-DAG: not vector-access@narrow:loop1: {{.*}} it stores to an element whose index is not the loop's plus something that stays the same
__global__ void narrow(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    unsigned char at = i;
    y[at] = x[i];
  }
}
// LIST-DAG: not vector-access@looked_up:loop1: {{.*}} it stores to an element whose index is not the loop's plus something that stays the same
__global__ void looked_up(const int *where, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int at = where[i] + i;
    y[at] = 1;
  }
}
// LIST-DAG: not vector-access@twice:loop1: {{.*}} it stores to an element whose index is not the loop's plus something that stays the same
__global__ void twice(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int half = i / 2;
    int at = half + i;
    y[at] = x[i];
  }
}
