// INFINITY and functions of the file from numbers to a number are like an
// operator: nobody sees who calls them. Others are not.
// RUN: %stark-tool rewrites %s | FileCheck %s
// RUN: %stark-tool rewrites %s --apply grid-stride@infinite -o %t.cu && FileCheck %s --check-prefix=MADE < %t.cu
// MADE: {{^[^/]*}}float most = -__builtin_inff();
// MADE: {{^[^/]*}}infinite<<<(((n + 255) / 256) + 3) / 4, 256>>>(x, y, n);
#define BIG __builtin_inff()
__device__ float total;

__device__ float squashed(float x) {
  const float e = expf(-x);
  if (x < 0)
    return e / (1 + e);
  return 1 / (1 + e);
}
__device__ float twice(float x) { return squashed(squashed(x)); }
__device__ float mine(float x) { return x + threadIdx.x; }
__device__ float stored(float x) { return total = x; }
__device__ float loaded(float x) { return x + total; }
__device__ float through(const float *x) { return *x; }
__device__ float again(float x) { return x < 1 ? x : again(x / 2); }
__device__ float waits(float x) {
  __syncthreads();
  return x;
}

// CHECK-DAG: {{^}}grid-stride@infinite: line [[#@LINE+1]]: Let a thread compute several elements
__global__ void infinite(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float most = -__builtin_inff();
  y[i] = fmaxf(x[i], most);
}

// CHECK-DAG: {{^}}grid-stride@inMacro: line [[#@LINE+1]]: Let a thread compute several elements
__global__ void inMacro(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fmaxf(x[i], -BIG);
}

// CHECK-DAG: {{^}}grid-stride@numbers: line [[#@LINE+1]]: Let a thread compute several elements
__global__ void numbers(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = twice(x[i]);
}

// CHECK-DAG: not grid-stride@sees: {{.*}} it calls mine, which may look at the thread's number
__global__ void sees(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = mine(x[i]);
}

// CHECK-DAG: not grid-stride@stores: {{.*}} it calls stored
__global__ void stores(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = stored(x[i]);
}

// CHECK-DAG: not grid-stride@loads: {{.*}} it calls loaded
__global__ void loads(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = loaded(x[i]);
}

// CHECK-DAG: not grid-stride@points: {{.*}} it calls through
__global__ void points(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = through(x + i);
}

// CHECK-DAG: not grid-stride@recurs: {{.*}} it calls again
__global__ void recurs(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = again(x[i]);
}

// CHECK-DAG: not grid-stride@blocks: {{.*}} it calls waits
__global__ void blocks(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = waits(x[i]);
}

void launch(const float *x, float *y, int n) {
  infinite<<<(n + 255) / 256, 256>>>(x, y, n);
  inMacro<<<(n + 255) / 256, 256>>>(x, y, n);
  numbers<<<(n + 255) / 256, 256>>>(x, y, n);
  sees<<<(n + 255) / 256, 256>>>(x, y, n);
  stores<<<(n + 255) / 256, 256>>>(x, y, n);
  loads<<<(n + 255) / 256, 256>>>(x, y, n);
  points<<<(n + 255) / 256, 256>>>(x, y, n);
  recurs<<<(n + 255) / 256, 256>>>(x, y, n);
  blocks<<<(n + 255) / 256, 256>>>(x, y, n);
}
