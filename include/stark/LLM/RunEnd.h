//===- RunEnd.h - What ended a run ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   end event of a journal -> by what, and why
/// The search writes it and goes on by it; a replay of the run's replies ends
/// as the run did.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_RUNEND_H
#define STARK_LLM_RUNEND_H

#include "stark/Json/Names.h"
#include <string>

namespace stark {

enum class EndedBy {
  Search, ///< all attempts are made, or no node is eligible
  Budget, ///< it is spent
};
inline constexpr Named<EndedBy> EndedByNames[] = {{EndedBy::Search, "search"},
                                                  {EndedBy::Budget, "budget"}};
constexpr std::span<const Named<EndedBy>> namesOf(EndedBy) {
  return EndedByNames;
}

struct RunEnd {
  std::string Why; ///< for people: "30 attempts"
  EndedBy By = EndedBy::Search;
};

/// Runs of before the field "ended_by" say it in words alone.
inline EndedBy endedByOfOldRun(const std::string &Why) {
  return Why.starts_with("budget spent") ? EndedBy::Budget : EndedBy::Search;
}

/// Those fields of an end event that a replay needs.
template <class IO> void fields(IO &F, RunEnd &E) {
  F.required("why", E.Why);
  F.sparse("ended_by", E.By, EndedBy::Search);
  if constexpr (!IO::Writes)
    if (!F.has("ended_by"))
      E.By = endedByOfOldRun(E.Why);
}

} // namespace stark

#endif
