//===- BlockIndependence.h - Kernels for blocks of any size ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whether a kernel computes the same with another number of threads a block.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_BLOCKINDEPENDENCE_H
#define STARK_LIB_REWRITE_ANALYSIS_BLOCKINDEPENDENCE_H

#include "Reduction.h"

namespace stark {

/// Unset when every use of threadIdx and blockDim is one of a loop that threads
/// share or of a reduction, but for the order in which sums are added.
WhyNot whyNotAnyBlockSize(const Facts &F, const Kernel &K);

} // namespace stark

#endif
