//===- FootprintHunks.cpp - The token ranges that differ ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintHunks.h"
#include "Brackets.h"
#include "FootprintAlign.h"
#include <algorithm>
#include <map>

using namespace stark;

Comparison::Comparison(const SourceTokens &Base, const SourceTokens &Candidate,
                       std::vector<Range> Anchors)
    : Base(Base), Candidate(Candidate), BasePieces(findPieces(Base)),
      CandidatePieces(findPieces(Candidate)),
      CandidateDepths(bracketDepths(Candidate)), Anchors(std::move(Anchors)) {}

namespace {

/// The base's tokens outside the anchors, and the anchors between them.
struct OutsideTokens {
  std::vector<size_t> Tokens;    ///< their indices in the base
  std::vector<uint32_t> Symbols; ///< their spellings
  std::vector<bool> Free;        ///< an anchor stands before Tokens[i]
  std::map<size_t, std::vector<int>> Slots; ///< which

  OutsideTokens(const Comparison &C, Range Part) {
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
};

class HunkFinder {
public:
  explicit HunkFinder(const Comparison &C) : C(C) {}

  std::vector<Hunk> run() {
    Range WholeBase{0, C.Base.All.size()};
    Range WholeCandidate{0, C.Candidate.All.size()};
    OutsideTokens Outside(C, WholeBase);
    if (auto Match =
            alignExactlyAround(Outside.Symbols, Outside.Free,
                               spellings(WholeCandidate), C.CandidateDepths))
      emit(Outside, WholeBase, WholeCandidate, *Match, -1, -1);
    else
      byPieces();
    std::stable_sort(Hunks.begin(), Hunks.end(),
                     [](const Hunk &A, const Hunk &B) {
                       return A.Candidate.Begin < B.Candidate.Begin;
                     });
    return std::move(Hunks);
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
        Hunks.push_back({C.BasePieces[L].Tokens, {At, At}, -1, int(L), -1, {}});
        continue;
      }
      pair(L, Partner);
      Used[Partner - Added.Begin] = true;
      From = Partner + 1;
    }
    if (!Anchors.empty() && Lost.empty()) {
      Range Old{C.Anchors[Anchors.front()].Begin,
                C.Anchors[Anchors.back()].End};
      inside(Old, {tokenOf(Added.Begin), tokenOf(Added.End)}, Anchors.front(),
             -1, -1);
      return;
    }
    for (size_t A = Added.Begin; A < Added.End; ++A) {
      if (Used[A - Added.Begin])
        continue;
      const Range &New = C.CandidatePieces[A].Tokens;
      int Anchor = anchorOf(A, Anchors);
      if (Anchor < 0)
        Hunks.push_back({{LastPaired, LastPaired}, New, -1, -1, int(A), {}});
      else if (!unchanged(A, Anchors))
        Hunks.push_back({C.Anchors[Anchor], New, Anchor, -1, int(A),
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
    emit(Outside, B.Tokens, A.Tokens, Match, int(BasePiece),
         int(CandidatePiece));
  }

  /// The hunks between partners.
  void emit(const OutsideTokens &Outside, Range BasePart, Range CandidatePart,
            const std::vector<int> &Match, int BasePiece, int CandidatePiece) {
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
          add({BaseToken(From), BaseToken(S->first - 1) + 1},
              {New.Begin, New.Begin}, BasePiece, CandidatePiece);
        From = S->first;
        Range Old{C.Anchors[S->second.front()].Begin,
                  C.Anchors[S->second.back()].End};
        inside(Old, New, S->second.front(), BasePiece, CandidatePiece);
        New.Begin = New.End;
      }
      if (From < NextO)
        add({BaseToken(From), BaseToken(NextO - 1) + 1}, New, BasePiece,
            CandidatePiece);
      else if (New.size() > 0)
        add({BaseToken(From), BaseToken(From)}, New, BasePiece, CandidatePiece);
      O = NextO + 1;
      N = J + 1;
    }
  }

  /// What differs of an anchor's text: less its equal ends.
  void inside(Range Old, Range New, int Anchor, int BasePiece,
              int CandidatePiece) {
    Range AnchorText = New;
    auto Same = [&](size_t B, size_t A) {
      return C.Base.All[B].Spelling == C.Candidate.All[A].Spelling;
    };
    while (Old.size() && New.size() && Same(Old.Begin, New.Begin))
      ++Old.Begin, ++New.Begin;
    while (Old.size() && New.size() && Same(Old.End - 1, New.End - 1))
      --Old.End, --New.End;
    if (Old.size() || New.size())
      Hunks.push_back(
          {Old, New, Anchor, BasePiece, CandidatePiece, AnchorText});
  }

  /// A hunk outside. One that only adds, or only takes away, often fits in
  /// several places; people read it best as whole lines.
  void add(Range Old, Range New, int BasePiece, int CandidatePiece) {
    if (Old.size() == 0)
      slide(C.Candidate, New, Old, [&](size_t A, size_t B) {
        return A < Partner.size() && Partner[A] == long(B);
      });
    else if (New.size() == 0)
      slide(C.Base, Old, New, [&](size_t B, size_t A) {
        return A < Partner.size() && Partner[A] == long(B);
      });
    Hunks.push_back({Old, New, -1, BasePiece, CandidatePiece, {}});
  }

  /// Moves \p Full, tokens of \p T, up or down past equal tokens to where it is
  /// whole lines, and \p Empty, its place on the other side, along. \p Paired
  /// says that a token of T and one of the other side are partners.
  template <class PairedFn>
  void slide(const SourceTokens &T, Range &Full, Range &Empty,
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
        if (Up ? F.Begin == 0 || E.Begin == 0 ||
                     !Same(F.Begin - 1, F.End - 1) ||
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

  const Comparison &C;
  std::vector<Hunk> Hunks;
  std::vector<long> Partner; ///< base token of each candidate token, or -1
  size_t LastPaired = 0;
};
} // namespace

std::vector<Hunk> stark::findHunks(const Comparison &C) {
  return HunkFinder(C).run();
}
