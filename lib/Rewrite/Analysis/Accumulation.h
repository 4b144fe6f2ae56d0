//===- Accumulation.h - Sums, products, minima and maxima -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     sum += e;   largest = fmaxf(largest, e);
/// Statements whose order among themselves matters to rounding at most.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ACCUMULATION_H
#define STARK_LIB_REWRITE_ANALYSIS_ACCUMULATION_H

#include "Facts.h"

namespace stark {

struct Accumulation {
  const clang::VarDecl *Into = nullptr;
  std::string Operation; ///< "+", "*", "&", "|", "^", "fmaxf", ...
};
std::optional<Accumulation> readAccumulation(const clang::Stmt *S,
                                             const clang::ASTContext &Context);

/// "target = e OP rest", for a rest and a target of any kind.
struct Combination {
  const clang::Expr *Target = nullptr;
  llvm::StringRef Operation;
  /// What is combined: the right side alone, for a compound assignment.
  std::vector<const clang::Expr *> Values;
  bool Compound = false;
};
std::optional<Combination> readCombination(const clang::Stmt *S,
                                           const clang::ASTContext &Context);

/// Variables that a loop accumulates in, and how.
class Accumulators {
public:
  /// Unset when \p S, which changes \p V, fits what is known of \p V.
  WhyNot add(const clang::VarDecl *V, const clang::BinaryOperator *S,
             const clang::ASTContext &Context);
  bool contains(const clang::VarDecl *V) const { return All.count(V) != 0; }
  bool empty() const { return All.empty(); }
  const std::map<const clang::VarDecl *, std::string> &all() const {
    return All;
  }
  /// The values are read nowhere in \p Loop but where they grow.
  WhyNot whyRead(const clang::Stmt *Loop,
                 const clang::ASTContext &Context) const;

private:
  std::map<const clang::VarDecl *, std::string> All; ///< the operation of each
};

} // namespace stark

#endif
