//===- AnchorSnap.h - From a marked region to whole nodes ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   region of tokens -> the smallest run of whole sibling nodes that covers it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_ANCHORSNAP_H
#define STARK_LIB_AST_ANCHORSNAP_H

#include "AnchorTree.h"
#include "stark/AST/Anchor.h"

namespace stark {

/// A run of nodes as tokens, and the region that was asked for.
struct Snapped {
  Range Tokens, Region;
};

/// Errors: \p Region lies in a macro's expansion, in directives, or in text
/// that the preprocessor skipped. \p What names the region in messages: "the
/// marks in lines 3 and 9".
llvm::Expected<Snapped> snapRegion(const AnchorNode &Root,
                                   const SourceTokens &Tokens, Range Region,
                                   llvm::StringRef What);

/// Anchors of \p Runs, joined where they overlap (what covers both is found
/// again), in source order. SiteIds are the outermost sites inside each anchor,
/// or the innermost one around it.
std::vector<Anchor> anchorsOf(const AnchorNode &Root,
                              const SourceTokens &Tokens,
                              const Sites &BaseSites,
                              std::vector<Snapped> Runs);

} // namespace stark

#endif
