// As fast as memory is: what the device's copy rate is measured with.
void copy(const float *x, float *y, long n, cudaStream_t stream) {
  cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
