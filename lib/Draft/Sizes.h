//===- Sizes.h - How large what is drafted is -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_SIZES_H
#define STARK_LIB_DRAFT_SIZES_H

#include "Formula.h"

namespace stark::draft {

/// Where nothing says more: sizes with which each buffer stays below a few
/// megabytes. \p Dimensions: how many there are.
int64_t extentFor(size_t Dimensions);

/// False where the largest is no more than \p Least.
bool halveLargest(Bindings &Names, int64_t Least);

} // namespace stark::draft

#endif
