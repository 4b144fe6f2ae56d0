// The plain matrix product is computed in tiles, with its operands as they are
// indexed; a launch that covers only part of the result stays.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply matmul-tiling@launch:launch1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}

// LIST-DAG: {{^}}matmul-tiling@launch:launch1: line {{[0-9]+}}: Compute the matrix product in tiles
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
// The old kernel stays for others that may launch it.
// CHECK: {{^[^/]*}}__global__ void product(
// CHECK: {{^[^/]*}}product_tiled(const float *a, const float *b, float *c, int m, int n, int k,{{[[:space:]]+}}float alpha)
// CHECK: {{^[^/]*}}a_next[slot] = row < m && i < k ? a[row * k + i] : float{};
// CHECK: {{^[^/]*}}b_next[slot] = col < n && i < k ? b[col * k + i] : float{};
// CHECK: {{^[^/]*}}acc[u][v] += a_part[u] * b_part[v];
// CHECK: {{^[^/]*}}c[row * n + col] = alpha * acc[u][v];
// CHECK: {{^[^/]*}}product_tiled<<<((n + 127) / 128) * ((m + 127) / 128), 256, 0, s>>>({{[[:space:]]*}}a, b, c, m, n, k, 2.0f);

// LIST-DAG: not matmul-tiling@launch:launch2: {{.*}} its grid is not seen to cover all of 'n'

// LIST-DAG: not matmul-tiling@distance: {{.*}} what is summed up is no product of two elements
__global__ void distance(const float *a, const float *b, float *c, int m,
                         int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; i++)
    sum += fabsf(a[row * k + i] - b[i * n + col]);
  c[row * n + col] = sum;
}

// LIST-DAG: not matmul-tiling@triangle: {{.*}} its loop does not run from 0 to a parameter
__global__ void triangle(const float *a, const float *b, float *c, int m,
                         int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < row; i++)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// LIST-DAG: not matmul-tiling@own: {{.*}} it reads its own result
__global__ void own(const float *a, float *c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; i++)
    sum += a[row * k + i] * c[i * n + col];
  c[row * n + col] = sum;
}

void launch(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t s) {
  dim3 block(16, 16), grid((n + 15) / 16, (m + block.y - 1) / block.y);
  product<<<grid, block, 0, s>>>(a, b, c, m, n, k, 2.0f);
  product<<<dim3(n / 16, (m + 15) / 16), block, 0, s>>>(a, b, c, m, n, k, 2.0f);
  distance<<<grid, block, 0, s>>>(a, b, c, m, n, k);
  triangle<<<grid, block, 0, s>>>(a, b, c, m, n, k);
  own<<<grid, block, 0, s>>>(a, c, m, n, k);
}
