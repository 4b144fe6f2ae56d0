//===- KernelBuild.h - A source, its winner, what is compiled ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   caches -> a winner | a search -> cache entry -> generated source
/// What `stark-tool build` does when a look-up alone was not enough.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_KERNELBUILD_H
#define STARK_DRIVER_KERNELBUILD_H

#include "stark/Cache/BuildStep.h"
#include "stark/Driver/Evaluation.h"
#include "stark/Driver/SearchRequest.h"

namespace stark {

/// Told of what a search does and of what a user should know.
struct BuildObserver : SearchObserver {
  virtual void onWarning(llvm::StringRef Warning) {}
};

/// How a winner is searched for.
struct BuildSearch {
  SearchRequest Request; ///< source, workload, flags and Arch: the step's
  /// Each search is kept in a folder of its own below it, named by all that a
  /// run is held to: with other prompts, say, it is another run. How far it
  /// goes does not count: asked for more attempts or a larger budget it goes
  /// on.
  std::string RunsFolder;
};

/// Fills in what \p In does not say of architecture and toolkit: those of
/// \p Run, the run that is kept, if any; else the toolkit is that at \p
/// Toolkit, or the one found. Usage errors, also when the run is for another
/// architecture.
llvm::Error completeInputs(CacheInputs &In, const RunIdentity *Run,
                           llvm::StringRef Toolkit);

/// Writes the winner that a cache has, else the one that \p Search finds; the
/// source itself when nothing beat it. A winner found is kept in the first
/// store, else in the user's cache. \p Search unset: a usage error when there
/// is no winner yet. \p MayWait: a suspended search is no error, the source as
/// it is is written until the search has ended.
llvm::Error buildKernel(const BuildStep &Step,
                        const std::optional<BuildSearch> &Search, bool MayWait,
                        BuildObserver &Observer);

/// Searches whether or not there is a winner, and keeps the better one. A run
/// that this search made before goes on, with \p More attempts when it had
/// ended (and its budget once more); 0: with none, what it found is confirmed.
/// Only a new search makes so many as \p More says from its beginning.
llvm::Error tuneKernel(const BuildStep &Step, const BuildSearch &Search,
                       unsigned More, BuildObserver &Observer);

/// Keeps the winner of the run in \p RunFolder, which must have ended and be of
/// the step's source, workload and flags; \p Step.Output, when there is one, is
/// written. What the step does not say is completed from the run. Returns the
/// entry's folder.
llvm::Expected<std::string> keepWinner(BuildStep Step,
                                       llvm::StringRef RunFolder,
                                       llvm::StringRef Toolkit,
                                       BuildObserver &Observer);

/// A whole form of a source that somebody wrote, or another tool.
struct KeptCandidate {
  std::string File;
  std::string Title;  ///< what it does, in a line
  std::string Author; ///< who or what wrote it
  /// By whom, and how long to wait; the rest is the step's.
  EvaluationRequest Judged;
};

/// Judges \p Given as a search confirms its winner and keeps it as that of the
/// step's source, workload and flags. An error when it is not correct or not as
/// much faster than the source as the workload wants. Returns the entry's
/// folder.
llvm::Expected<std::string> keepCandidate(BuildStep Step,
                                          const KeptCandidate &Given,
                                          BuildObserver &Observer);

} // namespace stark

#endif
