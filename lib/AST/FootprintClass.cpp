//===- FootprintClass.cpp - Whether a change supports an anchor ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintClass.h"
#include "FootprintBreakout.h"
#include "FootprintLaunch.h"

using namespace stark;

ChangeClassifier::ChangeClassifier(const Comparison &C,
                                   const std::vector<Hunk> &Hunks)
    : C(C), Hunks(Hunks) {
  findNames();
}

static bool declaresFunction(const Piece &P) {
  return P.Kind == PieceKind::Function ||
         P.Kind == PieceKind::FunctionDeclaration;
}

void ChangeClassifier::findNames() {
  for (const Piece &P : C.BasePieces) {
    if (!declaresFunction(P))
      continue;
    BaseFunctions.insert(P.Name);
    if (P.Kind != PieceKind::Function)
      continue;
    for (const Range &A : C.Anchors) {
      if (A.overlaps(P.Tokens))
        AnchoredFunctions.insert(P.Name);
      if (A.contains(P.Tokens))
        WhollyAnchored.insert(P.Name);
    }
  }
  for (const Piece &P : C.CandidatePieces)
    if (declaresFunction(P) && !BaseFunctions.count(P.Name))
      for (size_t I = P.Tokens.Begin; I < P.Tokens.End; ++I)
        if (C.Candidate.is(I, "__global__"))
          NewKernels.insert(P.Name);
}

static ChangeReason named(ChangeReason::KindType Kind, const Piece &P) {
  return {Kind, 0, P.Kind, P.Name};
}

ChangeReason ChangeClassifier::reasonFor(const Hunk &H) const {
  if (H.Anchor >= 0)
    return {ChangeReason::InAnchor, unsigned(H.Anchor) + 1};
  if (H.BasePiece < 0)
    return reasonForNew(H);
  const Piece &Old = C.BasePieces[H.BasePiece];
  if (Old.Kind == PieceKind::FunctionDeclaration &&
      WhollyAnchored.count(Old.Name))
    return named(ChangeReason::AnchoredDeclaration, Old);
  if (H.CandidatePiece < 0)
    return named(ChangeReason::RemovedPiece, Old);
  if (isLaunch(H))
    return named(ChangeReason::AnchoredLaunch, Old);
  return Old.Name.empty() ? ChangeReason()
                          : named(ChangeReason::Elsewhere, Old);
}

/// The candidate's tokens around \p H that are all new at top level.
Range ChangeClassifier::newRun(const Hunk &H) const {
  Range Run = H.Candidate;
  for (bool Grown = true; Grown;) {
    Grown = false;
    for (const Hunk &Other : Hunks) {
      if (Other.Anchor >= 0 || Other.BasePiece >= 0)
        continue;
      if (Other.Candidate.End == Run.Begin && Other.Candidate.size()) {
        Run.Begin = Other.Candidate.Begin;
        Grown = true;
      } else if (Other.Candidate.Begin == Run.End && Other.Candidate.size()) {
        Run.End = Other.Candidate.End;
        Grown = true;
      }
    }
  }
  return Run;
}

ChangeReason ChangeClassifier::reasonForNew(const Hunk &H) const {
  const Piece &New = C.CandidatePieces[H.CandidatePiece];
  switch (New.Kind) {
  case PieceKind::Open:
  case PieceKind::Close:
  case PieceKind::Conditional:
    // Fine around new declarations, not around what was there before.
    return named(isBalanced(C, newRun(H)) ? ChangeReason::NewPiece
                                          : ChangeReason::AroundOld,
                 New);
  case PieceKind::Function:
  case PieceKind::FunctionDeclaration:
    if (BaseFunctions.count(New.Name) && !AnchoredFunctions.count(New.Name))
      return named(ChangeReason::NewOverload, New);
    break;
  case PieceKind::Directive:
    return {ChangeReason::NewDirective};
  default:
    break;
  }
  if (!isBalanced(C, H.Candidate))
    return {ChangeReason::UnbalancedPiece};
  return named(ChangeReason::NewPiece, New);
}

