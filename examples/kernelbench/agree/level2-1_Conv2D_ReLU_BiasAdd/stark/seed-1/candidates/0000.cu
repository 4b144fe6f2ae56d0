// Model of 1_Conv2D_ReLU_BiasAdd.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor Conv2D_ReLU_BiasAdd(
    const at::Tensor &x /* [128, 64, 128, 128] */,
    const at::Tensor &bias /* [128, 1, 1] */,
    const at::Tensor &conv_weight /* [128, 64, 3, 3] */,
    const at::Tensor &conv_bias /* [128] */) {
  at::Tensor conv = at::conv2d(x, conv_weight, conv_bias); // [128, 128, 126, 126]
  at::Tensor relu = at::relu(conv); // [128, 128, 126, 126]
  at::Tensor add = at::add(relu, bias); // [128, 128, 126, 126]
  return add;
}
