//===- CompileStep.h - A compile that is never worse  --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   compiler's command -> object of the winner, else of the source itself
/// The build system compiles through this, so that a winner which this target's
/// flags, toolkit or host compiler do not take costs a warning and not the
/// build. What compiles costs nothing more than a process.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_COMPILESTEP_H
#define STARK_CACHE_COMPILESTEP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// What to compile when a generated source does not; beside it on disk.
struct Fallback {
  std::string Source;   ///< the user's, absolute
  std::string Entry;    ///< name of the cache's entry
  bool Require = false; ///< there is none: the winner has to compile
};

llvm::Error writeFallback(llvm::StringRef Generated, const Fallback &F);
void removeFallback(llvm::StringRef Generated);

struct CompileResult {
  int ExitCode = 0;
  std::string Out, Err; ///< of the compiler whose object counts
  std::string Warning;  ///< for the user; empty: nothing is amiss
};

/// Whether one of \p Command's words is a generated source with a winner.
bool namesWinner(llvm::ArrayRef<std::string> Command);

/// Runs \p Command, and again with the user's source when that failed. An error
/// when the winner has to compile and does not, or nothing can be run.
llvm::Expected<CompileResult>
compileWinner(llvm::ArrayRef<std::string> Command);

} // namespace stark

#endif
