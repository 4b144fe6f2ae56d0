// Only a kernel whose threads just share loops and reductions gets other
// blocks, and only where the number is used for nothing else.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply block-size=512@launch:launch1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}

// CHECK: {{^[^/]*}}constexpr int kThreads = 512;
constexpr int kThreads = 256;

// LIST-DAG: {{^}}block-size=512@launch:launch1:
// CHECK: {{^[^/]*}}__global__ void __launch_bounds__(512) norm(
__global__ void norm(const float *x, float *y, int n) {
  __shared__ float partial[kThreads];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i] / partial[0];
}

// LIST-DAG: not block-size@launch:launch2: {{.*}} relies on the thread's number or the block's size
__global__ void element(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}

// LIST-DAG: not block-size@launch:launch3: {{.*}} the step of the loop at line {{[0-9]+}} is a number, not blockDim.x
__global__ void fixed(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += 128)
    y[i] = x[i];
}

// LIST-DAG: not block-size@launch:launch4: {{.*}} 'kWide' is used at line {{[0-9]+}} for something else
constexpr int kWide = 128;
__global__ void shared_constant(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i] * kWide;
}

// LIST-DAG: not block-size@launch:launch5: {{.*}} 'threads' is used at line {{[0-9]+}} for something else
__global__ void part(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i];
}

// LIST-DAG: {{^}}block-size=512@launch:launch6:
__global__ void counted(const float *x, float *y, int n) {
  int i = threadIdx.x;
  while (i < n) {
    y[i] = 2 * x[i];
    i += blockDim.x;
  }
}

// LIST-DAG: not block-size@launch:launch7: {{.*}} relies on the thread's number or the block's size
__global__ void goes_on(const float *x, float *y, int n) {
  int i = threadIdx.x;
  while (i < n) {
    y[i] = 2 * x[i];
    i += blockDim.x;
  }
  y[0] = i;
}

void launch(const float *x, float *y, int n) {
  norm<<<1, kThreads>>>(x, y, n);
  element<<<(n + 127) / 128, 128>>>(x, y, n);
  fixed<<<1, 128>>>(x, y, n);
  shared_constant<<<1, kWide>>>(x, y, n);
  int threads = 128;
  part<<<(n + threads - 1) / threads, threads>>>(x, y, n);
  counted<<<1, 128>>>(x, y, n);
  goes_on<<<1, 128>>>(x, y, n);
}
