//===- NestMemory.h - What the iterations of a nest touch -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether what one iteration of a nest stores is touched by no other one, or
/// only by those that follow it in the same loop.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_NESTMEMORY_H
#define STARK_LIB_REWRITE_ANALYSIS_NESTMEMORY_H

#include "LoopNest.h"

namespace stark {

/// Unset when the loops of \p N may change places, as far as memory goes.
WhyNot whyMemoryOrdered(const Facts &F, const Kernel &K, const Accesses &A,
                        const LoopNest &N);

} // namespace stark

#endif
