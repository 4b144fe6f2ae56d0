// Moves particles kept as a structure of arrays: only what is used is read.

#include <cuda_runtime.h>

__global__ void layout_arrays_kernel(float *position, const float *velocity,
                                     float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    position[i] += dt * velocity[i];
}

void layout_arrays(float *position, const float *velocity, float dt, int n,
                   cudaStream_t stream) {
  layout_arrays_kernel<<<(n + 255) / 256, 256, 0, stream>>>(position, velocity,
                                                            dt, n);
}
