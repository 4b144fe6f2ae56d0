//===- OwnCompiler.h - Our own Clang as a C++ compiler --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stark-tool -compile-host WORDS = clang++ WORDS, for one file
/// A process of its own, as every compiler is: a text may crash it, or take all
/// time and memory.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_HOSTCODE_OWNCOMPILER_H
#define STARK_HOSTCODE_OWNCOMPILER_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace stark {

/// The first argument of stark-tool that is to be the compiler.
constexpr char OwnCompilerWord[] = "-compile-host";

/// How the compiler exits where a precompiled header is not what the headers
/// are now: it has to be made again.
constexpr int StaleHeaderCode = 3;

/// Compiles one file to an object or precompiles a header, as \p Words say;
/// prints errors. Returns the exit code.
int runOwnCompiler(llvm::ArrayRef<const char *> Words);

/// Another version reads nothing of this one's.
std::string ownCompilerVersion();

} // namespace stark

#endif
