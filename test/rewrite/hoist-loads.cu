// What a loop loads again and again is loaded before it, where nothing can have
// changed it, and only when the loop runs.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/hoist.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/hoist.workload.json --apply hoist-loads@scale_kernel:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/hoist.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply hoist-loads@lengths:loop1 | FileCheck %s --check-prefix=LENGTHS
// RUN: %stark-tool rewrites %s --apply hoist-loads@totals:loop1 | FileCheck %s --check-prefix=TOTALS
// RUN: not %stark-tool rewrites %s --apply hoist-loads@own:loop1 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=100 rows=270336: modelled {{.*}}: {{(1[.][1-9]|[2-9]|[1-9][0-9]).*}} times as fast
// NOT: error: 'hoist-loads@own:loop1' does not apply: 'x' is stored to at line

// LIST-DAG: {{^}}hoist-loads@scale_kernel:loop1: line [[#@LINE+11]]: Load before the loop what stays the same
// ALONE-DAG: not hoist-loads@scale_kernel:loop1: {{.*}} only a workload could say that 's' and 'y' do not overlap
__global__ void scale_kernel(const float *s, const float *t, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int rows = gridDim.x * blockDim.x;
  __shared__ float last[128];
  last[threadIdx.x] = 1;
  // CHECK: {{^[^/]*}}const float s_once = 0 < n ? s[row] : float{};
  // CHECK-NEXT: {{^[^/]*}}const float t_once = 0 < n ? t[row] : float{};
  // CHECK-NEXT: {{^[^/]*}}for (int i = 0; i < n; ++i) {
  // CHECK-NEXT: {{^[^/]*}}last[threadIdx.x] = last[threadIdx.x] * s_once + t_once * s_once;
  for (int i = 0; i < n; ++i) {
    last[threadIdx.x] = last[threadIdx.x] * s[row] + t[row] * s[row];
    if (i % 64 == 0)
      y[i / 64 * rows + row] = last[threadIdx.x];
  }
}

// The bound itself is read in any case; what depends on it is not.
// LENGTHS: {{^[^/]*}}const int n_once = n[blockIdx.x];
// LENGTHS-NEXT: {{^[^/]*}}const float s_once = 0 < n_once ? s[blockIdx.x] : float{};
// LENGTHS-NEXT: {{^[^/]*}}#pragma unroll 2
// LENGTHS-NEXT: {{^[^/]*}}for (int i = 0; i < n_once; ++i) {
// LENGTHS-NEXT: {{^[^/]*}}part[threadIdx.x] += s_once;
__global__ void lengths(const int *n, const float *s, float *y) {
  __shared__ float part[64];
  part[threadIdx.x] = 0;
  #pragma unroll 2
  for (int i = 0; i < n[blockIdx.x]; ++i) {
    part[threadIdx.x] += s[blockIdx.x];
  }
  y[blockIdx.x * 64 + threadIdx.x] = part[threadIdx.x];
}

// Shared memory that was filled before the loop; it surely runs.
// TOTALS: {{^[^/]*}}const float total_once = total[0];
// TOTALS: {{^[^/]*}}y[i * 64 + threadIdx.x] = x[i * 64 + threadIdx.x] / total_once;
__global__ void totals(const float *x, float *y) {
  __shared__ float total[1];
  if (threadIdx.x == 0)
    total[0] = x[0];
  __syncthreads();
  for (int i = 0; i < 16; ++i)
    y[i * 64 + threadIdx.x] = x[i * 64 + threadIdx.x] / total[0];
}

// LIST-DAG: not hoist-loads@own:loop1: {{.*}} 'x' is stored to at line [[#@LINE+3]]
__global__ void own(float *x, float *y, int n) {
  for (int i = 0; i < n; ++i)
    x[i] = x[0] + 1;
}

// No element may be there when the condition does not hold.
// LIST-DAG: not hoist-loads@guarded:loop1: {{.*}} an element of 's' is loaded under a condition
__global__ void guarded(const float *x, const float *s, float *y, int n, int m) {
  for (int i = 0; i < n; ++i)
    y[i] = m > 4 ? s[m] : 0;
}

// LIST-DAG: not hoist-loads@after_end:loop1: {{.*}} an element of 's' is loaded under a condition
__global__ void after_end(const float *s, float *y, int n, int m) {
  for (int i = 0; i < n; ++i) {
    if (m < 0)
      break;
    y[i] = s[m];
  }
}

// Another thread stores to it between the iterations.
// LIST-DAG: not hoist-loads@rounds:loop1: {{.*}} 'best' is stored to at line [[#@LINE+8]]
__global__ void rounds(const float *x, float *y, int n) {
  __shared__ float best[1];
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    y[i * blockDim.x + threadIdx.x] = best[0];
    __syncthreads();
    if (threadIdx.x == 0)
      best[0] = x[i];
  }
}

// LIST-DAG: not hoist-loads@calls:loop1: {{.*}} what line [[#@LINE+4]] writes is not known
__device__ void tell(float *at, float value) { *at += value; }
__global__ void calls(const float *s, float *y, int n) {
  for (int i = 0; i < n; ++i)
    tell(&y[i], s[0]);
}

// LIST-DAG: not hoist-loads@counters:loop1: {{.*}} what line [[#@LINE+3]] writes is not known
__global__ void counters(const int *s, int *y, int n) {
  for (int i = 0; i < n; ++i)
    atomicAdd(&y[i], s[0]);
}

// LIST-NOT: hoist-loads@moves
__global__ void moves(const float *s, float *y, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = s[at];
    at += 2;
  }
}

// LIST-NOT: hoist-loads@changing
__global__ void changing(const volatile float *s, float *y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = s[0];
}

// With no store the compiler does it.
// LIST-NOT: hoist-loads@reads
__global__ void reads(const float *s, float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += s[0];
  y[threadIdx.x] = sum;
}

void scale(const float *s, const float *t, float *y, int rows, int n) {
  if (rows % 128 == 0)
    scale_kernel<<<rows / 128, 128>>>(s, t, y, n);
  else
    scale_kernel<<<rows, 1>>>(s, t, y, n);
}
