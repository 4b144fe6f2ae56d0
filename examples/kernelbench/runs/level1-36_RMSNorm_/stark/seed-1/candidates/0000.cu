// Model of 36_RMSNorm_.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor RMSNorm(
    const at::Tensor &x /* [112, 64, 512, 512] */) {
  at::Tensor pow = at::pow(x, 2); // [112, 64, 512, 512]
  at::Tensor mean = at::mean(pow, at::IntArrayRef({1}), true); // [112, 1, 512, 512]
  at::Tensor add = at::add(mean, 1e-05); // [112, 1, 512, 512]
  at::Tensor sqrt = at::sqrt(add); // [112, 1, 512, 512]
  at::Tensor div = at::div(x, sqrt); // [112, 64, 512, 512]
  return div;
}
