//===- AnchorPlan.cpp - A plan's text found again in its base ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnchorPlan.h"
#include "Marks.h"
#include "Pieces.h"
#include "stark/Support/Error.h"
#include <algorithm>
#include <map>

using namespace stark;

namespace {

/// A pair of marks, as positions in the plan's tokens less bare marks.
struct MarkPair {
  size_t Begin = 0, End = 0;
  unsigned BeginLine = 0, EndLine = 0;
};

class PlanReader {
public:
  PlanReader(const SourceTokens &Base, const SourceTokens &Plan)
      : Base(Base), Plan(Plan) {}

  llvm::Expected<std::vector<MarkedRegion>> run() {
    std::vector<MarkPair> Pairs;
    if (llvm::Error E = pairMarks(Pairs))
      return E;
    for (const MarkPair &P : Pairs)
      if (P.Begin == P.End)
        return failed("the marks in lines " + llvm::Twine(P.BeginLine) +
                      " and " + llvm::Twine(P.EndLine) +
                      " of the plan have no code between them");
    if (llvm::Error E = locate())
      return E;
    std::vector<MarkedRegion> Regions;
    for (const MarkPair &P : Pairs) {
      MarkedRegion R;
      R.Tokens = {InBase[P.Begin], InBase[P.End - 1] + 1};
      R.BeginMark = P.BeginLine;
      R.EndMark = P.EndLine;
      if (R.Tokens.size() != P.End - P.Begin)
        return failed("the marks in lines " + llvm::Twine(P.BeginLine) +
                      " and " + llvm::Twine(P.EndLine) +
                      " of the plan leave out code that the source has there");
      Regions.push_back(R);
    }
    return Regions;
  }

private:
  llvm::Error pairMarks(std::vector<MarkPair> &Pairs) {
    std::vector<Mark> Marks = findMarks(Plan);
    if (Marks.empty())
      return failed("the plan has no marks; put // <<<IMPROVE BEGIN>>> before "
                    "and // <<<IMPROVE END>>> after what is to change");
    size_t Next = 0; // bare marks are no code
    for (size_t I = 0; I < Plan.All.size(); ++I) {
      while (Next < Marks.size() && Marks[Next].Tokens.End <= I)
        ++Next;
      bool Bare = Next < Marks.size() && Marks[Next].Tokens.size() &&
                  Marks[Next].Tokens.Begin <= I;
      if (!Bare)
        Code.push_back(I);
    }
    const Mark *Open = nullptr;
    for (const Mark &M : Marks) {
      unsigned Line = lineOf(M);
      if (M.InDirective)
        return failed("the mark in line " + llvm::Twine(Line) +
                      " of the plan stands inside a preprocessor directive");
      if (M.Begin && Open)
        return failed("the mark in line " + llvm::Twine(Line) +
                      " of the plan begins inside the region that begins in "
                      "line " +
                      llvm::Twine(lineOf(*Open)) +
                      "; regions cannot be nested");
      if (!M.Begin && !Open)
        return failed("<<<IMPROVE END>>> in line " + llvm::Twine(Line) +
                      " of the plan has no <<<IMPROVE BEGIN>>> before it");
      if (M.Begin) {
        Open = &M;
        continue;
      }
      Pairs.push_back({position(Open->NextToken), position(M.NextToken),
                       lineOf(*Open), Line});
      Open = nullptr;
    }
    if (Open)
      return failed("<<<IMPROVE BEGIN>>> in line " +
                    llvm::Twine(lineOf(*Open)) +
                    " of the plan has no <<<IMPROVE END>>> after it");
    return llvm::Error::success();
  }

  unsigned lineOf(const Mark &M) const { return Plan.line(M.Bytes.Begin); }

  size_t position(size_t Token) const {
    return std::lower_bound(Code.begin(), Code.end(), Token) - Code.begin();
  }

  uint32_t symbol(size_t I) const { return Plan.All[Code[I]].Spelling; }

  /// Fills InBase: for each of the plan's tokens the base's.
  llvm::Error locate() {
    std::vector<size_t> Places = occurrences();
    if (Places.size() == 1 ||
        (Places.size() > 1 && Code.size() == Base.All.size())) {
      for (size_t I = 0; I < Code.size(); ++I)
        InBase.push_back(Places[0] + I);
      return llvm::Error::success();
    }
    if (Places.size() > 1)
      return failed(
          "what the plan echoes occurs " + llvm::Twine(Places.size()) +
          " times in the source (lines " + llvm::Twine(lineInBase(Places[0])) +
          ", " + llvm::Twine(lineInBase(Places[1])) +
          "); echo the whole function around it");
    return locatePieces();
  }

  unsigned lineInBase(size_t Token) const {
    return Base.line(Base.All[Token].Bytes.Begin);
  }

