// The entry itself needs what the simulator has not.
#include <cub/cub.cuh>
#include <mutex>

__global__ void addKernel(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += 1.0f;
}

static std::once_flag once;

void sums(const float *x, float *y, int n) {
#ifdef ONCE
  std::call_once(once, [] {});
#else
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, x, y, n);
#endif
  addKernel<<<(n + 255) / 256, 256>>>(y, n);
}
