// Two kernels of one element a thread become one where each thread of the
// second needs of the first only its own element.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/fuse.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/fuse.workload.json --apply fuse-kernels@gelu_bias:launch1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/fuse.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply fuse-kernels@through_scratch:launch1 -o %t.scratch.cu && FileCheck %s --check-prefix=SCRATCH < %t.scratch.cu
// RUN: not %stark-tool rewrites %s --apply fuse-kernels@refused:launch1 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx && nvcc -arch=sm_90 -ptx %t.scratch.cu -o %t.scratch.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=1048576: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast
// NOT: error: 'fuse-kernels@refused:launch1' does not apply: line [[#]] touches other elements than the thread's own of what both kernels use

// CHECK: {{^[^/]*}}static __device__ __forceinline__ void bias_part(const float *x, const float *b,{{[[:space:]]+}}float *y, int n) {
__global__ void bias(const float *x, const float *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  y[i] = x[i] + b[i];
}

// CHECK: {{^[^/]*}}static __device__ __forceinline__ void{{[[:space:]]+}}square_part(const float *__restrict y, float *__restrict z, size_t n, float a) {
// CHECK: {{^[^/]*}}static __global__ void bias_square(const float *x, const float *b, float *y,{{[[:space:]]+}}int n, float *z, size_t n2, float a) {
// CHECK-NEXT: {{^[^/]*}}bias_part(x, b, y, n);
// CHECK-NEXT: {{^[^/]*}}square_part(y, z, n2, a);
// CHECK-NEXT: {{^[^/]*}}}
__global__ void square(const float *__restrict__ y, float *__restrict__ z, size_t n, float a) {
  unsigned at = threadIdx.x + blockIdx.x * blockDim.x;
  if (at < n) {
    float v = y[at];
    z[at] = a * v * v;
  }
}

// LIST-DAG: {{^}}fuse-kernels@gelu_bias:launch1: line [[#@LINE+7]]: Launch two kernels as one
// ALONE-DAG: not fuse-kernels@gelu_bias:launch1: {{.*}} only a workload could say that 'y' and 'z' do not overlap
// CHECK: {{^[^/]*}}void gelu_bias(const float *x, const float *b, float *y, float *z, int n, float a,
// CHECK: {{^[^/]*}}bias_square<<<(n + 255) / 256, 256, 0, s>>>(x, b, y, n, z, n, a);
// CHECK-NEXT: {{^[^/]*}}}
void gelu_bias(const float *x, const float *b, float *y, float *z, int n, float a,
               cudaStream_t s) {
  bias<<<(n + 255) / 256, 256, 0, s>>>(x, b, y, n);
  square<<<(n + 255) / 256, 256, 0, s>>>(y, z, n, a);
}

__global__ void neighbour(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + x[i + 1 < n ? i + 1 : i];
}

// The second reads what other threads of the first wrote, in either order.
// LIST-DAG: not fuse-kernels@refused:launch1: {{.*}} touches other elements than the thread's own
// LIST-DAG: not fuse-kernels@refused:launch3: {{.*}} touches other elements than the thread's own
void refused(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  neighbour<<<(n + 255) / 256, 256>>>(y, z, n);
  cudaDeviceSynchronize();
  neighbour<<<(n + 255) / 256, 256>>>(y, z, n);
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
}

__global__ void by_cache(const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    z[i] = __ldg(&y[i]);
}

__global__ void counted(const float *y, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && y[i] > 0)
    atomicAdd(count, 1);
}

__global__ void together(const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    z[i] = __shfl_xor_sync(0xffffffffu, y[i], 1);
}

// LIST-DAG: not fuse-kernels@cached:launch1: {{.*}} loads through the read-only path what the other kernel writes
void cached(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  by_cache<<<(n + 255) / 256, 256>>>(y, z, n);
}

// LIST-DAG: not fuse-kernels@other_blocks:launch1: {{.*}} their blocks differ
// LIST-DAG: not fuse-kernels@other_grids:launch1: {{.*}} their grids differ
// LIST-DAG: not fuse-kernels@other_streams:launch1: {{.*}} their streams differ
// LIST-DAG: not fuse-kernels@works_together:launch1: {{.*}} 'together': its threads work together
// LIST-NOT: fuse-kernels@between
// LIST-DAG: not fuse-kernels@shifted:launch1: {{.*}} may overlap
// LIST-DAG: not fuse-kernels@side_effect:launch1: {{.*}} an argument of 'bias' has an increment
// LIST-DAG: not fuse-kernels@flat:launch1: {{.*}} their grid is not seen to have one dimension
void other_blocks(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  bias<<<(n + 255) / 256, 128>>>(y, b, z, n);
}
void other_grids(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  bias<<<n / 256, 256>>>(y, b, z, n);
}
void other_streams(const float *x, const float *b, float *y, float *z, int n,
                   cudaStream_t s) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  bias<<<(n + 255) / 256, 256, 0, s>>>(y, b, z, n);
}
void works_together(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  together<<<(n + 255) / 256, 256>>>(y, z, n);
}
void between(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  cudaMemcpy(y, x, n, cudaMemcpyDeviceToDevice);
  bias<<<(n + 255) / 256, 256>>>(y, b, z, n);
}
void shifted(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<(n + 255) / 256, 256>>>(x, b, y, n);
  bias<<<(n + 255) / 256, 256>>>(y + 1, b, z, n);
}
void side_effect(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<4, 256>>>(x, b, y, n--);
  bias<<<4, 256>>>(y, b, z, n);
}
void flat(const float *x, const float *b, float *y, float *z, int n) {
  bias<<<4, dim3(16, 16)>>>(x, b, y, n);
  bias<<<4, dim3(16, 16)>>>(y, b, z, n);
}

// Memory that the function allocated itself lies apart from all else.
// SCRATCH: {{^[^/]*}}static __global__ void bias_bias(const float *x, const float *b, float *y,{{[[:space:]]+}}int n) {
// SCRATCH-NEXT: {{^[^/]*}}bias_part(x, b, y, n);
// SCRATCH-NEXT: {{^[^/]*}}bias_part(y, b, y, n);
// SCRATCH: {{^[^/]*}}bias_bias<<<4, 256>>>(x, b, scratch, n);
// SCRATCH-NEXT: {{^[^/]*}}cudaFree(scratch);
void through_scratch(const float *x, const float *b, int n) {
  float *scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  bias<<<4, 256>>>(x, b, scratch, n);
  bias<<<4, 256>>>(scratch, b, scratch, n);
  cudaFree(scratch);
}
