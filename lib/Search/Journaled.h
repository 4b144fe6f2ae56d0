//===- Journaled.h - Chat client, judge and profiler, journaled -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request | candidate -> step of an attempt -> what the journal has, else
/// what the live one says, written down
/// Each wraps a live one and is asked in its place, as a rememberVerdicts()
/// judge is; nobody else looks into the journal. All are called with the run
/// lock held.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_JOURNALED_H
#define STARK_LIB_SEARCH_JOURNALED_H

#include "RunSteps.h"

namespace stark {

/// By request, what answers took that came to nothing, until a reply counts
/// them. Each is a file in the run folder.
class LostAnswers {
public:
  explicit LostAnswers(RunSteps &Steps)
      : Steps(Steps), All(Steps.run().recorded().Lost) {}
  DiscardedAnswers of(const std::string &Id) const;
  /// Notes what the failed call \p E of request \p Id took; returns \p E.
  llvm::Error keep(const std::string &Id, llvm::Error E);
  /// A reply that counts them was recorded.
  void forget(const std::string &Id);

private:
  RunSteps &Steps;
  std::map<std::string, DiscardedAnswers> All;
};

/// What the failed call \p E took.
DiscardedAnswers lostBy(const llvm::Error &E);

/// By node, the counters that plans were shown.
class ShownCounters {
public:
  explicit ShownCounters(RunSteps &Steps) : Steps(Steps) {}
  /// Null when there are none yet.
  const Counters *of(unsigned Node) const;
  /// Says once why there are none.
  void keep(unsigned Node, const Counters &Found);
  bool tooSlow() const { return TooSlow; }

private:
  RunSteps &Steps;
  std::map<unsigned, Counters> All;
  bool TooSlow = false;
};

/// The replies are steps of \p Attempt. \p OnRecorded is told of each that was
/// taken from the journal.
std::unique_ptr<ChatClient> journalReplies(
    ChatClient &Live, RunSteps &Steps, LostAnswers &Lost, unsigned Attempt,
    std::function<void(const ChatRequest &, const ChatReply &)> OnRecorded);

/// The verdicts are steps of \p Attempt, but for confirmations.
std::unique_ptr<Evaluator> journalVerdicts(Evaluator &Live, RunSteps &Steps,
                                           unsigned Attempt);
/// The verdict that the search itself found on node \p Number, whose text is
/// \p Text, without the judge.
llvm::Expected<Verdict> journalCheck(RunSteps &Steps, unsigned Attempt,
                                     unsigned Number, const std::string &Text,
                                     const Verdict &Found);

/// The counters of a node that \p Attempt shows: those that an earlier attempt
/// had, else what the journal or the live profiler has.
std::unique_ptr<Profiler> journalCounters(Profiler &Live, RunSteps &Steps,
                                          ShownCounters &Shown,
                                          unsigned Attempt);

} // namespace stark

#endif
