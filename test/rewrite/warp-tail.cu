// The last rounds of a tree are the first warp's alone, whatever memory it runs
// over and whatever is read of it afterwards.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply warp-tail@in_place:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %t.cu | FileCheck %s --check-prefix=ONCE
// RUN: %stark-tool rewrites %s --apply warp-tail@first:loop1 | FileCheck %s --check-prefix=FIRST
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// ONCE-NOT: {{^}}warp-tail@in_place

// LIST-DAG: {{^}}warp-tail@in_place:loop1: line [[#@LINE+14]]: End the tree within the first warp
// CHECK: {{^[^/]*}}int s = blockDim.x / 2;
// CHECK-NEXT: {{^[^/]*}}for (; s > 32; s >>= 1) {
// CHECK-NEXT: {{^[^/]*}}if (tid < s && tid + s < n)
// CHECK-NEXT: {{^[^/]*}}x[tid] += x[tid + s];
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK: {{^[^/]*}}if (tid < 32)
// CHECK-NEXT: {{^[^/]*}}for (; s > 0; s >>= 1) {
// CHECK: {{^[^/]*}}x[tid] += x[tid + s];
// CHECK-NEXT: {{^[^/]*}}__syncwarp();
// CHECK: {{^[^/]*}}__syncthreads();
__global__ void in_place(float *data, float *y, int n) {
  int tid = threadIdx.x;
  float *x = data + blockIdx.x * blockDim.x;
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s && tid + s < n)
      x[tid] += x[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    y[blockIdx.x] = x[0];
}

// FIRST: {{^[^/]*}}for (; s > 32; s /= 2) {
// FIRST-NEXT: {{^[^/]*}}__syncthreads();
// FIRST-NEXT: {{^[^/]*}}if (threadIdx.x < s)
// FIRST: {{^[^/]*}}__syncthreads();
// FIRST-NEXT: {{^[^/]*}}if (threadIdx.x < 32)
// FIRST: {{^[^/]*}}__syncwarp();
__global__ void first(float *x) {
  for (int s = 128; s >= 1; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s)
      x[threadIdx.x] += x[threadIdx.x + s];
  }
}

// LIST-DAG: not warp-tail@waits:loop1: {{.*}} a round does more than compute and store (line [[#@LINE+4]])
__global__ void waits(float *x) {
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s)
      x[threadIdx.x] += __shfl_xor_sync(0xffffffffu, x[threadIdx.x + s], 1);
    __syncthreads();
  }
}

// LIST-DAG: not warp-tail@plane:loop1: {{.*}} line [[#@LINE+4]] tells threads apart in more than one dimension
__global__ void plane(float *x) {
  for (int s = 16; s > 0; s /= 2) {
    if (threadIdx.x < s)
      x[threadIdx.y * 32 + threadIdx.x] += x[threadIdx.y * 32 + threadIdx.x + s];
    __syncthreads();
  }
}

// Any thread may be one of those that work.
// LIST-NOT: {{^}}warp-tail@spread
__global__ void spread(float *x) {
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x % s == 0)
      x[threadIdx.x] += x[threadIdx.x + s];
    __syncthreads();
  }
}
