// What a candidate may do, right and wrong, by the letter after "step-variant=",
// which judge.py changes in the library: one compilation is enough for all.
#include <ATen/ATen.h>
#include <optional>
#include <vector>

static volatile const char Which[] = "step-variant=A";

std::vector<at::Tensor> step(const at::Tensor &x /* [6, 8] */,
                             const at::Tensor &weight /* [4, 8] */,
                             const at::Tensor &gamma /* [4] */,
                             const at::Tensor &bias /* [4] */,
                             at::TensorList more /* [6, 4] each */,
                             const std::optional<at::Tensor> &mask,
                             const std::optional<at::Tensor> &none,
                             at::Tensor running_mean /* [4] */,
                             at::Tensor &calls /* [] */, double momentum) {
  char V = Which[13];
  static at::Tensor kept;
  static int called = 0;
  ++called;
  at::Tensor product = at::linear(x, weight), y = product * gamma + bias;
  if (V == 'h') // hidden by weights that are 1 and 0
    y = product;
  for (const at::Tensor &each : more)
    y = y + each;
  if (mask)
    y = y * *mask;
  if (none)
    y = at::zeros_like(y);
  if (V == 'm') // hidden by a mean that is 0
    running_mean.copy_(y.mean(0) * momentum);
  else
    running_mean.mul_(1 - momentum).add_(y.mean(0), momentum);
  if (V != 'c')
    calls.add_(1);
  at::Tensor above = x.gt(0);
  switch (V) {
  case 'S': // shape
    return {y.t().contiguous(), above};
  case 'D': // type
    return {y.to(at::kDouble), above};
  case 'F': // too few
    return {y};
  case 'U':
    return {at::Tensor(), above};
  case 'T':
    TORCH_CHECK(false, "no such luck");
  case 't':
    throw 1;
  case 'I':
    at::Tensor(x).zero_();
    break;
  case 'O':
    running_mean.data_ptr<float>()[4] = 0;
    break;
  case 'K': // kept from an earlier call
    if (!kept.defined())
      kept = y.clone();
    return {kept, above};
  case 'L': // lazy, once it is timed
    if (called > 14)
      return {at::zeros_like(y), above};
    break;
  case 'N': // another way to the same
    return {(y.to(at::kDouble).t().contiguous().t()).to(at::kFloat), above};
  case 'X':
    *(volatile int *)8 = 1;
    break;
  // What a source may be like.
  case 'C':
    return {at::ones_like(y) * 3, above};
  case 'P': // a pointer to floats keeps the reference from being in f64
    y.mul_(*weight.data_ptr<float>() * 0 + 1);
    break;
  case 'R': // rounds, where it is not the reference
    return {y.scalar_type() == at::kFloat ? y * 1.001 : y, above};
  case 'Q': // not a number, unless the bias is 0
    return {y + at::sqrt(bias.sub(bias.abs())), above};
  }
  return {y, above};
}
