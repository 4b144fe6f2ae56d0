//===- Evaluation.h - Candidates that somebody wrote ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + workload + candidates -> footprint, contract -> build -> judge ->
/// a verdict each
/// What a search does with what an agent wrote, without a search.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_EVALUATION_H
#define STARK_DRIVER_EVALUATION_H

#include "stark/AST/Footprint.h"
#include "stark/Eval/Evaluator.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <optional>

namespace stark {

struct EvaluationRequest {
  std::string Source;
  std::string Workload;                ///< empty: NAME.workload.json beside it
  std::vector<std::string> Candidates; ///< files; empty: the source itself
  /// What is in them, where it was read before; empty: they are read.
  std::vector<std::string> Texts = {};
  /// They were held to the contract before, when they were kept.
  bool Held = false;
  /// What is held to the contract in their place, where they are made of it.
  std::optional<std::string> MadeOf = {};
  std::string Plan; ///< the source with marks, or empty: any change is allowed
  Grounding Strictness = Grounding::Support; ///< with a plan
  EvaluatorSpec Evaluator;
  /// Confirm: compiled as the user's own build does, on inputs that no attempt
  /// sees, in several pairs of processes. The source against itself always is.
  Purpose Why = Purpose::Attempt;
  /// Have a profiler look at what is correct and measured.
  bool Profiled = false;
  std::vector<std::string> Flags;
  /// Compare sizes and alignments that the workload does not name, too.
  bool Others = true;
  /// Judge forms of what the entry reaches in headers, too, where the
  /// candidates are such.
  bool Extract = true;
  std::string Arch;    ///< empty: the evaluator's
  std::string Toolkit; ///< empty: find it
  uint64_t Seed = 0;
  uint64_t WaitMs = 0; ///< for a result, once all jobs are posted
  /// Ends it before the next candidate; may be null.
  const std::atomic<bool> *Cancelled = nullptr;
  Clock *Time = &machineClock();
};

struct JudgedCandidate {
  std::string File;
  std::optional<Verdict> Found; ///< unset: a queue has it, run it again
  uint64_t WallMs = 0;          ///< from the text to the verdict
};

struct Evaluation {
  std::string TaskName, Entry;
  std::string Evaluator;                   ///< as it calls itself
  std::vector<JudgedCandidate> Candidates; ///< in the order of the request
  std::string Waiting; ///< what is to be done about those of a queue, or empty
  /// Of candidates that have a verdict.
  unsigned correct() const;
  bool allCorrect() const { return correct() == Candidates.size(); }
};

struct EvaluationObserver {
  virtual ~EvaluationObserver() = default;
  /// As soon as it is judged.
  virtual void onVerdict(const JudgedCandidate &C) {}
  /// It has to wait for the GPU, say.
  virtual void onNote(llvm::StringRef Note) {}
};

/// Errors: a file that cannot be read, a plan that cannot be used, an evaluator
/// that failed, an interrupt. What is wrong with a candidate is its verdict.
llvm::Expected<Evaluation> evaluateCandidates(const EvaluationRequest &Request,
                                              EvaluationObserver &Observer);

/// A table with a row for each candidate and timed size, then what compiler and
/// judge said of each.
void printEvaluation(const Evaluation &E, llvm::raw_ostream &OS);
/// One object: `version` (1), `task`, `entry`, `evaluator` and `candidates`,
/// each with `file`, `wall_ms` and `verdict`, as docs/journal.md describes it;
/// null where a queue has it.
std::string evaluationJson(const Evaluation &E);

} // namespace stark

#endif
