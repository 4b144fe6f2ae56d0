//===- WinnerCheck.h - Cached winners, judged again -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kernels.json of targets -> the winners that a build takes -> those for the
/// GPU that is here -> judge against their sources -> passed, wrong or slower
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_WINNERCHECK_H
#define STARK_DRIVER_WINNERCHECK_H

#include "stark/Driver/TargetFile.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Json/Names.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>

namespace stark {

enum class CheckResult { Passed, Wrong, Slower, NotChecked };
inline constexpr Named<CheckResult> CheckResultNames[] = {
    {CheckResult::Passed, "passed"},
    {CheckResult::Wrong, "wrong"},
    {CheckResult::Slower, "slower"},
    {CheckResult::NotChecked, "not checked"}};
constexpr std::span<const Named<CheckResult>> namesOf(CheckResult) {
  return CheckResultNames;
}

/// How far below what was recorded a winner may be, as a share of its speed-up,
/// on the GPU that it was recorded on. The same program judged twice has been
/// seen to differ by 25 %.
inline constexpr double DefaultSlack = 0.25;

struct WinnerCheckRequest {
  std::vector<TargetFile> Targets;
  /// cuda, sim or spool; unset: each target's, else cuda.
  std::optional<EvaluatorSpec> Evaluator;
  std::string Toolkit; ///< empty: find it
  double Slack = DefaultSlack;
  uint64_t Seed = 1;
  uint64_t WaitMs = 0; ///< of a spool, for each winner
  const std::atomic<bool> *Cancelled = nullptr;
  Clock *Time = &machineClock();
};

struct CheckedWinner {
  std::string Target, Source;     ///< the source's path
  std::string Entry;              ///< the name of the entry's folder
  std::string Arch;               ///< that it was proved on
  std::string Evaluator, GpuArch; ///< who judged, or would have, on what
  WinnerFacts Recorded;
  CheckResult Result = CheckResult::NotChecked;
  std::string Why;              ///< what, got, wanted; empty when it passed
  std::optional<Verdict> Found; ///< unset when it was not checked
};

struct WinnerCheck {
  std::vector<CheckedWinner> Winners;
  std::vector<std::string> Without; ///< sources without a winner, and why
  std::string Waiting;              ///< for results of a spool; or empty
  unsigned count(CheckResult R) const;
};

struct CheckObserver {
  virtual ~CheckObserver() = default;
  /// As soon as it is known.
  virtual void onWinner(const CheckedWinner &W) {}
  virtual void onNote(llvm::StringRef Note) {}
};

/// What \p V, found by \p Evaluator, says of a winner with \p Recorded: the
/// result and, unless it passed, why.
std::pair<CheckResult, std::string> judgeWinner(const WinnerFacts &Recorded,
                                                const Verdict &V, double Slack);

/// A winner that is slower is judged once more, on other inputs, before it is
/// said to be. Each winner is judged once, whichever targets have it. Errors:
/// no GPU, a file that cannot be read, an interrupt.
llvm::Expected<WinnerCheck> checkWinners(const WinnerCheckRequest &Request,
                                         CheckObserver &Observer);

/// "softmax.cu of lib: winner 68ee-1570 for sm_90: passed, 2.500 times ..."
std::string describeCheck(const CheckedWinner &W);

/// One object: `version` (1), `winners` (`target`, `source`, `entry`, `arch`,
/// `evaluator`, `gpu_arch`, `result`, `why`, `recorded_speedup`, `verdict`) and
/// `without`.
std::string checkJson(const WinnerCheck &C);

} // namespace stark

#endif
