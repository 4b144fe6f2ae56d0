// A folder of the project that the flags name has a math.h of its own, and main
// needs what the simulator has not.
#include <cub/cub.cuh>
#include "math.h"

__global__ void rootKernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sqrtf(fabsf(x[i]));
}

int main() {
  size_t bytes = 0;
  float *x = nullptr;
  cub::DeviceReduce::Sum(nullptr, bytes, x, x, int(turned(float2{1, 2}).x));
}
