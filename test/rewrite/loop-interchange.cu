// The loops of a nest change places where a thread then walks along its rows,
// and no iteration can tell.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/interchange.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/interchange.workload.json --apply loop-interchange@scale:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/interchange.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply loop-interchange@sum:loop1 | FileCheck %s --check-prefix=SUM
// RUN: %stark-tool rewrites %s --apply loop-interchange@parts:loop1 | FileCheck %s --check-prefix=PARTS
// RUN: not %stark-tool rewrites %s --apply loop-interchange@triangle:loop1 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: cols=256 rows=8192: modelled {{.*}}: {{(1[.][3-9]|[2-9]).*}} times as fast
// NOT: error: 'loop-interchange@triangle:loop1' does not apply: the inner loop's bounds depend on 'j'

// LIST-DAG: {{^}}loop-interchange@scale:loop1: line [[#@LINE+7]]: Walk along the rows in the inner loop
// ALONE-DAG: not loop-interchange@scale:loop1: {{.*}} only a workload could say that 'y' and 'x' do not overlap
__global__ void scale(const float *x, float *y, int rows, int cols) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  // CHECK: {{^[^/]*}}for (int r = 0; r < 16; ++r)
  // CHECK-NEXT: {{^[^/]*}}for (int j = 0; j < cols; j++) {
  // CHECK-NEXT: {{^[^/]*}}int at = (first + r) * cols + j;
  for (int j = 0; j < cols; j++)
    for (int r = 0; r < 16; ++r) {
      int at = (first + r) * cols + j;
      if (first + r < rows)
        y[at] = 2 * x[at];
    }
}

// Each of the sums keeps its order.
// PARTS: {{^[^/]*}}for (int r = 0; r < 4; ++r) {
// PARTS-NEXT: {{^[^/]*}}for (int k = 0; k < n; k += 1)
__global__ void parts(const float *x, float *y, int n) {
  float part[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; k += 1) {
    for (int r = 0; r < 4; ++r)
      part[r] += x[(threadIdx.x * 4 + r) * n + k];
  }
  y[threadIdx.x] = part[0] + part[1] + part[2] + part[3];
}

// SUM: {{^[^/]*}}for (int c = 0; c < 4; ++c)
// SUM-NEXT: {{^[^/]*}}for (int k = 0; k < n; ++k)
__global__ void sum(const float *x, float *y, int n) {
  float all = 0;
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < 4; ++c)
      all += x[(threadIdx.x * 4 + c) * n + k];
  y[threadIdx.x] = all;
}

// LIST-DAG: not loop-interchange@triangle:loop1: {{.*}} the inner loop's bounds depend on 'j'
__global__ void triangle(const float *x, float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < j; ++r)
      y[r * n + j] = 1;
}

// Element (r, j) is made of (r - 1, j + 1), which is older only in this order.
// LIST-DAG: not loop-interchange@wave:loop1: {{.*}} an iteration may use what another one stores (lines [[#@LINE+4]] and [[#@LINE+4]])
__global__ void wave(float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 1; r < n; ++r)
      y[r * n + j] = y[(r - 1) * n + j + 1];
}

// Rows of m elements, of which n are gone through: they may overlap.
// LIST-DAG: not loop-interchange@short_rows:loop1: {{.*}} rows of 'y' may be shorter than what the loop walks along them
__global__ void short_rows(float *y, int n, int m) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[r * m + j] = r - j;
}

// LIST-DAG: not loop-interchange@last_wins:loop1: {{.*}} all iterations store to the same element of 'y'
__global__ void last_wins(const float *x, float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[threadIdx.x] = x[r * n + j];
}

// LIST-DAG: not loop-interchange@best:loop1: {{.*}} 'where' outlives an iteration and is no plain sum
__global__ void best(const float *x, int *y, int n) {
  int where = 0;
  float most = 0;
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      if (x[r * n + j] > most) {
        most = fmaxf(most, x[r * n + j]);
        where = r;
      }
  y[threadIdx.x] = where;
}

// LIST-DAG: not loop-interchange@running:loop1: {{.*}} 'all' is read while it grows
__global__ void running(const float *x, float *y, int n) {
  float all = 0;
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r) {
      all += x[r * n + j];
      y[r * n + j] = all;
    }
}

// LIST-DAG: not loop-interchange@waits:loop1: {{.*}} its body has a call of __syncthreads
__global__ void waits(const float *x, float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r) {
      y[r * n + j] = 1;
      __syncthreads();
    }
}

// LIST-DAG: not loop-interchange@ends:loop1: {{.*}} it can end early
__global__ void ends(const float *x, float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r) {
      if (j > 3)
        break;
      y[r * n + j] = 1;
    }
}

// LIST-DAG: not loop-interchange@counts:loop1: {{.*}} 'k' outlives an iteration
__global__ void counts(float *y, int n) {
  int k = 0;
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[r * n + j] = k++;
}

// LIST-DAG: not loop-interchange@scattered:loop1: {{.*}} which elements of 'y' the iterations store to is not seen
__global__ void scattered(const float *x, float *y, const int *to, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[to[r]] = x[r * n + j];
}

// LIST-DAG: not loop-interchange@bound_from_memory:loop1: {{.*}} a bound is read from memory
__global__ void bound_from_memory(float *y, const int *lengths, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < lengths[0]; ++r)
      y[r * n + j] = 1;
}

// LIST-DAG: not loop-interchange@by_pointer:loop1: {{.*}} what line [[#@LINE+6]] reads or writes is not known
__global__ void by_pointer(const float *x, float *y, int n) {
  float part[8];
  float *p = part;
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      p[0] = x[r * n + j];
  y[threadIdx.x] = part[0];
}

// LIST-DAG: not loop-interchange@watched:loop1: {{.*}} it stores to volatile memory
__global__ void watched(const float *x, volatile float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[r * n + j] = 1;
}

// LIST-DAG: not loop-interchange@two_elements:loop1: {{.*}} elements of 'part' outlive an iteration
__global__ void two_elements(const float *x, float *y, int n) {
  float part[9] = {};
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      part[r + 1] = part[r] + x[r * n + j];
  y[threadIdx.x] = part[8];
}

// The warp's accesses lie side by side as it is; along the rows already.
// LIST-NOT: loop-interchange@coalesced
__global__ void coalesced(const float *x, float *y, int n) {
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < 8; ++r)
      y[r * n + j + threadIdx.x] = 1;
}
// LIST-NOT: loop-interchange@along
__global__ void along(const float *x, float *y, int n) {
  for (int r = 0; r < 8; ++r)
    for (int j = 0; j < n; ++j)
      y[r * n + j] = 1;
}

void scale_rows(const float *x, float *y, int rows, int cols) {
  scale<<<(rows / 16 + 127) / 128 + 1, 128>>>(x, y, rows, cols);
}
