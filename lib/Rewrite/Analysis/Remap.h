//===- Remap.h - Whether iterations may change threads --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether an iteration of a loop that threads share may run in another
/// thread than it does.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_REMAP_H
#define STARK_LIB_REWRITE_ANALYSIS_REMAP_H

#include "Accesses.h"
#include "Reduction.h"
#include "ThreadLoop.h"

namespace stark {

/// Unset when each iteration of \p L may run in any thread, at any time: it
/// changes nothing but what it stores, sums go to a reduction of the whole
/// block, and what it stores or reads is not touched by others before the next
/// barrier.
WhyNot whyNotRemap(const Facts &F, const Kernel &K, const Accesses &A,
                   const std::vector<Reduction> &Reductions,
                   const ThreadLoop &L);

} // namespace stark

#endif
