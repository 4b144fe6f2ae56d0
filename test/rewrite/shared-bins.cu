// A block counts in shared memory, and adds to the histogram once.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/bins.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/bins.workload.json | FileCheck %s --check-prefix=NONE
// RUN: %stark-tool rewrites %s --workload %S/Inputs/bins.workload.json --apply shared-bins=bins@count -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/bins.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: n=524288: modelled {{.*}}: {{(1[.][3-9]|[2-9]|[1-9][0-9]).*}} times as fast

// Bins beyond those of the workload are added to the histogram itself.
// CHECK: {{^[^/]*}}void
// CHECK: {{^[^/]*}}add_to_bin_unsigned(unsigned *own, int count, unsigned *bins, long long bin,
// CHECK: {{^[^/]*}}if (bin >= 0 && bin < count)
// CHECK-NEXT: {{^[^/]*}}atomicAdd(&own[bin], value);
// CHECK-NEXT: {{^[^/]*}}else
// CHECK-NEXT: {{^[^/]*}}atomicAdd(&bins[bin], value);

// LIST-DAG: {{^}}shared-bins=bins@count: line [[#@LINE+16]]: Count in shared memory first
// CHECK: {{^[^/]*}}const unsigned workers = 1024;
// CHECK-NEXT: {{^[^/]*}}if (blockIdx.x >= workers)
// CHECK-NEXT: {{^[^/]*}}return;
// CHECK-NEXT: {{^[^/]*}}__shared__ unsigned own[100];
// CHECK: {{^[^/]*}}for (unsigned block = blockIdx.x; block < gridDim.x; block += workers) {
// CHECK-NEXT: {{^[^/]*}}int i = block * blockDim.x + threadIdx.x;
// CHECK-NEXT: {{^[^/]*}}if (i >= n)
// CHECK-NEXT: {{^[^/]*}}continue;
// CHECK-NEXT: {{^[^/]*}}add_to_bin_unsigned(own, 100, bins, x[i] % 100, 1u + block % 2);
// CHECK-NEXT: {{^[^/]*}}if (x[i] == 7)
// CHECK-NEXT: {{^[^/]*}}add_to_bin_unsigned(own, 100, bins, 0, (unsigned)x[i]);
// CHECK-NEXT: {{^[^/]*}}}
// CHECK-NEXT: {{^[^/]*}}__syncthreads();
// CHECK: {{^[^/]*}}if (own[bin] != 0)
// CHECK-NEXT: {{^[^/]*}}atomicAdd(&bins[bin], own[bin]);
__global__ void count(const int *x, unsigned *bins, int *seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(&bins[x[i] % 100], 1u + blockIdx.x % 2);
  if (x[i] == 7)
    atomicAdd(bins, (unsigned)x[i]);
}

// What is in a bin meanwhile is seen.
// LIST-DAG: not shared-bins@reads: {{.*}} 'bins' is used for more than atomic additions (line [[#@LINE+5]])
__global__ void reads(const int *x, unsigned *bins, int *seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[x[i]], 1u);
    seen[0] = bins[1];
  }
}

// The result is the place of an element in its bin.
// LIST-DAG: not shared-bins@places: {{.*}} 'bins' is used for more than atomic additions
__global__ void places(const int *x, unsigned *bins, int *seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    seen[i] = atomicAdd(&bins[x[i]], 1u);
    atomicAdd(&bins[0], 1u);
  }
}

// LIST-DAG: not shared-bins@shared: {{.*}} it uses shared memory
__global__ void shared(const int *x, unsigned *bins, int *seen, int n) {
  __shared__ int last;
  last = n;
  atomicAdd(&bins[x[threadIdx.x]], (unsigned)last);
}

// LIST-DAG: not shared-bins@barrier: {{.*}} it calls what does more than compute (line [[#@LINE+3]])
__global__ void barrier(const int *x, unsigned *bins, int *seen, int n) {
  seen[threadIdx.x] = n;
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x]], (unsigned)seen[threadIdx.x ^ 1]);
}

// LIST-DAG: not shared-bins@in_loop: {{.*}} it returns from within a loop
__global__ void in_loop(const int *x, unsigned *bins, int *seen, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (x[i] < 0)
      return;
    atomicAdd(&bins[x[i]], 1u);
  }
}

// The number of the block is asked for in another function.
// LIST-DAG: not shared-bins@elsewhere: {{.*}} may read or write 'bins'
__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void elsewhere(const int *x, unsigned *bins, int *seen, int n) {
  if (number() < n)
    atomicAdd(&bins[x[number()]], 1u);
}

// Another index is changed on the way.
// LIST-DAG: not shared-bins@moves: {{.*}} it calls what does more than compute
__global__ void moves(const int *x, unsigned *bins, int *seen, int n) {
  int i = threadIdx.x;
  atomicAdd(&bins[x[i++]], 1u);
}

// A worker's next block would begin where its last one ended.
// LIST-DAG: not shared-bins@advances: {{.*}} it changes 'x', which the next block would start from
__global__ void advances(const int *x, unsigned *bins, int *seen, int n) {
  x += blockIdx.x * blockDim.x;
  atomicAdd(&bins[x[threadIdx.x]], 1u);
}

// Nothing is said of floating-point numbers, whose sums depend on the order,
// volatile bins, and pointers that move.
// NONE-NOT: shared-bins{{.*}}@sums
// NONE-NOT: shared-bins{{.*}}@changing
// NONE-NOT: shared-bins{{.*}}@moving
__global__ void sums(const int *x, float *bins, int n) {
  atomicAdd(&bins[x[threadIdx.x]], 1.0f);
}
__global__ void changing(const int *x, volatile int *bins, int n) {
  atomicAdd((int *)&bins[x[threadIdx.x]], 1);
}
__global__ void moving(const int *x, int *bins, int n) {
  bins += n;
  atomicAdd(&bins[x[threadIdx.x]], 1);
}

// Nobody says how long its array is, and whether it lies apart from x.
// LIST-DAG: not shared-bins@unknown: {{.*}} how many elements 'bins' has is not known, or more than 4096
__global__ void unknown(const int *x, unsigned *bins) {
  atomicAdd(&bins[x[threadIdx.x]], 1u);
}

void run(const int *x, unsigned *bins, int *seen, int n) {
  count<<<(n + 255) / 256, 256>>>(x, bins, seen, n);
  reads<<<(n + 255) / 256, 256>>>(x, bins, seen, 0);
  places<<<(n + 255) / 256, 256>>>(x, bins, seen, 0);
  shared<<<1, 1>>>(x, bins, seen, 0);
  barrier<<<1, 2>>>(x, bins, seen, 0);
  in_loop<<<1, 1>>>(x, bins, seen, 0);
  elsewhere<<<1, 1>>>(x, bins, seen, 0);
  moves<<<1, 1>>>(x, bins, seen, 0);
  advances<<<1, 1>>>(x, bins, seen, 0);
}
