// A product of a batch, with what a block has in common in its indices, goes
// through tiles as one that is alone; so does one whose elements have names or
// further factors.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/batched.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/batched.workload.json --apply block-tiles@batched -o %t.cu && FileCheck %s < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/batched.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %stark-tool rewrites %s --apply block-tiles@named -o %t.named.cu && FileCheck %s --check-prefix=NAMED < %t.named.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.named.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: batches=3 k=256 m=256 n=256: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// LIST-DAG: {{^}}block-tiles@batched: line
// LIST-DAG: not matmul-tiling@batched: {{.*}} its indices hold more than row, column and depth
// CHECK: {{^[^/]*}}const float *mine = b + batch * k * n;
// CHECK: {{^[^/]*}}= batch < batches && row < m && i < k
// CHECK-NEXT: ? a[batch * m * k + row * k + i]
// CHECK: {{^[^/]*}}batch < batches && col < n && i < k ? mine[i * n + col] : float{};
// CHECK: {{^[^/]*}}sum += alpha * a_tile[threadIdx.y][w] * b_tile[w][threadIdx.x];
// CHECK: {{^[^/]*}}if (batch < batches && row < m && col < n)
// CHECK-NEXT: {{^[^/]*}}c[(batch * m + row) * n + col] = sum;
__global__ void batched(const float *a, const float *b, float *c, int batches,
                        int m, int n, int k, float alpha) {
  int batch = blockIdx.z;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (batch >= batches || row >= m || col >= n)
    return;
  const float *mine = b + batch * k * n;
  float sum = 0;
  int i;
  for (i = 0; i < k; i++)
    sum += alpha * a[batch * m * k + row * k + i] * mine[i * n + col];
  c[(batch * m + row) * n + col] = sum;
}

// LIST-DAG: {{^}}block-tiles@named: line
// NAMED: {{^[^/]*}}double x = a_tile[threadIdx.y][w];
// NAMED-NEXT: {{^[^/]*}}float y = b_tile[w][threadIdx.x];
// NAMED-NEXT: {{^[^/]*}}sum += x * y;
__global__ void named(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    double x = a[row * n + i];
    float y = b[i * n + col];
    sum += x * y;
  }
  c[row * n + col] = sum;
}

// What is added differs within the block.
// LIST-NOT: {{^}}block-tiles@own
__global__ void own(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int shift = threadIdx.x / 2;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[shift + row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// It is read from memory, which another block may change.
// LIST-NOT: {{^}}block-tiles@read
__global__ void read(const float *a, const float *b, float *c, const int *first,
                     int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[first[0] + row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// Whether a thread is there follows from the block and its own row.
// LIST-NOT: {{^}}block-tiles@mixed
__global__ void mixed(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int both = blockIdx.z + row;
  if (both >= n || row >= n || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// Three elements make no product of two matrices.
// LIST-DAG: not matmul-tiling@three: {{.*}}
// LIST-NOT: {{^}}block-tiles@three
__global__ void three(const float *a, const float *b, float *c, const float *d,
                      int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[row * n + i] * b[i * n + col] * d[i];
  c[row * n + col] = sum;
}

// A name that changes is more than a name.
// LIST-NOT: {{^}}block-tiles@changes
__global__ void changes(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    float x = a[row * n + i];
    x *= 2;
    sum += x * b[i * n + col];
  }
  c[row * n + col] = sum;
}

void launch(const float *a, const float *b, float *c, int *first, int n) {
  dim3 grid(n / 16, n / 16), block(16, 16);
  batched<<<grid, block>>>(a, b, c, 1, n, n, n, 2.0f);
  named<<<grid, block>>>(a, b, c, n);
  own<<<grid, block>>>(a, b, c, n);
  read<<<grid, block>>>(a, b, c, first, n);
  mixed<<<grid, block>>>(a, b, c, n);
  three<<<grid, block>>>(a, b, c, a, n);
  changes<<<grid, block>>>(a, b, c, n);
}
