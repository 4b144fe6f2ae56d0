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

// A block that is not known is looked at when the kernel runs.
// LIST-DAG: {{^}}block-reduce@unknown:loop1: line
// TESTED: {{^[^/]*}}if (blockDim.x >= 32 && (blockDim.x & (blockDim.x - 1)) == 0 &&
// TESTED-NEXT: blockDim.y * blockDim.z == 1) {
// TESTED: {{^[^/]*}}block_reduce_sum_float(partial, x[threadIdx.x]);
// TESTED: {{^[^/]*}}} else {
// TESTED: {{^[^/]*}}for (int s = blockDim.x / 2; s > 0; s >>= 1) {
// RUN: %stark-tool rewrites %s --apply block-reduce@unknown:loop1 -o %t.tested.cu && FileCheck %s --check-prefix=TESTED < %t.tested.cu
// RUN: %stark-tool rewrites %t.tested.cu | FileCheck %s --check-prefix=ONCE
// ONCE: not block-reduce@unknown:loop1: {{.*}} a test of the block's size decides whether it runs
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

// LIST-DAG: {{^}}block-reduce@elsewhere:loop1: line
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

// The stride is declared before, and what is brought is not stored right before.
// LIST-DAG: {{^}}block-reduce@apart:loop1: line
// APART: {{^[^/]*}}cache[t] = 0;
// APART: {{^[^/]*}}const float cache_mine = cache[threadIdx.x];
// APART-NEXT: {{^[^/]*}}__syncthreads();
// APART-NEXT: {{^[^/]*}}block_reduce_sum_float(cache, cache_mine);
// APART: {{^[^/]*}}y[blockIdx.x] = cache[0];
// RUN: %stark-tool rewrites %s --apply block-reduce@apart:loop1 | FileCheck %s --check-prefix=APART
__global__ void apart(const float *x, float *y, int n) {
  __shared__ float cache[256];
  int t = threadIdx.x;
  if (t < n)
    cache[t] = x[t];
  else
    cache[t] = 0;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (t < i)
      cache[t] += cache[t + i];
    __syncthreads();
    i /= 2;
  }
  if (t == 0)
    y[blockIdx.x] = cache[0];
}

// A round may begin with its barrier.
// LIST-DAG: {{^}}block-reduce@begins:loop1: line
// BEGINS: {{^[^/]*}}block_reduce_sum_float(cache, x[threadIdx.x]);
// RUN: %stark-tool rewrites %s --apply block-reduce@begins:loop1 | FileCheck %s --check-prefix=BEGINS
__global__ void begins(const float *x, float *y) {
  __shared__ float cache[256];
  cache[threadIdx.x] = x[threadIdx.x];
  for (int s = blockDim.x / 2; s >= 1; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s)
      cache[threadIdx.x] += cache[threadIdx.x + s];
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = cache[0];
}

// In a loop, the next round would find other values in the array.
// LIST-DAG: not block-reduce@again:loop2: {{.*}} what each thread brings is not stored right before it
__global__ void again(const float *x, float *y) {
  __shared__ float cache[256];
  cache[threadIdx.x] = x[threadIdx.x];
  for (int turn = 0; turn < 2; ++turn) {
    cache[threadIdx.x] *= 2;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
      if (threadIdx.x < s)
        cache[threadIdx.x] += cache[threadIdx.x + s];
      __syncthreads();
    }
  }
  y[blockIdx.x] = cache[0];
}

// The first thread's own number is 0; what the others load is another element.
// LIST-DAG: {{^}}block-reduce@own_number:loop1: line
__global__ void own_number(const float *x, float *y, int n) {
  __shared__ float cache[256];
  int tid = threadIdx.x;
  cache[tid] = x[tid];
  __syncthreads();
  int i = blockDim.x / 2;
  while (i > 0) {
    if (tid < i)
      cache[tid] += cache[tid + i];
    __syncthreads();
    i = i / 2;
  }
  if (tid == 0 && n > 0)
    y[blockIdx.x] = cache[tid];
}
// LIST-DAG: not block-reduce@others:loop1: {{.*}} 'cache' is used for more than its element 0 at line [[#@LINE+12]]
__global__ void others(const float *x, float *y, int n) {
  __shared__ float cache[256];
  int tid = threadIdx.x;
  cache[tid] = x[tid];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s)
      cache[tid] += cache[tid + s];
    __syncthreads();
  }
  if (tid == 0 || n == 0)
    y[blockIdx.x] = cache[tid];
}
// LIST-DAG: not block-reduce@otherwise:loop1: {{.*}} 'cache' is used for more than its element 0
__global__ void otherwise(const float *x, float *y) {
  __shared__ float cache[256];
  cache[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = cache[0];
  else
    y[threadIdx.x] = cache[threadIdx.x];
}

void launch(const float *x, float *y, int n, int threads) {
  own_number<<<n, 256>>>(x, y, n);
  others<<<n, 256>>>(x, y, n);
  otherwise<<<n, 256>>>(x, y);
  apart<<<n, 256>>>(x, y, n);
  begins<<<n, 256>>>(x, y);
  again<<<n, 256>>>(x, y);
  plain<<<n, 256>>>(x, y);
  more<<<n, 256>>>(x, y);
  odd<<<n, 96>>>(x, y);
  part<<<n, 256>>>(x, y);
  leaves<<<n, 256>>>(x, y, n);
  unknown<<<n, threads>>>(x, y);
  elsewhere<<<n, 256>>>(x, y);
}
