#ifndef MATMUL_H
#define MATMUL_H

#include <cuda_runtime.h>

/// c = a * b in single precision; a is m x k, b is k x n, c is m x n, all
/// row-major device pointers.
void matmul(const float *a, const float *b, float *c, int m, int n, int k,
            cudaStream_t stream);

#endif
