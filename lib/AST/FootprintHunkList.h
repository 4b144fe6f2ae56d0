//===- FootprintHunkList.h - What stands between partners ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   aligned tokens -> hunks: what lies between two tokens that are partners,
/// parted at the anchors, and moved to whole lines where it fits in several
/// places.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTHUNKLIST_H
#define STARK_LIB_AST_FOOTPRINTHUNKLIST_H

#include "FootprintHunks.h"
#include <map>

namespace stark {

/// The base's tokens outside the anchors, and the anchors between them.
struct OutsideTokens {
  std::vector<size_t> Tokens;    ///< their indices in the base
  std::vector<uint32_t> Symbols; ///< their spellings
  std::vector<bool> Free;        ///< an anchor stands before Tokens[i]
  std::map<size_t, std::vector<int>> Slots; ///< which

  OutsideTokens(const Comparison &C, Range Part);
};

/// The top-level pieces that two token ranges are, or -1.
struct PiecePair {
  int Base = -1, Candidate = -1;
};

class HunkList {
public:
  explicit HunkList(const Comparison &C) : C(C) {}

  /// The hunks of \p CandidatePart, whose tokens have \p Match of \p Outside as
  /// partners.
  void between(const OutsideTokens &Outside, Range BasePart,
               Range CandidatePart, const std::vector<int> &Match,
               PiecePair Of);
  /// What differs of an anchor's text: less its equal ends.
  void inside(Range Old, Range New, int Anchor, PiecePair Of);
  void add(Hunk H) { Hunks.push_back(std::move(H)); }
  /// In the candidate's order.
  std::vector<Hunk> take();

private:
  void outside(Range Old, Range New, PiecePair Of);
  template <class PairedFn>
  void slide(const SourceTokens &T, Range &Full, Range &Empty,
             PairedFn Paired) const;
  bool arePartners(size_t CandidateToken, size_t BaseToken) const {
    return CandidateToken < Partner.size() &&
           Partner[CandidateToken] == long(BaseToken);
  }

  const Comparison &C;
  std::vector<Hunk> Hunks;
  std::vector<long> Partner; ///< base token of each candidate token, or -1
};

} // namespace stark

#endif
