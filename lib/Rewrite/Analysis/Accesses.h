//===- Accesses.h - What a kernel reads and writes ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Every access to memory that other threads can see, with the variable that
/// it goes through.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ACCESSES_H
#define STARK_LIB_REWRITE_ANALYSIS_ACCESSES_H

#include "Facts.h"

namespace stark {

struct Access {
  const clang::Expr *E = nullptr; ///< p[i], *p, s.m through p, a call
  /// The pointer or array that is indexed; null when it is no plain variable.
  const clang::VarDecl *Base = nullptr;
  /// The parameter or array behind Base: of "row = x + n" it is x. Null when it
  /// is not known, and then anything.
  const clang::VarDecl *Root = nullptr;
  const clang::Expr *Index = nullptr; ///< null when not p[i]
  const clang::Expr *Whole = nullptr; ///< E, or the __ldg(&E) around it
  bool Load = false, Store = false;
  bool Shared = false;  ///< of a __shared__ array
  bool Unclear = false; ///< what is read or written is not all seen
};

class Accesses {
public:
  Accesses(const Facts &F, const Kernel &K);
  const std::vector<Access> &all() const { return All; }
  std::vector<const Access *> in(const clang::Stmt *S) const;
  /// Whether both can touch the same bytes and one writes.
  bool conflict(const Access &A, const Access &B) const;

private:
  const clang::VarDecl *rootOf(const clang::Expr *Pointer) const;
  void classify(const clang::Expr *E, Access A);
  void addSubscript(const clang::ArraySubscriptExpr *Sub);
  void addDereference(const clang::UnaryOperator *U);
  void addVariable(const clang::DeclRefExpr *R);
  void addCall(const clang::CallExpr *C);
  void addUnclear(const clang::Expr *E);

  const Facts &F;
  const Kernel &K;
  std::vector<Access> All;
};

} // namespace stark

#endif
