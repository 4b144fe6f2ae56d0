// Where each thread goes through a part of its own, a warp goes through the
// parts of its threads together.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/warp-chunks.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/warp-chunks.workload.json | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/warp-chunks.workload.json --apply warp-chunks@add:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/warp-chunks.workload.json --candidate %t.cu | FileCheck %s --check-prefixes=SIM,FAST
// RUN: %stark-tool rewrites %s --apply warp-chunks@sums:loop1 -o %t.sums.cu && FileCheck %s --check-prefix=SUMS < %t.sums.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/warp-chunks-sums.workload.json --candidate %t.sums.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply warp-chunks@rounds:loop2 -o %t.rounds.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/warp-chunks-rounds.workload.json --candidate %t.rounds.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && nvcc -arch=sm_90 -ptx %t.sums.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// FAST: modelled {{.*}}: {{[2-9].*}} times as fast

// LIST-DAG: {{^}}warp-chunks@add:loop1: line [[#@LINE+14]]: Go through the threads' parts by warps
// CHECK: {{^[^/]*}}const int begin2 = begin, end2 = end;
// CHECK: {{^[^/]*}}const int next = __shfl_down_sync(0xffffffffu, begin2, 1);
// CHECK: {{^[^/]*}}if (together) {
// CHECK-NEXT: {{^[^/]*}}for (int i = static_cast<int>(first + threadIdx.x % 32); i < last;
// CHECK-NEXT: {{^[^/]*}}i += 32)
// CHECK-NEXT: {{^[^/]*}}c[i] = a[i] + b[i];
// CHECK: {{^[^/]*}}} else {
// CHECK-NEXT: {{^[^/]*}}for (int i = begin; i < end; ++i)
// CHECK-NEXT: {{^[^/]*}}c[i] = a[i] + b[i];
__global__ void add(const float *a, const float *b, float *c, int n, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = t * per;
  int end = min(begin + per, n);
  for (int i = begin; i < end; ++i)
    c[i] = a[i] + b[i];
}

// LIST-DAG: {{^}}warp-chunks@sums:loop1: line
// SUMS: {{^[^/]*}}float sum_own = sum;
// SUMS: {{^[^/]*}}for (int turn = 0; turn < 32; ++turn) {
// SUMS: {{^[^/]*}}sum = 0;
// SUMS: {{^[^/]*}}if (threadIdx.x % 32 == turn)
// SUMS-NEXT: {{^[^/]*}}sum_own += sum;
// SUMS: {{^[^/]*}}sum = sum_own;
__global__ void sums(const float *x, float *y, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 1;
  for (int i = t * per; i < (t + 1) * per; ++i)
    sum += x[i];
  y[t] = sum;
}

// LIST-DAG: {{^}}warp-chunks@rounds:loop2: line
__global__ void rounds(const int *x, int *y, int n) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n;
       t += gridDim.x * blockDim.x) {
    int sum = 0;
    for (int i = t * 128; i < t * 128 + 128; ++i)
      sum += x[i];
    y[t] = sum;
  }
}

// What it adds is each thread's own.
// LIST-DAG: not warp-chunks@own:loop1: {{.*}} 'factor' may be another one in each thread
__global__ void own(const float *x, float *y, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float factor = y[t], sum = 0;
  for (int i = t * per; i < (t + 1) * per; ++i)
    sum += factor * x[i];
  y[t] = sum;
}

// Lanes may be in different rounds of the outer loop.
// LIST-DAG: not warp-chunks@round_of:loop2: {{.*}} 'k' may be another one in each thread
__global__ void round_of(const float *x, float *y, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    for (int i = t * per; i < (t + 1) * per; ++i)
      sum += k * x[i];
  y[t] = sum;
}

// LIST-DAG: not warp-chunks@least:loop1: {{.*}} 'low' is no plain sum
__global__ void least(const float *x, float *y, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float low = y[t];
  for (int i = t * per; i < (t + 1) * per; ++i)
    low = fminf(low, x[i]);
  y[t] = low;
}

// LIST-DAG: not warp-chunks@wide:loop1: {{.*}} its index and its bound differ in type
__global__ void wide(const float *x, float *y, long end) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = t * 64; i < end; ++i)
    sum += x[i];
  y[t] = sum;
}

// The lanes lie side by side already, or an iteration needs the one before.
// NONE-NOT: {{^}}warp-chunks@{{beside|before}}
__global__ void beside(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; ++i)
    sum += x[i];
  y[threadIdx.x] = sum;
}

__global__ void before(float *x, int per) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t * per + 1; i < (t + 1) * per; ++i)
    x[i] = x[i] + x[i - 1];
}
