//===- FootprintHunks.h - The token ranges that differ --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two token lists + anchors -> hunks. First the whole text around the
/// anchors; if that differs, top-level piece by piece (functions pair by name),
/// then token by token inside a pair.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTHUNKS_H
#define STARK_LIB_AST_FOOTPRINTHUNKS_H

#include "Pieces.h"

namespace stark {

/// Token ranges of base and candidate that differ, one of which may be empty,
/// with the top-level piece of each, -1 where there is none.
struct Hunk {
  Range Base, Candidate;
  int Anchor = -1; ///< index of the anchor it lies in; -1: outside
  int BasePiece = -1, CandidatePiece = -1;
  Range AnchorText{}; ///< all of what stands for the anchor in the candidate
};

/// A base and a candidate, ready to be compared.
struct Comparison {
  const SourceTokens &Base, &Candidate;
  std::vector<Piece> BasePieces, CandidatePieces;
  std::vector<int> CandidateDepths;
  std::vector<Range> Anchors; ///< base tokens, ascending, apart

  Comparison(const SourceTokens &Base, const SourceTokens &Candidate,
             std::vector<Range> Anchors);
};

/// In the candidate's order.
std::vector<Hunk> findHunks(const Comparison &C);

} // namespace stark

#endif
