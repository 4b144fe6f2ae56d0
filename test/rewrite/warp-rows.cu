// The lanes of a warp share each row that a thread went along, where no
// iteration of a loop along it needs another one.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply warp-rows@norm -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply warp-rows@unknown | FileCheck %s --check-prefix=TESTED
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}

// LIST-DAG: {{^}}warp-rows@norm: line
// CHECK: {{^[^/]*}}const int lane = threadIdx.x % 32;
// CHECK-NEXT: {{^[^/]*}}const int first = (blockIdx.x * blockDim.x + threadIdx.x) - lane;
// CHECK-NEXT: {{^[^/]*}}for (int turn = 0; turn < 32 && first + turn < (b * t); ++turn) {
// CHECK-NEXT: {{^[^/]*}}const int i = first + turn;
// CHECK: {{^[^/]*}}const float sum_before = sum;
// CHECK-NEXT: {{^[^/]*}}sum = 0;
// CHECK-NEXT: {{^[^/]*}}for (int j = 0 + lane; j < c; j += 32)
// CHECK-NEXT: {{^[^/]*}}sum += row[j];
// CHECK: {{^[^/]*}}sum = sum + __shfl_xor_sync(0xffffffffu, sum, offset);
// CHECK-NEXT: {{^[^/]*}}sum += sum_before;
// CHECK: {{^[^/]*}}largest ={{[[:space:]]+}}fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
// CHECK: {{^[^/]*}}for (int j = 0 + lane; j < c; j += 32)
// CHECK-NEXT: {{^[^/]*}}row[j] = row[j] / sum + largest;
// CHECK: {{^[^/]*}}__syncwarp();
// CHECK: {{^[^/]*}}if (lane == 0)
// CHECK-NEXT: {{^[^/]*}}sums[i] = sum;
__global__ void norm(float *y, float *sums, int b, int t, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int n = b * t;
  if (i < n) {
    float *row = y + i * c;
    float sum = 1e-5f, largest = row[0];
    for (int j = 0; j < c; j++)
      sum += row[j];
    for (int j = 0; j < c; j++)
      largest = fmaxf(largest, row[j]);
    for (int j = 0; j < c; j++)
      row[j] = row[j] / sum + largest;
    sums[i] = sum;
  }
}

// TESTED: {{^[^/]*}}if (blockDim.x % 32 != 0) {
// TESTED: {{^[^/]*}}for (int j = 0; j < c; j++)
// TESTED: {{^[^/]*}}return;
// TESTED: {{^[^/]*}}for (int j = 0 + lane; j < c; j += 32)
__global__ void unknown(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < c; j++)
    sum += x[i * c + j];
  y[i] = sum;
}

// Threads side by side touch elements side by side already.
// LIST-NOT: warp-rows@columns
__global__ void columns(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int j = 0; j < c; j++)
      sum += x[j * n + i];
    y[i] = sum;
  }
}

// LIST-DAG: not warp-rows@running: {{.*}} 'sum' is read while it grows
__global__ void running(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int j = 0; j < c; j++) {
      sum += x[i * c + j];
      y[i * c + j] = sum;
    }
  }
}

// LIST-DAG: not warp-rows@neighbour: {{.*}} an iteration may use what another one stores
__global__ void neighbour(float *x, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < c; j++)
      x[i * c + j] = x[i * c + j + 1];
}

// LIST-DAG: not warp-rows@moves: {{.*}} what it does at line [[#@LINE+6]] is not understood
__global__ void moves(float *x, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < c; j++) {
      float *back = x + i * c - j;
      back[j] = j;
    }
}

// LIST-DAG: not warp-rows@decides: {{.*}} line [[#@LINE+8]] decides whether something is stored
__global__ void decides(const float *x, float *y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int j = 0; j < c; j++)
      sum += x[i * c + j];
    // The store under the condition.
    if (sum > 0)
      y[i] = sum;
  }
}

void launch(const float *x, float *y, float *z, int n, int c, int threads) {
  norm<<<(n + 255) / 256, 256>>>(y, z, n, 1, c);
  unknown<<<(n + threads - 1) / threads, threads>>>(x, y, n, c);
  columns<<<(n + 255) / 256, 256>>>(x, y, n, c);
  running<<<(n + 255) / 256, 256>>>(x, y, n, c);
  neighbour<<<(n + 255) / 256, 256>>>(y, n, c);
  moves<<<(n + 255) / 256, 256>>>(y, n, c);
  decides<<<(n + 255) / 256, 256>>>(x, y, n, c);
}
