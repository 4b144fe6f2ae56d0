// The two sweeps of a scan become warp shuffles where a thread has one element or two.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --apply sweep-scan@two:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --apply sweep-scan@one:loop1 -o %t.cu
// RUN: FileCheck %s --check-prefix=ONE < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/scan.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=524288: modelled {{.*}}: {{(1[.][3-9]|[2-9]).*}} times as fast

#define SECTION 512
// CHECK: {{^[^/]*}}block_sum_before_float(float value) {
// CHECK: {{^[^/]*}}__shfl_up_sync(0xffffffffu, value, offset);
// LIST-DAG: {{^}}sweep-scan@two:loop1: line [[#@LINE+20]]: Scan the block with warp shuffles
// CHECK: {{^[^/]*}}if (blockDim.x == 256 && blockDim.y == 1 && blockDim.z == 1) {
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}const float first = sums[2 * threadIdx.x],
// CHECK-NEXT: {{^[^/]*}}second = sums[2 * threadIdx.x + 1];
// CHECK-NEXT: {{^[^/]*}}const float before = block_sum_before_float(first + second);
// CHECK-NEXT: {{^[^/]*}}sums[2 * threadIdx.x] = before + first;
// CHECK-NEXT: {{^[^/]*}}sums[2 * threadIdx.x + 1] = before + first + second;
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}} else {
// CHECK-NEXT: {{^[^/]*}}for (unsigned int s = 1; s <= blockDim.x; s *= 2) {
// CHECK: {{^[^/]*}}for (int s = SECTION / 4; s > 0; s /= 2) {
// CHECK: {{^[^/]*}}sums[k + s] += sums[k];
// CHECK: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}if (i < n)
__global__ void two(const float *x, float *y, int n) {
  __shared__ float sums[SECTION];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0;
  sums[threadIdx.x + blockDim.x] = i + (int)blockDim.x < n ? x[i + blockDim.x] : 0;
  for (unsigned int s = 1; s <= blockDim.x; s *= 2) {
    __syncthreads();
    unsigned int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < SECTION)
      sums[k] += sums[k - s];
  }
  for (int s = SECTION / 4; s > 0; s /= 2) {
    __syncthreads();
    unsigned int k = (threadIdx.x + 1) * s * 2 - 1;
    if (k + s < SECTION)
      sums[k + s] += sums[k];
  }
  __syncthreads();
  if (i < n)
    y[i] = sums[threadIdx.x];
  if (i + (int)blockDim.x < n)
    y[i + blockDim.x] = sums[threadIdx.x + blockDim.x];
}

// ONE: {{^[^/]*}}if (blockDim.x == 128 && blockDim.y == 1 && blockDim.z == 1) {
// ONE: {{^[^/]*}}const int [[FIRST:first[0-9]*]] = sums[threadIdx.x];
// ONE-NEXT: {{^[^/]*}}const int [[BEFORE:before[0-9]*]] = block_sum_before_int([[FIRST]]);
// ONE-NEXT: {{^[^/]*}}sums[threadIdx.x] = [[BEFORE]] + [[FIRST]];
// LIST-DAG: {{^}}sweep-scan@one:loop1: line
__global__ void one(const float *x, float *y, int n) {
  __shared__ int sums[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int tid = threadIdx.x;
  sums[tid] = i < n ? int(x[i] * 100) : 0;
  __syncthreads();
  for (int s = 1; s < 128; s <<= 1) {
    int k = (tid + 1) * s * 2 - 1;
    if (k < 128)
      sums[k] += sums[k - s];
    __syncthreads();
  }
  __syncthreads();
  for (int s = blockDim.x / 2; s >= 1; s >>= 1) {
    int k = (tid + 1) * s * 2 - 1;
    if (k + s < 128)
      sums[k + s] += sums[k];
    __syncthreads();
  }
  if (i < n)
    y[i] += sums[tid];
}

// LIST-DAG: not sweep-scan@early:loop1: {{.*}} threads may have returned, or not all come to line [[#@LINE+6]]
__global__ void early(const float *x, float *y, int n) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x >= n)
    return;
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] += sums[k - s];
  }
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 256)
      sums[k + s] += sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// LIST-DAG: not sweep-scan@longer:loop1: {{.*}} its section of 1024 is not one or two elements for each of 256 threads
__global__ void longer(const float *x, float *y) {
  __shared__ float sums[1024];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 1024; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 1024)
      sums[k] += sums[k - s];
  }
  for (int s = 256; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 1024)
      sums[k + s] += sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// One that stops before the last sum, one that starts too low on its way down, one of other
// elements on its way down, one that takes from another array, one that multiplies.
// NONE-NOT: sweep-scan@{{stops|low|others|array|product}}
__global__ void stops(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 128; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] += sums[k - s];
  }
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 256)
      sums[k + s] += sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
__global__ void low(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] += sums[k - s];
  }
  for (int s = 32; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 256)
      sums[k + s] += sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
__global__ void others(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] += sums[k - s];
  }
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * s - 1;
    if (k + s < 256)
      sums[k + s] += sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
__global__ void array(const float *x, float *y) {
  __shared__ float sums[256], more[256];
  sums[threadIdx.x] = more[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] += sums[k - s];
  }
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 256)
      sums[k + s] += more[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
__global__ void product(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 256)
      sums[k] *= sums[k - s];
  }
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k + s < 256)
      sums[k + s] *= sums[k];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

void others_of(const float *x, float *y, int n) {
  early<<<n, 256>>>(x, y, n);
  longer<<<n, 256>>>(x, y);
  stops<<<n, 256>>>(x, y);
  low<<<n, 256>>>(x, y);
  others<<<n, 256>>>(x, y);
  array<<<n, 256>>>(x, y);
  product<<<n, 256>>>(x, y);
}

void run(const float *x, float *y, int n) {
  two<<<(n + 511) / 512, 256>>>(x, y, n);
  one<<<(n + 127) / 128, 128>>>(x, y, n);
}
