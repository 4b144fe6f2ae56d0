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
#include "stark/Eval/Evaluator.h"
#include "stark/Search/Policy.h"

namespace stark {

struct SearchOptions {
  unsigned Attempts = 30; ///< B; paper, appendix B, as the next ones
  uint64_t Seed = 1;
  PolicyOptions Policy;
  unsigned Leaders = 2; ///< r
  unsigned WindowLimit = 5;
  Grounding Strictness = Grounding::Support;
  Temperatures Heat;
  double Margin = 1.02; ///< speed-up over the source that a winner needs
  bool Confirm = true;  ///< evaluate the winner again with new seeds
};

struct SearchOutcome {
  Tree T;
  int Winner = -1;      ///< node, -1: nothing beat the source
  Verdict Confirmed;    ///< of the winner, when confirmed
  std::string WhyEnded; ///< "30 attempts", "no node is eligible", ...
};

/// Told of each step, for --explain and progress. Called from one thread.
struct SearchObserver {
  virtual ~SearchObserver() = default;
  virtual void onSelect(unsigned Attempt, const Selection &S,
                        const std::vector<unsigned> &Shown) {}
  virtual void onStep(unsigned Attempt, llvm::StringRef What) {}
  virtual void onNode(unsigned Attempt, const Node &N, const Tree &T) {}
  virtual void onNote(llvm::StringRef Note) {}
};

/// Runs, resumes or finishes the run in \p RunFolder (created when missing). A
/// folder of another task or with other options is an error that names both; a
/// folder in use by another process is an error.
llvm::Expected<SearchOutcome> runSearch(const Task &T, const PromptSet &Prompts,
                                        ChatClient &Chat, Evaluator &Judge,
                                        const SearchOptions &Options,
                                        llvm::StringRef RunFolder,
                                        SearchObserver &Observer);

} // namespace stark

#endif
