// An operator on tensors, whose kernel is small enough to be rewritten by a
// script.

#include "twice.cuh" // beside this file
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

__global__ void scale_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = twice(x[i]);
}

at::Tensor scale(const at::Tensor &x) {
  at::Tensor y = at::empty_like(x);
  int n = int(x.numel());
  scale_kernel<<<(n + 255) / 256, 256>>>(x.const_data_ptr<float>(),
                                         y.mutable_data_ptr<float>(), n);
  return y;
}
