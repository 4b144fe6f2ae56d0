// A matrix product goes through tiles of the block's size, and grid and block
// stay as they are, whoever launches it.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply block-tiles@product -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool rewrites %s --apply block-tiles@constants -o %t.constants.cu && FileCheck %s --check-prefix=CONSTANTS < %t.constants.cu
// RUN: %stark-tool rewrites %s --apply block-tiles@layer -o %t.layer.cu && FileCheck %s --check-prefix=LAYER < %t.layer.cu
// RUN: %stark-tool rewrites %s --apply block-tiles@braces -o %t.braces.cu && FileCheck %s --check-prefix=BRACES < %t.braces.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.braces.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.layer.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.constants.cu -o %t.ptx %}
#define N 1024
#define SIDE 32

// Values in braces, and a type of several words.
// BRACES: {{^[^/]*}}row < n && i < n ? a[row * n + i] : static_cast<unsigned long>(0);
__global__ void braces(const unsigned long *a, const unsigned long *b,
                       unsigned long *c, unsigned n) {
  const auto col{blockIdx.x * blockDim.x + threadIdx.x};
  const auto row{blockIdx.y * blockDim.y + threadIdx.y};
  if (row < n && col < n) {
    unsigned long sum{0};
    for (unsigned i{0}; i < n; i++)
      sum += a[row * n + i] * b[i * n + col];
    c[row * n + col] = sum;
  }
}

// LIST-DAG: {{^}}block-tiles@product: line
// CHECK: {{^[^/]*}}constexpr int kTile = 16;
// CHECK-NEXT: {{^[^/]*}}__shared__ float a_tile[kTile][kTile];
// CHECK-NEXT: {{^[^/]*}}__shared__ float b_tile[kTile][kTile + 1];
// CHECK: {{^[^/]*}}for (int begin = 0; begin < k; begin += kTile) {
// CHECK: {{^[^/]*}}row < m && i < k ? a[row * k + i] : float{};
// CHECK: {{^[^/]*}}col < n && i < k ? b[col * k + i] : float{};
// CHECK: {{^[^/]*}}sum += a_tile[threadIdx.y][w] * b_tile[w][threadIdx.x];
// CHECK: {{^[^/]*}}if (row < m && col < n)
// CHECK-NEXT: {{^[^/]*}}c[row * n + col] = alpha * sum;
__global__ void product(const float *a, const float *b, float *c, int m, int n,
                        int k, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0;
    for (int i = 0; i < k; i++)
      sum += a[row * k + i] * b[col * k + i];
    c[row * n + col] = alpha * sum;
  }
}

// Constants for numbers, names for what tells threads apart, no guard.
// LIST-DAG: {{^}}block-tiles@constants: line
// CONSTANTS: {{^[^/]*}}int tx = threadIdx.x, ty = threadIdx.y;
// CONSTANTS: {{^[^/]*}}constexpr int kTile = 32;
// CONSTANTS: {{^[^/]*}}i < N ? a[row * N + i] : float{};
// CONSTANTS: {{^[^/]*}}__syncthreads();
// CONSTANTS-NOT: {{^[^/]*}}if (
// CONSTANTS: {{^[^/]*}}c[row * N + col] = sum;
__global__ void constants(const float *a, const float *b, float *c) {
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0;
  for (int i = 0; i < N; i++)
    sum += a[row * N + i] * b[i * N + col];
  c[row * N + col] = sum;
}

// A sum that begins with an element, and columns that begin somewhere.
// LIST-DAG: {{^}}block-tiles@layer: line
// LIST-DAG: not matmul-tiling@layer: {{.*}} its sum does not begin with 0
// LAYER: {{^[^/]*}}int at = first + col;
// LAYER: {{^[^/]*}}float sum = row < m && col < n ? (float)(bias[col]) : (float)0;
// LAYER: {{^[^/]*}}const int col = first_col + threadIdx.x;
// LAYER-NEXT: int at = first + col;
// LAYER-NEXT: const int i = begin + threadIdx.y;
// LAYER: {{^[^/]*}}col < n && i < k ? b[i * wide + at] : float{};
// LAYER: {{^[^/]*}}c[row * n + col] = sum > 0 ? sum : 0;
__global__ void layer(const float *a, const float *b, const float *bias,
                      float *c, int m, int n, int k, int wide, int first) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int at = first + col;
  if (row < m && col < n) {
    float sum = bias[col];
    for (int i = 0; i < k; i++)
      sum += a[row * k + i] * b[i * wide + at];
    c[row * n + col] = sum > 0 ? sum : 0;
  }
}

// What the sum begins with may not be what is stored.
// LIST-DAG: not matmul-tiling@grows: {{.*}} its sum does not begin with 0
// LIST-NOT: {{^}}block-tiles@grows
__global__ void grows(const float *a, const float *b, float *c, int m, int n,
                      int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    float sum = c[col * n + row];
    for (int i = 0; i < k; i++)
      sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
  }
}

// LIST-DAG: not block-tiles@oblong: {{.*}} its blocks are no squares of 8, 16 or 32 threads a side
__global__ void oblong(const float *a, const float *b, float *c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// LIST-DAG: not block-tiles@unknown: {{.*}} the block size of a launch is no constant
__global__ void unknown(const float *a, const float *b, float *c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}

void launch(const float *a, const float *b, float *c, int m, int n, int k,
            int side, unsigned long *wide) {
  layer<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, a, c, m, n, k, n, 0);
  grows<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
  product<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k, 2.0f);
  braces<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(wide, wide, wide + n * n, n);
  constants<<<dim3(N / SIDE, N / SIDE), dim3(SIDE, SIDE)>>>(a, b, c);
  oblong<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, c, n);
  unknown<<<dim3(n / side, n / side), dim3(side, side)>>>(a, b, c, n);
}
