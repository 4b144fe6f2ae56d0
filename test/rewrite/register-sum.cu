// What a loop loads and stores in each iteration stays in a variable meanwhile,
// where nothing else can touch it.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/register.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/register.workload.json --apply register-sum@product:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --workload %S/Inputs/register.workload.json --apply register-sum@added:loop1 -o %t.cu && FileCheck %s --check-prefix=ADDED < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/register.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply register-sum@in_shared:loop1 | FileCheck %s --check-prefix=SHARED
// RUN: %stark-tool rewrites %s --apply register-sum@sometimes:loop1 | FileCheck %s --check-prefix=SOMETIMES
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=64 rows=32768: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// What is assigned right before becomes the variable's first value.
// LIST-DAG: {{^}}register-sum@product:loop1: line [[#@LINE+14]]: Keep in a register what the loop changes
// ALONE-DAG: not register-sum@product:loop1: {{.*}} only a workload could say that 'y' and 'a' do not overlap
__global__ void product(const float *a, const float *x, float *y, int rows,
                        int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    // CHECK: {{^[^/]*}}float y_kept = x[n];
    // CHECK-NEXT: {{^[^/]*}}int at = row;
    // CHECK-NEXT: {{^[^/]*}}for (int i = 0; i < n; ++i)
    // CHECK-NEXT: {{^[^/]*}}y_kept += a[i * rows + at] * x[i];
    // CHECK-NEXT: {{^[^/]*}}y[row] = y_kept;
    // CHECK-NEXT: {{^ *}}}
    y[row] = x[n];
    int at = row;
    for (int i = 0; i < n; ++i)
      y[row] += a[i * rows + at] * x[i];
  }
}

// The thread has an element only where the loop runs.
// ADDED: {{^[^/]*}}float z_kept = 0 < n ? z[row] : float{};
// ADDED-NEXT: {{^[^/]*}}#pragma unroll 2
// ADDED-NEXT: {{^[^/]*}}for (int i = 0; i < n; ++i)
// ADDED-NEXT: {{^[^/]*}}z_kept = z_kept * 0.5f + a[i * rows + row] * x[i];
// ADDED-NEXT: {{^[^/]*}}if (0 < n)
// ADDED-NEXT: {{^[^/]*}}z[row] = z_kept;
__global__ void added(const float *a, const float *x, float *z, int rows,
                      int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  #pragma unroll 2
  for (int i = 0; i < n; ++i)
    z[row] = z[row] * 0.5f + a[i * rows + row] * x[i];
}

// The other one, in shared memory, of which the loop surely runs.
// SHARED: {{^[^/]*}}float part_kept = part[threadIdx.x];
// SHARED-NEXT: {{^[^/]*}}for (int i = 0; i < 8; ++i) {
// SHARED-NEXT: {{^[^/]*}}part_kept += x[i * 64 + threadIdx.x];
// SHARED: {{^[^/]*}}part[threadIdx.x] = part_kept;
// SHARED-NEXT: {{^[^/]*}}__syncthreads();
__global__ void in_shared(const float *x, float *y) {
  __shared__ float part[64];
  part[threadIdx.x] = 1;
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    part[threadIdx.x] += x[i * 64 + threadIdx.x];
  }
  __syncthreads();
  y[threadIdx.x] = part[63 - threadIdx.x];
}

// It may be stored to under a condition where it was stored to before.
// SOMETIMES: {{^[^/]*}}int y_kept = 0;
// SOMETIMES-NEXT: {{^[^/]*}}for (int i = 0; i < n; ++i)
// SOMETIMES-NEXT: {{^[^/]*}}if (i % 3 == 1)
// SOMETIMES-NEXT: {{^[^/]*}}y_kept += i;
// SOMETIMES-NEXT: {{^[^/]*}}y[threadIdx.x] = y_kept;
__global__ void sometimes(int *y, int n) {
  y[threadIdx.x] = 0;
  for (int i = 0; i < n; ++i)
    if (i % 3 == 1)
      y[threadIdx.x] += i;
}

