//===- SymbolGate.h - What an object asks for from outside ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   object file -> imports and initialisers -> allowed?
/// Text can be disguised, imports cannot: what is not defined in the object has
/// to be named in its symbol table.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SYMBOLGATE_H
#define STARK_LIB_EVAL_SYMBOLGATE_H

#include "stark/Eval/Build.h"

namespace stark {

struct ObjectFacts {
  std::vector<std::string> Imports; ///< sorted, as mangled
  unsigned Initializers = 0;        ///< functions that run when it is loaded
};

llvm::Expected<ObjectFacts> readObject(llvm::StringRef Path);

/// Why \p Candidate is not allowed to run, empty when it is. What the source
/// itself imports is allowed.
std::string gate(const ObjectFacts &Candidate, const BuildResult &Source);

/// What an import is used for when a candidate must not use it, else empty.
std::string whyForbidden(llvm::StringRef Import);

} // namespace stark

#endif
