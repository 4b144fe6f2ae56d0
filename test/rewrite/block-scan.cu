// A scan in shared memory becomes warp shuffles, where whole warps are there.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --apply block-scan@stores:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --apply block-scan@guarded:loop1 -o %t.2.cu
// RUN: %stark-tool rewrites %t.2.cu --apply block-scan@declared:loop1 -o %t.3.cu
// RUN: %stark-tool rewrites %t.3.cu --apply block-scan@halves:loop1 -o %t.cu
// RUN: FileCheck %s --check-prefix=GUARD < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/block-scan.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=135168: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// CHECK: {{^[^/]*}}block_scan_float(float value) {
// CHECK: {{^[^/]*}}__shfl_up_sync(0xffffffffu, value, offset);
// LIST-DAG: {{^}}block-scan@stores:loop1: line [[#@LINE+16]]: Scan the block with warp shuffles
// CHECK: {{^[^/]*}}sums[threadIdx.x] = x[i];
// CHECK-NEXT: {{^[^/]*}}if (blockDim.x % 32 == 0 && blockDim.y == 1 && blockDim.z == 1) {
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}const float scanned = block_scan_float(sums[threadIdx.x]);
// CHECK-NEXT: {{^[^/]*}}sums[threadIdx.x] = scanned;
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK-NEXT: {{^[^/]*}}} else {
// CHECK-NEXT: {{^[^/]*}}for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
// CHECK: {{^[^/]*}}y[i] = sums[threadIdx.x];
__global__ void stores(const float *x, float *y, int n) {
  __shared__ float sums[1024];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = 0;
  if (i < n)
    sums[threadIdx.x] = x[i];
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x] + sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      sums[threadIdx.x] = temp;
  }
  if (i < n)
    y[i] = sums[threadIdx.x];
}

// Where the source adds to none but the elements that there are, so does the scan.
// GUARD: {{^[^/]*}}const float [[SCANNED:scanned[0-9]*]] = block_scan_float(sums[tid]);
// GUARD-NEXT: {{^[^/]*}}if (i < n)
// GUARD-NEXT: {{^[^/]*}}sums[tid] = [[SCANNED]];
// LIST-DAG: {{^}}block-scan@guarded:loop1: line
__global__ void guarded(const float *x, float *y, int n) {
  extern __shared__ float sums[];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[tid] = i < n ? x[i] : 1.0f;
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride <<= 1) {
    float val = 0.0f;
    if (tid >= stride && i < n)
      val = sums[tid - stride];
    __syncthreads();
    if (tid >= stride && i < n)
      sums[tid] += val;
    __syncthreads();
  }
  if (i < n)
    y[i] += sums[tid];
}

// A constant for the block's width holds for blocks up to it; half of it reaches all of a power of two.
// GUARD: {{^[^/]*}}blockDim.x <= 256) {
// LIST-DAG: {{^}}block-scan@declared:loop1: line
__global__ void declared(const float *x, float *y, int n) {
  __shared__ int sums[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? int(x[i] * 100) : 0;
  __syncthreads();
  for (int stride = 1; stride < 256; stride += stride) {
    int val = threadIdx.x >= stride ? sums[threadIdx.x - stride] : 0;
    __syncthreads();
    sums[threadIdx.x] = sums[threadIdx.x] + val;
    __syncthreads();
  }
  if (i < n)
    y[i] += sums[threadIdx.x];
}
// GUARD: {{^[^/]*}}(blockDim.x & (blockDim.x - 1)) == 0) {
// LIST-DAG: {{^}}block-scan@halves:loop1: line
__global__ void halves(const float *x, float *y, int n) {
  __shared__ double sums[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int stride = 1; stride <= blockDim.x / 2; stride *= 2) {
    double val = 0;
    if (stride <= threadIdx.x)
      val = sums[threadIdx.x - stride];
    __syncthreads();
    if (stride <= threadIdx.x)
      sums[threadIdx.x] += val;
    __syncthreads();
  }
  if (i < n)
    y[i] += sums[threadIdx.x];
}

// LIST-DAG: not block-scan@early:loop1: {{.*}} threads may have returned, or not all come to line [[#@LINE+6]]
__global__ void early(const float *x, float *y, int n) {
  __shared__ float sums[256];
  if (threadIdx.x >= n)
    return;
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp = 0;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      sums[threadIdx.x] += temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// LIST-DAG: not block-scan@inside:loop1: {{.*}} threads may have returned, or not all come to line [[#@LINE+5]]
__global__ void inside(const float *x, float *y, int n) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  if (blockIdx.x < n)
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
      __syncthreads();
      float temp = 0;
      if (threadIdx.x >= stride)
        temp = sums[threadIdx.x - stride];
      __syncthreads();
      if (threadIdx.x >= stride)
        sums[threadIdx.x] += temp;
    }
  y[threadIdx.x] = sums[threadIdx.x];
}

// What a thread takes while others have stored already is a race; a product, a difference and
// what asks for some elements only are no scan.
// LIST-DAG: not block-scan@races:loop1: {{.*}} a round at line [[#@LINE+4]] is not one of a scan
__global__ void races(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp = 0;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x - stride];
    if (threadIdx.x >= stride)
      sums[threadIdx.x] += temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
// LIST-DAG: not block-scan@product:loop1: {{.*}} a round at line
__global__ void product(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp = 1;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      sums[threadIdx.x] *= temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
// LIST-DAG: not block-scan@some:loop1: {{.*}} a round at line
__global__ void some(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float temp = 0;
    if (threadIdx.x >= stride && threadIdx.x % 3)
      temp = sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride && threadIdx.x % 3)
      sums[threadIdx.x] += temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// Whole numbers of what is not whole.
// LIST-DAG: not block-scan@rounds:loop1: {{.*}} a round at line
__global__ void rounds(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    int temp = 0;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      sums[threadIdx.x] += temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// Strides of less than the block leave the sums of the threads far before out.
// NONE-NOT: block-scan@constant
__global__ void constant(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < 16; stride *= 2) {
    __syncthreads();
    float temp = 0;
    if (threadIdx.x >= stride)
      temp = sums[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride)
      sums[threadIdx.x] += temp;
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

// Nothing is said of a tree, whose threads look ahead at none before them.
// NONE-NOT: block-scan@tree
__global__ void tree(const float *x, float *y) {
  __shared__ float sums[256];
  sums[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * stride) == 0)
      sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  y[threadIdx.x] = sums[threadIdx.x];
}

void run(const float *x, float *y, int n) {
  stores<<<(n + 1023) / 1024, 1024>>>(x, y, n);
  guarded<<<(n + 255) / 256, 256, 1024>>>(x, y, n);
  declared<<<(n + 127) / 128, 128>>>(x, y, n);
  halves<<<(n + 255) / 256, 256>>>(x, y, n);
}
