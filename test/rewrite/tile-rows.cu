// A quarter of the threads takes four rows of a tile each, and every sum is
// added in the order that it had.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply tile-rows@product:loop2 -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply tile-rows@flat:loop2 -o %t.flat.cu && FileCheck %s --check-prefix=FLAT < %t.flat.cu
// RUN: %stark-tool rewrites %s --apply tile-rows@large:loop2 -o %t.large.cu && FileCheck %s --check-prefix=LARGE < %t.large.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/tile-rows.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.flat.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.large.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
#define SIDE 16

// LIST-DAG: {{^}}tile-rows@product:loop2: line
// CHECK: {{^[^/]*}}__shared__ float sum_rows[16][16];
// CHECK-NEXT: {{^[^/]*}}float sum_row0 = 0, sum_row1 = 0, sum_row2 = 0, sum_row3 = 0;
// CHECK-NEXT: for (int t
// CHECK: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}if (threadIdx.y < 4) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: {{^[^/]*}}for (int k = 0; k < SIDE; ++k) {
// CHECK-NEXT: {{^[^/]*}}sum_row0 += a_tile[ty][k] * b_tile[k][tx];
// CHECK-NEXT: {{^[^/]*}}sum_row1 += a_tile[(ty + 4)][k] * b_tile[k][tx];
// CHECK: {{^[^/]*}}sum_row3 += a_tile[(ty + 12)][k] * b_tile[k][tx];
// CHECK: {{^[^/]*}}__syncthreads();
// CHECK: {{^[^/]*}}if (threadIdx.y < 4) {
// CHECK-NEXT: {{^[^/]*}}sum_rows[threadIdx.y][threadIdx.x] = sum_row0;
// CHECK: {{^[^/]*}}sum_rows[threadIdx.y + 12][threadIdx.x] = sum_row3;
// CHECK-NEXT: }
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}sum = sum_rows[threadIdx.y][threadIdx.x];
__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0;
  for (int t = 0; t < n / SIDE; ++t) {
    a_tile[ty][tx] = a[row * n + t * SIDE + tx];
    b_tile[ty][tx] = b[(t * SIDE + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SIDE; ++k)
      sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < n && col < n)
    c[row * n + col] = sum;
}

// The rows of a block of one dimension are those that a division makes, and
// what is made of a row's number is written out.
// LIST-DAG: {{^}}tile-rows@flat:loop2: line
// FLAT: {{^[^/]*}}__shared__ float sum_rows[16][16];
// FLAT: {{^[^/]*}}if (threadIdx.x / 16 < 4) {
// FLAT: {{^[^/]*}}float x = a_tile[((unsigned int)((row + 4) * 16)) + k];
// FLAT: {{^[^/]*}}sum_row1 = sum_row1 + x * b_tile[k * 16 + col];
// FLAT: {{^[^/]*}}sum = sum_rows[threadIdx.x / 16][threadIdx.x % 16];
__global__ void flat(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[256], b_tile[256];
  const unsigned row = threadIdx.x / 16, col = threadIdx.x % 16;
  const unsigned at = row * 16;
  a += blockIdx.x * 16 * n;
  b += blockIdx.y * 16;
  float sum = 0.0f;
  for (int i = 0; i < n; i += 16) {
    a_tile[at + col] = a[row * n + col];
    b_tile[at + col] = b[row * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float x = a_tile[at + k];
      sum = sum + x * b_tile[k * 16 + col];
    }
    __syncthreads();
    a += 16;
    b += 16 * n;
  }
  c[(blockIdx.x * 16 + row) * n + blockIdx.y * 16 + col] = sum;
}

// Threads that have left would be missed by those that take their rows.
// LIST-DAG: not tile-rows@leaves:loop2: {{.*}} its threads need not run the loop over tiles together
__global__ void leaves(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
  int row = blockIdx.y * SIDE + threadIdx.y;
  int col = blockIdx.x * SIDE + threadIdx.x;
  if (row >= n)
    return;
  float sum = 0;
  for (int t = 0; t < n / SIDE; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * SIDE + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * SIDE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// A row that its own thread stores with no barrier is that thread's alone.
// LIST-DAG: not tile-rows@own_row:loop2: {{.*}} stores to a tile with no barrier between
__global__ void own_row(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
  int row = blockIdx.y * SIDE + threadIdx.y;
  int col = blockIdx.x * SIDE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / SIDE; ++t) {
    b_tile[threadIdx.y][threadIdx.x] = b[(t * SIDE + threadIdx.y) * n + col];
    __syncthreads();
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * SIDE + threadIdx.x];
    for (int k = 0; k < SIDE; ++k)
      sum += a_tile[threadIdx.y][threadIdx.x] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// What a thread has read for itself no other one knows.
// LIST-DAG: not tile-rows@weighted:loop2: {{.*}} 'weight' may differ from thread to thread
__global__ void weighted(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
  int row = blockIdx.y * SIDE + threadIdx.y;
  int col = blockIdx.x * SIDE + threadIdx.x;
  const float weight = c[row * n + col];
  float sum = 0;
  for (int t = 0; t < n / SIDE; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * SIDE + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * SIDE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += weight * a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// A sum that is looked at while it grows stays where it is.
// LIST-DAG: not tile-rows@watched:loop2: {{.*}} 'sum' is used outside of its loop, or begins with no constant
__global__ void watched(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
  int row = blockIdx.y * SIDE + threadIdx.y;
  int col = blockIdx.x * SIDE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / SIDE; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * SIDE + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * SIDE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    if (sum > 1e6f)
      sum = 1e6f;
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// LIST-DAG: not tile-rows@small:loop2: {{.*}} a quarter of its block's rows is no whole number of warps
__global__ void small(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[8][8], b_tile[8][8];
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 8; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * 8 + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * 8 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 8; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// Of blocks of 1024 threads with the registers for four sums an SM would hold
// one, if they were not bound.
// LIST-DAG: {{^}}tile-rows@large:loop2: line
// LARGE: __global__ void __launch_bounds__(1024, 2) large(
// LARGE: {{^[^/]*}}if (threadIdx.y < 8) {
// LARGE: {{^[^/]*}}sum_row3 += a_tile[(threadIdx.y + 24)][k] * b_tile[k][threadIdx.x];
__global__ void large(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * 32 + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// Four sums of 8 bytes a thread do not fit in what such bounds leave.
// LIST-DAG: not tile-rows@large_double:loop2: {{.*}} an SM has no room for a second block of its 1024 threads
__global__ void large_double(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  double sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * 32 + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// What the source bounds itself stays as it is.
// LIST-DAG: not tile-rows@large_bound:loop2: {{.*}} an SM has no room for a second block of its 1024 threads
__global__ void __launch_bounds__(1024) large_bound(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[32][32], b_tile[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * 32 + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

void launch(const float *a, const float *b, float *c, int n) {
  dim3 grid(n / SIDE, n / SIDE), block(SIDE, SIDE);
  product<<<grid, block>>>(a, b, c, n);
  flat<<<grid, 256>>>(a, b, c, n);
  leaves<<<grid, block>>>(a, b, c, n);
  own_row<<<grid, block>>>(a, b, c, n);
  weighted<<<grid, block>>>(a, b, c, n);
  watched<<<grid, block>>>(a, b, c, n);
  large<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  large_double<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  large_bound<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  small<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(a, b, c, n);
}
