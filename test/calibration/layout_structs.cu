// Moves particles kept as an array of structures: of 16 bytes, 8 are used.

#include <cuda_runtime.h>

// A particle is four floats: position, velocity, mass, charge.
constexpr int kFields = 4;

__global__ void layout_structs_kernel(float *particles, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    particles[i * kFields] += dt * particles[i * kFields + 1];
}

void layout_structs(float *particles, float dt, int n, cudaStream_t stream) {
  layout_structs_kernel<<<(n + 255) / 256, 256, 0, stream>>>(particles, dt, n);
}
