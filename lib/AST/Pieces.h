//===- Pieces.h - A source's top-level pieces, by tokens -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tokens -> directives, functions, types, ... at namespace level. From
/// tokens alone, so that a candidate which Clang cannot make sense of has them
/// too. Namespaces and extern "C" blocks are looked into: their opening and
/// closing are pieces of their own. Contracts, anchors, footprints and splices
/// are all told in these pieces.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_PIECES_H
#define STARK_LIB_AST_PIECES_H

#include "SourceTokens.h"
#include "stark/AST/PieceKind.h"

namespace stark {

struct Piece {
  Range Tokens;
  PieceKind Kind = PieceKind::Other;
  std::string Name;  ///< may be empty
  uint64_t Hash = 0; ///< of its tokens
};

/// Covers every token, in order.
std::vector<Piece> findPieces(const SourceTokens &Tokens);

/// The name that a declaration of \p Kind with the tokens \p Declaration,
/// template headers left out, declares; may be empty.
std::string declaredName(const SourceTokens &Tokens, PieceKind Kind,
                         Range Declaration);

} // namespace stark

#endif
