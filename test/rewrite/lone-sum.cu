// What thread 0 of a block adds up alone its warp adds up.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/lone-sum.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/lone-sum.workload.json --apply lone-sum@dot:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply lone-sum@added:loop1 -o %t.added.cu && FileCheck %s --check-prefix=ADDED < %t.added.cu
// RUN: %stark-tool rewrites %s --apply lone-sum@braces:loop1 -o %t.braces.cu && FileCheck %s --check-prefix=BRACES < %t.braces.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/lone-sum.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.added.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=65536: modelled {{.*}}: {{([2-9]|1[.][1-9]).*}} times as fast

// LIST-DAG: {{^}}lone-sum@dot:loop1: line
// CHECK: {{^[^/]*}}float sum_all = 0;
// CHECK-NEXT: {{^[^/]*}}if (threadIdx.x < 32) {
// CHECK-NEXT: {{^[^/]*}}__syncwarp();
// CHECK-NEXT: {{^[^/]*}}float sum = 0;
// CHECK: {{^[^/]*}}for (int i = 0 + int(threadIdx.x); i < 256; i += 32)
// CHECK-NEXT: {{^[^/]*}}sum += s[i];
// CHECK: {{^[^/]*}}__shfl_xor_sync(0xffffffffu, sum, offset);
// CHECK: {{^[^/]*}}sum_all = sum;
// CHECK: {{^[^/]*}}if (threadIdx.x == 0) {
// CHECK-NEXT: {{^[^/]*}}float sum = 0;
// CHECK-NEXT: {{^[^/]*}}sum += sum_all;
// CHECK-NEXT: {{^[^/]*}}c[blockIdx.x] = sum;
__global__ void dot(const float *a, const float *b, float *c, int n) {
  __shared__ float s[256];
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = at < n ? a[at] * b[at] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 256; ++i)
      sum += s[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: {{^}}lone-sum@added:loop1: line
// ADDED: {{^[^/]*}}int sum_all = 0;
// ADDED: {{^[^/]*}}for (int i = 1 + int(threadIdx.x); i < blockDim.x; i += 32)
// ADDED: {{^[^/]*}}if (!tid) {
// ADDED-NEXT: {{^[^/]*}}sum += sum_all;
__global__ void added(const int *a, int *c) {
  extern __shared__ int parts[];
  const int tid = threadIdx.x;
  parts[tid] = a[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  int sum = parts[0];
  if (!tid) {
    for (int i = 1; i < blockDim.x; i++)
      sum += parts[i];
    atomicAdd(c, sum);
  }
}

// A second thread has a sum of its own.
// NONE-NOT: lone-sum@second
__global__ void second(const float *a, float *c) {
  if (threadIdx.x == 1) {
    float sum = 0;
    for (int i = 0; i < 256; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: not lone-sum@gone:loop1: {{.*}} its threads need not all come there
__global__ void gone(const float *a, float *c, int n) {
  if (threadIdx.x >= n)
    return;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: not lone-sum@nested:loop1: {{.*}} its threads need not all come there
__global__ void nested(const float *a, float *c, int n) {
  if (c[threadIdx.x] > 0) {
    if (threadIdx.x == 0) {
      float sum = 0;
      for (int i = 0; i < n; ++i)
        sum += a[i];
      c[blockIdx.x] = sum;
    }
  }
}

// How far it goes is known to thread 0 alone.
// LIST-DAG: not lone-sum@own_end:loop1: {{.*}} 'last' may differ from thread to thread
__global__ void own_end(const float *a, float *c, int n) {
  if (threadIdx.x == 0) {
    int last = a[0];
    float sum = 0;
    for (int i = 0; i < last; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: not lone-sum@own_scale:loop1: {{.*}} 'scale' may differ from thread to thread
__global__ void own_scale(const float *a, float *c, int n) {
  float scale = a[threadIdx.x];
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += scale * a[i];
    c[blockIdx.x] = sum;
  }
}

// What it adds up is stored first.
// LIST-DAG: not lone-sum@stored:loop2: {{.*}}, before it, does more than give variables a value
__global__ void stored(float *a, float *c, int n) {
  if (threadIdx.x == 0) {
    a[n - 1] = 0;
    for (int i = 0; i < n; ++i)
      c[blockIdx.x] += a[i];
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// In braces of its own as well.
// LIST-DAG: not lone-sum@deeper:loop1: {{.*}}, before it, does more than give variables a value
__global__ void deeper(float *a, float *c, int n) {
  if (threadIdx.x == 0) {
    {
      a[n - 1] = 0;
      float sum = 0;
      for (int i = 0; i < n; ++i)
        sum += a[i];
      c[blockIdx.x] = sum;
    }
  }
}

// An index in braces, which may not be given a narrower number.
// LIST-DAG: {{^}}lone-sum@braces:loop1: line
// BRACES: {{^[^/]*}}for (size_t i{static_cast<unsigned long>(0 + int(threadIdx.x))}; i < n;
__global__ void braces(const float *a, float *c, size_t n) {
  if (threadIdx.x == 0) {
    float sum{0};
    for (size_t i{0}; i < n; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// What the end refers to was the same in all threads only at first.
// NONE-NOT: lone-sum@referred
__global__ void referred(const float *a, float *c, int n) {
  int m = n;
  const int &last = m;
  m = threadIdx.x + n;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < last; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: not lone-sum@few:loop1: {{.*}} it is short
__global__ void few(const float *a, float *c) {
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 32; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

// LIST-DAG: not lone-sum@narrow:loop1: {{.*}} its blocks are no rows of 32 and more
__global__ void narrow(const float *a, float *c, int n) {
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[i];
    c[blockIdx.x] = sum;
  }
}

void launch(float *a, float *c, const int *x, int *y, int n) {
  added<<<n / 128, 128, 512>>>(x, y);
  second<<<n, 64>>>(a, c);
  gone<<<n, 64>>>(a, c, n);
  nested<<<n, 64>>>(a, c, n);
  own_end<<<n, 64>>>(a, c, n);
  own_scale<<<n, 64>>>(a, c, n);
  stored<<<n, 64>>>(a, c, n);
  deeper<<<n, 64>>>(a, c, n);
  braces<<<n, 64>>>(a, c, n);
  referred<<<n, 64>>>(a, c, n);
  few<<<n, 64>>>(a, c);
  narrow<<<n, dim3(16, 16)>>>(a, c, n);
}
