// Softmax, a thread per row: neighbours read and write a whole row apart.

#include <cuda_runtime.h>

__global__ void softmax_thread_kernel(const float *x, float *y, int rows,
                                      int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  const float *in = x + row * cols;
  float *out = y + row * cols;
  float most = in[0];
  for (int i = 1; i < cols; ++i)
    most = fmaxf(most, in[i]);
  float sum = 0.0f;
  for (int i = 0; i < cols; ++i)
    sum += expf(in[i] - most);
  for (int i = 0; i < cols; ++i)
    out[i] = expf(in[i] - most) / sum;
}

void softmax_thread(const float *x, float *y, int rows, int cols,
                    cudaStream_t stream) {
  softmax_thread_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(x, y, rows, cols);
}
