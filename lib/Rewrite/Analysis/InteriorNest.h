//===- InteriorNest.h - Loops that test each neighbour --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     for (int i = -r; i <= r; ++i)
///       if (x + i >= 0 && x + i < w) sum += in[x + i];
///     (or: if (x + i < 0 || x + i >= w) continue;
///      or: x + i >= 0 && x + i < w ? in[x + i] : 0
///      or: in[min(max(x + i, 0), w - 1)])
/// What is tested in each iteration holds in all of them where it holds at both
/// ends: x - r >= 0 && x + r < w.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_INTERIORNEST_H
#define STARK_LIB_REWRITE_ANALYSIS_INTERIORNEST_H

#include "CountedLoop.h"

namespace stark {

struct InteriorNest {
  /// "x + (-r) >= 0": of the variables around the loops. Where all of them hold
  /// no iteration of the loops meets an edge.
  std::vector<std::string> Tests;
  /// What stands in the loops where there is no edge.
  std::vector<Substitute> Inside;
};

/// The tests in \p Outer and the loops in it that follow from the loops'
/// bounds; unset when there is none. Why not, where another thing stands
/// against that the loops are there twice.
std::optional<OrReason<InteriorNest>>
readInteriorNest(const Facts &F, const Kernel &K, const clang::ForStmt *Outer);

} // namespace stark

#endif
