// What only the caller knows (that buffers lie apart, what error is allowed) is
// taken from the workload; without one it is refused.
// RUN: rm -rf %t && split-file %S/Inputs/arguments.txt %t && cp %s %t/arguments.cu
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %t/apart.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %t/apart.json --apply restrict@kernel -o %t/restrict.cu
// RUN: FileCheck %s --check-prefix=RESTRICT < %t/restrict.cu
// RUN: %stark-tool rewrites %s --workload %t/apart.json --apply read-only=x@kernel | FileCheck %s --check-prefix=LDG
// RUN: %stark-tool rewrites %s --workload %t/apart.json --apply fast-math@kernel | FileCheck %s --check-prefix=FAST
// RUN: %stark-tool rewrites %s --workload %t/exact.json | FileCheck %s --check-prefix=EXACT
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t/restrict.cu -o %t/restrict.ptx %}
// ALONE-DAG: not restrict@kernel: {{.*}} only a workload could say that 'w' and 'y' do not overlap
// ALONE-DAG: not read-only@kernel: {{.*}} 'x': only a workload could say
// ALONE-DAG: not fast-math@kernel: {{.*}} only a workload could say what error is allowed
// LIST-DAG: {{^}}restrict@kernel:
// LIST-DAG: not restrict@again: {{.*}} 'x' and 'y' are the same buffer
// EXACT: not fast-math@kernel: {{.*}} the workload allows less than 1e-5 of error in 'y'
// RESTRICT: {{^[^/]*}}__global__ void kernel(const float *__restrict__ w, const float *__restrict__ x, float *__restrict__ y, int n)
// LDG: {{^[^/]*}}y[i] = w[i] * expf(__ldg(&x[i]));
// FAST: {{^[^/]*}}y[i] = w[i] * __expf(x[i]);
__global__ void kernel(float *w, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = w[i] * expf(x[i]);
}
__global__ void again(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
void launch(float *w, const float *x, float *y, int n, cudaStream_t s) {
  kernel<<<(n + 127) / 128, 128, 0, s>>>(w, x, y, n);
  again<<<(n + 127) / 128, 128, 0, s>>>(y, y, n);
}
