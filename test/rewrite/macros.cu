// A macro is judged by what it makes, never by what it is called: one named
// report_error is no error of Clang's. An error of Clang's closes its kernel.
// RUN: %stark-tool rewrites %s | FileCheck %s
// RUN: %stark-tool rewrites %s --apply vector-access@scale:loop2 | FileCheck %s --check-prefix=APPLY
#define report_error(v) do { v = -1; } while (0)
// CHECK: {{^}}vector-access@scale:loop2: line [[#@LINE+5]]: Load and store 16 bytes at a time
__global__ void scale(const float *x, float *y, int n) {
  float status = 0;
  if (n < 0)
    report_error(status);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] = x[i] * 2;
}
// APPLY: is_wide_aligned(&x[0])

// CHECK: {{^}}not vector-access@broken: line [[#@LINE+1]]: Clang reports an error in it, line [[#@LINE+2]]: {{.*}}undeclared_scale
__global__ void broken(const float *x, float *y, int n) {
  float factor = undeclared_scale;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i] * factor;
}
