__global__ void reverse(const float *x, float *y, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  float v = s[63 - threadIdx.x];
  if (i < n)
    y[i] = v;
}
void launch(const float *x, float *y, int n) { reverse<<<(n + 63) / 64, 64>>>(x, y, n); }
