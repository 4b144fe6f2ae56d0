__global__ void product(const float *a, const float *b, float *c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && col < n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
      sum += a[row * n + i] * b[i * n + col];
    c[row * n + col] = sum;
  }
}

int main(int argc, char **argv) {
  int n = 1024;
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(float) * n * n);
  cudaMalloc(&b, sizeof(float) * n * n);
  cudaMalloc(&c, sizeof(float) * n * n);
  product<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n);
  return cudaDeviceSynchronize();
}
