// Model of 33_Gemm_Scale_BatchNorm.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor Gemm_Scale_BatchNorm(
    const at::Tensor &x /* [1024, 8192] */,
    const at::Tensor &scale /* [8192] */,
    const at::Tensor &gemm_weight /* [8192, 8192] */,
    const at::Tensor &gemm_bias /* [8192] */,
    const at::Tensor &bn_weight /* [8192] */,
    const at::Tensor &bn_bias /* [8192] */,
    const at::Tensor &bn_running_mean /* [8192], changed */,
    const at::Tensor &bn_running_var /* [8192], changed */,
    const at::Tensor &bn_num_batches_tracked /* i64 [], changed */) {
  at::Tensor gemm = at::linear(x, gemm_weight, gemm_bias); // [1024, 8192]
  at::Tensor mul = at::mul(gemm, scale); // [1024, 8192]
  bn_num_batches_tracked.add_(1);
  at::Tensor bn = at::batch_norm(mul, bn_weight, bn_bias, bn_running_mean, bn_running_var, true, 0.1, 1e-05, false); // [1024, 8192]
  return bn;
}
