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
  std::string WorkloadText; ///< bytes as read
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
/// double or cudaStream_t). An entry of tensors has functions beside it:
/// lib/Task/TensorTrampoline.cpp.
std::string makeTrampoline(const Task &T);

/// `stark_reference`, the same call of the workload's reference; empty when it
/// names none, and the entry takes no tensors. (With tensors it is the entry
/// itself in double precision where it names none.) Both trampolines may stand
/// in one translation unit.
std::string makeReferenceTrampoline(const Task &T);

/// The array of leaf \p L of makeLeaves(), whose Fill is a file, as the text of
/// a .npy file: that of a {"npy": ...}, or a part of the weights. Errors: it
/// cannot be read, or is not of \p Shape.
llvm::Expected<std::string> readArray(const Task &T, const job::Leaf &L,
                                      const std::vector<int64_t> &Shape);

/// Are sizes compared once more with other values?
bool isHardened(const Task &T);

/// The flat arguments of stark_call(), in order.
std::vector<job::Leaf> makeLeaves(const Task &T);

/// Every size as numbers, timed ones first; those around the constants of \p
/// Candidate, too.
llvm::Expected<std::vector<job::Case>>
makeCases(const Task &T, llvm::StringRef Candidate = "");

} // namespace stark

#endif
