//===- Indices.h - Indices as sums ------------------------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_INDICES_H
#define STARK_LIB_SIM_INDICES_H

#include "llvm/IR/PassManager.h"

namespace stark::sim {

/// Has indices as nvcc's LLVM has them: sums of which no bits meet are sums and
/// not `or`, and what is not negative is extended with its sign. So the passes
/// that share addresses between accesses see which are a number apart.
struct IndicesAsSums : llvm::PassInfoMixin<IndicesAsSums> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
};

} // namespace stark::sim

#endif
