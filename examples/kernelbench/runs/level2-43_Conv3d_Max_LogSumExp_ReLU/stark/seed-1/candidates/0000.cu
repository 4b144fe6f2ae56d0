// Model of 43_Conv3d_Max_LogSumExp_ReLU.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor Conv3d_Max_LogSumExp_ReLU(
    const at::Tensor &x /* [4, 32, 32, 128, 128] */,
    const at::Tensor &conv_weight /* [64, 32, 3, 3, 3] */,
    const at::Tensor &conv_bias /* [64] */) {
  at::Tensor conv = at::conv3d(x, conv_weight, conv_bias, {1, 1, 1}, {1, 1, 1}); // [4, 64, 32, 128, 128]
  at::Tensor max_pool = at::max_pool3d(conv, {2, 2, 2}, {2, 2, 2}); // [4, 64, 16, 64, 64]
  at::Tensor logsumexp = at::logsumexp(max_pool, at::IntArrayRef({1}), true); // [4, 1, 16, 64, 64]
  at::Tensor relu = at::relu(logsumexp); // [4, 1, 16, 64, 64]
  return relu;
}
