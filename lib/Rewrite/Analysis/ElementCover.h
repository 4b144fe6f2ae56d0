//===- ElementCover.h - Launches with a thread for each element -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     k<<<ceil_div(b * t, width), width>>>(..., b, t)   with i < b * t inside
///     k<<<n, 1>>>(..., n)                             with i < n inside
/// Grids of one dimension whose blocks may be of any width, as GridCover.h has
/// those of constant blocks.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_ELEMENTCOVER_H
#define STARK_LIB_REWRITE_ANALYSIS_ELEMENTCOVER_H

#include "Facts.h"

namespace stark {

/// How many blocks \p L has, when it names them along x alone.
std::optional<std::string> blocksOf(const Facts &F, const Launch &L);

/// Why the one launch of \p K, whose threads have an element each of \p Bound,
/// may not get another grid. \p Bound: a number of the kernel made of
/// parameters and constants.
WhyNot whyNotRelaunch(const Facts &F, const Kernel &K,
                      const clang::Expr *Bound);

} // namespace stark

#endif