bool ChangeClassifier::isLaunch(const Hunk &H) const {
  const Piece &Old = C.BasePieces[H.BasePiece];
  const Piece &New = C.CandidatePieces[H.CandidatePiece];
  if (Old.Kind != PieceKind::Function || New.Kind != PieceKind::Function)
    return false;
  auto [At, First] = Launches.try_emplace({H.BasePiece, H.CandidatePiece});
  LaunchPair &L = At->second;
  if (First) {
    L.Base = launchTokens(C.Base, Old.Tokens, AnchoredFunctions);
    std::set<std::string> Kernels = AnchoredFunctions;
    Kernels.insert(NewKernels.begin(), NewKernels.end());
    if (!L.Base.empty())
      L.Candidate = launchTokens(C.Candidate, New.Tokens, Kernels);
  }
  if (L.Base.empty() || L.Candidate.empty())
    return false;
  auto All = [](const std::vector<bool> &Related, Range Part, size_t Origin) {
    for (size_t I = Part.Begin; I < Part.End; ++I)
      if (!Related[I - Origin])
        return false;
    return true;
  };
  return All(L.Base, H.Base, Old.Tokens.Begin) &&
         All(L.Candidate, H.Candidate, New.Tokens.Begin);
}

Change ChangeClassifier::outsideChange(Range Tokens, size_t BaseToken,
                                       ChangeReason Why) const {
  Change New;
  const SourceTokens &T = C.Candidate;
  New.Candidate = T.bytes(Tokens);
  New.CandidateLine = T.line(New.Candidate.Begin);
  New.CandidateEndLine = T.line(New.Candidate.End);
  if (BaseToken < C.Base.All.size())
    New.Base = C.Base.All[BaseToken].Bytes;
  New.BaseLine = C.Base.line(New.Base.Begin);
  New.Why = std::move(Why);
  return New;
}

/// A bracket in a macro is seen by nobody who counts them.
bool ChangeClassifier::balancedMacro(size_t Hash) const {
  int Braces = 0, Parens = 0;
  for (size_t I = Hash; C.Candidate.All[I].Kind != SourceToken::EndOfDirective;
       ++I) {
    llvm::StringRef T = C.Candidate.text(I);
    Braces += T == "{" || T == "[" ? 1 : T == "}" || T == "]" ? -1 : 0;
    Parens += T == "(" || T == "<parameters>(" ? 1 : T == ")" ? -1 : 0;
    if (Braces < 0 || Parens < 0)
      return false;
  }
  return Braces == 0 && Parens == 0;
}

std::vector<Change> ChangeClassifier::redefinitions() const {
  std::map<uint32_t, size_t> Used; // words outside the anchors -> first token
  size_t Next = 0;
  for (size_t I = 0; I < C.Base.All.size(); ++I) {
    while (Next < C.Anchors.size() && C.Anchors[Next].End <= I)
      ++Next;
    bool Anchored = Next < C.Anchors.size() && C.Anchors[Next].Begin <= I;
    if (!Anchored && C.Base.All[I].Kind == SourceToken::Word)
      Used.try_emplace(C.Base.All[I].Spelling, I);
  }
  std::vector<Change> Result;
  for (const Hunk &H : Hunks)
    for (size_t I = H.Candidate.Begin; I + 2 < H.Candidate.End; ++I) {
      const SourceToken &T = C.Candidate.All[I];
      if (!T.InDirective || !T.StartsLine || !C.Candidate.is(I, "#") ||
          (!C.Candidate.is(I + 1, "define") && !C.Candidate.is(I + 1, "undef")))
        continue;
      ChangeReason Why{ChangeReason::UnbalancedMacro, 0, PieceKind::Define,
                       C.Candidate.text(I + 2).str()};
      if (!balancedMacro(I))
        Result.push_back(outsideChange({I, I + 3}, C.Base.All.size(), Why));
      auto It = Used.find(C.Candidate.All[I + 2].Spelling);
      if (It == Used.end())
        continue;
      Why.Kind = ChangeReason::Redefinition;
      Why.BaseLine = C.Base.line(C.Base.All[It->second].Bytes.Begin);
      Result.push_back(outsideChange({I, I + 3}, It->second, Why));
    }
  return Result;
}

std::vector<Change> ChangeClassifier::breakouts() const {
  std::vector<Change> Result;
  for (const Hunk &H : Hunks)
    if (H.Anchor >= 0)
      if (std::optional<ChangeReason::KindType> How = breakout(C, H))
        Result.push_back(outsideChange(H.AnchorText, C.Anchors[H.Anchor].Begin,
                                       {*How, unsigned(H.Anchor) + 1}));
  return Result;
}
