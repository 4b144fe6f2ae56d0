//===- CountedLoop.h - Loops that count -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int i = start; i < bound; i += step) ...
/// whose index nothing else changes, and whose start, bound and step are the
/// same whenever they are computed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_COUNTEDLOOP_H
#define STARK_LIB_REWRITE_ANALYSIS_COUNTEDLOOP_H

#include "Facts.h"

namespace stark {

/// A loop over one variable of its own (indexOf), an integer of 32 bits or
/// more.
struct IndexedLoop {
  const clang::ForStmt *S = nullptr;
  const clang::VarDecl *I = nullptr;
  const clang::Expr *Start = nullptr, *Bound = nullptr;
  const clang::Expr *Step = nullptr; ///< null: 1
};

/// Fills in what comes before the condition; unset when that is another.
std::optional<IndexedLoop> readIndex(const Facts &F, const clang::ForStmt *S);

struct CountedLoop : IndexedLoop {
  clang::BinaryOperatorKind Compare = clang::BO_LT;
  bool Down = false; ///< i -= step
};

/// Unset when \p S is another kind of loop. Start, bound and step may still
/// read memory.
std::optional<CountedLoop> readCountedLoop(const Facts &F, const Kernel &K,
                                           const clang::ForStmt *S);

/// The first iteration is seen to run: both ends are constants.
bool surelyRuns(const Facts &F, const Kernel &K, const CountedLoop &L);

/// "start < bound", which holds where the first iteration runs, with those of
/// \p Nodes that stand in it replaced.
OrReason<std::string> whetherItRuns(const Facts &F, const CountedLoop &L,
                                    llvm::ArrayRef<Instead> Nodes = {});

/// Where a statement can be put before \p Loop, with its pragmas.
std::optional<size_t> lineBefore(const Facts &F, const Kernel &K,
                                 const clang::ForStmt *Loop);

} // namespace stark

#endif
