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
/// and whether an iteration may go to another thread than it goes to.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_THREADLOOP_H
#define STARK_LIB_REWRITE_THREADLOOP_H

#include "Accesses.h"
#include "Reduction.h"

namespace stark {

struct ThreadLoop {
  const clang::ForStmt *S = nullptr;
  const clang::VarDecl *I = nullptr;
  const clang::Expr *Start = nullptr, *Bound = nullptr, *Step = nullptr;
  bool Grid = false; ///< shared by all blocks, else by the threads of one
};

/// Unset when \p S is another kind of loop; \p Why then says what it lacks,
/// when it comes near.
std::optional<ThreadLoop> readThreadLoop(const Facts &F, const Kernel &K,
                                         const clang::ForStmt *S,
                                         std::string &Why);

/// \p E is the thread's number in its block (x), for all of which loops and
/// reductions of one dimension run.
bool isThreadNumber(const clang::Expr *E, const Kernel &K);
/// blockIdx.x * blockDim.x + threadIdx.x.
bool isGlobalThreadNumber(const clang::Expr *E, const Facts &F,
                          const Kernel &K);

/// \p E is the loop's index, or a copy that its body makes.
bool isLoopIndex(const Kernel &K, const ThreadLoop &L, const clang::Expr *E);

/// i, or i + something that is the same in each iteration.
bool isShiftedIndex(const Facts &F, const Kernel &K, const ThreadLoop &L,
                    const clang::Expr *Index);

/// Empty when each iteration of \p L may run in any thread, at any time: it
/// changes nothing but what it stores, sums go to a reduction of the whole
/// block, and what it stores or reads is not touched by others before the next
/// barrier.
std::string whyNotRemap(const Facts &F, const Kernel &K, const Accesses &A,
                        const std::vector<Reduction> &Reductions,
                        const ThreadLoop &L);

/// "sum" of "sum += e", "largest" of "largest = fmaxf(largest, e)".
struct Accumulation {
  const clang::VarDecl *Into = nullptr;
  std::string Operation; ///< as in Reduction
};
std::optional<Accumulation> readAccumulation(const clang::Stmt *S,
                                             const clang::ASTContext &Context);

} // namespace stark

#endif
