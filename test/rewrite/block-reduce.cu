// A tree in shared memory becomes warp shuffles where the block is known and
// nothing but element 0 is read afterwards.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply block-reduce@plain:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx %}
// PTX: shfl.sync
// CHECK: {{^[^/]*}}static __device__ __forceinline__ void block_reduce_sum_float(float *scratch,
// CHECK: {{^[^/]*}}value = value + __shfl_xor_sync(0xffffffffu, value, offset);
// LIST-DAG: {{^}}block-reduce@plain:loop1: line [[#@LINE+8]]: Reduce over the block with warp shuffles
__global__ void plain(const float *x, float *y) {
  __shared__ float partial[256];
  // CHECK: {{^[^/]*}}__shared__ float partial[256];
  // CHECK: {{^[^/]*}}block_reduce_sum_float(partial, x[threadIdx.x] * 2);
  // CHECK-NOT: {{partial.threadIdx[.]x [+] s}}
  partial[threadIdx.x] = x[threadIdx.x] * 2;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  // CHECK: {{^[^/]*}}y[blockIdx.x] = partial[0];
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not block-reduce@more:loop1: {{.*}} 'partial' is used for more than its element 0 at line [[#@LINE+12]]
__global__ void more(const float *x, float *y) {
  __shared__ float partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] =
        partial[0] / partial[1];
}

// LIST-DAG: not block-reduce@odd:loop1: {{.*}} its blocks have 96 threads, no power of two from 32 to 1024
__global__ void odd(const float *x, float *y) {
  __shared__ float partial[96];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// Only the first 64 values are summed up.
// LIST-DAG: not block-reduce@part:loop1: {{.*}} the tree begins at 32, not at half of the block's 256 threads
__global__ void part(const float *x, float *y) {
  __shared__ float partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not block-reduce@leaves:loop1: {{.*}} threads may have returned at line [[#@LINE+4]]
__global__ void leaves(const float *x, float *y, int n) {
  __shared__ float partial[256];
  if (threadIdx.x >= n)
    return;
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not block-reduce@unknown:loop1: {{.*}} the block size of a launch is no constant
__global__ void unknown(const float *x, float *y) {
  __shared__ float partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not block-reduce@elsewhere:loop1: {{.*}} it is extern "C", so other files may launch it
extern "C" __global__ void elsewhere(const float *x, float *y) {
  __shared__ float partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

void launch(const float *x, float *y, int n, int threads) {
  plain<<<n, 256>>>(x, y);
  more<<<n, 256>>>(x, y);
  odd<<<n, 96>>>(x, y);
  part<<<n, 256>>>(x, y);
  leaves<<<n, 256>>>(x, y, n);
  unknown<<<n, threads>>>(x, y);
  elsewhere<<<n, 256>>>(x, y);
}
