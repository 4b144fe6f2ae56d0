//===- Footprint.cpp - What a candidate changed, and whether it was told to
//===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "FootprintClass.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace stark;

llvm::Expected<Grounding> stark::parseGrounding(llvm::StringRef Name) {
  auto G = llvm::StringSwitch<std::optional<Grounding>>(Name)
               .Case("strict", Grounding::Strict)
               .Case("support", Grounding::Support)
               .Case("off", Grounding::Off)
               .Default(std::nullopt);
  if (!G)
    return usageError("grounding: got '" + Name +
                      "', wanted strict, support or off");
  return *G;
}

llvm::StringRef stark::groundingName(Grounding G) {
  switch (G) {
  case Grounding::Strict:
    return "strict";
  case Grounding::Support:
    return "support";
  case Grounding::Off:
    return "off";
  }
  return "";
}

static bool allows(Grounding G, const Change &C) {
  return G == Grounding::Off || C.Class == ChangeClass::Inside ||
         (G == Grounding::Support && C.Class == ChangeClass::Supporting);
}

bool Footprint::grounded(Grounding G) const {
  return std::all_of(Changes.begin(), Changes.end(),
                     [&](const Change &C) { return allows(G, C); });
}

static std::string lines(const Change &C) {
  if (C.CandidateEndLine > C.CandidateLine)
    return "lines " + std::to_string(C.CandidateLine) + " to " +
           std::to_string(C.CandidateEndLine) + " are";
  return "line " + std::to_string(C.CandidateLine) + " is";
}

std::vector<std::string> Footprint::complaints(Grounding G) const {
  std::vector<std::string> Result;
  for (const Change &C : Changes)
    if (!allows(G, C))
      Result.push_back(lines(C) + " changed, but no anchor covers " +
                       (C.CandidateEndLine > C.CandidateLine ? "them" : "it") +
                       " (" + C.Why + ")" +
                       (C.Text.empty() ? "" : ": " + C.Text));
  return Result;
}

void Footprint::print(llvm::raw_ostream &OS) const {
  for (const Change &C : Changes)
    OS << (C.Class == ChangeClass::Inside       ? "inside"
           : C.Class == ChangeClass::Supporting ? "supporting"
                                                : "outside")
       << ": " << lines(C) << " changed (line " << C.BaseLine
       << " of the base): " << C.Why << "\n";
}

/// The anchors as token ranges, joined where they overlap.
static std::vector<Range> anchorTokens(const SourceTokens &Base,
                                       const std::vector<Anchor> &Anchors) {
  std::vector<Range> Result;
  for (const Anchor &A : Anchors)
    Result.push_back({Base.firstAt(A.Bytes.Begin), Base.firstAt(A.Bytes.End)});
  return Result;
}

static std::string shortened(llvm::StringRef Line) {
  Line = Line.trim();
  return Line.size() <= 80 ? Line.str() : (Line.take_front(77) + "...").str();
}

/// Bytes of a token range; of an empty one, the place.
static Range bytesOf(const SourceTokens &T, const Range &Tokens) {
  if (Tokens.size())
    return {T.All[Tokens.Begin].Bytes.Begin, T.All[Tokens.End - 1].Bytes.End};
  if (Tokens.Begin > 0)
    return {T.All[Tokens.Begin - 1].Bytes.End,
            T.All[Tokens.Begin - 1].Bytes.End};
  return {0, 0};
}

/// Joins \p Next to \p Last when people would see one change: the same or
/// neighbouring lines, on both sides, with the same reason.
static bool joins(Change &Last, const Change &Next) {
  if (Last.Class != Next.Class || Last.Why != Next.Why ||
      Next.CandidateLine > Last.CandidateEndLine + 1 ||
      Next.BaseLine > Last.BaseEndLine + 1 || Next.BaseLine < Last.BaseLine)
    return false;
  Last.Base.End = std::max(Last.Base.End, Next.Base.End);
  Last.Candidate.End = std::max(Last.Candidate.End, Next.Candidate.End);
  Last.CandidateEndLine =
      std::max(Last.CandidateEndLine, Next.CandidateEndLine);
  Last.BaseEndLine = std::max(Last.BaseEndLine, Next.BaseEndLine);
  return true;
}

Footprint stark::findFootprint(const ParsedSource &Base, const Sites &BaseSites,
                               const std::vector<Anchor> &Anchors,
                               const ParsedSource &Candidate) {
  return findFootprint(Base.text(), Anchors, Candidate.text());
}

static bool wholeLines(const SourceTokens &T, const Range &Tokens) {
  return Tokens.size() && T.All[Tokens.Begin].StartsLine &&
         (Tokens.End == T.All.size() || T.All[Tokens.End].StartsLine);
}

Footprint stark::findFootprint(llvm::StringRef BaseText,
                               const std::vector<Anchor> &Anchors,
                               llvm::StringRef CandidateText) {
  Spellings Names;
  SourceTokens Base(BaseText, Names), Candidate(CandidateText, Names);
  Comparison C(Base, Candidate, anchorTokens(Base, Anchors));
  std::vector<Hunk> Hunks = findHunks(C);
  ChangeClassifier Classifier(C, Hunks);
  Footprint Result;
  for (const Hunk &H : Hunks) {
    Change New;
    New.Base = bytesOf(Base, H.Base);
    New.Candidate = bytesOf(Candidate, H.Candidate);
    New.BaseLine = Base.line(New.Base.Begin);
    New.BaseEndLine = Base.line(New.Base.End);
    New.CandidateLine = Candidate.line(New.Candidate.Begin);
    New.CandidateEndLine = Candidate.line(New.Candidate.End);
    Classifier.classify(H, New);
    std::string Was = shortened(Base.lineText(New.BaseLine));
    std::string Is = shortened(Candidate.lineText(New.CandidateLine));
    std::string At = "line " + std::to_string(New.BaseLine) + " of the base";
    if (H.Base.size() == 0 && wholeLines(Candidate, H.Candidate))
      New.Text = "'" + Is + "' is new after " + At;
    else if (H.Candidate.size() == 0 && wholeLines(Base, H.Base))
      New.Text = "'" + Was + "' of " + At + " is gone";
    else
      New.Text = At + " has '" + Was + "', the candidate '" + Is + "'";
    if (Result.Changes.empty() || !joins(Result.Changes.back(), New))
      Result.Changes.push_back(std::move(New));
  }
  for (Change &Extra : Classifier.redefinitions())
    Result.Changes.push_back(std::move(Extra));
  // An alignment that has to blame something may cut an anchor's text anywhere.
  if (Result.grounded(Grounding::Support))
    for (Change &Extra : Classifier.breakouts())
      Result.Changes.push_back(std::move(Extra));
  return Result;
}