  /// Where the plan's tokens stand in the base, one after the other.
  std::vector<size_t> occurrences() const {
    std::vector<uint32_t> Wanted, Text;
    for (size_t I = 0; I < Code.size(); ++I)
      Wanted.push_back(symbol(I));
    for (const SourceToken &T : Base.All)
      Text.push_back(T.Spelling);
    std::vector<size_t> Places;
    for (auto At = Text.begin(); !Wanted.empty() && Places.size() < 2;) {
      At = std::search(At, Text.end(), Wanted.begin(), Wanted.end());
      if (At == Text.end())
        break;
      Places.push_back(At++ - Text.begin());
    }
    return Places;
  }

  /// Top-level pieces of the plan, each found whole in the base, in order.
  llvm::Error locatePieces() {
    std::string Text; // the plan as if bare marks were not there
    std::vector<Piece> BasePieces = findPieces(Base);
    std::vector<Piece> PlanPieces = findPieces(Plan);
    size_t From = 0;
    InBase.assign(Code.size(), 0);
    for (const Piece &P : PlanPieces) {
      size_t Begin = position(P.Tokens.Begin);
      size_t End = position(P.Tokens.End);
      if (Begin == End)
        continue; // a bare mark
      size_t Found = BasePieces.size();
      for (size_t I = From; I < BasePieces.size() && Found == BasePieces.size();
           ++I)
        if (sameText(Begin, End, BasePieces[I].Tokens))
          Found = I;
      if (Found == BasePieces.size())
        return difference(P, Begin, End, BasePieces, From);
      for (size_t I = Begin; I < End; ++I)
        InBase[I] = BasePieces[Found].Tokens.Begin + (I - Begin);
      From = Found + 1;
    }
    return llvm::Error::success();
  }

  bool sameText(size_t Begin, size_t End, Range InBaseTokens) const {
    if (End - Begin != InBaseTokens.size())
      return false;
    for (size_t I = Begin; I < End; ++I)
      if (symbol(I) != Base.All[InBaseTokens.Begin + (I - Begin)].Spelling)
        return false;
    return true;
  }

  /// How piece \p P of the plan differs from what it most likely echoes.
  llvm::Error difference(const Piece &P, size_t Begin, size_t End,
                         const std::vector<Piece> &BasePieces, size_t From) {
    const Piece *Best = nullptr;
    size_t BestLength = 0;
    for (size_t I = 0; I < BasePieces.size(); ++I) {
      const Piece &B = BasePieces[I];
      size_t Length = commonLength(Begin, End, B.Tokens);
      bool Same = !P.Name.empty() && B.Kind == P.Kind && B.Name == P.Name;
      if (Same && Length == End - Begin && I < From)
        return failed("line " + llvm::Twine(planLine(Begin)) +
                      " of the plan echoes line " +
                      llvm::Twine(lineInBase(B.Tokens.Begin)) +
                      " of the source out of order");
      size_t Score = Length + (Same ? 1000000 : I == From ? 1 : 0);
      if (Score > BestLength) {
        Best = &B;
        BestLength = Score;
      }
    }
    if (!Best || BestLength < 3)
      return failed("line " + llvm::Twine(planLine(Begin)) + " of the plan, '" +
                    planText(Begin) +
                    "', is not in the source; a plan may add only marks and "
                    "comments");
    size_t Length = commonLength(Begin, End, Best->Tokens);
    size_t At = Best->Tokens.Begin + Length;
    std::string Theirs = Begin + Length < End
                             ? "has '" + planText(Begin + Length) + "'"
                             : "ends that declaration";
    size_t PlanAt = Begin + Length < End ? Begin + Length : End - 1;
    std::string Ours =
        At < Best->Tokens.End
            ? "has '" + Base.lineText(lineInBase(At)).trim().str() + "'"
            : "ends the declaration";
    size_t BaseAt = At < Best->Tokens.End ? At : Best->Tokens.End - 1;
    return failed("the plan differs from the source: line " +
                  llvm::Twine(planLine(PlanAt)) + " of the plan " + Theirs +
                  ", line " + llvm::Twine(lineInBase(BaseAt)) +
                  " of the source " + Ours +
                  "; a plan may add only marks and comments");
  }

  size_t commonLength(size_t Begin, size_t End, Range InBaseTokens) const {
    size_t Length = 0;
    while (Begin + Length < End && Length < InBaseTokens.size() &&
           symbol(Begin + Length) ==
               Base.All[InBaseTokens.Begin + Length].Spelling)
      ++Length;
    return Length;
  }
  unsigned planLine(size_t I) const {
    return Plan.line(Plan.All[Code[I]].Bytes.Begin);
  }
  std::string planText(size_t I) const {
    return Plan.lineText(planLine(I)).trim().str();
  }

  const SourceTokens &Base, &Plan;
  std::vector<size_t> Code;   ///< the plan's tokens that are code
  std::vector<size_t> InBase; ///< for each of Code
};
} // namespace

llvm::Expected<std::vector<MarkedRegion>>
stark::findRegions(const SourceTokens &Base, const SourceTokens &Plan) {
  return PlanReader(Base, Plan).run();
}
