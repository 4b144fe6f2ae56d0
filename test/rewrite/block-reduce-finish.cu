// A tree that stops at the width of a warp and is finished by the first warp is
// one over the block as well.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --apply block-reduce@called:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/tree-finish.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx %}
// PTX: shfl.sync
// SIM: correct (simulated NVIDIA H200)
__device__ void finish(volatile float *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__device__ void shortened(volatile float *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
}

// LIST-DAG: {{^}}block-reduce@called:loop1: line [[#@LINE+8]]: Reduce over the block with warp shuffles
__global__ void called(const float *x, float *y) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  // CHECK: {{^[^/]*}}block_reduce_sum_float(partial, x[blockIdx.x * 256 + t]);
  // CHECK-NOT: {{^[^/]*}}finish(partial
  partial[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s)
      partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t < 32)
    finish(partial, t);
  // CHECK: {{^[^/]*}}y[blockIdx.x] = partial[0];
  if (t == 0)
    y[blockIdx.x] = partial[0];
}

// LIST-DAG: {{^}}block-reduce@written:loop1: line [[#@LINE+5]]: Reduce over
__global__ void written(const int *x, int *y) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 128; s >= 32; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    volatile int *v = partial;
    v[threadIdx.x] += v[threadIdx.x + 16];
    __syncwarp();
    v[threadIdx.x] += v[threadIdx.x + 8];
    __syncwarp();
    v[threadIdx.x] += v[threadIdx.x + 4];
    v[threadIdx.x] += v[threadIdx.x + 2];
    v[threadIdx.x] += v[threadIdx.x + 1];
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = partial[0];
}

// What a warp reads behind so small a block nobody has stored.
// LIST-DAG: not block-reduce@small:loop1: {{.*}} its blocks have 32 threads, no power of two from 64 to 1024
__global__ void small(const float *x, float *y) {
  __shared__ float partial[64];
  int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s)
      partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t < 32)
    finish(partial, t);
  y[blockIdx.x] = partial[0];
}

// Ends that leave a round out, have another operation or are other threads'.
// NONE-NOT: {{^}}block-reduce@{{left_out|other|lanes|gap}}
__global__ void left_out(const float *x, float *y) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s)
      partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t < 32)
    shortened(partial, t);
  y[blockIdx.x] = partial[0];
}

__global__ void other(const float *x, float *y) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s)
      partial[t] *= partial[t + s];
    __syncthreads();
  }
  if (t < 32)
    finish(partial, t);
  y[blockIdx.x] = partial[0];
}

__global__ void lanes(const float *x, float *y) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s)
      partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t < 16)
    finish(partial, t);
  y[blockIdx.x] = partial[0];
}

__global__ void gap(const float *x, float *y) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  partial[t] = x[t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 64; s /= 2) {
    if (t < s)
      partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t < 32)
    finish(partial, t);
  y[blockIdx.x] = partial[0];
}

void launch(const float *x, float *y, const int *a, int *b, int n) {
  called<<<n / 256, 256>>>(x, y);
  written<<<n, 256>>>(a, b);
  small<<<n, 32>>>(x, y);
  left_out<<<n, 256>>>(x, y);
  other<<<n, 256>>>(x, y);
  lanes<<<n, 256>>>(x, y);
  gap<<<n, 256>>>(x, y);
}
