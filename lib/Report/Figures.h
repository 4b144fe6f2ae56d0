//===- Figures.h - What a report is drawn from ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The figures of a run, counted once for every format.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_FIGURES_H
#define STARK_LIB_REPORT_FIGURES_H

#include "stark/Search/Record.h"
#include <map>

namespace stark {

/// What was asked of models, in all or in one role.
struct CallFigures {
  unsigned Calls = 0, WithoutUsage = 0;
  /// Input: all of the prompts; of it Cached came from the provider's cache.
  uint64_t Input = 0, Cached = 0, Output = 0;
  /// Answers that were begun and thrown away; the cost has them, too.
  DiscardedAnswers Discarded;
  bool CostKnown = true;
  int64_t CostMicroUsd = 0;
  void add(const ChatReply &R);
  void add(const DiscardedAnswers &D);
};

struct Figures {
  std::vector<std::pair<VerdictKind, unsigned>> Counts; ///< the source left out
  CallFigures Calls;
  std::map<std::string, CallFigures> Roles; ///< "plan", "code", ...
  std::vector<std::string> Models;          ///< that answered, sorted
  int Winner = -1, Best = -1; ///< Best: lowest score of all but the source
  const Verdict *WinnerFound =
      nullptr; ///< the confirmation's when there is one
  bool Confirmed = false;
};

Figures countFigures(const RecordedRun &Run);

/// "812.34", "-" for what is not a number.
std::string fixed(double Value, int Digits);

/// "line 4", "lines 4 to 9"
std::string lineRange(size_t First, size_t Last);

/// "measured on NVIDIA H200", "modelled for h200"
std::string howTaken(const Verdict &V);

/// All devices that judged something correct in \p Run: "NVIDIA H200 and NVIDIA
/// H100"; that of its identity before there is a verdict.
std::string devicesOf(const RecordedRun &Run);
std::string howTaken(const RecordedRun &Run);

/// "running", "30 attempts; winner: node 7, ..."
std::string describeEnd(const RecordedRun &Run, const Figures &F);

/// Where rewrites answer and none is left, of the source rather than of another
/// node, what came nearest in each function: "Nearest: k: block-reduce lacks:
/// line 18: ...", a line each.
std::string nearestRewrites(const RecordedRun &Run);

/// "much smaller ones, zeros": what a correct candidate was compared with
/// beside the workload's own values; empty where nothing was.
std::string otherValues(const Verdict &V);

} // namespace stark

#endif
