// The fast exponential and the reciprocal root, where the workload's outputs
// may be off by as much.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/fast.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/fast.workload.json --apply fast-math@scale -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/fast.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// SIM: correct (simulated NVIDIA H200)
#include <cmath>
// ALONE-DAG: not fast-math@scale: {{.*}} only a workload could say what error is allowed
// LIST-DAG: {{^}}fast-math@scale: line [[#@LINE+1]]: Use the fast exponential and reciprocal root
__global__ void scale(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (i < n) {
    // CHECK: {{^[^/]*}}y[i] = x[i] * (rsqrtf(x[i] * x[i] + 1)) + __expf(x[i]);
    y[i] = x[i] * (1.0f / sqrtf(x[i] * x[i] + 1)) + expf(x[i]);
    // CHECK: {{^[^/]*}}y[i] += rsqrtf(2 + (1 / sqrtf(y[i] * y[i])));
    y[i] += 1 / sqrtf(2 + (1 / sqrtf(y[i] * y[i])));
    // Other numerators, and double precision, stay.
    // CHECK: {{^[^/]*}}y[i] += 2.0f / sqrtf(y[i] + 9);
    y[i] += 2.0f / sqrtf(y[i] + 9);
    // CHECK: {{^[^/]*}}y[i] += 1.0 / sqrt((double)y[i] + 9);
    y[i] += 1.0 / sqrt((double)y[i] + 9);
    // CHECK: {{^[^/]*}}y[i] += 1.0 / sqrtf(y[i] + 9);
    y[i] += 1.0 / sqrtf(y[i] + 9);
  }
}
void launch(const float *x, float *y, int n) { scale<<<1, 64>>>(x, y, n); }
