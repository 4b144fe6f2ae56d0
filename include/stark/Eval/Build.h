//===- Build.h - From a candidate to a shared library --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + trampoline -> nvcc -> object -> symbol gate -> shared library
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_BUILD_H
#define STARK_EVAL_BUILD_H

#include "stark/Eval/Evaluator.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace stark {

/// Bytes of what a compiler says that a verdict has room for.
constexpr size_t CompilerLimit = 2000;

struct BuildResult {
  bool Ok = false;
  VerdictKind Kind = VerdictKind::NotCompiled; ///< when not Ok
  std::string Library;                         ///< path, when Ok
  /// Where Library lies, if nothing else needs that folder.
  std::shared_ptr<TemporaryFolder> Keeps;
  std::string Diagnostics; ///< errors, or registers, shared memory and spills
  std::vector<std::string> Imports; ///< undefined symbols of the object, sorted
  unsigned Initializers = 0;        ///< functions that run when it is loaded
  bool HasDeviceCode = false;
  /// Instructions of its kernels that round to fewer bits, sorted; of a
  /// candidate those that the source has not.
  std::vector<std::string> Precision;
  /// Whether its kernels wait for mbarriers or clusters.
  bool AsyncBarriers = false;
  std::string Device; ///< of BuildOptions::Simulated: the text of the kernels
  HostCompiler Host = HostCompiler::Users; ///< who compiled it
  /// Taken from its host code, nvcc does not compile them: the whole has the
  /// last word.
  bool KernelsFailed = false;
};

/// The build of the task's own text, which may not be over yet: who asks waits.
using SourceBuild = llvm::function_ref<llvm::Expected<const BuildResult *>()>;

/// Compiles \p Text in the place of the task's source (its folder is on the
/// quoted include path) with the task's flags. \p Source is asked once the
/// compiler has taken the text; what its object does not import, a candidate
/// may only import when it is harmless. Null for the source itself, which
/// passes every gate. An error only when nvcc could not be run, or \p Source's.
/// Not Ok with our own host compiler means that the user's has to be asked. \p
/// First is what came of that, or null.
llvm::Expected<BuildResult>
buildLibrary(const Task &T, llvm::StringRef Text, llvm::StringRef OutputFolder,
             llvm::StringRef LibraryName, const BuildOptions &Options,
             SourceBuild Source = nullptr, const BuildResult *First = nullptr);

/// Compiles what tells the simulator of ATen's operators (TensorObserver.h) to
/// \p Library, for entries of tensors.
llvm::Error buildObserver(const Task &T, llvm::StringRef Library,
                          const BuildOptions &Options);

} // namespace stark

#endif
