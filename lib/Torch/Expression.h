//===- Expression.h - Calls of ATen's operators in C++ --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Node --> "at::conv2d(x, conv_weight, conv_bias, {2, 2})"
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_EXPRESSION_H
#define STARK_LIB_TORCH_EXPRESSION_H

#include "Loops.h"
#include "stark/Torch/Source.h"

namespace stark::torch {

class ExpressionWriter {
public:
  ExpressionWriter(const Graph &G, const Names &N);

  /// Of a tensor that is there.
  std::string use(Use U) const;
  /// The call of node \p I, less what the operator takes by itself.
  std::string call(const Node &Of) const;
  /// An argument, as a parameter of \p Type takes it.
  std::string constant(const Constant &C, llvm::StringRef Type) const;

  /// What is said in place of some constants, and of uses: what loops make of
  /// them.
  std::map<const Constant *, std::string> Instead;
  std::map<UseKey, std::string> Renamed;

private:
  std::string list(const Constant &C, llvm::StringRef Type) const;
  std::string options(const Node &Of, size_t First, bool IsFactory) const;

  const Graph &G;
  const Names &N;
  std::string Anchor; ///< an input, on whose device all is made
};

} // namespace stark::torch

#endif
