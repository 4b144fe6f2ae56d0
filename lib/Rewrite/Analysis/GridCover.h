//===- GridCover.h - Launches that cover a count --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether a launch has a thread for each of so many elements:
///     (n + 16 - 1) / 16, (n + 15) / 16, (n + block.x - 1) / block.x
/// and a call of a function of the file that returns this.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_GRIDCOVER_H
#define STARK_LIB_REWRITE_ANALYSIS_GRIDCOVER_H

#include "Facts.h"

namespace stark {

/// The blocks of \p L along \p Axis are as many as \p Count, an argument of the
/// launch, needs.
bool coversAll(const Facts &F, const Launch &L, const clang::Expr *Count,
               char Axis);

/// \p Call calls a function whose body is "return (a + b - 1) / b;".
bool roundsUp(const Facts &F, const Launch &L, const clang::CallExpr *Call);

} // namespace stark

#endif
