// A loop that assigns its index first counts as one that declares it, where the
// index is used in such loops alone.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-index.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-index.workload.json --apply register-sum@product:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/loop-index.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply warp-rows@rows -o %t.rows.cu && FileCheck %s --check-prefix=ROWS < %t.rows.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.rows.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=64 rows=32768: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// Two loops share it, and nothing goes from one to the other.
// LIST-DAG: {{^}}register-sum@product:loop1: line
// CHECK: {{^[^/]*}}float y_kept = 0;
// CHECK-NEXT: {{^[^/]*}}for (i = 0; i < n; i++)
// CHECK-NEXT: {{^[^/]*}}y_kept += a[i * rows + row] * x[i];
// CHECK-NEXT: {{^[^/]*}}y[row] = y_kept;
// CHECK-NEXT: {{^[^/]*}}for (i = 0; i < n; i++)
// CHECK-NEXT: {{^[^/]*}}y[row] *= 0.5f + x[i];
__global__ void product(const float *a, const float *x, float *y, int rows,
                        int n) {
  int i;
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    y[row] = 0;
    for (i = 0; i < n; i++)
      y[row] += a[i * rows + row] * x[i];
    for (i = 0; i < n; i++)
      y[row] *= 0.5f + x[i];
  }
}

// LIST-DAG: {{^}}warp-rows@rows: line
// ROWS: {{^[^/]*}}for (j = 0 + lane; j < c; j += 32)
// ROWS-NEXT: {{^[^/]*}}sum += x[i * c + j];
__global__ void rows(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j;
    float sum = 0;
    for (j = 0; j < c; j++)
      sum += x[i * c + j];
    y[i] = sum;
  }
}

// Where the loop ended is used afterwards.
// LIST-NOT: {{^}}warp-rows@where
// LIST-DAG: not warp-rows@where: {{.*}} does not count up by one to a bound
__global__ void where(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j;
    float sum = 0;
    for (j = 0; j < c; j++)
      sum += x[i * c + j];
    y[i] = sum / j;
  }
}

// It begins where another loop ended.
// LIST-DAG: not warp-rows@goes_on: {{.*}} does not count up by one to a bound
__global__ void goes_on(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j = 0;
    float sum = 0;
    for (; j < c; j++)
      sum += x[i * c + j];
    for (j = j / 2; j < c; j++)
      sum += x[i * c + j];
    y[i] = sum;
  }
}

// A parameter is the caller's own, but counts as nothing that a loop declares.
// LIST-DAG: not warp-rows@parameter: {{.*}} does not count up by one to a bound
__global__ void parameter(const float *x, float *y, int n, int c, int j) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (j = 0; j < c; j++)
      sum += x[i * c + j];
    y[i] = sum;
  }
}

// The inner loop changes what the outer one counts with.
// LIST-DAG: not warp-rows@twice: {{.*}} does not count up by one to a bound
__global__ void twice(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j;
    float sum = 0;
    for (j = 0; j < c; j++)
      for (j = 0; j < c; j++)
        sum += x[i * c + j];
    y[i] = sum;
  }
}
