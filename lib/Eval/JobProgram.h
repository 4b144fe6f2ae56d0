//===- JobProgram.h - A program that works off a job --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   job folder -> stark-worker or stark-sim as a child -> result
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_JOBPROGRAM_H
#define STARK_LIB_EVAL_JOBPROGRAM_H

#include "stark/Job/Job.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/StringRef.h"

namespace stark {

struct JobProgram {
  std::string Path;                   ///< of stark-worker or stark-sim
  std::vector<std::string> Arguments; ///< beside the folder and the result
  uint64_t LimitMs = 0; ///< for all of it: the program has deadlines of its own
  uint64_t MemoryLimit = 0; ///< bytes, with all that it starts; 0: none
  /// Set to how the program crashed, which is an answer then and no error; may
  /// be null.
  std::string *Crash = nullptr;
};

/// Runs \p Program on the job in \p Folder; unset when that takes more than
/// its limits, or when it crashes and Program.Crash is there. An error when it
/// leaves no result, with what it says; of the kind usage when it says that the
/// request is wrong.
llvm::Expected<std::optional<job::Result>> runJob(const JobProgram &Program,
                                                  llvm::StringRef Folder);

/// A result that a program left.
llvm::Expected<job::Result> readResult(llvm::StringRef File);

/// Puts what \p Program spent its time on into the time trace, if there is one.
void traceStages(llvm::StringRef Program, const job::Result &R);

/// What one of our own programs says on standard error, without its "error: ",
/// cut to a model's window; empty when it says nothing.
std::string ownMessage(const ProcessResult &Ran);

} // namespace stark

#endif
