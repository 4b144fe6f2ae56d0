//===- Reasons.h - What the analyses refuse for ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Reasons.def -> why::KIND
/// Analyses share kinds, and rewrites name theirs, so they are one list. What
/// only one rewrite says is a constant in its file.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_REASONS_H
#define STARK_LIB_REWRITE_ANALYSIS_REASONS_H

#include "stark/Rewrite/Reason.h"

namespace stark::why {

#define STARK_REASON(Kind, Text) inline constexpr ReasonKind Kind(Text);
#include "Reasons.def"

} // namespace stark::why

#endif
