//===- WarpFinish.h - Last rounds of a tree by its first warp ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What often follows a tree in shared memory that stops at the width of a
/// warp:
///
///     if (t < 32) finish(partial, t);
///
/// with "void finish(volatile float *x, int t)" that has x[t] += x[t + 32] and
/// so on down to x[t] += x[t + 1], or with these lines in its place.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_WARPFINISH_H
#define STARK_LIB_REWRITE_ANALYSIS_WARPFINISH_H

#include "Reduction.h"

namespace stark {

/// Whether \p S, right behind the loop of \p Tree, goes on with the stride
/// Tree.WarpFrom and each half of it to the last, with the same operation.
bool isWarpFinish(const clang::Stmt *S, const Reduction &Tree, const Facts &F,
                  const Kernel &K);

} // namespace stark

#endif
