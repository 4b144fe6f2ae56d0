//===- Catalogue.h - One function a rewrite -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The rewrites, each in the file of its name.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_CATALOGUE_H
#define STARK_LIB_REWRITE_CATALOGUE_H

#include "stark/Rewrite/Rewrite.h"

namespace stark {

std::unique_ptr<const Rewrite> makeMatmulTiling();
std::unique_ptr<const Rewrite> makeVectorAccess();
std::unique_ptr<const Rewrite> makeFuseKernels();
std::unique_ptr<const Rewrite> makeBlockReduce();
std::unique_ptr<const Rewrite> makeBlockSize();
std::unique_ptr<const Rewrite> makeRestrict();
std::unique_ptr<const Rewrite> makeIndexSwap();
std::unique_ptr<const Rewrite> makeLoopInterchange();
std::unique_ptr<const Rewrite> makeSharedPadding();
std::unique_ptr<const Rewrite> makeGridStride();
std::unique_ptr<const Rewrite> makeHoistLoads();
std::unique_ptr<const Rewrite> makeFastMath();
std::unique_ptr<const Rewrite> makeReadOnly();
std::unique_ptr<const Rewrite> makeLaunchBounds();
std::unique_ptr<const Rewrite> makeUnroll();

} // namespace stark

#endif
