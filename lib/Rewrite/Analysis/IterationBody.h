//===- IterationBody.h - What an iteration of a loop does -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether the statements of a loop's body compute and store, and nothing
/// else; each change that they make is put to whoever asks.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ITERATIONBODY_H
#define STARK_LIB_REWRITE_ANALYSIS_ITERATIONBODY_H

#include "Facts.h"

namespace stark {

class IterationBody {
public:
  virtual ~IterationBody() = default;
  /// Why the body \p S does more than compute and store.
  WhyNot whyNot(const clang::Stmt *S) { return whyNot(S, false); }

protected:
  explicit IterationBody(const clang::ASTContext &Context) : Context(Context) {}
  /// Why \p Target may not be changed. \p By is the assignment, when it is an
  /// operator of the language.
  virtual WhyNot changes(const clang::Expr *Target,
                         const clang::BinaryOperator *By) = 0;
  /// Why \p Target may not be counted up or down.
  virtual WhyNot counts(const clang::Expr *Target) = 0;

private:
  WhyNot whyNot(const clang::Stmt *S, bool InInner);
  const clang::ASTContext &Context;
};

} // namespace stark

#endif
