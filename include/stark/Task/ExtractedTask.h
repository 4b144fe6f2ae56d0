//===- ExtractedTask.h - A task with code of headers ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + workload -> Task, whose text is what the entry reaches in the
///   source and in the project's headers, where device code is in these
/// The task knows nothing of headers then, so whatever is built, judged or
/// shown of it is one text. What has to do with the file on disk (keys,
/// headers, the source that is built) asks for UsersSource.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_EXTRACTEDTASK_H
#define STARK_TASK_EXTRACTEDTASK_H

#include "stark/Task/Task.h"

namespace stark {

/// What is longer is searched as it is.
inline constexpr size_t LongestExtracted = size_t(256) << 10;

/// The source itself.
struct UsersSource {
  std::string Text; ///< bytes as read
  std::shared_ptr<ParsedSource> Parsed;
  std::vector<std::string> Headers; ///< absolute, no system headers
  std::vector<std::string> Taken;   ///< of which something was, as included
};

struct ExtractedTask {
  Task Of;
  std::shared_ptr<const UsersSource> Users; ///< null: the task's is the source
  std::string Note; ///< why nothing was extracted though headers have it
};

/// Errors are those of loadTask(); what cannot be extracted is none.
llvm::Expected<ExtractedTask> loadExtractedTask(llvm::StringRef SourcePath,
                                                llvm::StringRef WorkloadPath,
                                                const ParseOptions &Options);

/// As loadExtractedTask() does, or as loadTask() does.
llvm::Expected<ExtractedTask> loadWith(bool Extract, llvm::StringRef SourcePath,
                                       llvm::StringRef WorkloadPath,
                                       const ParseOptions &Options);

/// As loadExtractedTask() does, or as loadTask() does where one of \p Forms,
/// the texts of candidates, is a form of the source itself: it includes a
/// header of which something was taken.
llvm::Expected<ExtractedTask> loadTaskOf(llvm::ArrayRef<std::string> Forms,
                                         llvm::StringRef SourcePath,
                                         llvm::StringRef WorkloadPath,
                                         const ParseOptions &Options);

/// For people who are told.
std::string describeExtracted(const UsersSource &Users);

} // namespace stark

#endif
