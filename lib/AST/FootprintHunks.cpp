//===- FootprintHunks.cpp - The token ranges that differ ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintHunks.h"
#include "Brackets.h"
#include "FootprintAlign.h"
#include "FootprintHunkList.h"
#include <algorithm>
#include <map>

using namespace stark;

Comparison::Comparison(const SourceTokens &Base, const SourceTokens &Candidate,
                       std::vector<Range> Anchors)
    : Base(Base), Candidate(Candidate), BasePieces(findPieces(Base)),
      CandidatePieces(findPieces(Candidate)),
      CandidateDepths(bracketDepths(Candidate)), Anchors(std::move(Anchors)) {}

namespace {

class HunkFinder {
public:
  explicit HunkFinder(const Comparison &C) : C(C), Found(C) {}

  std::vector<Hunk> run() {
    Range WholeBase{0, C.Base.All.size()};
    Range WholeCandidate{0, C.Candidate.All.size()};
    OutsideTokens Outside(C, WholeBase);
    if (auto Match =
            alignExactlyAround(Outside.Symbols, Outside.Free,
                               spellings(WholeCandidate), C.CandidateDepths))
      Found.between(Outside, WholeBase, WholeCandidate, *Match, {});
    else
      byPieces();
    return Found.take();
  }

private:
  std::vector<uint32_t> spellings(Range Part) const {
    std::vector<uint32_t> Result;
    for (size_t I = Part.Begin; I < Part.End; ++I)
      Result.push_back(C.Candidate.All[I].Spelling);
    return Result;
  }

  /// The anchor that covers the whole of \p Tokens, or -1.
  int wholeAnchor(Range Tokens) const {
    for (size_t I = 0; I < C.Anchors.size(); ++I)
      if (C.Anchors[I].contains(Tokens))
        return int(I);
    return -1;
  }
  bool holdsAnchor(Range Tokens) const {
    for (const Range &A : C.Anchors)
      if (Tokens.contains(A))
        return true;
    return false;
  }

  static std::string key(const Piece &P) {
    return std::to_string(int(P.Kind)) + " " + P.Name;
  }

  void byPieces() {
    // A piece whose kind and name are unique on both sides is found by them,
    // any other by its text.
    std::map<std::string, std::pair<int, int>> Counts;
    for (const Piece &P : C.BasePieces)
      ++Counts[key(P)].first;
    for (const Piece &P : C.CandidatePieces)
      ++Counts[key(P)].second;
    std::map<std::string, uint32_t> Numbers;
    auto Symbol = [&](const Piece &P) {
      std::string Key = key(P);
      if (P.Name.empty() || P.Kind == PieceKind::Conditional ||
          Counts[Key] != std::pair(1, 1))
        Key = "=" + std::to_string(P.Hash);
      return Numbers.try_emplace(Key, uint32_t(Numbers.size())).first->second;
    };
    std::vector<size_t> Outside;
    std::vector<uint32_t> OutsideSymbols, CandidateSymbols;
    std::vector<bool> Free(1, false);
    std::vector<std::vector<int>> SlotAnchors(1);
    for (size_t I = 0; I < C.BasePieces.size(); ++I) {
      int Whole = wholeAnchor(C.BasePieces[I].Tokens);
      if (Whole >= 0) {
        Free.back() = true;
        if (SlotAnchors.back().empty() || SlotAnchors.back().back() != Whole)
          SlotAnchors.back().push_back(Whole);
        continue;
      }
      Outside.push_back(I);
      OutsideSymbols.push_back(Symbol(C.BasePieces[I]));
      Free.push_back(false);
      SlotAnchors.emplace_back();
    }
    for (const Piece &P : C.CandidatePieces)
      CandidateSymbols.push_back(Symbol(P));
    std::vector<int> Match =
        alignAround(OutsideSymbols, Free, CandidateSymbols);

    size_t O = 0, N = 0;
    for (size_t J = 0; J <= Match.size(); ++J) {
      bool End = J == Match.size();
      if (!End && Match[J] < 0)
        continue;
      size_t NextO = End ? Outside.size() : size_t(Match[J]);
      gap({Outside.begin() + O, Outside.begin() + NextO}, {N, J}, O, NextO,
          SlotAnchors);
      if (!End)
        pair(Outside[NextO], J);
      O = NextO + 1;
      N = J + 1;
    }
  }

