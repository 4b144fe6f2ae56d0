//===- Attempt.h - One attempt, from the selected node to its child ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     window -> plan, code | debug | single -> ground -> evaluate -> record
/// by one of several threads, whoever holds the run lock.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_ATTEMPT_H
#define STARK_LIB_SEARCH_ATTEMPT_H

#include "Check.h"
#include "Journaled.h"
#include <condition_variable>
#include <map>

namespace stark {

/// What the attempts of a run share.
struct SearchState {
  SearchState(const SearchSetup &Setup, const SearchOptions &Options,
              RunFolder &Run, SearchObserver &Observer)
      : Setup(Setup), Options(Options), Observer(Observer),
        Steps(Run, Observer), RunLock(Steps.runLock()), Lost(Steps),
        Shown(Steps), Parses(Setup.Of), Leaders(Options.Leaders),
        Budget(Options.Limits, *Setup.Time) {}

  const SearchSetup &Setup;
  const SearchOptions &Options;
  SearchObserver &Observer;
  RunSteps Steps;
  std::mutex &RunLock;
  LostAnswers Lost;
  ShownCounters Shown;
  ParsedNodes Parses;
  Tree Nodes;
  Leaderboard Leaders;
  KnownTokens Known;
  stark::Budget Budget;
  /// Of the plans of this process, by attempt.
  std::map<unsigned, std::string> Titles;
  /// Held from the numbering of a node to its record, the judge's work
  /// included: one candidate is judged at a time.
  std::mutex Finishing;
  /// A call was settled, or an attempt ended.
  std::condition_variable_any Changed;
  /// An evaluation was broken off: nothing more is judged in this process.
  bool JudgeStopped = false;
  /// No more attempts are begun: what is judged from here on is no base.
  bool Tunes = false;
  /// It was said that the GPU is waited for, which is said once.
  bool ToldToWait = false;

  llvm::Error checkCancelled() const;
  /// Writes down \p N, judged as \p V, and adds it to the tree.
  llvm::Error record(unsigned Attempt, Node N, Verdict V);
  void grow(unsigned Attempt, Node N, bool Recorded);
};

/// Makes the attempt that was selected as \p S. Called with the run lock held;
/// the attempt is recorded when it returns without an error.
llvm::Error makeAttempt(SearchState &State, const SelectEvent &S);

/// Takes over \p Attempt if it is recorded whole and what it spent is known.
bool takeRecorded(SearchState &State, unsigned Attempt);

} // namespace stark

#endif
