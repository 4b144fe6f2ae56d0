// A whole program around a kernel: what main needs of the C++ library, and what
// the simulator has not, is nothing to the launcher. -DSMALL: without the
// former, which takes Clang seconds.
#include <cub/cub.cuh>
#ifndef SMALL
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <vector>
#endif

__global__ void scaleKernel(const float *x, float *y, int n) {
  register int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}

void scale(const float *x, float *y, int n) {
  scaleKernel<<<(n + 255) / 256, 256>>>(x, y, n);
}

#ifndef SMALL
static std::string title = "run ";
#endif

static float sum(float *x, int n) {
  void *scratch = nullptr;
  size_t bytes = 0;
  float *result = nullptr;
  cub::DeviceReduce::Sum(scratch, bytes, x, result, n);
  return *result;
}

int main(int argc, char **argv) {
#ifndef SMALL
  std::map<std::string, std::vector<int>> found;
  for (int i = 0; i < argc; ++i)
    found[argv[i] + title + std::to_string(i)].push_back(i);
  std::ofstream(argv[0] + std::string(".txt")) << found.size() << std::endl;
  auto later = std::async(std::launch::async, [&] { return found.size(); });
#endif
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 4096 * 4);
  cudaMalloc(&y, 4096 * 4);
  scale(x, y, 4096);
  float all = sum(y, 4096);
#ifndef SMALL
  std::cout << all << later.get() << std::endl;
#endif
}
