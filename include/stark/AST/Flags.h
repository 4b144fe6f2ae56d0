//===- Flags.h - nvcc's flags as Clang takes them ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A command line for nvcc (or clang++), given or found in
/// compile_commands.json -> what of it a parse needs: macros, include folders,
/// the language standard. Everything else is dropped, never an error.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_FLAGS_H
#define STARK_AST_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark {

struct ParseOptions;

/// \p Folder is where relative paths of response files hold; empty: the current
/// one. Options of -Xcompiler that a parse needs are taken out of it.
std::vector<std::string> parseFlags(llvm::ArrayRef<std::string> Given,
                                    llvm::StringRef Folder = "");

/// Unless \p Options has flags, puts those and the folder that
/// compile_commands.json in the folder of \p File, or in one above it, has for
/// it into them; leaves them alone when there is none, or no such file. A
/// broken database is an error.
llvm::Error completeFlags(llvm::StringRef File, ParseOptions &Options);

} // namespace stark

#endif
