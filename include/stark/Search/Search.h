//===- Search.h - Algorithm 1 --------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     select -> window -> plan, code | debug -> ground -> evaluate -> record
/// Every step is an event in the journal before the next begins, so a killed
/// run loses at most the step in flight.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_SEARCH_H
#define STARK_SEARCH_SEARCH_H

#include "stark/Posix/ChildAnswer.h"
#include "stark/Search/Record.h"
#include <atomic>

namespace stark {

/// Who works for a search, and what else is around it. Of all this a run must
/// agree in the task, the prompts and who answers and judges.
struct SearchSetup {
  const Task &Of;
  const PromptSet &Prompts;
  ChatClient &Chat; ///< called from several threads with Jobs above 1
  Evaluator &Judge; ///< called by one thread at a time
  TeamFactory MakeTeam;
  /// The one that SearchOptions::CountersOf names. May be null when all
  /// counters that the run needs are in its journal.
  Profiler *Profile = nullptr;
  /// Of the GPU that judges, for other numbers on the fastest: what is slow by
  /// far in it is not judged. Empty: everything is.
  TimeModel Modelled = {};
  /// The order of a recorded run, to make that run again (readSchedule()).
  /// Looked at when Jobs is above 1.
  std::vector<ScheduleStep> Follow = {};
  /// Likewise, of readTuned(): time that passes now decides nothing.
  std::optional<std::vector<unsigned>> Tuned = std::nullopt;
  /// Each reply and each verdict is on disk before the search goes on. Off for
  /// what can be made again at will: a power cut may then leave no whole run.
  bool Flush = true;
  /// Kept in run.json: the tool's and Clang's version, the toolkit.
  std::map<std::string, std::string> Versions = {};
  /// Looked at before each step and given to the chat client; may be null.
  const std::atomic<bool> *Cancelled = nullptr;
  Clock *Time = &machineClock(); ///< by which budgets end
  /// Of the processes that candidates are parsed in.
  posix::ChildLimits Check = {};
};

/// Of a run that runSearch() would begin with these.
RunIdentity identityOf(const SearchSetup &Setup, const SearchOptions &Options);

struct SearchOutcome {
  Tree Nodes;
  int Winner = -1;   ///< node, -1: nothing beat the source
  Verdict Confirmed; ///< of the winner, when confirmed
  RunEnd Ended;
};

/// What an attempt waits for next.
struct SearchStep {
  enum class Kind {
    Ask,     ///< the chat client, for Request
    Judge,   ///< the evaluator, about Node
    Confirm, ///< likewise, once all attempts are made: of no attempt
    Profile, ///< the profiler, about Node
    Queue,   ///< its turn at the judge, which has another candidate
  };
  Kind Does = Kind::Judge;
  unsigned Node = 0;
  std::string Request = {}; ///< "0007-plan-1"
};

inline constexpr Named<SearchStep::Kind> SearchStepNames[] = {
    {SearchStep::Kind::Ask, "ask"},
    {SearchStep::Kind::Judge, "judge"},
    {SearchStep::Kind::Confirm, "confirm"},
    {SearchStep::Kind::Profile, "profile"},
    {SearchStep::Kind::Queue, "queue"}};
constexpr std::span<const Named<SearchStep::Kind>> namesOf(SearchStep::Kind) {
  return SearchStepNames;
}

/// Told of each step, for --explain and progress. Called by one thread at a
/// time; steps that are taken from the journal are told too, with Recorded set.
struct SearchObserver {
  virtual ~SearchObserver() = default;
  /// Before any step; what earlier processes recorded is told after it.
  virtual void onBegin(const RunIdentity &Run) {}
  virtual void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                        const std::vector<ShownTo> &Shown, bool Recorded) {}
  virtual void onStep(unsigned Attempt, const SearchStep &Step) {}
  /// A model answered \p Request ("0007-plan-1").
  virtual void onReply(unsigned Attempt, llvm::StringRef Request,
                       const ChatReply &R, bool Recorded) {}
  virtual void onNode(unsigned Attempt, const Node &N, const Tree &T,
                      bool Recorded) {}
  virtual void onNote(llvm::StringRef Note) {}
  virtual void onEnd(const SearchOutcome &Outcome) {}
};

/// Runs, resumes or finishes the run in \p RunFolder (created when missing),
/// whose form docs/journal.md describes. Errors: a folder of another task or
/// with other options (both are named), one that another process works in, one
/// that holds something else, a damaged journal (nothing is changed); a source
/// that is not correct itself; what chat client and evaluator return, Suspended
/// among it: the same call goes on later.
llvm::Expected<SearchOutcome> runSearch(const SearchSetup &Setup,
                                        const SearchOptions &Options,
                                        llvm::StringRef RunFolder,
                                        SearchObserver &Observer);

} // namespace stark

#endif
