//===- JobFolder.h - A candidate as a job --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task + candidate -> job::Job -> folder; result -> verdict
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_JOBFOLDER_H
#define STARK_LIB_EVAL_JOBFOLDER_H

#include "stark/Eval/Build.h"
#include "stark/Sim/SimRunner.h"
#include "stark/Support/File.h"

namespace stark {

llvm::StringRef purposeName(Purpose P);

/// Everything but the libraries. The id follows from the content, so that a run
/// that was ended finds its own job again.
llvm::Expected<job::Job> makeJob(const Task &T, const Candidate &C,
                                 const EvaluatorOptions &Options);

/// Writes \p J into \p Folder, with the arrays it names, and the text of \p C
/// where it names that.
llvm::Error writeJob(const Task &T, const job::Job &J, const Candidate &C,
                     llvm::StringRef Folder);

/// Replaces the file \p To.
llvm::Error copyFile(llvm::StringRef From, llvm::StringRef To);

/// makeJob() for the simulator, which compiles the two texts itself. Of entries
/// of tensors these are the kernels alone, and \p Host names the libraries that
/// call them. \p Resources: files that what ptxas says of the texts will be in.
llvm::Expected<job::Job> makeSimJob(const Task &T, const Candidate &C,
                                    const EvaluatorOptions &Options);
llvm::Error writeSimFolder(const Task &T, const job::Job &J,
                           llvm::StringRef Source, llvm::StringRef Candidate,
                           llvm::StringRef Folder,
                           std::optional<sim::HostLibraries> Host = {},
                           std::optional<sim::ResourceFiles> Resources = {});

/// What the worker found as a verdict. An outcome that is not the candidate's
/// doing is an error.
llvm::Expected<Verdict> verdictOf(const Task &T, const job::Job &J,
                                  const job::Result &R);

/// Of a candidate that was not built.
Verdict verdictOf(const BuildResult &Built);

} // namespace stark

#endif