// Else it may be another thread's, or be none.
// LIST-DAG: not register-sum@perhaps:loop1: {{.*}} an element of 'y' is stored to under a condition, and need not be the thread's (line [[#@LINE+4]])
__global__ void perhaps(int *y, int n, int m) {
  for (int i = 0; i < n; ++i)
    if (threadIdx.x < m)
      y[threadIdx.x] += i;
}

// LIST-DAG: not register-sum@late:loop1: {{.*}} an element of 'y' is stored to under a condition
__global__ void late(int *y, int n, int m) {
  for (int i = 0; i < n; ++i) {
    if (i == m)
      continue;
    y[threadIdx.x] += i;
  }
}

// What was stored is not there when the thread ends in the loop.
// LIST-DAG: not register-sum@ends:loop1: {{.*}} it can return early
__global__ void ends(int *y, int n, int m) {
  for (int i = 0; i < n; ++i) {
    y[threadIdx.x] += i;
    if (y[threadIdx.x] > m)
      return;
  }
}

// LIST-DAG: not register-sum@neighbour:loop1: {{.*}} line [[#@LINE+3]] may touch the same element of 'y'
__global__ void neighbour(int *y, int n) {
  for (int i = 0; i < n; ++i)
    y[threadIdx.x] += y[i];
}

// Another thread takes part.
// LIST-DAG: not register-sum@rounds:loop1: {{.*}} it waits for other threads
__global__ void rounds(int *y, int n) {
  for (int i = 0; i < n; ++i) {
    y[threadIdx.x] += 1;
    __syncthreads();
    y[blockDim.x - 1 - threadIdx.x] += 1;
    __syncthreads();
  }
}

// LIST-DAG: not register-sum@calls:loop1: {{.*}} what line [[#@LINE+6]] writes is not known
__device__ void tell(int *at, int value) { *at += value; }
__global__ void calls(int *y, int n) {
  y[threadIdx.x] = 0;
  for (int i = 0; i < n; ++i) {
    y[threadIdx.x] += i;
    tell(&y[0], i);
  }
}

// LIST-NOT: register-sum@watched
__global__ void watched(volatile int *y, int n) {
  for (int i = 0; i < n; ++i)
    y[threadIdx.x] += i;
}

// LIST-NOT: register-sum@moves
__global__ void moves(int *y, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    y[at] += i;
    at += i % 2;
  }
}

// LIST-NOT: register-sum@steps
__global__ void steps(const int *x, int *y, int n) {
  for (int i = 0; i < n; ++i)
    y[x[i]] += i;
}

// LIST-NOT: register-sum@moved_on
__global__ void moved_on(int *y, int n, int m) {
  int at = threadIdx.x;
  y[at] = at = m;
  for (int i = 0; i < n; ++i)
    if (i > 3)
      y[at] += i;
}

// Dynamic shared memory is one, whatever names it has.
// LIST-DAG: not register-sum@two_names:loop1: {{.*}} line [[#@LINE+6]] may touch the same element of 'sums'
__global__ void two_names(int *y, int n) {
  extern __shared__ float sums[];
  extern __shared__ int counts[];
  sums[threadIdx.x] = 0;
  for (int i = 0; i < n; ++i)
    sums[threadIdx.x] += counts[i];
  y[threadIdx.x] = sums[0];
}

// A later assignment says nothing, and one to what may be another element.
// LIST-DAG: not register-sum@other_before:loop1: {{.*}} an element of 'y' is stored to under a condition
__global__ void other_before(int *y, int n, int m) {
  int at = threadIdx.x;
  y[at] = 0;
  at = m;
  for (int i = 0; i < n; ++i)
    if (i > 3)
      y[at] += i;
  y[at] = 1;
}

// Nor one that threads wait after: the element may then be another's.
// LIST-DAG: not register-sum@handed_over:loop1: {{.*}} an element of 'y' is stored to under a condition
__global__ void handed_over(int *y, int n) {
  y[threadIdx.x / 32] = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i)
    if (threadIdx.x % 32 == 0)
      y[threadIdx.x / 32] += i;
}

void launch(const float *a, const float *x, float *y, float *z, int rows,
            int n) {
  product<<<(rows + 127) / 128, 128>>>(a, x, y, rows, n);
  added<<<(rows + 127) / 128, 128>>>(a, x, z, rows, n);
}
