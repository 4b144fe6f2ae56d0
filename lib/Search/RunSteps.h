//===- RunSteps.h - Each step of a search, taken or made ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The search runs the same code from the start each time it is called. Each
/// step asks the journal first: what it has is taken from it, after a check
/// that it is the same step; otherwise the step is made, written down and, if
/// it was dear, flushed to disk. What goes on is always what the journal says,
/// read back, so that a resumed run and an undisturbed one see the same bytes.
///   Attempts may be made by several threads. Whoever holds the run lock works;
/// it is let go only while the chat client, the evaluator or the disk is waited
/// for. So the tree, the journal and Clang are never used by two. All functions
/// here are called with the run lock held.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_RUNSTEPS_H
#define STARK_LIB_SEARCH_RUNSTEPS_H

#include "RunFolder.h"
#include <deque>
#include <limits>
#include <mutex>
#include <set>

namespace stark {

/// Lets the run lock go and takes it again.
class RunLockReleased {
public:
  explicit RunLockReleased(std::mutex &RunLock) : RunLock(RunLock) {
    RunLock.unlock();
  }
  ~RunLockReleased() { RunLock.lock(); }

private:
  std::mutex &RunLock;
};

class RunSteps {
public:
  /// Confirmations and the end, which are of no attempt.
  static constexpr unsigned Tail = std::numeric_limits<unsigned>::max();

  RunSteps(RunFolder &Run, SearchObserver &Observer);

  std::mutex &runLock() { return RunLock; }
  RunFolder &run() { return Run; }

  /// Whether the journal has a step of \p Attempt that was not taken yet.
  bool recordedStep(unsigned Attempt) const { return next(Attempt) != nullptr; }
  /// Whether it has, and that is an \p Event.
  template <class Event> bool recorded(unsigned Attempt) const {
    const JournalEvent *Next = next(Attempt);
    return Next && Next->Type == Event::Type;
  }
  /// The selection that \p Attempt begins with, where that comes next in the
  /// journal and can be read.
  std::optional<SelectEvent> recordedSelect(unsigned Attempt) const;
  /// Whether \p Attempt has its verdict, which names its node, and no node.
  bool judgedOnly(unsigned Attempt) const;
  /// The order in which the recorded attempts begin and end.
  std::vector<ScheduleStep> schedule() const {
    return scheduleOf(Run.content());
  }

  /// What a step is known by before it is made: how an error speaks of it, as
  /// in "ask for a reply to 0007-plan-1", and whether a recorded one is it.
  template <class Event> struct Expectation {
    std::string Does, What;
    std::function<bool(const Event &)> IsSame;
  };
  /// The event of this step, from the journal, else what \p Make returns, once
  /// it is written down. \p Attempt may be Tail.
  template <class Event>
  llvm::Expected<Event> step(unsigned Attempt, const Expectation<Event> &Wanted,
                             std::function<llvm::Expected<Event>()> Make);
  /// A step that follows from those before it, so that all of it must agree.
  template <class Event>
  llvm::Expected<Event> step(unsigned Attempt, const Event &E);

  /// Passes over what is recorded of \p Attempt, to its node. Unset when it is
  /// not recorded whole.
  std::optional<Node> skipToNode(unsigned Attempt);

  /// Passes over what is left of attempts that a spent budget cut off.
  void skipToTuning();

  /// Replaces \p File in the run folder by \p Text. Without the run lock, as
  /// it waits for the disk.
  llvm::Error write(llvm::StringRef File, llvm::StringRef Text);
  void remove(llvm::StringRef File);
  /// Waits, without the run lock, until the disk has what was written; not at
  /// all when nobody would miss it.
  llvm::Error flush();
  /// The text of \p File, whose digest was recorded as \p Digest.
  llvm::Expected<std::string> readText(llvm::StringRef File,
                                       llvm::StringRef Digest) const;

  /// Tells the observer of \p What, but of each kind of note only once.
  enum class Once { RequestDrift, NoCounters, NoProfile, OtherDevice };
  void noteOnce(Once Kind, llvm::StringRef What);

private:
  const JournalEvent *next(unsigned Attempt) const;
  /// With one job there is one line of events, with several one an attempt.
  unsigned lineOf(unsigned Attempt) const { return OneLine ? 0 : Attempt; }
  void take(unsigned Attempt) { Left[lineOf(Attempt)].pop_front(); }
  llvm::Error append(llvm::StringRef Type, llvm::StringRef Body);
  llvm::Error mismatch(const JournalEvent &Had, llvm::StringRef Does,
                       llvm::StringRef What) const;

  RunFolder &Run;
  SearchObserver &Observer;
  const bool OneLine;
  std::mutex RunLock;
  /// Recorded events that were not taken yet, as indices.
  std::map<unsigned, std::deque<size_t>> Left;
  std::unique_ptr<Journal> Out; ///< opened by the first append
  std::set<Once> Noted;
};

} // namespace stark

#endif
