// Model of 1_Square_matrix_multiplication_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor Square_matrix_multiplication(
    const at::Tensor &a /* [4096, 4096] */,
    const at::Tensor &b /* [4096, 4096] */) {
  at::Tensor matmul = at::matmul(a, b); // [4096, 4096]
  return matmul;
}
