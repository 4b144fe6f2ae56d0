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

#include "stark/AST/Footprint.h"
#include "stark/Eval/Profiler.h"
#include "stark/Search/Budget.h"
#include "stark/Search/Policy.h"
#include "stark/Search/Window.h"
#include <map>

namespace stark {

/// Who makes an attempt.
enum class AgentsKind {
  Team,   ///< plan and code, or debug
  Single, ///< one agent for all of it, which has no anchors
};
llvm::StringRef agentsName(AgentsKind K); ///< "team", "single"
llvm::Expected<AgentsKind> parseAgentsKind(llvm::StringRef Name);

/// Attempts begin and end in some order, which a run with several in flight
/// keeps in its journal.
struct ScheduleStep {
  bool Begins = false; ///< it is selected; else its node is recorded
  unsigned Attempt = 0;
};

struct SearchOptions {
  unsigned Attempts = 30; ///< B; paper, appendix B, as the next ones
  uint64_t Seed = 1;
  PolicyOptions Policy;
  unsigned Leaders = 2; ///< r
  unsigned WindowLimit = 5;
  bool Windows = true; ///< off: {i, root} alone
  AgentsKind Agents = AgentsKind::Team;
  Grounding Strictness = Grounding::Support;
  Temperatures Heat;
  double Margin = 1.02; ///< speed-up over the source that a winner needs
  bool Confirm = true;  ///< evaluate the winner again with new seeds
  std::vector<BudgetLimit> Limits; ///< beside Attempts
  /// Attempts in flight on the one tree. Nodes are numbered in the order in
  /// which they are judged then.
  unsigned Jobs = 1;
  /// Whose counters a model's plan agent is shown for the selected node, as in
  /// "sim:h200"; empty: none. A judge that is simulated says them in its
  /// verdicts already.
  std::string CountersOf;
  /// The one that CountersOf names; no part of what a run must agree in. May be
  /// null when all counters that the run needs are in its journal.
  Profiler *Profile = nullptr;
  /// The order of a recorded run, to make that run again (readSchedule()); no
  /// part of what a run must agree in. Looked at when Jobs is above 1.
  std::vector<ScheduleStep> Follow;
  /// Each reply and each verdict is on disk before the search goes on. Off for
  /// what can be made again at will: a power cut may then leave no whole run.
  /// No part of what a run must agree in.
  bool Flush = true;
  /// Kept in run.json and no part of what a run must agree in: the tool's and
  /// Clang's version, the toolkit.
  std::map<std::string, std::string> Versions;
  /// Looked at before each step and given to the chat client; may be null.
  const std::atomic<bool> *Cancelled = nullptr;
};

/// The part of the tree that one role was shown.
struct ShownTo {
  WindowRole Role;
  std::vector<unsigned> Nodes; ///< ascending, root and selected node included
};

struct SearchOutcome {
  Tree T;
  int Winner = -1;      ///< node, -1: nothing beat the source
  Verdict Confirmed;    ///< of the winner, when confirmed
  std::string WhyEnded; ///< "30 attempts", "no node is eligible", ...
};

/// Told of each step, for --explain and progress. Called by one thread at a
/// time; steps that are taken from the journal are told too, with Recorded set.
struct SearchObserver {
  virtual ~SearchObserver() = default;
  virtual void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                        const std::vector<ShownTo> &Shown, bool Recorded) {}
  /// "asking for 0007-plan-1", "judging node 7", ...
  virtual void onStep(unsigned Attempt, llvm::StringRef What) {}
  virtual void onNode(unsigned Attempt, const Node &N, const Tree &T,
                      bool Recorded) {}
  virtual void onNote(llvm::StringRef Note) {}
};

/// Runs, resumes or finishes the run in \p RunFolder (created when missing),
/// whose form docs/journal.md describes. Errors: a folder of another task or
/// with other options (both are named), one that another process works in, one
/// that holds something else, a damaged journal (nothing is changed); a source
/// that is not correct itself; what chat client and evaluator return, Suspended
/// among it: the same call goes on later. With Jobs above 1 the chat client is
/// called from several threads; the evaluator by one at a time.
llvm::Expected<SearchOutcome> runSearch(const Task &T, const PromptSet &Prompts,
                                        ChatClient &Chat, Evaluator &Judge,
                                        const SearchOptions &Options,
                                        llvm::StringRef RunFolder,
                                        SearchObserver &Observer);

} // namespace stark

#endif
