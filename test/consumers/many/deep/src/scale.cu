#include "factor.cuh"

#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)

extern "C" __global__ void NAME(kernel_, NAMED)(float *x) { x[threadIdx.x] *= FACTOR; }

void NAME(launch_, NAMED)(float *x) { NAME(kernel_, NAMED)<<<1, 32>>>(x); }
