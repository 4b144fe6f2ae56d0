//===- Reduction.h - Reductions over a block ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The tree of halves in shared memory that the first lines of every CUDA
/// course have, and the form that block-reduce writes in its place.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_REDUCTION_H
#define STARK_LIB_REWRITE_REDUCTION_H

#include "Accesses.h"

namespace stark {

struct Reduction {
  const clang::VarDecl *Array = nullptr;
  const clang::Expr *Value = nullptr; ///< what each thread brings
  std::string Operation;              ///< "+", "*", "fmaxf", ...
  const clang::Stmt *First = nullptr, *Last = nullptr;
  bool Tree = false;          ///< else already in the form of block-reduce
  bool StartsAtBlock = false; ///< the tree begins at blockDim.x / 2
  std::optional<uint64_t> StartsAt; ///< or at this constant
};

/// All of \p K, in source order.
std::vector<Reduction> findReductions(const Facts &F, const Kernel &K);

/// Places that begin like one and are none: the loop, and why.
std::vector<std::pair<const clang::Stmt *, std::string>>
findAlmostReductions(const Facts &F, const Kernel &K);

/// The function that block-reduce calls, and its text.
std::string blockReduceName(llvm::StringRef Operation, llvm::StringRef Type);
std::string blockReduceText(llvm::StringRef Operation, llvm::StringRef Type);

} // namespace stark

#endif
