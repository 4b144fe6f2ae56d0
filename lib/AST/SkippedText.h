//===- SkippedText.h - What the preprocessor left out --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_SKIPPEDTEXT_H
#define STARK_LIB_AST_SKIPPEDTEXT_H

#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"

namespace stark {

/// Bytes of the main file that lie in branches not taken, with the directives
/// at both ends; ascending. The AST knows nothing of them, and nvcc, which
/// compiles for the host as well, may take them.
std::vector<Range> skippedText(const ParsedSource &Source);

/// Whether \p Offset lies in one of \p Skipped.
bool isSkipped(const std::vector<Range> &Skipped, size_t Offset);

} // namespace stark

#endif
