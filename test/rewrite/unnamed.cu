// A workload names a kernel of an anonymous namespace as its file does; the
// rewrites know it by that name, and so does what judges their candidates.
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/unnamed.cu && cd %t
// RUN: %stark-tool rewrites unnamed.cu --workload %S/Inputs/unnamed.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool optimize unnamed.cu --workload %S/Inputs/unnamed.workload.json --provider rules --evaluator sim --run-dir run --attempts 1 > out.txt 2> err.txt
// RUN: FileCheck %s --check-prefix=SEARCH < err.txt
// LIST-DAG: {{^}}restrict@row_sums:
// LIST-DAG: not launch-bounds@row_sums: {{.*}} the workload launches it
// SEARCH: attempt 1: correct, {{.*}} [Let a warp share each row]
namespace {
inline namespace deeper {
__global__ void row_sums(const float *x, float *y, int h, int w) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= h)
    return;
  float sum = 0;
  for (int i = 0; i < w; ++i)
    sum += x[row * w + i];
  y[row] = sum;
}
} // namespace deeper
} // namespace
