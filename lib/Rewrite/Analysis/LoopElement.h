//===- LoopElement.h - Elements that stay the same in a loop --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether an access of a loop is to the same element in each of its
/// iterations, and when it is made.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LOOPELEMENT_H
#define STARK_LIB_REWRITE_ANALYSIS_LOOPELEMENT_H

#include "Accesses.h"
#include "CountedLoop.h"

namespace stark {

/// When an access in a loop is made.
enum class Made {
  Always,     ///< also when no iteration runs
  WhenItRuns, ///< in the first iteration, whatever it does
  Perhaps
};

/// \p At, p[i] or *p, is the same element in all iterations of \p L, and what
/// says which one it is reads no memory and is not changed by the loop.
bool isSameElement(const Kernel &K, const CountedLoop &L, const Access &At);

/// An iteration that \p Skips, a statement of the loop, ends does not count.
Made madeIn(const Facts &F, const Kernel &K, const CountedLoop &L,
            const Access &At, const clang::Stmt *Skips = nullptr);

/// Something in \p S that other threads take part in, or wait at.
bool meetsThreads(const clang::Stmt *S);

} // namespace stark

#endif
