//===- WarpReduction.cpp - A reduction by warp shuffles -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpReduction.h"
#include "CodeTemplate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace clang;

static constexpr CodeTemplate Function(R"cuda(
/// Leaves the $word of the block's values in scratch[0], for all of its threads.
/// blockDim.x is a power of two from 32 to 1024; y and z are 1.
static __device__ __forceinline__ void $name($type *scratch, $type value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = $combined;
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    int warps = blockDim.x / 32;
    value = scratch[threadIdx.x % warps];
    for (int offset = warps / 2; offset > 0; offset /= 2)
      value = $combined;
    __syncwarp();
    if (threadIdx.x == 0)
      scratch[0] = value;
  }
  __syncthreads();
}
)cuda");

static std::string wordOf(llvm::StringRef Operation) {
  return llvm::StringSwitch<llvm::StringRef>(Operation)
      .Case("+", "sum")
      .Case("*", "product")
      .Case("&", "and")
      .Case("|", "or")
      .Case("^", "xor")
      .Default(Operation)
      .str();
}

std::string stark::warpReductionName(llvm::StringRef Operation,
                                     llvm::StringRef Type) {
  std::string Name = "block_reduce_" + wordOf(Operation) + "_" + Type.str();
  std::replace(Name.begin(), Name.end(), ' ', '_');
  return Name;
}

std::string stark::warpReductionText(llvm::StringRef Operation,
                                     llvm::StringRef Type) {
  std::string Other = "__shfl_xor_sync(0xffffffffu, value, offset)";
  std::string Combined = llvm::isAlpha(Operation[0])
                             ? Operation.str() + "(value, " + Other + ")"
                             : "value " + Operation.str() + " " + Other;
  std::string Text = llvm::cantFail(
      Function.fill({{"word", wordOf(Operation)},
                     {"name", warpReductionName(Operation, Type)},
                     {"type", Type.str()},
                     {"combined", Combined}}));
  return llvm::StringRef(Text).ltrim().str();
}

std::string stark::warpReductionOf(const Facts &F, const CallExpr *Call) {
  if (Call->getNumArgs() != 2 || !calleeOf(Call).starts_with("block_reduce_"))
    return "";
  std::string Type = Call->getArg(1)
                         ->getType()
                         .getUnqualifiedType()
                         .getCanonicalType()
                         .getAsString();
  for (const char *Operation : {"+", "*", "&", "|", "^", "fmaxf", "fminf",
                                "fmax", "fmin", "max", "min"})
    if (calleeOf(Call) == warpReductionName(Operation, Type) &&
        F.hasCode(warpReductionText(Operation, Type)))
      return Operation;
  return "";
}
