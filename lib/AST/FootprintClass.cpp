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

static bool isFunction(const Chunk &Piece) {
  return Piece.Kind == ChunkKind::Function ||
         Piece.Kind == ChunkKind::FunctionDeclaration;
}

void ChangeClassifier::findNames() {
  for (const Chunk &Piece : C.BaseChunks) {
    if (!isFunction(Piece))
      continue;
    BaseFunctions.insert(Piece.Name);
    if (Piece.Kind != ChunkKind::Function)
      continue;
    for (const Range &A : C.Anchors) {
      if (A.overlaps(Piece.Tokens))
        AnchoredFunctions.insert(Piece.Name);
      if (A.contains(Piece.Tokens))
        WhollyAnchored.insert(Piece.Name);
    }
  }
  for (const Chunk &Piece : C.CandidateChunks)
    if (isFunction(Piece) && !BaseFunctions.count(Piece.Name))
      for (size_t I = Piece.Tokens.Begin; I < Piece.Tokens.End; ++I)
        if (C.Candidate.is(I, "__global__"))
          NewKernels.insert(Piece.Name);
}

static std::string inQuotes(llvm::StringRef Name) {
  return ("'" + Name + "'").str();
}

void ChangeClassifier::classify(const Hunk &H, Change &Out) const {
  if (H.Anchor >= 0) {
    Out.Class = ChangeClass::Inside;
    Out.Why = "inside anchor " + std::to_string(H.Anchor + 1);
    return;
  }
  if (H.BaseChunk < 0)
    return classifyNew(H, Out);
  const Chunk &Old = C.BaseChunks[H.BaseChunk];
  Out.Class = ChangeClass::Outside;
  bool Declares = Old.Kind == ChunkKind::FunctionDeclaration &&
                  WhollyAnchored.count(Old.Name);
  if (Declares) {
    Out.Class = ChangeClass::Supporting;
    Out.Why = "declaration of anchored function " + inQuotes(Old.Name);
  } else if (H.CandidateChunk < 0) {
    Out.Why =
        ("removes " + chunkKindName(Old.Kind) + " " + inQuotes(Old.Name)).str();
  } else if (isLaunch(H)) {
    Out.Class = ChangeClass::Supporting;
    Out.Why = "launch of an anchored kernel in " + inQuotes(Old.Name);
  } else {
    Out.Why = Old.Name.empty()
                  ? "outside every anchor"
                  : ("in " + chunkKindName(Old.Kind) + " " + inQuotes(Old.Name))
                        .str();
  }
}

void ChangeClassifier::classifyNew(const Hunk &H, Change &Out) const {
  const Chunk &New = C.CandidateChunks[H.CandidateChunk];
  Out.Class = ChangeClass::Supporting;
  Out.Why = ("new top-level " + chunkKindName(New.Kind) +
             (New.Name.empty() ? "" : " " + inQuotes(New.Name)))
                .str();
  auto Refuse = [&](llvm::Twine Why) {
    Out.Class = ChangeClass::Outside;
    Out.Why = Why.str();
  };
  switch (New.Kind) {
  case ChunkKind::Open:
  case ChunkKind::Close:
  case ChunkKind::Conditional: {
    // Fine around new declarations, not around what was there before.
    Range Run = H.Candidate;
    auto Extend = [&](bool Forward) {
      for (bool Grown = true; Grown;) {
        Grown = false;
        for (const Hunk &Other : Hunks)
          if (Other.Anchor < 0 && Other.BaseChunk < 0 &&
              (Forward ? Other.Candidate.Begin == Run.End
                       : Other.Candidate.End == Run.Begin)) {
            (Forward ? Run.End : Run.Begin) =
                Forward ? Other.Candidate.End : Other.Candidate.Begin;
            Grown = true;
          }
      }
    };
    Extend(false);
    Extend(true);
    if (!isBalanced(C, Run))
      Refuse("a new " + chunkKindName(New.Kind) +
             " around what was there before");
    return;
  }
  case ChunkKind::Function:
  case ChunkKind::FunctionDeclaration:
    if (BaseFunctions.count(New.Name) && !AnchoredFunctions.count(New.Name))
      return Refuse("a new overload or specialisation of " +
                    inQuotes(New.Name) + ", which holds no anchor");
    break;
  case ChunkKind::Directive:
    return Refuse("a new directive");
  default:
    break;
  }
  if (!isBalanced(C, H.Candidate))
    Refuse("brackets that do not match");
}

bool ChangeClassifier::isLaunch(const Hunk &H) const {
  const Chunk &Old = C.BaseChunks[H.BaseChunk];
  const Chunk &New = C.CandidateChunks[H.CandidateChunk];
  if (Old.Kind != ChunkKind::Function || New.Kind != ChunkKind::Function)
    return false;
  auto [At, First] = Launches.try_emplace({H.BaseChunk, H.CandidateChunk});
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
                                       std::string Why) const {
  Change New;
  const SourceTokens &T = C.Candidate;
  if (Tokens.size() == 0 && Tokens.Begin > 0)
    New.Candidate.Begin = New.Candidate.End = T.All[Tokens.Begin - 1].Bytes.End;
  if (Tokens.size())
    New.Candidate = {T.All[Tokens.Begin].Bytes.Begin,
                     T.All[Tokens.End - 1].Bytes.End};
  New.CandidateLine = T.line(New.Candidate.Begin);
  New.CandidateEndLine = T.line(New.Candidate.End);
  if (BaseToken < C.Base.All.size())
    New.Base = C.Base.All[BaseToken].Bytes;
  New.BaseLine = C.Base.line(New.Base.Begin);
  New.Class = ChangeClass::Outside;
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
      if (!balancedMacro(I))
        Result.push_back(outsideChange({I, I + 3}, C.Base.All.size(),
                                       "the macro " +
                                           inQuotes(C.Candidate.text(I + 2)) +
                                           " has brackets that do not match"));
      auto It = Used.find(C.Candidate.All[I + 2].Spelling);
      if (It != Used.end())
        Result.push_back(
            outsideChange({I, I + 3}, It->second,
                          "the macro " + inQuotes(C.Candidate.text(I + 2)) +
                              " would change the meaning of line " +
                              std::to_string(C.Base.line(
                                  C.Base.All[It->second].Bytes.Begin)) +
                              " of the base"));
    }
  return Result;
}

std::vector<Change> ChangeClassifier::breakouts() const {
  std::vector<Change> Result;
  for (const Hunk &H : Hunks) {
    if (H.Anchor < 0)
      continue;
    std::string Why = breakout(C, H);
    if (Why.empty())
      continue;
    Result.push_back(outsideChange(H.AnchorText, C.Anchors[H.Anchor].Begin,
                                   "the text in place of anchor " +
                                       std::to_string(H.Anchor + 1) + " " +
                                       Why));
  }
  return Result;
}
