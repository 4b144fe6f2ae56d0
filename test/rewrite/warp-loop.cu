// What all threads of a warp would compute alike its lanes share.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --apply warp-loop@rms:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply warp-loop@softmax -o %t.two.cu && FileCheck %s --check-prefix=TWO < %t.two.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/warp-loop.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.two.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: h=64 w=512: modelled {{.*}}: {{[2-9].*}} times as fast

// LIST-DAG: {{^}}warp-loop@rms:loop1: line
// CHECK: {{^[^/]*}}if (__activemask() == 0xffffffffu) {
// CHECK-NEXT: {{^[^/]*}}const float sum_before = sum;
// CHECK-NEXT: {{^[^/]*}}sum = 0;
// CHECK-NEXT: {{^[^/]*}}for (int i = 0 + int(threadIdx.x % 16); i < w; i += 16)
// CHECK-NEXT: {{^[^/]*}}sum += x[row * w + i] * x[row * w + i];
// CHECK: {{^[^/]*}}for (int offset = 8; offset > 0; offset /= 2)
// CHECK-NEXT: {{^[^/]*}}sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
// CHECK-NEXT: {{^[^/]*}}sum += sum_before;
// CHECK-NEXT: {{^[^/]*}}} else {
// CHECK-NEXT: {{^[^/]*}}for (int i = 0; i < w; ++i)
// CHECK-NEXT: {{^[^/]*}}sum += x[row * w + i] * x[row * w + i];
// CHECK-NEXT: {{^[^/]*}}}
__global__ void rms(const float *x, float *y, int w, int h) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < h && col < w) {
    float sum = 0;
    for (int i = 0; i < w; ++i)
      sum += x[row * w + i] * x[row * w + i];
    y[row * w + col] = x[row * w + col] * rsqrtf(sum / w);
  }
}

// LIST-DAG: {{^}}warp-loop@softmax: line
// TWO: {{^[^/]*}}most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
// TWO: {{^[^/]*}}sum += expf(x[i] - most);
// TWO: {{^[^/]*}}for (int offset = 16; offset > 0; offset /= 2)
__global__ void softmax(const float *x, float *y, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n)
    return;
  float most = x[0];
  for (int i = 1; i < n; ++i)
    most = fmaxf(most, x[i]);
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += expf(x[i] - most);
  y[at] = expf(x[at] - most) / sum;
}

// What is added of the same elements is each thread's own.
// LIST-DAG: not warp-loop@own_factor:loop1: {{.*}} 'factor' may differ from thread to thread
__global__ void own_factor(const float *x, float *y, int n) {
  float factor = y[threadIdx.x];
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += factor * x[i];
  y[threadIdx.x] = sum;
}

// Each lane's minimum begins with an element of its own.
// LIST-DAG: not warp-loop@own_start:loop1: {{.*}} 'least' may differ from thread to thread
__global__ void own_start(const float *x, float *y, int n) {
  float least = y[threadIdx.x];
  for (int i = 0; i < n; ++i)
    least = fminf(least, x[i]);
  y[threadIdx.x] = least;
}

// NONE-NOT: {{^}}warp-loop@changing
__global__ void changing(const volatile float *x, float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i];
  y[threadIdx.x] = sum;
}

// A sum that a condition of the thread's own has changed is its own.
// LIST-DAG: not warp-loop@changed:loop1: {{.*}} 'factor' may differ from thread to thread
__global__ void changed(const float *x, float *y, int n) {
  float factor = 1, sum = 0;
  if (threadIdx.x == 0)
    factor = 2;
  for (int i = 0; i < n; ++i)
    sum += factor * x[i];
  y[threadIdx.x] = sum;
}

// LIST-DAG: not warp-loop@again:loop2: {{.*}} it lies in another loop
__global__ void again(const float *x, float *y, int n) {
  float sum = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      sum += x[i];
  y[threadIdx.x] = sum;
}

// LIST-DAG: not warp-loop@odd:loop1: {{.*}} its blocks are no whole rows of 8, 16 or 32 threads
__global__ void odd(const float *x, float *y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// LIST-DAG: not warp-loop@few:loop1: {{.*}} it is short
__global__ void few(const float *x, float *y) {
  float sum = 0;
  for (int i = 0; i < 9; ++i)
    sum += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void launch(const float *x, float *y, int n) {
  rms<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(x, y, n, n);
  softmax<<<(n + 255) / 256, 256>>>(x, y, n);
  own_factor<<<1, 256>>>(x, y, n);
  own_start<<<1, 256>>>(x, y, n);
  changing<<<1, 256>>>(x, y, n);
  changed<<<1, 256>>>(x, y, n);
  again<<<1, 256>>>(x, y, n);
  odd<<<n / 96, 24>>>(x, y, n);
  few<<<n / 256, 256>>>(x, y);
}
