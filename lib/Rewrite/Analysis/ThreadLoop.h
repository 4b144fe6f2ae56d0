//===- ThreadLoop.h - Loops whose iterations the threads share ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int i = threadIdx.x; i < n; i += blockDim.x) ...
///     for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
///          i += blockDim.x * gridDim.x) ...
/// Either may also be written as
///     int i = threadIdx.x;
///     while (i < n) { ...; i += blockDim.x; }
/// where nothing else uses i.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_THREADLOOP_H
#define STARK_LIB_REWRITE_ANALYSIS_THREADLOOP_H

#include "CountedLoop.h"

namespace stark {

struct ThreadLoop {
  const clang::Stmt *S = nullptr; ///< a for or a while
  const clang::VarDecl *I = nullptr;
  const clang::Expr *Start = nullptr, *Bound = nullptr, *Step = nullptr;
  const clang::Expr *Cond = nullptr;
  /// What makes the next index; of a while the last statement of the body.
  const clang::Stmt *Next = nullptr;
  const clang::Stmt *Body = nullptr;
  bool Grid = false; ///< shared by all blocks, else by the threads of one

  ThreadLoop() = default;
  /// Of \p L, for what looks at the index alone.
  explicit ThreadLoop(const IndexedLoop &L);
  bool isWhile() const { return llvm::isa<clang::WhileStmt>(S); }
  /// Those that an iteration has of its own.
  std::set<const clang::VarDecl *> variables() const;
};

/// Every loop that may be one, in source order.
std::vector<const clang::Stmt *> threadLoopsOf(const Kernel &K);

/// Unset when \p S is another kind of loop; why not, when it comes near.
std::optional<OrReason<ThreadLoop>>
readThreadLoop(const Facts &F, const Kernel &K, const clang::Stmt *S);

/// \p E is the loop's index, or a copy that its body makes.
bool isLoopIndex(const Kernel &K, const ThreadLoop &L, const clang::Expr *E);

/// The integer that \p E names, when the loop's body declares it and gives it
/// its one value: const size_t at = row * n + i; else null.
const clang::VarDecl *namedIndex(const Kernel &K, const ThreadLoop &L,
                                 const clang::Expr *E);

/// i, or i + something that is the same in each iteration; either may be named
/// in the body.
bool isShiftedIndex(const Facts &F, const Kernel &K, const ThreadLoop &L,
                    const clang::Expr *Index);

/// Both are shifted indices, by the same.
bool isSameShift(const Facts &F, const Kernel &K, const ThreadLoop &L,
                 const clang::Expr *A, const clang::Expr *B);

} // namespace stark

#endif
