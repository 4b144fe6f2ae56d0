//===- Footprint.h - What a candidate changed, and whether it was told to ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The footprint of a candidate is every token range that differs from its
/// base, each inside an anchor, supporting one, or outside.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_FOOTPRINT_H
#define STARK_AST_FOOTPRINT_H

#include "stark/AST/Anchor.h"

namespace stark {

/// How strictly a candidate is held to its anchors.
enum class Grounding {
  Strict,  ///< every change lies inside an anchor
  Support, ///< and new top-level declarations, includes, launches of anchored
           ///< kernels
  Off,     ///< anything
};
llvm::Expected<Grounding> parseGrounding(llvm::StringRef Name);
llvm::StringRef groundingName(Grounding G);

enum class ChangeClass { Inside, Supporting, Outside };

struct Change {
  Range Base, Candidate; ///< byte ranges; one may be empty
  unsigned BaseLine = 0, BaseEndLine = 0;
  unsigned CandidateLine = 0, CandidateEndLine = 0;
  ChangeClass Class = ChangeClass::Outside;
  std::string Why;  ///< "inside anchor 1", "new top-level function f", ...
  std::string Text; ///< the first line of it, before and after, for messages
};

struct Footprint {
  std::vector<Change> Changes; ///< in source order; empty: same tokens
  bool grounded(Grounding G) const;
  /// One line a change that \p G does not allow: "line 14 is changed, but no
  /// anchor covers it". Empty when grounded.
  std::vector<std::string> complaints(Grounding G) const;
  void print(llvm::raw_ostream &OS) const;
};

/// Compares token by token; white space and comments do not count.
Footprint findFootprint(const ParsedSource &Base, const Sites &BaseSites,
                        const std::vector<Anchor> &Anchors,
                        const ParsedSource &Candidate);

/// The same from texts alone: no AST of the candidate is needed. Not more than
/// about 100 ms for 5,000 lines, whatever changed.
Footprint findFootprint(llvm::StringRef Base,
                        const std::vector<Anchor> &Anchors,
                        llvm::StringRef Candidate);

/// A digest of the tokens of \p Text: equal for two texts that differ only in
/// white space and comments.
std::string tokenDigest(llvm::StringRef Text);

} // namespace stark

#endif