  /// Base pieces \p Lost and candidate pieces [Added) between two pairs, with
  /// the anchors of whole pieces in the slots [FirstSlot, LastSlot].
  void gap(std::vector<size_t> Lost, Range Added, size_t FirstSlot,
           size_t LastSlot, const std::vector<std::vector<int>> &SlotAnchors) {
    std::vector<int> Anchors;
    for (size_t S = FirstSlot; S <= LastSlot; ++S)
      Anchors.insert(Anchors.end(), SlotAnchors[S].begin(),
                     SlotAnchors[S].end());
    size_t From = Added.Begin;
    std::vector<bool> Used(Added.size(), false);
    for (size_t L : Lost) {
      size_t Partner = partner(L, {From, Added.End});
      if (Partner == Added.End) {
        // It stood before what comes next in the candidate.
        size_t At = tokenOf(From);
        Found.add({C.BasePieces[L].Tokens, {At, At}, -1, int(L), -1, {}});
        continue;
      }
      pair(L, Partner);
      Used[Partner - Added.Begin] = true;
      From = Partner + 1;
    }
    if (!Anchors.empty() && Lost.empty()) {
      Range Old{C.Anchors[Anchors.front()].Begin,
                C.Anchors[Anchors.back()].End};
      Found.inside(Old, {tokenOf(Added.Begin), tokenOf(Added.End)},
                   Anchors.front(), {});
      return;
    }
    for (size_t A = Added.Begin; A < Added.End; ++A) {
      if (Used[A - Added.Begin])
        continue;
      const Range &New = C.CandidatePieces[A].Tokens;
      int Anchor = anchorOf(A, Anchors);
      if (Anchor < 0)
        Found.add({{LastPaired, LastPaired}, New, -1, -1, int(A), {}});
      else if (!unchanged(A, Anchors))
        Found.add({C.Anchors[Anchor], New, Anchor, -1, int(A),
                   anchorText(Added, Used, A)});
    }
  }

  /// Which of \p Anchors holds a base piece of the same kind and name, or -1.
  int anchorOf(size_t CandidatePiece, const std::vector<int> &Anchors) const {
    const Piece &New = C.CandidatePieces[CandidatePiece];
    for (const Piece &Old : C.BasePieces)
      if (key(Old) == key(New))
        for (int A : Anchors)
          if (C.Anchors[A].contains(Old.Tokens))
            return A;
    return -1;
  }

  /// Whether a piece stands in one of \p Anchors as it did before.
  bool unchanged(size_t CandidatePiece, const std::vector<int> &Anchors) const {
    const Piece &New = C.CandidatePieces[CandidatePiece];
    for (const Piece &Old : C.BasePieces)
      if (Old.Hash == New.Hash && Old.Tokens.size() == New.Tokens.size())
        for (int A : Anchors)
          if (C.Anchors[A].contains(Old.Tokens))
            return true;
    return false;
  }

  /// The tokens of the run of unpaired pieces that \p At is one of.
  Range anchorText(Range Added, const std::vector<bool> &Used,
                   size_t At) const {
    size_t First = At, Last = At;
    while (First > Added.Begin && !Used[First - 1 - Added.Begin])
      --First;
    while (Last + 1 < Added.End && !Used[Last + 1 - Added.Begin])
      ++Last;
    return {C.CandidatePieces[First].Tokens.Begin,
            C.CandidatePieces[Last].Tokens.End};
  }

  /// Where a candidate's piece begins, or all of them end.
  size_t tokenOf(size_t CandidatePiece) const {
    return CandidatePiece < C.CandidatePieces.size()
               ? C.CandidatePieces[CandidatePiece].Tokens.Begin
               : C.Candidate.All.size();
  }

  /// Which piece of \p Among base piece \p Lost became; Among.End if none.
  size_t partner(size_t Lost, Range Among) const {
    const Piece &L = C.BasePieces[Lost];
    size_t Best = Among.End;
    double BestLikeness = 0;
    for (size_t A = Among.Begin; A < Among.End; ++A) {
      const Piece &Other = C.CandidatePieces[A];
      if (Other.Kind != L.Kind)
        continue;
      bool SameName = !L.Name.empty() && Other.Name == L.Name;
      double Likeness = likeness(L.Tokens, Other.Tokens) + (SameName ? 1 : 0);
      double Wanted = SameName ? 0 : holdsAnchor(L.Tokens) ? 0.4 : 0.6;
      if (Likeness > Wanted && Likeness > BestLikeness) {
        Best = A;
        BestLikeness = Likeness;
      }
    }
    return Best;
  }

  /// The share of tokens that both have, 0 to 1.
  double likeness(Range B, Range A) const {
    std::map<uint32_t, int> Count;
    for (size_t I = B.Begin; I < B.End; ++I)
      ++Count[C.Base.All[I].Spelling];
    size_t Common = 0;
    for (size_t I = A.Begin; I < A.End; ++I)
      Common += Count[C.Candidate.All[I].Spelling]-- > 0;
    return 2.0 * Common / (B.size() + A.size());
  }

  void pair(size_t BasePiece, size_t CandidatePiece) {
    const Piece &B = C.BasePieces[BasePiece];
    const Piece &A = C.CandidatePieces[CandidatePiece];
    LastPaired = B.Tokens.End;
    if (B.Hash == A.Hash && B.Tokens.size() == A.Tokens.size())
      return;
    OutsideTokens Outside(C, B.Tokens);
    llvm::ArrayRef<int> Depths(C.CandidateDepths);
    std::vector<int> Match =
        alignAround(Outside.Symbols, Outside.Free, spellings(A.Tokens),
                    Depths.slice(A.Tokens.Begin, A.Tokens.size() + 1));
    Found.between(Outside, B.Tokens, A.Tokens, Match,
                  {int(BasePiece), int(CandidatePiece)});
  }

  const Comparison &C;
  HunkList Found;
  size_t LastPaired = 0;
};
} // namespace

std::vector<Hunk> stark::findHunks(const Comparison &C) {
  return HunkFinder(C).run();
}
