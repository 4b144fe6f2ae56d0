// What all libraries of utils/gpu-test have in common: y[i] = 2 * x[i] + 1.
// They are given to the worker as they are, past the gates that a candidate
// meets before, so that each of the worker's own defences is seen to hold.

#pragma once
#include <cuda_runtime.h>

void launch(const float *x, float *y, long n, cudaStream_t stream);

extern "C" void stark_call(void **args) {
  launch(*(const float **)args[0], *(float **)args[1], *(long long *)args[2],
         *(cudaStream_t *)args[3]);
}
extern "C" int stark_last_error() { return (int)cudaGetLastError(); }

/// The right answer, at a fair speed.
static __global__ void good_kernel(const float *x, float *y, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i] + 1.0f;
}
static void good(const float *x, float *y, long n, cudaStream_t stream) {
  good_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
