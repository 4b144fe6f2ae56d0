//===- FootprintHunkList.cpp - What stands between partners --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintHunkList.h"
#include <algorithm>

using namespace stark;

OutsideTokens::OutsideTokens(const Comparison &C, Range Part) {
  size_t Next = 0;
  while (Next < C.Anchors.size() && C.Anchors[Next].End <= Part.Begin &&
         C.Anchors[Next].size() > 0)
    ++Next;
  for (size_t I = Part.Begin; I < Part.End;) {
    if (Next < C.Anchors.size() && C.Anchors[Next].Begin <= I) {
      Slots[Tokens.size()].push_back(int(Next));
      I = std::max(I, C.Anchors[Next++].End);
      continue;
    }
    Tokens.push_back(I);
    Symbols.push_back(C.Base.All[I++].Spelling);
  }
  Free.resize(Tokens.size() + 1, false);
  for (auto &[Slot, Which] : Slots)
    Free[Slot] = true;
}

void HunkList::between(const OutsideTokens &Outside, Range BasePart,
                       Range CandidatePart, const std::vector<int> &Match,
                       PiecePair Of) {
  size_t O = 0, N = 0;
  Partner.resize(C.Candidate.All.size(), -1);
  for (size_t J = 0; J < Match.size(); ++J)
    if (Match[J] >= 0)
      Partner[CandidatePart.Begin + J] = long(Outside.Tokens[Match[J]]);
  auto BaseToken = [&](size_t I) {
    return I < Outside.Tokens.size() ? Outside.Tokens[I] : BasePart.End;
  };
  for (size_t J = 0; J <= Match.size(); ++J) {
    bool End = J == Match.size();
    if (!End && Match[J] < 0)
      continue;
    size_t NextO = End ? Outside.Tokens.size() : size_t(Match[J]);
    Range New{CandidatePart.Begin + N, CandidatePart.Begin + J};
    size_t From = O;
    for (auto S = Outside.Slots.lower_bound(O);
         S != Outside.Slots.end() && S->first <= NextO; ++S) {
      if (From < S->first)
        outside({BaseToken(From), BaseToken(S->first - 1) + 1},
                {New.Begin, New.Begin}, Of);
      From = S->first;
      Range Old{C.Anchors[S->second.front()].Begin,
                C.Anchors[S->second.back()].End};
      inside(Old, New, S->second.front(), Of);
      New.Begin = New.End;
    }
    if (From < NextO)
      outside({BaseToken(From), BaseToken(NextO - 1) + 1}, New, Of);
    else if (New.size() > 0)
      outside({BaseToken(From), BaseToken(From)}, New, Of);
    O = NextO + 1;
    N = J + 1;
  }
}

void HunkList::inside(Range Old, Range New, int Anchor, PiecePair Of) {
  Range AnchorText = New;
  auto Same = [&](size_t B, size_t A) {
    return C.Base.All[B].Spelling == C.Candidate.All[A].Spelling;
  };
  while (Old.size() && New.size() && Same(Old.Begin, New.Begin))
    ++Old.Begin, ++New.Begin;
  while (Old.size() && New.size() && Same(Old.End - 1, New.End - 1))
    --Old.End, --New.End;
  if (Old.size() || New.size())
    Hunks.push_back({Old, New, Anchor, Of.Base, Of.Candidate, AnchorText});
}

/// Moves \p Full, tokens of \p T, up or down past equal tokens to where it is
/// whole lines, and \p Empty, its place on the other side, along. \p Paired
/// says that a token of T and one of the other side are partners.
template <class PairedFn>
void HunkList::slide(const SourceTokens &T, Range &Full, Range &Empty,
                     PairedFn Paired) const {
  auto WholeLines = [&](const Range &R) {
    return T.All[R.Begin].StartsLine &&
           (R.End == T.All.size() || T.All[R.End].StartsLine);
  };
  auto Same = [&](size_t A, size_t B) {
    return T.All[A].Spelling == T.All[B].Spelling;
  };
  for (bool Up : {true, false}) {
    Range F = Full, E = Empty;
    while (!WholeLines(F)) {
      size_t Step = Up ? -1 : 1;
      if (Up ? F.Begin == 0 || E.Begin == 0 || !Same(F.Begin - 1, F.End - 1) ||
                   !Paired(F.Begin - 1, E.Begin - 1)
             : F.End == T.All.size() || !Same(F.Begin, F.End) ||
                   !Paired(F.End, E.Begin))
        break;
      F = {F.Begin + Step, F.End + Step};
      E = {E.Begin + Step, E.End + Step};
    }
    if (!WholeLines(F))
      continue;
    Full = F;
    Empty = E;
    return;
  }
}

/// A hunk outside. One that only adds, or only takes away, often fits in
/// several places; people read it best as whole lines.
void HunkList::outside(Range Old, Range New, PiecePair Of) {
  if (Old.size() == 0)
    slide(C.Candidate, New, Old,
          [&](size_t A, size_t B) { return arePartners(A, B); });
  else if (New.size() == 0)
    slide(C.Base, Old, New,
          [&](size_t B, size_t A) { return arePartners(A, B); });
  add({Old, New, -1, Of.Base, Of.Candidate, {}});
}

std::vector<Hunk> HunkList::take() {
  std::stable_sort(Hunks.begin(), Hunks.end(),
                   [](const Hunk &A, const Hunk &B) {
                     return A.Candidate.Begin < B.Candidate.Begin;
                   });
  return std::move(Hunks);
}
