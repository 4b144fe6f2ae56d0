//===- Uniform.h - Values that all threads have in common -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether a variable holds the same value in every thread of a block (or of
/// the grid) at some place. "No" also means "not known".
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_UNIFORM_H
#define STARK_LIB_REWRITE_ANALYSIS_UNIFORM_H

#include "Flow.h"

namespace stark {

class Uniform {
public:
  /// \p Grid: over all blocks, else over the threads of one.
  Uniform(const Facts &F, const Kernel &K, const Flow &Order, bool Grid)
      : F(F), K(K), Order(Order), Grid(Grid) {}
  bool at(const clang::VarDecl *V, const clang::Stmt *Place) const;
  bool expression(const clang::Expr *E, const clang::Stmt *Place) const;

private:
  bool isLoopCounter(const clang::VarDecl *V, const clang::Stmt *Place) const;
  const Facts &F;
  const Kernel &K;
  const Flow &Order;
  bool Grid;
  mutable unsigned Depth = 0;
  mutable std::set<const clang::VarDecl *> Assumed;
};

} // namespace stark

#endif
