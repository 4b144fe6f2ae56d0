// Model of 23_Softmax.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor Softmax(
    const at::Tensor &x /* [4096, 393216] */) {
  at::Tensor softmax = at::softmax(x, 1); // [4096, 393216]
  return softmax;
}
