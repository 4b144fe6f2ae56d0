// Blocks of a thread or a few are launched as larger ones, where each thread
// has an element and each element a thread.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply wide-blocks@twice -o %t.cu && FileCheck %s --check-prefix=TWICE < %t.cu
// RUN: %stark-tool rewrites %s --apply wide-blocks@few -o %t.few.cu && FileCheck %s --check-prefix=FEW < %t.few.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/wide-blocks.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool simulate %s --workload %S/Inputs/wide-blocks.workload.json --candidate %t.few.cu | FileCheck %s --check-prefix=CORRECT
// CORRECT: correct (simulated NVIDIA H200)
// SIM: correct (simulated NVIDIA H200)
// SIM: n=100003: modelled {{.*}}: {{([1-9][0-9]?[.]).*}} times as fast

// LIST-DAG: {{^}}wide-blocks@twice: line [[#@LINE+1]]: Launch larger blocks
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// LIST-DAG: {{^}}wide-blocks@few: line [[#@LINE+1]]: Launch larger blocks
__global__ void few(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  x[i] = 3 * x[i];
}

// LIST-DAG: {{^}}wide-blocks@warp: line [[#@LINE+1]]: Launch larger blocks
__global__ void warp(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// These are large enough.
// LIST-NOT: wide-blocks@large
__global__ void large(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// The elements that no thread has stay as they are.
// LIST-DAG: not wide-blocks@partly: {{.*}} its launch is not seen to have a thread for each element
__global__ void partly(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// LIST-DAG: not wide-blocks@block: {{.*}} it uses blockIdx for more than its index
__global__ void block(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = blockIdx.x;
}

// LIST-DAG: not wide-blocks@bound: {{.*}} it bounds how many threads its blocks have
__global__ void __launch_bounds__(16) bound(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// LIST-DAG: not wide-blocks@clustered: {{.*}} its blocks form clusters
// LIST-DAG: not grid-stride@clustered: {{.*}} its blocks form clusters
__global__ void __attribute__((cluster_dims(2, 1, 1)))
clustered(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

// Other blocks would make other indices of it.
// LIST-DAG: not wide-blocks@number: {{.*}} its index is made of a number, not of blockDim.x
__global__ void number(float *x, int n) {
  int i = blockIdx.x * 16 + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}

void launch(float *x, int n) {
  // TWICE: twice<<<((n) + 255) / 256, 256>>>(x, n);
  twice<<<n, 1>>>(x, n);
  // FEW: few<<<(((n + 15) / 16) * 16LL + 255) / 256, 256>>>(x, n);
  few<<<(n + 15) / 16, 16>>>(x, n);
  warp<<<(n + 31) / 32, 32>>>(x, n);
  large<<<(n + 127) / 128, 128>>>(x, n);
  partly<<<n / 8, 8>>>(x, n);
  block<<<n, 1>>>(x, n);
  number<<<(n + 15) / 16, 16>>>(x, n);
  clustered<<<(n + 15) / 16, 16>>>(x, n);
  bound<<<(n + 15) / 16, 16>>>(x, n);
}
