//===- ElementKernel.h - Kernels of one element a thread ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) ...              (or: if (i >= n) return; ...)
/// Other variables may be declared before each of the two.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ELEMENTKERNEL_H
#define STARK_LIB_REWRITE_ANALYSIS_ELEMENTKERNEL_H

#include "Facts.h"

namespace stark {

struct ElementKernel {
  const clang::DeclStmt *Declared = nullptr;
  const clang::VarDecl *I = nullptr;        ///< the thread's element
  std::vector<const clang::Stmt *> Between; ///< declared after it
  const clang::IfStmt *Guard = nullptr;
  const clang::Expr *Bound = nullptr;
  bool Returns = false; ///< if (i >= n) return;
  std::vector<const clang::Stmt *> Rest;
};

/// Set when \p K begins like one: what it is, when its threads are on their
/// own, else what it lacks.
std::optional<OrReason<ElementKernel>> readElementKernel(const Facts &F,
                                                         const Kernel &K);

} // namespace stark

#endif
