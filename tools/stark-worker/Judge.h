//===- Judge.h - The state of a job that is being judged -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Shared by the stages: compare (Supervisor.cpp) and time (TimeStage.cpp).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_WORKER_JUDGE_H
#define STARK_WORKER_JUDGE_H

#include "ChildProcess.h"
#include "Describe.h"

namespace stark::worker {

/// A stage returns false when it has ended the job; the result says how.
struct Judge {
  job::Job J;
  job::Result Out;
  DeviceFacts Facts;
  std::unique_ptr<ChildProcess> Source, Candidate;
  ChildSpec SourceSpec; ///< to start it again
  std::string Notes;    ///< for the end of the diagnostics
  std::string Outputs;  ///< where the candidate's go, until they are written

  bool stop(job::Outcome End, const std::string &Diagnostics) {
    Out.End = End;
    Out.Diagnostics = Diagnostics;
    return false;
  }

  /// Asks the source; whatever goes wrong there is not the candidate's fault.
  bool askSource(const Request &R, uint64_t TimeoutMs, Answer &A);
  /// Asks the candidate; what goes wrong ends the job with its outcome.
  bool askCandidate(const Request &R, uint64_t TimeoutMs, const Situation &S,
                    Answer &A);
  /// Compares the outputs that both have exported.
  bool compareOutputs(const Situation &S, unsigned Round, job::Outcome IfBad);
  /// Writes what the candidate has exported for \p CaseIndex, once.
  bool keepOutputs(unsigned CaseIndex);
  /// At most the job's limit; a candidate gets less when the source was quick.
  uint64_t candidateLimitMs(double SourceUs) const;
};

bool compareStage(Judge &G);
bool timeStage(Judge &G);

} // namespace stark::worker

#endif
