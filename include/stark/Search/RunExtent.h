//===- RunExtent.h - How far a run goes -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An attempt does not depend on how many come after it. So a run of 30
/// attempts that is given 30 more is, byte for byte, a run of 60.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_RUNEXTENT_H
#define STARK_SEARCH_RUNEXTENT_H

#include "stark/Search/Record.h"

namespace stark {

/// Where a search ends, unless no node is eligible any more.
struct RunExtent {
  unsigned Attempts = 0;
  std::vector<BudgetLimit> Limits;
};

/// That run.json has.
RunExtent extentOf(const RunIdentity &I);

/// How many attempts of \p Run were begun.
unsigned attemptsBegun(const RecordedRun &Run);

/// Each limit of \p More on top of the one that \p E has of the same kind.
std::vector<BudgetLimit> addLimits(std::vector<BudgetLimit> E,
                                   const std::vector<BudgetLimit> &More);

/// Lets the run in \p RunFolder go as far as \p To. One that had ended goes on:
/// its end is forgotten, and the confirmations before it, since others may come
/// to be confirmed. An error when more attempts were begun. Killed in between,
/// the run is one that was killed before its end.
llvm::Error setExtent(llvm::StringRef RunFolder, const RunExtent &To);

} // namespace stark

#endif
