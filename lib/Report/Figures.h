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

namespace stark {

struct Figures {
  std::vector<std::pair<VerdictKind, unsigned>> Counts; ///< the source left out
  unsigned Calls = 0, CallsWithoutUsage = 0;
  uint64_t InputTokens = 0, OutputTokens = 0;
  std::optional<int64_t> CostMicroUsd; ///< unset when a call did not say
  std::vector<std::string> Models;     ///< that answered, sorted
  int Winner = -1, Best = -1; ///< Best: lowest score of all but the source
  const Verdict *WinnerFound =
      nullptr; ///< the confirmation's when there is one
  bool Confirmed = false;
};

Figures countFigures(const RecordedRun &Run);

/// "812.34", "-" for what is not a number.
std::string fixed(double Value, int Digits);

/// "measured on NVIDIA H200", "modelled for h200"
std::string howTaken(const Verdict &V);

/// "running", "30 attempts; winner: node 7, ..."
std::string describeEnd(const RecordedRun &Run, const Figures &F);

} // namespace stark

#endif
