//===- Anchor.h - From a plan's marks to exact ranges --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   plan text -> marks stripped -> token-by-token comparison with the base ->
/// each marked region snapped to the smallest run of whole sibling nodes
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_ANCHOR_H
#define STARK_AST_ANCHOR_H

#include "stark/AST/Site.h"
#include <vector>

namespace stark {

/// A site, or a run of sibling sites, that a plan marked.
struct Anchor {
  Range Bytes;                      ///< in the base
  std::vector<std::string> SiteIds; ///< the sites it consists of, in order
  unsigned Line = 0, EndLine = 0;
  /// How far snapping moved the ends, in tokens: base tokens that the anchor
  /// covers and the marks did not, before and after.
  unsigned GrewBefore = 0, GrewAfter = 0;
};

/// Anchors of a source with `<<<IMPROVE BEGIN>>>` / `<<<IMPROVE END>>>` marks
/// in comments (BEGINS and ENDS are accepted), in source order, apart. \p
/// Marked must be \p Base but for marks and comments, or only whole top-level
/// pieces of it, or a part that occurs once. Errors, each to be put to a model
/// as it is: unbalanced or nested marks, no mark, a mark around nothing, in a
/// directive, inside a macro or in skipped text, a source that differs from the
/// base (with the first differing line).
llvm::Expected<std::vector<Anchor>> groundMarks(const ParsedSource &Base,
                                                const Sites &BaseSites,
                                                llvm::StringRef Marked);

/// What comments between the marks of \p Marked say that \p Base does not, one
/// line for each pair of marks, in their order; empty where they say nothing.
std::vector<std::string> remarksInMarks(llvm::StringRef Marked,
                                        llvm::StringRef Base);

/// Anchors of named sites, in source order, those inside others joined with
/// them. Errors: no id, an unknown one (with those that exist in the same
/// function, or the nearest), a site that cannot be edited (with the reason).
llvm::Expected<std::vector<Anchor>>
groundSites(const ParsedSource &Base, const Sites &BaseSites,
            const std::vector<std::string> &Ids);

/// \p Base with mark comments put around each anchor: what a code agent sees.
std::string markAnchors(llvm::StringRef Base,
                        const std::vector<Anchor> &Anchors);

/// \p Text with every mark comment taken out.
std::string stripMarks(llvm::StringRef Text);

/// \p Base with Texts[i] in place of Anchors[i] (as many as there are anchors)
/// and \p Declarations put before the first top-level declaration that holds an
/// anchor, outside an extern "C" block; includes after the last one, unless the
/// base has them. All other bytes of the base stay as they are.
std::string spliceAnchors(llvm::StringRef Base,
                          const std::vector<Anchor> &Anchors,
                          const std::vector<std::string> &Texts,
                          llvm::StringRef Declarations);
std::string spliceAnchors(const ParsedSource &Base,
                          const std::vector<Anchor> &Anchors,
                          const std::vector<std::string> &Texts,
                          llvm::StringRef Declarations);

} // namespace stark

#endif
