//===- Divisors.h - What nvcc does not know of divisors --------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// This LLVM finds out that a loop's counter that begins at 1 and doubles is a
/// power of two, and makes `i % counter` a mask. nvcc 13.0 divides (seen in its
/// PTX for sm_90), which takes some twenty times as long.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_DIVISORS_H
#define STARK_LIB_SIM_DIVISORS_H

#include "llvm/IR/PassManager.h"

namespace stark::sim {

/// The call that stands between such a counter and a division.
constexpr llvm::StringLiteral HiddenDivisor = "stark.divisor";

/// Puts the call there.
struct HideDivisors : llvm::PassInfoMixin<HideDivisors> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);
};

/// Takes it away: of divisors that have become numbers, or of all, after which
/// nothing may look at divisions any more.
struct ShowDivisors : llvm::PassInfoMixin<ShowDivisors> {
  explicit ShowDivisors(bool All) : All(All) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &);

private:
  bool All;
};

} // namespace stark::sim

#endif
