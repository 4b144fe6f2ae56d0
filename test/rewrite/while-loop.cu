// A while that counts counts as a for, where nothing else uses its index and
// the index is declared beside it.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/while-loop.workload.json | FileCheck %s --check-prefix=LIST --implicit-check-not='vector-access@{{used|once|early|skips}}'
// RUN: %stark-tool rewrites %s --workload %S/Inputs/while-loop.workload.json --apply vector-access@scale:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/while-loop.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)

// LIST-DAG: {{^}}vector-access@scale:loop1: line
// CHECK: {{^[^/]*}}for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < whole / 4;
// CHECK: {{^[^/]*}}y_vec.at[lane] = x_vec.at[lane] * (i + lane);
// CHECK: {{^[^/]*}}for (int i = whole + blockIdx.x * blockDim.x + threadIdx.x; i < n;
// CHECK-NEXT: {{^[^/]*}}i += stride)
// CHECK: {{^[^/]*}}y[i] = x[i] * i;
// CHECK-NOT: {{^[^/]*}}i += stride;
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = blockDim.x * gridDim.x;
  while (i < n) {
    y[i] = x[i] * i;
    i += stride;
  }
}

// The index is used after it.
__global__ void used(const float *x, float *y, int *last, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    y[i] = x[i];
    i += blockDim.x * gridDim.x;
  }
  *last = i;
}

// The second time round it begins where it ended.
__global__ void once(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    while (i < n) {
      y[i] += x[i];
      i += blockDim.x * gridDim.x;
    }
  }
}

// The next index is not the last statement.
__global__ void early(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    i += blockDim.x * gridDim.x;
    y[i] = x[i];
  }
}

// It goes on without the next index.
__global__ void skips(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    if (x[i] < 0)
      continue;
    y[i] = x[i];
    i += blockDim.x * gridDim.x;
  }
}

// It makes steps of two kinds.
// LIST-DAG: not vector-access@twice:loop1: {{.*}} its body changes the index
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    y[i] = x[i];
    if (x[i] > 0)
      i += 1;
    i += blockDim.x * gridDim.x;
  }
}
