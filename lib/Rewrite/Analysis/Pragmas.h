//===- Pragmas.h - Lines that belong to a loop ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     #pragma unroll
///     for (...)
/// What stands instead of a loop need not be one, and what is put before it
/// comes before its pragmas.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_PRAGMAS_H
#define STARK_LIB_REWRITE_ANALYSIS_PRAGMAS_H

#include "SourceText.h"

namespace stark {

/// \p Statement with the pragmas right before it; unset where the line before
/// is a part of a macro.
std::optional<Range> withPragmas(const SourceText &F, Range Statement);

} // namespace stark

#endif
