//===- FootprintBreakout.h - Anchors whose text reaches out of them ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   With no token changed outside, an anchor's new text can still change what
/// the text around it means: `} void f() {`, a trailing `if (0)`, a `do {}`
/// before a while loop, an `if` that takes the else after the anchor.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTBREAKOUT_H
#define STARK_LIB_AST_FOOTPRINTBREAKOUT_H

#include "FootprintHunks.h"
#include "stark/AST/Footprint.h"
#include <optional>

namespace stark {

/// Brackets, and #if with #endif, pair up in \p Tokens of the candidate.
bool isBalanced(const Comparison &C, Range Tokens);

/// How the text that stands for \p H's anchor reaches out of it; nothing when
/// it does not.
std::optional<ChangeReason::KindType> breakout(const Comparison &C,
                                               const Hunk &H);

} // namespace stark

#endif
