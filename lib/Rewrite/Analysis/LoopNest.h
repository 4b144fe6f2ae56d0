//===- LoopNest.h - A loop that holds another one -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether the two loops of a nest may change places, and whether a thread
/// would then walk along rows.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LOOPNEST_H
#define STARK_LIB_REWRITE_ANALYSIS_LOOPNEST_H

#include "Accesses.h"
#include "CountedLoop.h"

namespace stark {

struct LoopNest {
  CountedLoop Outer, Inner;
};

/// Unset when \p S holds anything but one loop, or a loop does not count.
std::optional<LoopNest> readLoopNest(const Facts &F, const Kernel &K,
                                     const clang::ForStmt *S);

/// The inner loop steps from row to row, the outer one along a row.
bool walksAcrossRows(const Facts &F, const Kernel &K, const Accesses &A,
                     const LoopNest &N);

/// Whether sums are added in another order when the loops change places, or
/// why they may not.
OrReason<bool> readInterchange(const Facts &F, const Kernel &K,
                               const Accesses &A, const LoopNest &N);

} // namespace stark

#endif
