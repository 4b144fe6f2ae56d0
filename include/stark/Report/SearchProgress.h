//===- SearchProgress.h - What a search is at, in a few lines -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a SearchObserver is told, and a clock -> the lines of a block
///     softmax: 12 of 30 attempts  [########------------]  3 min 20 s, ...
///     best: node 7, 2.710 times as fast (2.690 to 2.730), 12.34 us
///     attempt 13: plan agent, 12 s
/// Lines are made for the columns that there are: what matters less is left
/// out, and nothing is wrapped.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_SEARCHPROGRESS_H
#define STARK_REPORT_SEARCHPROGRESS_H

#include "stark/Search/Search.h"

namespace stark {

class SearchProgress : public SearchObserver {
public:
  explicit SearchProgress(Clock &Time) : Time(Time), Began(Time.now()) {}

  void onBegin(const RunIdentity &Run) override;
  void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                const std::vector<ShownTo> &Shown, bool Recorded) override;
  void onStep(unsigned Attempt, const SearchStep &Step) override;
  void onReply(unsigned Attempt, llvm::StringRef Request, const ChatReply &R,
               bool Recorded) override;
  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override;
  void onEnd(const SearchOutcome &) override {
    Flights.clear();
    Ended = true;
  }

  /// As it is now; none before the search begins. Not more than \p Rows, if
  /// that is 8 or more.
  std::vector<std::string> lines(size_t Columns, size_t Rows) const;

  /// How long it will still take, by the attempts that were made since the
  /// beginning and by what of tokens, money and minutes is left; unset before
  /// the second attempt.
  std::optional<uint64_t> secondsLeft() const;

private:
  struct Flight {
    SearchStep Step;
    Clock::Time Since;
    bool Waits = false; ///< for a step
  };
  struct Amounts {
    uint64_t Tokens = 0;
    int64_t MicroUsd = 0;
    bool PriceKnown = true;
    void add(const ChatReply &R);
  };

  uint64_t secondsSince(Clock::Time Then) const {
    return Time.millisecondsSince(Then) / 1000;
  }
  /// Of \p Role, or of all where it is empty.
  static Amounts amountsOf(const std::map<std::string, Amounts> &Roles,
                           llvm::StringRef Role);
  std::string firstLine(size_t Columns) const;
  std::string bestLine(size_t Columns) const;
  std::string countLine(size_t Columns) const;
  std::string spentLine(size_t Columns) const;
  std::string limitText(const BudgetLimit &L) const;
  std::vector<std::string> flightLines(size_t Columns, size_t Most) const;
  std::string flightLine(unsigned Attempt, const Flight &F) const;

  Clock &Time;
  const Clock::Time Began;
  RunIdentity Run;
  std::map<unsigned, Flight> Flights; ///< by attempt
  std::map<VerdictKind, unsigned> Counts;
  std::map<std::string, Amounts> Spent, SpentNow; ///< by role; by this process
  unsigned Done = 0, DoneNow = 0; ///< attempts; those of this process
  unsigned Variants = 0;          ///< of the fastest, beside these
  unsigned Replies = 0;
  bool Begun = false, Ended = false;
  int Best = -1;
  Verdict OfBest, OfSource;
  std::string Last; ///< what the latest attempt came to
};

/// "12 s", "3 min 20 s", "1 h 05 min"
std::string durationText(uint64_t Seconds);

/// The share of the median that moving the data alone would take, by what the
/// evaluator said of each size, 0 to 1: the geometric mean. Unset when it said
/// nothing of a size.
std::optional<double> floorShare(const Verdict &V);

} // namespace stark

#endif
