// Threads are renumbered, loops unrolled, rows padded and blocks bounded only
// where nothing can tell.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply index-swap@rows | FileCheck %s --check-prefix=SWAP
// RUN: %stark-tool rewrites %s --apply shared-padding@transpose:decl1 | FileCheck %s --check-prefix=PAD
// RUN: %stark-tool rewrites %s --apply grid-stride@element -o %t.cu && FileCheck %s --check-prefix=STRIDE < %t.cu
// RUN: %stark-tool rewrites %t.cu --apply vector-access@element:loop1 -o %t.vec.cu && FileCheck %s --check-prefix=BOTH < %t.vec.cu
// RUN: %stark-tool rewrites %s --apply unroll@rows:loop1 | FileCheck %s --check-prefix=UNROLL
// RUN: %stark-tool rewrites %s --apply launch-bounds@rows | FileCheck %s --check-prefix=BOUNDS
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.vec.cu -o %t.ptx %}

// SWAP: {{^[^/]*}}int row = blockIdx.x * blockDim.x + threadIdx.y;
// SWAP: {{^[^/]*}}int col = blockIdx.y * blockDim.y + threadIdx.x;
// UNROLL: {{^[^/]*}}#pragma unroll 4
// UNROLL-NEXT: {{^[^/]*}}for (int i = 0; i < 8; ++i)
// BOUNDS: {{^[^/]*}}__global__ void __launch_bounds__(256) rows(
// LIST-DAG: {{^}}launch-bounds@rows: line [[#@LINE+1]]
__global__ void rows(const float *x, float *y, int m, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += x[row * n + col] * i;
  y[row * n + col] = sum;
}

// LIST-DAG: not index-swap@oblong: {{.*}} its blocks are not square
__global__ void oblong(const float *x, float *y, int m, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n)
    y[row * n + col] = x[row * n + col];
}

// LIST-DAG: not index-swap@warps: {{.*}} it works on warps
__global__ void warps(const float *x, float *y, int m, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n)
    y[row * n + col] = __shfl_xor_sync(0xffffffffu, x[row * n + col], 1);
}

// PAD: {{^[^/]*}}__shared__ float tile[32][32 + 1];
__global__ void transpose(const float *x, float *y, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] =
      x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}

// Elements of eight bytes, and a width that is a macro.
// LIST-DAG: {{^}}shared-padding@wide:decl1: line
// WIDE: {{^[^/]*}}__shared__ double tile[SIDE][SIDE + 1];
// RUN: %stark-tool rewrites %s --apply shared-padding@wide:decl1 | FileCheck %s --check-prefix=WIDE
#define SIDE 32
__global__ void wide(const double *x, double *y, int n) {
  __shared__ double tile[SIDE][SIDE];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// LIST-DAG: not shared-padding@flat:decl1: {{.*}} an index at line [[#@LINE+3]] is not seen to stay within its row
__global__ void flat(const float *x, float *y, int n) {
  __shared__ float tile[32][32];
  tile[0][threadIdx.y * 32 + threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// STRIDE: {{^[^/]*}}for (long long at = blockIdx.x * blockDim.x + threadIdx.x; at < n;{{[[:space:]]+}}at += stride) {
// STRIDE-NEXT: {{^[^/]*}}const int i = at;
// STRIDE: {{^[^/]*}}element<<<(((n + 255) / 256) + 3) / 4, 256>>>(x, y, n);
// BOTH: {{^[^/]*}}*reinterpret_cast<const wide_vec<float, 4> *>(&x[at]);
// BOTH: {{^[^/]*}}const int i = (at + lane);
__global__ void element(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 2;
}

// A sum that is declared before would go from element to element, and a name
// for the thread would not.
// LIST-NOT: {{^}}grid-stride@carries
__global__ void carries(const float *x, float *y, int n) {
  float sum = 0;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    sum += x[i];
    y[i] = sum;
  }
}
// LIST-NOT: {{^}}grid-stride@names
__global__ void names(const float *x, float *y, int n) {
  int tid = threadIdx.x;
  int warp = tid / 32;
  int i = blockIdx.x * blockDim.x + tid;
  if (i < n)
    y[i] = x[i] * warp;
}

// LIST-DAG: not grid-stride@together: {{.*}} its threads work together
__global__ void together(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i];
    __syncthreads();
  }
}

// LIST-DAG: not grid-stride@by_thread: {{.*}} it uses threadIdx for more than its index
__global__ void by_thread(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * threadIdx.x;
}

// LIST-DAG: not launch-bounds@any_size: {{.*}} the block size of a launch is no constant
// LIST-DAG: not unroll@any_size:loop1: {{.*}} it can end early
__global__ void any_size(const float *x, float *y, int n) {
  for (int i = 0; i < n; ++i)
    if (x[i] < 0)
      break;
}

void launch_wide(const double *x, double *y, int n) {
  wide<<<1, dim3(SIDE, SIDE)>>>(x, y, n);
}

void launch(const float *x, float *y, int m, int n, int threads) {
  rows<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(x, y, m, n);
  oblong<<<dim3(m / 32, n / 8), dim3(32, 8)>>>(x, y, m, n);
  warps<<<dim3(m / 32, n / 32), dim3(32, 32)>>>(x, y, m, n);
  transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(x, y, n);
  flat<<<1, dim3(32, 32)>>>(x, y, n);
  element<<<(n + 255) / 256, 256>>>(x, y, n);
  carries<<<(n + 255) / 256, 256>>>(x, y, n);
  names<<<(n + 255) / 256, 256>>>(x, y, n);
  together<<<(n + 255) / 256, 256>>>(x, y, n);
  by_thread<<<(n + 255) / 256, 256>>>(x, y, n);
  any_size<<<1, threads>>>(x, y, n);
}
