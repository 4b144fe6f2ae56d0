//===- LoopJamBody.h - Loops of which rounds may run side by side ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int j = 0; j < m; ++j) {
///       float sum = 0;                    variables of the round
///       for (int i = 0; i < n; ++i)       loops, one in the other
///         sum += x[i] * w[j * n + i];     changes variables of the round alone
///       y[j] = sum;                       anything that the loops do not read
///     }
/// A loop whose rounds may run their inner loops side by side.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LOOPJAMBODY_H
#define STARK_LIB_REWRITE_ANALYSIS_LOOPJAMBODY_H

#include "Accesses.h"
#include "CountedLoop.h"
#include "Pragmas.h"

namespace stark {

/// Rounds that run side by side.
inline constexpr unsigned JammedRounds = 4;

struct JammedLoop {
  const Site *At = nullptr;
  CountedLoop Outer;
  /// Each round has its own of these.
  std::vector<const clang::VarDecl *> Own;
  /// Those of Own that are declared before the loop, which each round assigns
  /// first and nothing else uses.
  std::vector<const clang::VarDecl *> Outside;
  std::vector<const clang::Stmt *> Before;   ///< declares and assigns Own
  std::vector<const clang::ForStmt *> Inner; ///< the outermost first
  std::vector<const clang::Stmt *> After;
};

/// Set when \p S is a loop with one such nest in it: what it is made of, or why
/// its rounds have to follow one another.
std::optional<OrReason<JammedLoop>> readJammedLoop(const Facts &F,
                                                   const Kernel &K,
                                                   const Accesses &A,
                                                   const clang::ForStmt *S);

} // namespace stark

#endif
