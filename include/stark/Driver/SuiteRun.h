//===- SuiteRun.h - The searches of a suite ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   suite x presets x seeds -> a run each -> figures
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_SUITERUN_H
#define STARK_DRIVER_SUITERUN_H

#include "stark/Bench/Suite.h"
#include "stark/Driver/SearchRequest.h"

namespace stark {

struct SuiteRequest {
  Suite Tasks;
  std::vector<MissingRun> Missing; ///< tasks that are not in Tasks, and why
  /// What is wrong with a task is that task's own: its runs are missing. Else
  /// it is a usage error of the suite.
  bool TasksMayBeWrong = false;
  /// Of SUITE.json; what {suite} stands for.
  std::string Folder;
  std::vector<std::string> Presets;
  unsigned Seeds = 1; ///< 1 to Seeds
  /// Specs in which {task}, {preset}, {seed}, {run} (TASK/PRESET/seed-S) and
  /// {suite} are replaced before they are read.
  std::string Provider, Evaluator;
  SearchRequest Common; ///< what all searches share
  std::string Out;      ///< each run is kept in Out/TASK/PRESET/seed-S
  std::vector<torch::BaselineTime>
      Baselines; ///< what winners are compared with
};

/// Told of every run of a suite, which \p Run names (TASK/PRESET/seed-S).
struct SuiteObserver {
  virtual ~SuiteObserver() = default;
  virtual void onNode(llvm::StringRef Run, unsigned Attempt, const Node &N,
                      bool Recorded) {}
  virtual void onNote(llvm::StringRef Run, llvm::StringRef Note) {}
};

/// Runs, resumes or reads every run. One that fails or is suspended is among
/// the missing, and the others are run all the same; an interruption and a
/// usage error are errors of the suite.
llvm::Expected<SuiteResult> runSuite(const SuiteRequest &Request,
                                     SuiteObserver &Observer);

/// Why runs of \p R are missing, as the first that failed says it, else the
/// first that is suspended; success when none is.
llvm::Error missingRuns(const SuiteResult &R);

/// A usage error unless each of \p Presets is one, and none is there twice.
llvm::Error checkPresets(const std::vector<std::string> &Presets);

} // namespace stark

#endif
