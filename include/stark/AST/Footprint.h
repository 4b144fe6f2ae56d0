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
#include "stark/AST/PieceKind.h"

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
llvm::StringRef changeClassName(ChangeClass C);

/// Why a change is of its class; docs/grounding.md states the rules.
struct ChangeReason {
  enum KindType {
    InAnchor, ///< inside: the anchor of number Anchor
    // Supporting.
    NewPiece,            ///< at top level
    AnchoredDeclaration, ///< of function Name, which is anchored as a whole
    AnchoredLaunch,      ///< in function Name
    // Outside.
    Elsewhere,        ///< in the piece called Name, if any
    RemovedPiece,     ///< from the top level
    AroundOld,        ///< a new Piece around what was there before
    NewOverload,      ///< or specialisation of Name, which holds no anchor
    NewDirective,     ///< of another kind than those that support
    UnbalancedPiece,  ///< a new one
    UnbalancedMacro,  ///< Name
    Redefinition,     ///< of macro Name, which line BaseLine uses
    UnbalancedAnchor, ///< this and those below: what stands for Anchor
    EmptyAnchor,
    UnfinishedAnchor,
    OpenDo,
    TakesElse,
    NoSemicolon,
  };
  KindType Kind = Elsewhere;
  unsigned Anchor = 0; ///< from 1
  PieceKind Piece = PieceKind::Other;
  std::string Name{};
  unsigned BaseLine = 0;

  ChangeClass changeClass() const;
  std::string str() const; ///< "inside anchor 1", "new top-level function 'f'"
  bool operator==(const ChangeReason &) const = default;
};

struct Change {
  Range Base, Candidate; ///< byte ranges; one may be empty
  unsigned BaseLine = 0, BaseEndLine = 0;
  unsigned CandidateLine = 0, CandidateEndLine = 0;
  ChangeReason Why;
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

/// Compares two texts token by token; white space and comments do not count.
/// No AST is asked, so a candidate that does not compile has a footprint too.
/// Not more than about 100 ms for 5,000 lines, whatever changed.
Footprint findFootprint(llvm::StringRef Base,
                        const std::vector<Anchor> &Anchors,
                        llvm::StringRef Candidate);

/// A digest of the tokens of \p Text: equal for two texts that differ only in
/// white space and comments.
std::string tokenDigest(llvm::StringRef Text);

} // namespace stark

#endif
