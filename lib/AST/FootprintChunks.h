//===- FootprintChunks.h - A source's top-level pieces, by tokens ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tokens -> directives, functions, types, ... at namespace level. From
///   tokens
/// alone, so that a candidate which Clang cannot make sense of has a footprint
/// too. Namespaces and extern "C" blocks are looked into: their opening and
/// closing are pieces of their own.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTCHUNKS_H
#define STARK_LIB_AST_FOOTPRINTCHUNKS_H

#include "SourceTokens.h"

namespace stark {

enum class ChunkKind {
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
llvm::StringRef chunkKindName(ChunkKind Kind);

struct Chunk {
  Range Tokens;
  ChunkKind Kind = ChunkKind::Other;
  std::string Name;  ///< may be empty
  uint64_t Hash = 0; ///< of its tokens
};

/// Covers every token, in order.
std::vector<Chunk> findChunks(const SourceTokens &Tokens);

/// Bracket depth before each token, one more than there are tokens; each
/// branch of an #if counts from the depth at the #if.
std::vector<int> bracketDepths(const SourceTokens &Tokens);

} // namespace stark

#endif
