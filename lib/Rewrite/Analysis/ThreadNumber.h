//===- ThreadNumber.h - What a thread calls itself ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     threadIdx.x
///     blockIdx.x * blockDim.x + threadIdx.x
/// and the widths of block and grid, also by variables that hold them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_THREADNUMBER_H
#define STARK_LIB_REWRITE_ANALYSIS_THREADNUMBER_H

#include "Facts.h"

namespace stark {

/// \p E is the thread's number in its block (x), for all of which loops and
/// reductions of one dimension run.
bool isThreadNumber(const clang::Expr *E, const Kernel &K);
/// blockIdx.x * blockDim.x + threadIdx.x.
bool isGlobalThreadNumber(const clang::Expr *E, const Facts &F,
                          const Kernel &K);
/// blockDim.x, or the constant that all launches give for it.
bool isBlockWidth(const clang::Expr *E, const Facts &F, const Kernel &K);
/// gridDim.x * blockDim.x.
bool isGridWidth(const clang::Expr *E, const Facts &F, const Kernel &K);

} // namespace stark

#endif
