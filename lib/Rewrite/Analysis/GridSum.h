//===- GridSum.h - Sums that the whole grid adds to one place -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     if (threadIdx.x == 0)
///       atomicAdd(total, partial[0]);
/// What all threads of a grid have summed up comes together in one element, so
/// it does not matter which of them summed up what.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_GRIDSUM_H
#define STARK_LIB_REWRITE_ANALYSIS_GRIDSUM_H

#include "Accesses.h"
#include "Reduction.h"
#include "Uniform.h"

namespace stark {

class GridSum {
public:
  /// \p Same is over all blocks.
  GridSum(const Facts &F, const Kernel &K, const Accesses &A,
          const Uniform &Same)
      : F(F), K(K), A(A), Same(Same) {}
  /// The atomicAdd() whose second argument \p S stands in, to an element that
  /// is the same for the grid; null when there is none. All blocks get there,
  /// or with \p First the first thread of each.
  const clang::CallExpr *addOf(const clang::Stmt *S, bool First) const;
  /// All that is read of what \p R leaves behind is added so.
  bool isAdded(const Reduction &R) const;
  /// All threads run \p S, if their blocks do.
  bool isOfAll(const clang::Stmt *S, bool First) const;

private:
  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const Uniform &Same;
};

} // namespace stark

#endif
