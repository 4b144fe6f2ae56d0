// One launch that writes one number.
__global__ void one_kernel(const float *x, float *y) { *y = *x; }

void one(const float *x, float *y, cudaStream_t stream) {
  one_kernel<<<1, 1, 0, stream>>>(x, y);
}
