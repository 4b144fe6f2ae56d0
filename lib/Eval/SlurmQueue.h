//===- SlurmQueue.h - What Slurm is asked for -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   workers of one spool -> sbatch, squeue, scancel
/// They are known by their jobs' name, which follows from the user and the
/// folder: whoever goes on with a run finds those that are still queued.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SLURMQUEUE_H
#define STARK_LIB_EVAL_SLURMQUEUE_H

#include "stark/Eval/EvaluatorSpec.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace stark {

class SlurmQueue {
public:
  /// A task of a job array: one worker.
  struct Worker {
    std::string Id;     ///< "12_0"
    std::string State;  ///< "PENDING", "RUNNING", ... of squeue's manual
    std::string Reason; ///< "Resources", "None", ...: why it does not run
  };
  virtual ~SlurmQueue() = default;
  /// Those that Slurm has and that have not come to their end. Errors hold what
  /// Slurm said, here and below.
  virtual llvm::Expected<std::vector<Worker>> workers() = 0;
  /// An array of \p Count workers; the job's number.
  virtual llvm::Expected<std::string> submit(unsigned Count) = 0;
  /// Ends all of them; also when the user wants to stop.
  virtual llvm::Error cancel() = 0;
};

/// By Slurm's programs on PATH; an error names those that are not there.
/// Workers leave what they print in \p Folder/slurm/JOB_TASK.log. \p Worker:
/// the path of stark-worker.
llvm::Expected<std::unique_ptr<SlurmQueue>>
makeSlurmQueue(const SlurmJobs &Asked, llvm::StringRef Folder,
               llvm::StringRef Worker);

} // namespace stark

#endif
