#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

extern "C" int cublasCreate_v2(void **);

__global__ void axpy(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}

void launch(const float *x, float *y, int n) {
  axpy<<<(n + 255) / 256, 256>>>(x, y, n);
}

static double secondsOf(cudaEvent_t begin, cudaEvent_t end) {
  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  return ms * 1e-3;
}

int main() {
  void *handle = nullptr;
  cublasCreate_v2(&handle);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  auto now = std::chrono::steady_clock::now();
  std::thread([] { std::puts("beside"); }).join();
  launch(nullptr, nullptr, 0);
  std::printf("%f s since %ld\n", secondsOf(begin, end), long(now.time_since_epoch().count()));
}
