//===- Task.h - All that a search needs ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + flags + workload + entry -> Task, whose digest identifies the
/// run.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_TASK_H
#define STARK_TASK_TASK_H

#include "stark/AST/Parse.h"
#include "stark/Task/Workload.h"
#include <memory>

namespace stark {

struct Task {
  std::string SourcePath; ///< absolute
  std::string Name;       ///< file name without folder and extension
  std::string SourceText; ///< bytes as read
  ParseOptions Parse;     ///< flags for Clang
  std::vector<std::string> NvccFlags; ///< the user's flags as nvcc takes them
  Workload Load;
  Signature Entry;
  Signature Reference; ///< of Load.Reference, when it is not empty
  std::shared_ptr<ParsedSource> Parsed; ///< of SourceText
  std::vector<std::string> Headers;     ///< absolute, no system headers
  /// Over source, headers, flags, workload and the arrays that it names;
  /// independent of folders.
  std::string Digest;
};

/// Reads the files, parses and checks. Errors are those of parseWorkload(),
/// findEntry(), checkWorkload() and makeCases(), and of arrays that are not
/// there or do not fit.
llvm::Expected<Task> loadTask(llvm::StringRef SourcePath,
                              llvm::StringRef WorkloadPath,
                              const ParseOptions &Options);

/// The `extern "C" void stark_call(void **args)` that is appended to every
/// candidate: args[i] points to leaf i of makeLeaves() (a pointer, int64_t,
/// double or cudaStream_t).
std::string makeTrampoline(const Task &T);

/// `stark_reference`, the same call of the workload's reference; empty when it
/// names none. Both trampolines may stand in one translation unit.
std::string makeReferenceTrampoline(const Task &T);

/// Where the array of a {"npy": ...} lies: \p File is relative to the
/// workload's folder.
std::string arrayPath(const Task &T, llvm::StringRef File);

/// The flat arguments of stark_call(), in order.
std::vector<job::Leaf> makeLeaves(const Task &T);

/// Every size as numbers, timed ones first.
llvm::Expected<std::vector<job::Case>> makeCases(const Task &T);

} // namespace stark

#endif
