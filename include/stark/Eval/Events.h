//===- Events.h - What a run records of judge and profiler ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   verdict, counters -> events of a run's journal (Support/Journal.h)
/// A search records them, a replay finds what it is asked about in them. Their
/// fields are in Eval/Formats.h.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_EVENTS_H
#define STARK_EVAL_EVENTS_H

#include "stark/Eval/Profiler.h"

namespace stark {

/// What the profiler found of a base, before the plan agent is asked.
struct CountersEvent {
  static constexpr const char Type[] = "counters";
  unsigned Attempt = 0, Node = 0; ///< Node: the base
  std::string Candidate;          ///< digest of the base's text
  Counters Found;
};

struct VerdictEvent {
  static constexpr const char Type[] = "verdict";
  enum class By {
    Attempt, ///< the evaluator
    Confirm, ///< the evaluator, of the winner
    Check,   ///< the search: no AST, ungrounded, contract-broken, forbidden,
             ///< no candidate, a known candidate
  };
  unsigned Attempt = 0, Node = 0;
  By Purpose = By::Attempt;
  std::string Candidate; ///< digest of the text, empty without one
  Verdict Found;
};
inline constexpr Named<VerdictEvent::By> PurposeNames[] = {
    {VerdictEvent::By::Attempt, "attempt"},
    {VerdictEvent::By::Confirm, "confirm"},
    {VerdictEvent::By::Check, "check"}};
constexpr std::span<const Named<VerdictEvent::By>> namesOf(VerdictEvent::By) {
  return PurposeNames;
}
/// How the verdict of an evaluator is recorded that was asked \p Why.
constexpr VerdictEvent::By recordedAs(Purpose Why) {
  return Why == Purpose::Confirm ? VerdictEvent::By::Confirm
                                 : VerdictEvent::By::Attempt;
}

} // namespace stark

#endif
