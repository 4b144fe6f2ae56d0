//===- TargetFile.h - What a target of a project is built with ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stark_optimize_kernels() -> kernels.json in the build folder -> the
///   look-up
/// of each of its sources, as the build makes it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_TARGETFILE_H
#define STARK_DRIVER_TARGETFILE_H

#include "stark/Cache/BuildStep.h"

namespace stark {

/// A source with one of its workloads.
struct TargetSource {
  std::string Source, Workload;
  std::string Flags; ///< a file of flags, one a line
  std::string Runs;  ///< the folder with its searches; there may be none
};

struct TargetFile {
  std::string Target;
  std::string Toolkit;            ///< of the build, "13.0"
  std::string Store;              ///< a folder
  std::string Evaluator;          ///< a spec, or empty
  std::vector<std::string> Archs; ///< "sm_90"; the first is searched for
  std::vector<TargetSource> Sources;
};

/// Errors name file and field.
llvm::Expected<TargetFile> readTargetFile(llvm::StringRef Path);

/// The look-up of \p Source; its flags are read.
llvm::Expected<BuildStep> stepOf(const TargetFile &Of,
                                 const TargetSource &Source);

/// The whole look-up of the step that makes what is compiled for \p Source:
/// of all its workloads.
llvm::Expected<BuildStep> wholeStepOf(const TargetFile &Of,
                                      const TargetSource &Source);

/// "softmax.cu", and with which workload where \p Of has several for it.
std::string subjectOf(const TargetFile &Of, const TargetSource &Source);

/// The run of \p Source's workload that was worked on last; empty when there is
/// none. One of no workload that \p Of has now is of the first.
std::string newestRun(const TargetFile &Of, const TargetSource &Source);

} // namespace stark

#endif
