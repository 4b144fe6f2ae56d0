//===- KeptElement.h - Elements that a loop changes again and again -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     y[row] = 0;                          (or: y[row] *= b; or nothing)
///     for (int i = 0; i < n; ++i) y[row] += a[row * n + i] * x[i];
/// The elements that a loop stores to in all of its iterations, when nothing
/// else in the loop can touch them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_KEPTELEMENT_H
#define STARK_LIB_REWRITE_ANALYSIS_KEPTELEMENT_H

#include "Accesses.h"
#include "CountedLoop.h"

namespace stark {

struct KeptElement {
  const clang::Expr *Element = nullptr; ///< one of its uses in the loop
  const clang::VarDecl *Root = nullptr;
  std::vector<const clang::Expr *> Uses; ///< all in the loop
  /// What assigns to it right before the loop, but for declarations; null when
  /// nothing does.
  const clang::BinaryOperator *Before = nullptr;
  /// The thread surely stores to it, also when the loop does not run.
  bool Owned = false;
};

struct KeptElements {
  std::vector<KeptElement> All;
  WhyNot Lacks; ///< of one that comes near and is not in All
};

KeptElements findKeptElements(const Facts &F, const Kernel &K,
                              const Accesses &A, const CountedLoop &L);

/// How an element is kept while its loop runs.
struct KeptText {
  std::string Name;  ///< of the variable, in place of each use
  std::string Load;  ///< its declaration before the loop, unless Before is it
  std::string Store; ///< after the loop
  Changes Before;    ///< what assigns to the element declares the variable
};

/// Or why it cannot be written.
OrReason<KeptText> keptText(const Facts &F, const Kernel &K,
                            const CountedLoop &L, const KeptElement &E);

} // namespace stark

#endif
