//===- AnchorTree.h - The nodes that an anchor can consist of ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> a tree of whole top-level declarations, functions and statements,
/// as token ranges of the main file. Statements end with their semicolon.
/// Directives, and text that the preprocessor skipped, are nodes between the
/// others, so that a run of siblings has no holes.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_ANCHORTREE_H
#define STARK_LIB_AST_ANCHORTREE_H

#include "Brackets.h"
#include "stark/AST/Parse.h"

namespace stark {

struct AnchorNode {
  enum KindType {
    Declaration, ///< at top level or in a class; functions as well
    Statement,
    Directive, ///< a line, with all that continues it
    Skipped,   ///< the preprocessor left it out
  };
  Range Tokens;
  KindType Kind = Statement;
  bool Pragma = false; ///< a directive that belongs to what follows it
  Conditional Branch = Conditional::None; ///< of a directive
  std::string Macro;                      ///< it is all one call of this macro
  std::vector<AnchorNode> Children; ///< ascending, apart; may leave tokens out
};

/// The root covers all tokens; its children are the top-level declarations.
AnchorNode anchorTree(const ParsedSource &Source, const SourceTokens &Tokens);

} // namespace stark

#endif
