// Too much for a size that is compared: 70 million accesses, in 256 blocks.
__global__ void sums(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 1070; ++j)
    sum += x[(i + j) % n];
  y[i] = sum;
}
