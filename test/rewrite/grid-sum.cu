// Elements of a loop that the whole grid shares may change blocks where their
// sum is one of all blocks.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/grid-sum.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/grid-sum.workload.json --apply vector-access@tree:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --workload %S/Inputs/grid-sum.workload.json --apply vector-access@direct:loop1 -o %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/grid-sum.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)

// LIST-DAG: {{^}}vector-access@tree:loop1: line
// ALONE-DAG: not vector-access@tree:loop1: {{.*}} may be the same memory, with no barrier between them
// CHECK: {{^[^/]*}}for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < whole / 4;
// CHECK: {{^[^/]*}}sum += x_vec.at[lane] * y_vec.at[lane];
// CHECK: {{^[^/]*}}atomicAdd(total, partial[0]);
__global__ void tree(const float *x, const float *y, float *total, int n) {
  __shared__ float partial[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i] * y[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(total, partial[0]);
}

// LIST-DAG: {{^}}vector-access@direct:loop1: line
__global__ void direct(const float *x, float *total, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  atomicAdd(&total[1], sum);
}

// A block's own share can be told.
// LIST-DAG: not vector-access@shares:loop1: {{.*}} elements would change blocks
__global__ void shares(const float *x, float *y, int n) {
  __shared__ float partial[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
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

// LIST-DAG: not vector-access@apart:loop1: {{.*}} elements would change blocks
__global__ void apart(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  atomicAdd(y + blockIdx.x, sum);
}

// LIST-DAG: not vector-access@first_only:loop1: {{.*}} elements would change blocks
__global__ void first_only(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  if (threadIdx.x == 0)
    atomicAdd(y, sum);
}

// LIST-DAG: not vector-access@some_blocks:loop1: {{.*}} elements would change blocks
__global__ void some_blocks(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  if (blockIdx.x < 3)
    atomicAdd(y, sum);
}

// LIST-DAG: not vector-access@some_threads:loop1: {{.*}} elements would change blocks
__global__ void some_threads(const float *x, float *y, int n) {
  float sum = 0;
  if (threadIdx.x > 7)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x)
      sum += x[i];
  atomicAdd(y, sum);
}

// LIST-DAG: not vector-access@leaves:loop1: {{.*}} elements would change blocks
__global__ void leaves(const float *x, float *y, int n) {
  if (blockIdx.x == 1)
    return;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  atomicAdd(y, sum);
}

// LIST-DAG: not vector-access@before:loop1: {{.*}} elements would change blocks
__global__ void before(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  if (atomicAdd(y, sum) == 0)
    y[1] = 1;
}

// The element is one that the loop reads.
// LIST-DAG: not vector-access@own:loop1: {{.*}} may be the same memory, with no barrier between them
__global__ void own(float *x, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    sum += x[i];
  atomicAdd(x, sum);
}

void launch(float *x, const float *y, float *total, int n) {
  tree<<<8, 256>>>(x, y, total, n);
  direct<<<8, 256>>>(x, total, n);
  if (n < 0) {
    shares<<<8, 256>>>(x, total, n);
    apart<<<8, 256>>>(x, total, n);
    first_only<<<8, 256>>>(x, total, n);
    some_blocks<<<8, 256>>>(x, total, n);
    some_threads<<<8, 256>>>(x, total, n);
    leaves<<<8, 256>>>(x, total, n);
    before<<<8, 256>>>(x, total, n);
    own<<<8, 256>>>(x, n);
  }
}
