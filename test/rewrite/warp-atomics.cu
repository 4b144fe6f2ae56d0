// A warp adds up in registers what its threads would add to one address.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply warp-atomics=float@total -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --apply warp-atomics=float@in_shared -o %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/atomics.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply warp-atomics=double@rows | FileCheck %s --check-prefix=ROWS
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=262144: modelled {{.*}}: {{(1[.][1-9]|[2-9]|[1-9][0-9]).*}} times as fast

// CHECK: {{^[^/]*}}void warp_add_float(float *sum, float value) {
// CHECK-NEXT: {{^[^/]*}}if (__activemask() != 0xffffffffu) {
// CHECK-NEXT: {{^[^/]*}}atomicAdd(sum, value);
// LIST-DAG: {{^}}warp-atomics=float@total: line [[#@LINE+7]]: Add once a warp
__global__ void total(const float *x, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *to = sum + 1;
  if (i < n) {
    // CHECK: {{^[^/]*}}warp_add_float(to, x[i]);
    // CHECK-NEXT: {{^[^/]*}}warp_add_float(&sum[blockIdx.x % 2 * 2], 1.0f);
    atomicAdd(to, x[i]);
    atomicAdd(&sum[blockIdx.x % 2 * 2], 1.0f);
  }
}

// LIST-DAG: {{^}}warp-atomics=float@in_shared: line
__global__ void in_shared(const float *x, float *sum, int n) {
  __shared__ float mine;
  if (threadIdx.x == 0)
    mine = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&mine, x[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(sum, mine);
}

// A warp lies in one row of blocks that are 64 wide.
// ROWS: {{^[^/]*}}warp_add_double(&y[row], 2.0);
__global__ void rows(double *y) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  atomicAdd(&y[row], 2.0);
}

// LIST-DAG: not warp-atomics@narrow: {{.*}} the address may differ within a warp (line [[#@LINE+2]])
__global__ void narrow(float *y) {
  atomicAdd(&y[threadIdx.y], 2.0f);
}

// LIST-DAG: not warp-atomics@bins: {{.*}} the address may differ within a warp
__global__ void bins(float *y, const int *bin, const float *x) {
  atomicAdd(&y[bin[threadIdx.x]], x[threadIdx.x]);
}

// The lanes may be in different iterations.
// LIST-DAG: not warp-atomics@counts: {{.*}} the address may differ within a warp
__global__ void counts(float *y, int n) {
  for (int i = threadIdx.x % 3; i < n; ++i)
    atomicAdd(&y[i], 1.0f);
}

// LIST-DAG: not warp-atomics@read: {{.*}} the address may differ within a warp
__global__ void read(float *y, const int *first) {
  atomicAdd(&y[*first], 1.0f);
}

// What was there is used, or the compiler does it.
// LIST-NOT: warp-atomics{{.*}}@used
__global__ void used(float *y) {
  float before = atomicAdd(y, 1.0f);
  if (before > 3)
    y[1] = atomicAdd(y, 2.0f);
}
// LIST-NOT: warp-atomics{{.*}}@whole
__global__ void whole(int *y) { atomicAdd(y, 1); }

void launch(const float *x, float *sum, int n) {
  total<<<(n + 255) / 256, 256>>>(x, sum, n);
  in_shared<<<4, 128>>>(x, sum, n);
}
void others(double *z, float *y) {
  rows<<<dim3(4, 4), dim3(64, 4)>>>(z);
  narrow<<<4, dim3(16, 16)>>>(y);
}
