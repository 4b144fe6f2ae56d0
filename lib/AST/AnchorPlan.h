//===- AnchorPlan.h - A plan's text found again in its base --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   plan text with marks -> regions of the base's tokens
/// The plan may echo the whole source, a piece of it that occurs once (one
/// function), or several top-level pieces in order.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_ANCHORPLAN_H
#define STARK_LIB_AST_ANCHORPLAN_H

#include "SourceTokens.h"

namespace stark {

struct MarkedRegion {
  Range Tokens;                        ///< of the base; never empty
  unsigned BeginMark = 0, EndMark = 0; ///< lines of the plan
};

llvm::Expected<std::vector<MarkedRegion>> findRegions(const SourceTokens &Base,
                                                      const SourceTokens &Plan);

} // namespace stark

#endif
