//===- DispatchPlan.h - How a winner stands beside its source  -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What Clang found when a winner was stored, so that a build needs no Clang:
/// edits of the source and of the winner at numbers of tokens, and the text of
/// the function that chooses. lib/Driver/WinnerDispatch.cpp makes it,
/// include/stark/AST/Dispatch.h says what the edits do.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_DISPATCHPLAN_H
#define STARK_CACHE_DISPATCHPLAN_H

#include "stark/Support/CodeReach.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

/// Puts Text in the place of the tokens [First, Last) of codeTokens(), and of
/// all between them and the token before.
struct TokenEdit {
  size_t First = 0, Last = 0;
  std::string Text;
  bool operator==(const TokenEdit &) const = default;
};

struct DispatchPlan {
  std::string Suffix;                    ///< of the winner's names
  std::vector<TokenEdit> Source, Winner; ///< ascending, apart
  size_t ChoiceAt = 0; ///< the function that chooses stands behind this token
  /// Of the entry: DispatchCut has the same.
  std::string Name, Linkage, Head, Tail, WinnerTail, Arguments;
  std::vector<std::string> Renamed, Macros, Includes;
  /// On the entry's arguments, where the winner was proved, in C++.
  std::string Guard;
  std::string Covers; ///< the same for people: "n=1000; n=65536"
  /// Of the source's tokens those that the entry reaches (CodeReach.h): with
  /// others changed the winner holds, which Clang has checked. Empty: it does
  /// not, or nobody knows.
  std::vector<TokenRange> Kept;

  /// Empty: there is none.
  bool empty() const { return Suffix.empty(); }
};

/// Empty, or what keeps \p Plan from being followed.
std::string checkPlan(const DispatchPlan &Plan);

/// \p Plan for a source that has the tokens of \p Plan.Kept at \p Now. Unset
/// when it edits others.
std::optional<DispatchPlan> movePlan(const DispatchPlan &Plan,
                                     const std::vector<TokenRange> &Now);

} // namespace stark

#endif
