// A program around a kernel: its main needs a library that is not there, and
// streams and strings besides.

#include <cublas_of_somebody.h>
#include <cuda_runtime.h>
#include <iostream>
#include <nowhere/images.hpp>
#include <string>

__global__ void copy_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}

extern int elsewhere(float *x, int n);
static const std::string Name = "whole";

struct Shown {
  images::Picture picture;
};

void whole_program(const float *x, float *y, int n, cudaStream_t stream) {
  float *pinned;
  cudaMallocHost(&pinned, n * sizeof(float));
  for (int i = 0; i < n; ++i)
    pinned[i] = float(i);
  if (Name.size() == n)
    n += elsewhere(y, n);
  copy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  cudaFreeHost(pinned);
}

void show(const images::Picture &picture) { picture.show(); }

int main(int argc, char **argv) {
  std::string name = argc > 1 ? argv[1] : "picture.png";
  images::Picture picture(name);
  std::cout << picture.width() << std::endl;
  show(picture);
  return elsewhere(picture.data(), picture.width());
}
