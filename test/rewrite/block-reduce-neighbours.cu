// A tree of neighbours is one over the block as a tree of halves is, however it
// is written; dynamic shared memory will do when it has one name.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --apply block-reduce@places:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx %}
// PTX: shfl.sync
extern __shared__ int dynamic[];
extern __shared__ float otherName[];

// LIST-DAG: {{^}}block-reduce@places:loop1: line [[#@LINE+8]]: Reduce over the block with warp shuffles
__global__ void places(const float *x, float *y) {
  __shared__ float partial[256];
  unsigned t = threadIdx.x;
  // CHECK: {{^[^/]*}}block_reduce_sum_float(partial, x[t]);
  // CHECK-NOT: {{^[^/]*}}place
  partial[t] = x[t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int place = 2 * s * t;
    if (place < blockDim.x) {
      partial[place] += partial[place + s];
    }
    __syncthreads();
  }
  // CHECK: {{^[^/]*}}y[blockIdx.x] = partial[0];
  if (t == 0)
    y[blockIdx.x] = partial[0];
}

// LIST-DAG: {{^}}block-reduce@multiples:loop1: line [[#@LINE+4]]: Reduce over
__global__ void multiples(const int *x, int *y) {
  dynamic[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s <<= 1) {
    if ((threadIdx.x % (2 * s)) == 0)
      dynamic[threadIdx.x] += dynamic[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = dynamic[0];
}

// LIST-DAG: {{^}}block-reduce@masks:loop1: line [[#@LINE+5]]: Reduce over
__global__ void masks(const int *x, int *y) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 1; s < 256; s = s * 2) {
    if (!(threadIdx.x & (2 * s - 1)))
      partial[threadIdx.x] = max(partial[threadIdx.x], partial[threadIdx.x + s]);
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not block-reduce@half:loop1: {{.*}} the tree begins at 64, not at half of the block's 256 threads
__global__ void half(const int *x, int *y) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 1; s < 128; s *= 2) {
    if (threadIdx.x % (2 * s) == 0)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

__device__ float kept() { return otherName[1]; }

// LIST-DAG: not block-reduce@twoNames:loop1: {{.*}} 'dynamic' is dynamic shared memory, which 'otherName' may name too
__global__ void twoNames(const int *x, int *y) {
  dynamic[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (threadIdx.x % (2 * s) == 0)
      dynamic[threadIdx.x] += dynamic[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = dynamic[0] + kept();
}

// Trees of other elements, or that leave some out, are none.
// NONE-NOT: block-reduce@threes
__global__ void threes(const int *x, int *y) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (threadIdx.x % (3 * s) == 0)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// NONE-NOT: block-reduce@late
__global__ void late(const int *x, int *y) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = 2; s < blockDim.x; s *= 2) {
    if (threadIdx.x % (2 * s) == 0)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

void launch(const float *x, float *y, const int *a, int *b, int n) {
  places<<<n, 256>>>(x, y);
  multiples<<<n, 256, 1024>>>(a, b);
  masks<<<n, 256>>>(a, b);
  half<<<n, 256>>>(a, b);
  twoNames<<<n, 256, 1024>>>(a, b);
  threes<<<n, 256>>>(a, b);
  late<<<n, 256>>>(a, b);
}
