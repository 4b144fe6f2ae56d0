#ifndef ADD_RMSNORM_H
#define ADD_RMSNORM_H

#include <cuda_fp16.h>
#include <cuda_runtime.h>

/// What a transformer block does between attention and its MLP:
/// residual += x, then y = residual / rms(residual) * weight, for each of
/// \p tokens rows of \p hidden numbers. residual is changed in place.
void add_rmsnorm(const __half *x, __half *residual, const __half *weight,
                 __half *y, int tokens, int hidden, float eps,
                 cudaStream_t stream);

#endif
