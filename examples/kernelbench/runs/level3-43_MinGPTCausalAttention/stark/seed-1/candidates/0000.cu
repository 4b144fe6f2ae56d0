// Model of 43_MinGPTCausalAttention.py as calls of ATen's operators, in training mode: stark-tool
// import, torch 2.11.0+cu130.
#include <ATen/ATen.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

at::Tensor MinGPTCausalAttention(
    const at::Tensor &x /* [128, 512, 768] */,
    const at::Tensor &c_attn_weight /* [2304, 768] */,
    const at::Tensor &c_attn_bias /* [2304] */,
    const at::Tensor &c_proj_weight /* [768, 768] */,
    const at::Tensor &c_proj_bias /* [768] */,
    const at::Tensor &bias /* [1, 1, 1024, 1024] */) {
  at::Tensor c_attn = at::linear(x, c_attn_weight, c_attn_bias); // [128, 512, 2304]
  std::vector<at::Tensor> split = at::split(c_attn, 768, 2); // [128, 512, 768], [128, 512, 768], [128, 512, 768]
  at::Tensor view = split[1].view({128, 512, 8, 96}); // [128, 512, 8, 96]
  at::Tensor transpose = at::transpose(view, 1, 2); // [128, 8, 512, 96]
  at::Tensor view_2 = split[0].view({128, 512, 8, 96}); // [128, 512, 8, 96]
  at::Tensor transpose_2 = at::transpose(view_2, 1, 2); // [128, 8, 512, 96]
  at::Tensor view_3 = split[2].view({128, 512, 8, 96}); // [128, 512, 8, 96]
  at::Tensor transpose_3 = at::transpose(view_3, 1, 2); // [128, 8, 512, 96]
  at::Tensor transpose_4 = at::transpose(transpose, -2, -1); // [128, 8, 96, 512]
  at::Tensor matmul = at::matmul(transpose_2, transpose_4); // [128, 8, 512, 512]
  at::Tensor mul = at::mul(matmul, 0.10206207261596577); // [128, 8, 512, 512]
  at::Tensor slice = at::slice(bias, 2, 0, 512); // [1, 1, 512, 1024]
  at::Tensor slice_2 = at::slice(slice, 3, 0, 512); // [1, 1, 512, 512]
  at::Tensor eq = at::eq(slice_2, 0); // bool [1, 1, 512, 512]
  at::Tensor masked_fill = at::masked_fill(mul, eq, -std::numeric_limits<double>::infinity()); // [128, 8, 512, 512]
  at::Tensor softmax = at::softmax(masked_fill, -1); // [128, 8, 512, 512]
  at::Tensor attn_dropout = at::dropout(softmax, 0.0, true); // [128, 8, 512, 512]
  at::Tensor matmul_2 = at::matmul(attn_dropout, transpose_3); // [128, 8, 512, 96]
  at::Tensor transpose_5 = at::transpose(matmul_2, 1, 2); // [128, 512, 8, 96]
  at::Tensor contiguous = transpose_5.contiguous(); // [128, 512, 8, 96]
  at::Tensor view_4 = contiguous.view({128, 512, 768}); // [128, 512, 768]
  at::Tensor c_proj = at::linear(view_4, c_proj_weight, c_proj_bias); // [128, 512, 768]
  at::Tensor resid_dropout = at::dropout(c_proj, 0.0, true); // [128, 512, 768]
  return resid_dropout;
}
