// Four rounds of a loop share what they load, and every sum is added in the
// order that it had.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-jam.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=ALONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-jam.workload.json --apply loop-jam@columns:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-jam.workload.json --apply loop-jam@outside:loop1 -o %t.outside.cu && FileCheck %s --check-prefix=OUTSIDE < %t.outside.cu
// RUN: %stark-tool rewrites %s --workload %S/Inputs/loop-jam.workload.json --apply loop-jam@nearest:loop1 -o %t.nearest.cu && FileCheck %s --check-prefix=NEAREST < %t.nearest.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/loop-jam.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool simulate %s --workload %S/Inputs/loop-jam.workload.json --candidate %t.outside.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool simulate %s --workload %S/Inputs/loop-jam.workload.json --candidate %t.nearest.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.outside.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)

// A thread computes a row of a product.
// ALONE-DAG: not loop-jam@columns:loop1: {{.*}} stores to what its inner loop may read
// LIST-DAG: {{^}}loop-jam@columns:loop1: line
// CHECK: {{^[^/]*}}int col = 0;
// CHECK-NEXT: {{^[^/]*}}for (; (long long)n - (long long)col >= 4; col += 4) {
// CHECK-NEXT: {{^[^/]*}}float sum_round0 = 0;
// CHECK: {{^[^/]*}}float sum_round3 = 0;
// CHECK-NEXT: {{^[^/]*}}for (int i = 0; i < n; ++i) {
// CHECK-NEXT: {{^[^/]*}}sum_round0 += a[row * n + i] * b[i * n + col];
// CHECK-NEXT: {{^[^/]*}}sum_round1 += a[row * n + i] * b[i * n + (col + 1)];
// CHECK: {{^[^/]*}}c[row * n + col] = sum_round0;
// CHECK-NEXT: {{^[^/]*}}c[row * n + (col + 1)] = sum_round1;
// CHECK: {{^[^/]*}}for (; col < n; ++col) {
// CHECK-NEXT: {{^[^/]*}}float sum = 0;
__global__ void columns(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    for (int col = 0; col < n; ++col) {
      float sum = 0;
      for (int i = 0; i < n; ++i)
        sum += a[row * n + i] * b[i * n + col];
      c[row * n + col] = sum;
    }
  }
}

// A sum that is declared before the loop, and loops one in the other.
// LIST-DAG: {{^}}loop-jam@outside:loop1: line
// OUTSIDE: {{^[^/]*}}float sum_round0;
// OUTSIDE: {{^[^/]*}}sum_round3 = 0;
// OUTSIDE: {{^[^/]*}}for (int y = 0; y < 3; ++y) {
// OUTSIDE-NEXT: {{^[^/]*}}for (int x = 0; x < 3; ++x) {
// OUTSIDE-NEXT: {{^[^/]*}}sum_round0 += in[(y * n + x) + at] * w[filter * 9 + y * 3 + x];
__global__ void outside(const float *in, const float *w, float *out, int n,
                        int filters) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  float sum;
  for (int filter = 0; filter < filters; filter++) {
    sum = 0;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 3; ++x)
        sum += in[(y * n + x) + at] * w[filter * 9 + y * 3 + x];
    out[filter * n * n + at] = sum;
  }
}

// What a round does with its sum is done in order.
// LIST-DAG: {{^}}loop-jam@nearest:loop1: line
// NEAREST: {{^[^/]*}}if (distance_round0 < best) {
// NEAREST: {{^[^/]*}}chosen = k;
// NEAREST: {{^[^/]*}}if (distance_round1 < best) {
// NEAREST: {{^[^/]*}}chosen = (k + 1);
__global__ void nearest(const float *points, const float *centres, int *out,
                        int n, int d, int count) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n)
    return;
  float best = 1e30f;
  int chosen = 0;
  for (int k = 0; k < count; ++k) {
    float distance = 0;
    for (int i = 0; i < d; ++i) {
      float difference = points[p * d + i] - centres[k * d + i];
      distance += difference * difference;
    }
    if (distance < best) {
      best = distance;
      chosen = k;
    }
  }
  out[p] = chosen;
}

// How far a row goes is the row's own affair.
// LIST-DAG: not loop-jam@triangle:loop1: {{.*}} how long its inner loop is depends on the round
__global__ void triangle(const float *a, const float *x, float *y, int n) {
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < row; ++i)
      sum += a[row * n + i] * x[i];
    y[row] = sum;
  }
}

