// Model of 1_MLP.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor MLP(
    const at::Tensor &x /* [128, 16384] */,
    const at::Tensor &network_0_weight /* [16384, 16384] */,
    const at::Tensor &network_0_bias /* [16384] */,
    const at::Tensor &network_2_weight /* [16384, 16384] */,
    const at::Tensor &network_2_bias /* [16384] */,
    const at::Tensor &network_4_weight /* [8192, 16384] */,
    const at::Tensor &network_4_bias /* [8192] */) {

  // network
  at::Tensor network_0 = at::linear(x, network_0_weight, network_0_bias); // [128, 16384]
  at::Tensor network_1 = at::relu(network_0); // [128, 16384]
  at::Tensor network_2 = at::linear(network_1, network_2_weight, network_2_bias); // [128, 16384]
  at::Tensor network_3 = at::relu(network_2); // [128, 16384]
  at::Tensor network_4 = at::linear(network_3, network_4_weight, network_4_bias); // [128, 8192]
  return network_4;
}
