// A loop that reads along memory takes 16 bytes a load, where each vector is
// read by the source and begins at a multiple of that.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/row-vectors.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/row-vectors.workload.json --apply row-vectors@product:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --workload %S/Inputs/row-vectors.workload.json --apply row-vectors@added:loop1 -o %t.2.cu && FileCheck %s --check-prefix=ADDED < %t.2.cu
// RUN: %stark-tool rewrites %t.2.cu --workload %S/Inputs/row-vectors.workload.json --apply row-vectors@kept:loop1 -o %t.cu && FileCheck %s --check-prefix=KEPT < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/row-vectors.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply row-vectors@batch:loop1 -o %t.batch.cu && FileCheck %s --check-prefix=BATCH < %t.batch.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %stark-tool rewrites %s --apply row-vectors@others:loop1 | FileCheck %s --check-prefix=OTHERS
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.batch.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=128 rows=16384: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// LIST-DAG: {{^}}row-vectors@product:loop1: line
// CHECK: {{^[^/]*}}const int whole =
// CHECK-NEXT: is_wide_aligned(x) && n % 4 == 0 && is_wide_aligned(a) && 0 < n
// CHECK-NEXT: ? n / 4 * 4
// CHECK: {{^[^/]*}}for (int [[AT:at[0-9]*]] = 0; [[AT]] < whole; [[AT]] += 4) {
// CHECK-NEXT: {{^[^/]*}}const int i = [[AT]];
// CHECK: {{^[^/]*}}const wide_vec<float, 4> a_vec =
// CHECK: &a[row * n + i]);
// CHECK: {{^[^/]*}}for (int lane = 0; lane < 4; ++lane) {
// CHECK-NEXT: {{^[^/]*}}if ((i + lane) == row)
// CHECK-NEXT: {{^[^/]*}}sum -= x_vec.at[lane];
// CHECK: {{^[^/]*}}sum += a_vec.at[lane] * x_vec.at[lane];
// CHECK: {{^[^/]*}}for (int i = whole; i < n; ++i) {
__global__ void product(const float *a, const float *x, float *y, int rows,
                        int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i == row)
      sum -= x[i];
    sum += a[row * n + i] * x[i];
  }
  y[row] = sum;
}

// It stores meanwhile, which only the workload can say is elsewhere; the first
// four are left out.
// LIST-DAG: {{^}}row-vectors@added:loop1: line
// ALONE-DAG: not row-vectors@added:loop1: {{.*}} only a workload could say that 'a' and 'z' do not overlap
// ADDED: is_wide_aligned(a) && 4 < (n + 1) ? ((n + 1) - 4) / 4 * 4 : 0;
// ADDED: {{^[^/]*}}const int i = 4 + at{{[0-9]*}};
// ADDED: {{^[^/]*}}z[((i + lane{{[0-9]*}}) - 1) * rows + row] = a_vec{{[0-9]*}}.at[lane{{[0-9]*}}];
// ADDED: {{^[^/]*}}for (int i = 4 + whole{{[0-9]*}}; i < n + 1; i++)
__global__ void added(const float *a, float *z, int rows, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  for (int i = 4; i < n + 1; i++)
    z[(i - 1) * rows + row] = a[i];
}

// What each iteration loads and stores stays in registers meanwhile.
// LIST-DAG: {{^}}row-vectors@kept:loop1: line
// KEPT: {{^[^/]*}}float v_kept = 0;
// KEPT-NEXT: {{^[^/]*}}{
// KEPT-NEXT: {{^[^/]*}}float u_kept = 0 < n ? u[row] : float{};
// KEPT: {{^[^/]*}}u_kept += a_vec{{[0-9]*}}.at[lane{{[0-9]*}}] * x_vec{{[0-9]*}}.at[lane{{[0-9]*}}];
// KEPT-NEXT: {{^[^/]*}}v_kept = v_kept - x_vec{{[0-9]*}}.at[lane{{[0-9]*}}];
// KEPT: {{^[^/]*}}u_kept += a[row * n + i] * x[i];
// KEPT-NEXT: {{^[^/]*}}v_kept = v_kept - x[i];
// KEPT-NEXT: {{^[^/]*}}}
// KEPT-NEXT: {{^[^/]*}}if (0 < n)
// KEPT-NEXT: {{^[^/]*}}u[row] = u_kept;
// KEPT-NEXT: {{^[^/]*}}v[row] = v_kept;
__global__ void kept(const float *a, const float *x, float *u, float *v,
                     int rows, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  v[row] = 0;
  for (int i = 0; i < n; ++i) {
    u[row] += a[row * n + i] * x[i];
    v[row] = v[row] - x[i];
  }
}

// What cannot stay there is waited for, however wide the other loads are.
// LIST-DAG: not row-vectors@grown:loop1: {{.*}} line [[#@LINE+6]] loads and stores 'z' in each iteration
__global__ void grown(const float *a, float *z, int rows, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  for (int i = 0; i < n; i++)
    z[i * rows + row] += a[i];
}

