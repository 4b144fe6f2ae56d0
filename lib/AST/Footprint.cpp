//===- Footprint.cpp - What a candidate changed --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two texts -> tokens -> hunks -> each with the reason for its class; then
/// what no hunk shows: macros that mean something else now, and anchors whose
/// text reaches out of them.
///
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "FootprintClass.h"
#include "stark/Support/TimeTrace.h"
#include <algorithm>

using namespace stark;

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

/// Joins \p Next to \p Last when people would see one change: the same or
/// neighbouring lines, on both sides, with the same reason.
static bool joins(Change &Last, const Change &Next) {
  if (Last.Why != Next.Why || Next.CandidateLine > Last.CandidateEndLine + 1 ||
      Next.BaseLine > Last.BaseEndLine + 1 || Next.BaseLine < Last.BaseLine)
    return false;
  Last.Base.End = std::max(Last.Base.End, Next.Base.End);
  Last.Candidate.End = std::max(Last.Candidate.End, Next.Candidate.End);
  Last.CandidateEndLine =
      std::max(Last.CandidateEndLine, Next.CandidateEndLine);
  Last.BaseEndLine = std::max(Last.BaseEndLine, Next.BaseEndLine);
  return true;
}

static bool wholeLines(const SourceTokens &T, const Range &Tokens) {
  return Tokens.size() && T.All[Tokens.Begin].StartsLine &&
         (Tokens.End == T.All.size() || T.All[Tokens.End].StartsLine);
}

Footprint stark::findFootprint(llvm::StringRef BaseText,
                               const std::vector<Anchor> &Anchors,
                               llvm::StringRef CandidateText) {
  TraceScope Traced("footprint");
  Spellings Names;
  SourceTokens Base(BaseText, Names), Candidate(CandidateText, Names);
  Comparison C(Base, Candidate, anchorTokens(Base, Anchors));
  std::vector<Hunk> Hunks = findHunks(C);
  ChangeClassifier Classifier(C, Hunks);
  Footprint Result;
  for (const Hunk &H : Hunks) {
    Change New;
    New.Base = Base.bytes(H.Base);
    New.Candidate = Candidate.bytes(H.Candidate);
    New.BaseLine = Base.line(New.Base.Begin);
    New.BaseEndLine = Base.line(New.Base.End);
    New.CandidateLine = Candidate.line(New.Candidate.Begin);
    New.CandidateEndLine = Candidate.line(New.Candidate.End);
    New.Why = Classifier.reasonFor(H);
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
