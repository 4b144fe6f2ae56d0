// y = x / sum(x) over each row.
constexpr int kThreads = 128;

__global__ void norm_kernel(const float *x, float *y, int n) {
  __shared__ float partial[kThreads];
  const float *row = x + (size_t)blockIdx.x * n;
  float *out = y + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += row[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = row[i] / partial[0];
}

void norm(const float *x, float *y, int rows, int n, cudaStream_t stream) {
  norm_kernel<<<rows, kThreads, 0, stream>>>(x, y, n);
}
