// Model of 8_ResNetBasicBlock.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor ResNetBasicBlock(
    const at::Tensor &x /* [10, 3, 224, 224] */,
    const at::Tensor &conv1_weight /* [64, 3, 3, 3] */,
    const at::Tensor &bn1_weight /* [64] */,
    const at::Tensor &bn1_bias /* [64] */,
    const at::Tensor &conv2_weight /* [64, 64, 3, 3] */,
    const at::Tensor &bn2_weight /* [64] */,
    const at::Tensor &bn2_bias /* [64] */,
    const at::Tensor &downsample_0_weight /* [64, 3, 1, 1] */,
    const at::Tensor &downsample_1_weight /* [64] */,
    const at::Tensor &downsample_1_bias /* [64] */,
    const at::Tensor &bn1_running_mean /* [64], changed */,
    const at::Tensor &bn1_running_var /* [64], changed */,
    const at::Tensor &bn1_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &bn2_running_mean /* [64], changed */,
    const at::Tensor &bn2_running_var /* [64], changed */,
    const at::Tensor &bn2_num_batches_tracked /* i64 [], changed */,
    const at::Tensor &downsample_1_running_mean /* [64], changed */,
    const at::Tensor &downsample_1_running_var /* [64], changed */,
    const at::Tensor &downsample_1_num_batches_tracked /* i64 [], changed */) {
  at::Tensor conv1 = at::conv2d(x, conv1_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  bn1_num_batches_tracked.add_(1);
  at::Tensor bn1 = at::batch_norm(conv1, bn1_weight, bn1_bias, bn1_running_mean, bn1_running_var, true, 0.1, 1e-05, false); // [10, 64, 224, 224]
  bn1.relu_();
  at::Tensor conv2 = at::conv2d(bn1, conv2_weight, {}, {1, 1}, {1, 1}); // [10, 64, 224, 224]
  bn2_num_batches_tracked.add_(1);
  at::Tensor bn2 = at::batch_norm(conv2, bn2_weight, bn2_bias, bn2_running_mean, bn2_running_var, true, 0.1, 1e-05, false); // [10, 64, 224, 224]

  // downsample
  at::Tensor downsample_0 = at::conv2d(x, downsample_0_weight); // [10, 64, 224, 224]
  downsample_1_num_batches_tracked.add_(1);
  at::Tensor downsample_1 = at::batch_norm(downsample_0, downsample_1_weight, downsample_1_bias, downsample_1_running_mean, downsample_1_running_var, true, 0.1, 1e-05, false); // [10, 64, 224, 224]

  bn2.add_(downsample_1);
  bn2.relu_();
  return bn2;
}
