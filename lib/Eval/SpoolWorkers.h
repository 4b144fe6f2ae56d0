//===- SpoolWorkers.h - Who works a spool off -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   jobs in a folder -> somebody who sees to it that workers come
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SPOOLWORKERS_H
#define STARK_LIB_EVAL_SPOOLWORKERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace stark {

/// Used by several threads.
class SpoolWorkers {
public:
  /// Ends those that nobody needs any more: all when the user wants to stop, or
  /// when no job is left.
  virtual ~SpoolWorkers() = default;
  /// A job has been put into the folder.
  virtual void posted() = 0;
  /// Looks, not more often than is good, whether there are workers for the jobs
  /// in the folder, and has more come. An error: none will.
  virtual llvm::Error attend() = 0;
  /// For the user: why none is at work; empty when one is, or nothing is known.
  virtual std::string waitsFor() = 0;
  /// "slurm:gpu", part of the run's identity.
  virtual std::string identity() const = 0;
  /// The time that \p Job ("job 1a2b") was to be waited for is over.
  virtual llvm::Error late(const std::string &Job) = 0;
  /// What becomes of a job when the user wants to stop: "goes on".
  virtual std::string interrupted() const = 0;
};

class Clock;
class Evaluator;
struct EvaluatorOptions;
class Task;

/// Leaves jobs in \p Folder, which is there, for \p Workers.
std::unique_ptr<Evaluator>
makeSpoolEvaluator(const Task &T, llvm::StringRef Folder,
                   const EvaluatorOptions &Options, Clock &Time,
                   std::unique_ptr<SpoolWorkers> Workers);

/// Makes what a spool has.
llvm::Error makeSpool(const std::string &Folder);

} // namespace stark

#endif
