//===- WorkloadProof.h - Whether a workload runs --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   workload of anybody + source -> fits? -> its smallest size on the
///   simulated GPU -> what was found, and what says little
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_WORKLOADPROOF_H
#define STARK_EVAL_WORKLOADPROOF_H

#include "stark/Draft/Draft.h"
#include "stark/Eval/Evaluator.h"
#include <optional>

namespace stark {

struct WorkloadProof {
  /// Why no task can be made of it: field, what was got, what was wanted.
  /// Empty: one can.
  std::string Misfit;
  /// Of the smallest size, in which all is run; unset: not asked for, or
  /// Misfit.
  std::optional<Verdict> Found;
  std::string SizeRun; ///< "cols=1000 rows=77"
  /// What it reaches there, when it is correct.
  std::optional<WholeArguments> Seen;
};

/// Bytes of arguments, at most, of any size of a workload that somebody else
/// wrote, and of the size that is run.
inline constexpr uint64_t MostWorkloadBytes = uint64_t(16) << 30,
                          MostProofBytes = uint64_t(16) << 20;

/// \p Text without the folder that the file \p Path is in, which is another one
/// on another machine.
std::string withoutFolderOf(std::string Text, llvm::StringRef Path);

/// The lines of a verdict's observation that say which outputs say little.
std::string degeneraciesIn(llvm::StringRef Run);

/// \p Text is the workload of the source \p SourcePath. With \p Run its
/// smallest size is run. Messages do not name its folder, nor a temporary one.
/// Errors: files cannot be written, or the simulator cannot be started; the
/// user interrupted.
llvm::Expected<WorkloadProof> proveWorkload(llvm::StringRef Text,
                                            llvm::StringRef SourcePath,
                                            const ParseOptions &Parse,
                                            const EvaluatorOptions &Options,
                                            bool Run);

} // namespace stark

#endif
