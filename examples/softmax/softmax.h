#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <cuda_runtime.h>

/// y = softmax(x) over each of the \p rows rows of \p cols numbers. Both are
/// device pointers to rows * cols floats.
void launch_softmax(const float *x, float *y, int rows, int cols,
                    cudaStream_t stream);

#endif
