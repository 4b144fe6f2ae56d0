//===- Verdict.h - What the evaluator found ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A verdict: kind, diagnostics trimmed for a model's window, timings when
/// correct.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_VERDICT_H
#define STARK_EVAL_VERDICT_H

#include "stark/Job/Job.h"
#include "stark/Json/Names.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace stark {

enum class VerdictKind {
  NotCompiled,
  ContractBroken,
  Forbidden,
  Ungrounded,
  Unsupported, ///< the evaluator cannot run it (sim)
  Crashed,
  TimedOut,
  Wrong,
  Unstable,
  Correct,
  NoCandidate, ///< the agent's reply could not be used, twice
};
inline constexpr Named<VerdictKind> VerdictKindNames[] = {
    {VerdictKind::NotCompiled, "not-compiled"},
    {VerdictKind::ContractBroken, "contract-broken"},
    {VerdictKind::Forbidden, "forbidden"},
    {VerdictKind::Ungrounded, "ungrounded"},
    {VerdictKind::Unsupported, "unsupported"},
    {VerdictKind::Crashed, "crashed"},
    {VerdictKind::TimedOut, "timed-out"},
    {VerdictKind::Wrong, "wrong"},
    {VerdictKind::Unstable, "unstable"},
    {VerdictKind::Correct, "correct"},
    {VerdictKind::NoCandidate, "no-candidate"}};
constexpr std::span<const Named<VerdictKind>> namesOf(VerdictKind) {
  return VerdictKindNames;
}
inline llvm::StringRef verdictName(VerdictKind K) { return nameOf(K); }

struct Verdict {
  VerdictKind Kind = VerdictKind::NotCompiled;
  std::string
      Compiler;    ///< compiler observation: errors, or registers and spills
  std::string Run; ///< run observation: mismatch, error, or times
  std::vector<job::Timing> Timings; ///< one a timed size, when correct
  std::string Device;               ///< what it ran on
  std::string Driver;               ///< of the device, when it is known
  bool Modelled = false;            ///< times are modelled, not measured
  /// Of that device, taken by whoever measured: a copy, read and written
  /// together, and an empty pair of events, which is in every time; 0: not
  /// known.
  double CopyGBs = 0, EventPairUs = 0;
  /// Not correct, but only cases with other values than the workload's say so.
  bool RightAsShipped = false;
  /// When correct: with what it was compared, a line each.
  std::vector<std::string> Proved;
  /// Instructions that round to fewer bits and that the source has not.
  std::vector<std::string> Precision;
  /// When correct: what a profiler found, where one was asked for.
  std::optional<job::Profile> Counted;
  bool correct() const { return Kind == VerdictKind::Correct; }
  /// Geometric mean over the timed sizes of the median, in microseconds;
  /// +infinity unless correct.
  double scoreUs() const;
  /// Geometric mean of the interleaved speed-ups, and of their bounds.
  double speedup() const;
  double speedupLow() const;
  double speedupHigh() const;
};

/// By a kernel's name without what qualifies it, the registers a thread that \p
/// V says it has, of several instances the least; empty where none are told.
std::map<std::string, unsigned> registersOf(const Verdict &V);

/// One JSON object, keys sorted, without line breaks, of the fields in
/// Eval/Formats.h.
std::string printVerdict(const Verdict &V);

/// At most \p Limit bytes of \p Text, whole lines, with what was left out said;
/// the head and the tail are kept.
std::string trimForWindow(llvm::StringRef Text, size_t Limit);

} // namespace stark

#endif
