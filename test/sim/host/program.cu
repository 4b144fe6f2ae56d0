// A whole program around a kernel: what main needs of the C++ library, and what
// the simulator has not, is nothing to the launcher.
#include <cub/cub.cuh>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <vector>

__global__ void scaleKernel(const float *x, float *y, int n) {
  register int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}

void scale(const float *x, float *y, int n) {
  scaleKernel<<<(n + 255) / 256, 256>>>(x, y, n);
}

static std::string title = "run ";

static float sum(float *x, int n) {
  void *scratch = nullptr;
  size_t bytes = 0;
  float *result = nullptr;
  cub::DeviceReduce::Sum(scratch, bytes, x, result, n);
  return *result;
}

int main(int argc, char **argv) {
  std::map<std::string, std::vector<int>> found;
  for (int i = 0; i < argc; ++i)
    found[argv[i] + title + std::to_string(i)].push_back(i);
  std::ofstream(argv[0] + std::string(".txt")) << found.size() << std::endl;
  auto later = std::async(std::launch::async, [&] { return found.size(); });
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 4096 * 4);
  cudaMalloc(&y, 4096 * 4);
  scale(x, y, 4096);
  std::cout << sum(y, 4096) << later.get() << std::endl;
}