// What a block has in common is tested for as it is; halves are eight a load.
// LIST-DAG: {{^}}row-vectors@batch:loop1: line
// BATCH: (m % 8 == 0 || k % 8 == 0) && k % 8 == 0 && is_wide_aligned(a)
// BATCH: first % 8 == 0
__global__ void batch(const unsigned short *a, unsigned *y, int m, int k,
                      int first) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned short *mine = a + blockIdx.y * m * k;
  unsigned sum = 0;
  for (int i = first; i < k; i++)
    sum += mine[row * k + i];
  y[blockIdx.y * m + row] = sum;
}

// LIST-DAG: not row-vectors@beside:loop1: {{.*}} threads side by side read 'a' side by side already
__global__ void beside(const float *a, float *y, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[at + i];
  y[at] = sum;
}

// Not each element need be there.
// LIST-DAG: not row-vectors@perhaps:loop1: {{.*}} an element of 'a' is read under a condition
__global__ void perhaps(const float *a, float *y, int n, int m) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    if (i < m)
      sum += a[i];
  y[row] = sum;
}

// LIST-DAG: not row-vectors@skips:loop1: {{.*}} an element of 'a' is read under a condition
__global__ void skips(const float *a, float *y, int n, int m) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    if (i > m)
      continue;
    sum += a[i];
  }
  y[row] = sum;
}

// The one that is left out has been read before.
// LIST-DAG: {{^}}row-vectors@others:loop1: line
// OTHERS: {{^[^/]*}}if ((j + lane) == i)
// OTHERS-NEXT: {{^[^/]*}}continue;
// OTHERS-NEXT: {{^[^/]*}}sum += m_vec.at[lane] * (a_vec.at[lane] - own);
__global__ void others(const float *a, const float *m, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float own = a[i], sum = m[i];
  for (int j = 0; j < n; j++) {
    if (j == i)
      continue;
    sum += m[j] * (a[j] - own);
  }
  y[i] = sum;
}

// Another one has.
// LIST-DAG: not row-vectors@another:loop1: {{.*}} an element of 'm' is read under a condition
__global__ void another(const float *m, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = i + 1;
  float sum = m[k];
  for (int j = 0; j < n; j++) {
    if (j == i)
      continue;
    sum += m[j];
  }
  y[i] = sum;
}

// LIST-DAG: not row-vectors@ends:loop1: {{.*}} it can end early
__global__ void ends(const float *a, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i];
    if (sum > 1)
      break;
  }
  y[row] = sum;
}

// Rows begin where memory says, or at odd places for some threads alone.
// LIST-DAG: not row-vectors@anywhere:loop1: {{.*}} rows of 'a' do not begin at multiples of 4 elements
__global__ void anywhere(const float *a, const int *first, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = first[row];
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[begin + i];
  y[row] = sum;
}

// LIST-DAG: not row-vectors@odd_rows:loop1: {{.*}} rows of 'a' do not begin at multiples of 4 elements
__global__ void odd_rows(const float *a, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[row * 6 + i];
  y[row] = sum;
}

// LIST-DAG: not row-vectors@own_begin:loop1: {{.*}} whether it begins at a multiple of 4 is not the same
__global__ void own_begin(const float *a, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = row; i < n; i++)
    sum += a[i];
  y[row] = sum;
}

// LIST-DAG: not row-vectors@itself:loop1: {{.*}} what line [[#@LINE+5]] writes is not known
__global__ void itself(float *a, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    a[row * n + i] = sum += a[row * n + i + 4];
}

// LIST-DAG: not row-vectors@seldom:loop1: {{.*}} it runs too seldom
__global__ void seldom(const float *a, float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 60; i++)
    sum += a[row * 64 + i];
  y[row] = sum;
}

// The workload gives all launches 48.
// LIST-DAG: not row-vectors@few:loop1: {{.*}} it runs too seldom
// ALONE-DAG: {{^}}row-vectors@few:loop1: line
__global__ void few(const float *a, float *y, int count) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < count; i++)
    sum += a[row * count + i];
  y[row] = sum;
}

// Only some of them.
// LIST-DAG: {{^}}row-vectors@some:loop1: line
__global__ void some(const float *a, float *y, int count) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < count; i++)
    sum += a[row * count + i];
  y[row] = sum;
}

void launch(const float *a, const float *x, float *y, float *z, float *u,
            float *v, int rows, int n, int count) {
  product<<<(rows + 127) / 128, 128>>>(a, x, y, rows, n);
  kept<<<(rows + 127) / 128, 128>>>(a, x, u, v, rows, n);
  if (rows < 1000) {
    added<<<(rows + 127) / 128, 128>>>(x, z, rows, n);
    grown<<<(rows + 127) / 128, 128>>>(x, z, rows, n);
  }
  if (count == 0) {
    few<<<1, 1>>>(a, y, count);
    some<<<1, 1>>>(a, y, count);
    some<<<1, 1>>>(a, y, n);
  }
}
