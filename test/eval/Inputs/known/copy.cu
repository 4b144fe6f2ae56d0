// As fast as memory is.
__global__ void copy_kernel(const float4 *x, float4 *y, long n) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * long(blockDim.x))
    y[i] = x[i];
}

void copy(const float *x, float *y, long n, cudaStream_t stream) {
  long quads = n / 4;
  copy_kernel<<<unsigned((quads + 1023) / 1024), 1024, 0, stream>>>(
      reinterpret_cast<const float4 *>(x), reinterpret_cast<float4 *>(y),
      quads);
}
