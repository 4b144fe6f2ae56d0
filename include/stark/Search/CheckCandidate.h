//===- CheckCandidate.h - What no evaluator need be asked for -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> footprint -> contract -> verdict, when either is broken
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_CHECKCANDIDATE_H
#define STARK_SEARCH_CHECKCANDIDATE_H

#include "stark/AST/Footprint.h"
#include "stark/Eval/Verdict.h"
#include "stark/Task/Task.h"
#include <optional>

namespace stark {

/// What a candidate was told to change, and where.
struct Told {
  llvm::StringRef Base;           ///< the text that it began from
  llvm::ArrayRef<Anchor> Anchors; ///< in it
  Grounding Strictness = Grounding::Support;
};

/// The verdict when the candidate changes what it was not told to, unset when
/// it does not; it names what of the contract is broken as well.
std::optional<Verdict> checkFootprint(const Task &T, const Told &To,
                                      const ParsedSource &Candidate);

/// The verdict when the candidate breaks the contract with the source.
std::optional<Verdict> checkAgainstSource(const Task &T,
                                          const ParsedSource &Candidate);

} // namespace stark

#endif
