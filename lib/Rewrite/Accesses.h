//===- Accesses.h - What a kernel reads and writes ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Every access to memory that other threads can see, with the variable it
/// goes through, and the order of accesses and barriers.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ACCESSES_H
#define STARK_LIB_REWRITE_ACCESSES_H

#include "Facts.h"
#include "clang/Analysis/CFG.h"
#include <set>

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
  const clang::VarDecl *rootOf(const clang::Expr *Pointer) const;

private:
  void classify(const clang::Expr *E, Access A);
  const Facts &F;
  const Kernel &K;
  std::vector<Access> All;
};

/// The statements of a kernel in the order in which they can run.
class Flow {
public:
  explicit Flow(const Kernel &K);
  bool known() const { return Graph != nullptr; }
  /// The statements that can run before or after one of \p S, with none in
  /// between for which \p Stop holds; those of \p S are left out.
  std::vector<const clang::Stmt *>
  around(const clang::Stmt *S, bool Forward,
         llvm::function_ref<bool(const clang::Stmt *)> Stop) const;

private:
  std::unique_ptr<clang::CFG> Graph;
};

/// "__syncthreads();" and nothing else.
bool isBlockBarrier(const clang::Stmt *S);

} // namespace stark

#endif
