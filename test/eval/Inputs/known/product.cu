// The product of cuBLAS, as PyTorch calls it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>

at::Tensor product(const at::Tensor &a, const at::Tensor &b) {
  return at::mm(a, b);
}
