//===- Linear.h - Indices as sums of products -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (base + r) * cols + j  ->  base * cols, r * cols, j
/// Variables that hold what they were initialised with are replaced by that, so
/// that an index is told from what it is made of.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LINEAR_H
#define STARK_LIB_REWRITE_ANALYSIS_LINEAR_H

#include "Accesses.h"

namespace stark {

struct LinearTerm {
  bool Negative = false;
  std::vector<const clang::Expr *> Factors; ///< none is a sum or a product
};

/// How an index grows with a variable.
struct Growth {
  enum Kind {
    None,   ///< not at all
    Linear, ///< by Coefficient for each one
    Unclear
  } Is = None;
  std::vector<const clang::Expr *> Coefficient; ///< empty: 1
  bool Negative = false;
};

class Linear {
public:
  Linear(const Facts &F, const Kernel &K) : F(F), K(K) {}
  /// Unset when it is too long to be looked at.
  std::optional<std::vector<LinearTerm>> expand(const clang::Expr *E) const;
  /// The distance of \p A from the beginning of A.Root, in elements.
  std::optional<std::vector<LinearTerm>> offsetOf(const Access &A) const;
  Growth growth(const std::vector<LinearTerm> &Terms,
                const clang::VarDecl *V) const;
  /// Whether \p Factors is \p E alone, as a constant or a variable.
  bool isThe(const std::vector<const clang::Expr *> &Factors,
             const clang::Expr *E) const;
  /// The constant that \p Factors are; 1 for none.
  std::optional<uint64_t>
  constantOf(const std::vector<const clang::Expr *> &Factors) const;

private:
  bool add(const clang::Expr *E, bool Negative, unsigned Depth,
           std::vector<LinearTerm> &Into) const;
  bool addPointer(const clang::Expr *E, unsigned Depth,
                  std::vector<LinearTerm> &Into) const;
  const clang::Expr *valueOf(const clang::VarDecl *V) const;
  const Facts &F;
  const Kernel &K;
};

} // namespace stark

#endif
