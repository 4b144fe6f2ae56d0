//===- LaneLoop.h - Loops that the lanes of a warp can share --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int i = 0; i < n; ++i) sum += x[i];
///     ->
///     for (int i = 0 + lane; i < n; i += 32) sum += x[i];
///     sum = the sum of all lanes' (shuffles);
/// A loop whose iterations may run in any lane, with sums and the like that
/// shuffles can put together.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LANELOOP_H
#define STARK_LIB_REWRITE_ANALYSIS_LANELOOP_H

#include "Accesses.h"
#include "CountedLoop.h"

namespace stark {

struct LaneLoop {
  CountedLoop L;
  std::map<const clang::VarDecl *, std::string> Sums; ///< operation of each
};

OrReason<LaneLoop> readLaneLoop(const Facts &F, const Kernel &K,
                                const Accesses &A, const clang::ForStmt *S);

/// The loop with \p Lanes lanes, a power of two, that share its iterations;
/// \p Lane is the number of each. What they collect is the same in all of them
/// afterwards. Unset when part of it stands in a macro.
std::optional<std::string> laneLoopText(const Facts &F, const LaneLoop &S,
                                        const std::string &Lane,
                                        unsigned Lanes);

} // namespace stark

#endif
