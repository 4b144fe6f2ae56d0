//===- PieceKind.h - What stands at the top level of a source ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What kinds of top-level pieces a source's tokens fall into.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_PIECEKIND_H
#define STARK_AST_PIECEKIND_H

#include "llvm/ADT/StringRef.h"

namespace stark {

enum class PieceKind {
  Include,
  Define,
  Pragma,
  Conditional, ///< #if, #else, #endif, ...
  Directive,   ///< any other
  Open,        ///< namespace N {   or   extern "C" {
  Close,       ///< its }
  Function,
  FunctionDeclaration,
  Type,
  Variable,
  Using, ///< using, typedef, static_assert
  Other,
};

/// As messages call it before its name: "declaration of function".
llvm::StringRef pieceKindName(PieceKind Kind);

} // namespace stark

#endif