// The next round reads what this one stores.
// LIST-DAG: not loop-jam@follows:loop1: {{.*}} stores to what its inner loop may read
__global__ void follows(const float *a, float *x, int n) {
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[row * n + i] * x[i];
    x[row] = sum;
  }
}

// The next round adds to a number that this one changes.
// LIST-DAG: not loop-jam@scaled:loop1: {{.*}} its inner loop uses 'scale', which a round may change
__global__ void scaled(const float *a, const float *x, float *y, int n) {
  float scale = 1;
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += scale * a[row * n + i] * x[i];
    y[threadIdx.x * n + row] = sum;
    scale = sum;
  }
}

// An array of the thread's own is changed by way of its elements.
// LIST-DAG: not loop-jam@kept:loop1: {{.*}} its inner loop uses 'held', which a round may change
__global__ void kept(const float *a, const float *x, float *y, int n) {
  float held[4] = {1, 1, 1, 1};
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += held[i] * a[row * n + i] * x[i];
    held[row % 4] = sum;
  }
  y[threadIdx.x] = held[0];
}

// The same by way of a pointer and of references.
// LIST-DAG: not loop-jam@pointed:loop1: {{.*}} its inner loop uses 'h', which a round may change
__global__ void pointed(const float *a, const float *x, float *y, int n) {
  float held[4] = {1, 1, 1, 1};
  float *h = held;
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += h[i] * a[row * n + i] * x[i];
    held[row % 4] = sum;
  }
  y[threadIdx.x] = held[0];
}

// LIST-DAG: not loop-jam@lone_pointed:loop1: {{.*}} its inner loop uses 'h', which a round may change
__global__ void lone_pointed(const float *a, const float *x, float *y, int n) {
  float scale = 1;
  const float *h = &scale;
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += *h * a[row * n + i] * x[i];
    scale = sum;
  }
  y[threadIdx.x] = scale;
}

// LIST-DAG: not loop-jam@referred:loop1: {{.*}} its inner loop uses 'h', which a round may change
__global__ void referred(const float *a, const float *x, float *y, int n) {
  float scale = 1;
  const float &h = scale;
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += h * a[row * n + i] * x[i];
    scale = sum;
  }
  y[threadIdx.x] = scale;
}

// A pointer to a parameter's elements is another matter, as is a constant.
// LIST-DAG: {{^}}loop-jam@elsewhere:loop1: line
__global__ void elsewhere(const float *a, const float *x, float *y, int n) {
  const float weights[4] = {1, 2, 3, 4};
  const float *from = x + n;
  float best = 0, *kept = &best;
  for (int row = 0; row < n; ++row) {
    const float *mine = a + row * n;
    float sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += weights[i] * mine[i] * from[i];
    if (sum > *kept)
      best = sum;
  }
  y[threadIdx.x] = best;
}

// Rounds that come after the last one would load where nothing lies.
// LIST-DAG: not loop-jam@ends:loop1: {{.*}} may end it, wait or work together
__global__ void ends(const float *a, const float *x, float *y, int n) {
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[row * n + i] * x[i];
    y[threadIdx.x] = sum;
    if (sum > 0)
      break;
  }
}

// One sum of all rounds is added in one order.
// LIST-DAG: not loop-jam@total:loop1: {{.*}} changes more than variables of the round
__global__ void total(const float *a, const float *x, float *y, int n) {
  float sum = 0;
  for (int row = 0; row < n; ++row)  {
    float scale = 2;
    for (int i = 0; i < n; ++i)
      sum += scale * a[row * n + i] * x[i];
  }
  y[threadIdx.x] = sum;
}

// LIST-DAG: not loop-jam@apart:loop1: {{.*}} its rounds load nothing in common
__global__ void apart(const float *a, float *y, int n) {
  for (int row = 0; row < n; ++row) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[row * n + i];
    y[threadIdx.x * n + row] = sum;
  }
}

void launch(const float *a, const float *b, float *c, float *filtered,
            int *chosen, int n) {
  columns<<<(n + 31) / 32, 32>>>(a, b, c, n);
  outside<<<1, n>>>(a, b, filtered, n, 7);
  nearest<<<(n + 63) / 64, 64>>>(a, b, chosen, n, 5, 11);
}
