// Neighbouring threads read rows apart.
__global__ void columns_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i * 64];
}

void columns(const float *x, float *y, int n, cudaStream_t stream) {
  columns_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
