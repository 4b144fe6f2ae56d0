//===- SourceKey.h - All that a source's library depends on ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source, headers, flags, compilers, calls -> a digest, or none
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SOURCEKEY_H
#define STARK_LIB_EVAL_SOURCEKEY_H

#include "stark/Eval/Evaluator.h"

namespace stark {

/// Where two digests are the same, so is what buildLibrary() makes of the
/// source of \p Of, but for the name of the folder that it was made in. What
/// the project has goes in by its bytes, whichever of its conditionals include
/// it; what was installed by path, size and time. Empty where that does not say
/// all: a library or a file that a flag names, "native", __TIME__,
/// __has_include, an include whose name is a macro.
std::string sourceKey(const Task &Of, const BuildOptions &Options);

} // namespace stark

#endif
