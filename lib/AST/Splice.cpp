//===- Splice.cpp - New texts in place of anchors -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   base + a text for each anchor + supporting declarations -> candidate
/// Every byte of the base outside the anchors stays; what is put in takes on
/// the base's line endings and never runs into what stands beside it.
///
//===----------------------------------------------------------------------===//

#include "Brackets.h"
#include "Edits.h"
#include "Marks.h"
#include "Pieces.h"
#include "stark/AST/Anchor.h"
#include "stark/AST/Parse.h"
#include <algorithm>
#include <cassert>

using namespace stark;

/// \p New as it can stand at \p Place of \p Base: on a line of its own where a
/// directive or a // comment needs that.
static std::string fitted(llvm::StringRef Base, Range Place,
                          llvm::StringRef New, llvm::StringRef Ending) {
  New = New.trim();
  Spellings Names;
  SourceTokens Tokens(New, Names);
  std::string Result;
  if (!Tokens.All.empty() && Tokens.All.front().InDirective &&
      !startsLine(Base, Place.Begin))
    Result += Ending;
  Result += withLineEndings(New, Ending);
  bool Directive = !Tokens.All.empty() &&
                   Tokens.All.back().Kind == SourceToken::EndOfDirective;
  bool Comment =
      !Tokens.Comments.empty() &&
      Tokens.Comments.back().Bytes.End == New.size() &&
      New.substr(Tokens.Comments.back().Bytes.Begin).starts_with("//");
  if ((Directive || Comment) && !endsLine(Base, Place.End))
    Result += Ending;
  return Result;
}

namespace {
/// Where in a base supporting declarations go.
class Places {
public:
  Places(llvm::StringRef Text, size_t FirstAnchor)
      : Text(Text), Tokens(Text, Names), Pieces(findPieces(Tokens)) {
    size_t Holder = 0;
    std::vector<size_t> Open;
    int Ifs = 0, BestIfs = 1 << 20;
    Declarations = Text.size();
    bool Found = false;
    for (size_t I = 0; I < Pieces.size(); ++I) {
      const Piece &C = Pieces[I];
      if (C.Kind == PieceKind::Conditional) {
        Ifs += ifStep(conditionalOf(Tokens.text(C.Tokens.Begin + 1)));
      }
      if (C.Kind == PieceKind::Open)
        Open.push_back(I);
      if (C.Kind == PieceKind::Close && !Open.empty())
        Open.pop_back();
      if (C.Kind == PieceKind::Include && Open.empty() && Ifs <= BestIfs) {
        BestIfs = Ifs;
        Includes = Tokens.All[C.Tokens.End - 1].Bytes.End;
        HasInclude = true;
      }
      if (Found || C.Tokens.size() == 0 ||
          Tokens.bytes(C.Tokens).End <= FirstAnchor)
        continue;
      // Templates and overloads cannot stand in an extern "C" block.
      Found = true;
      Holder = I;
      for (size_t O : Open)
        if (llvm::StringRef(Pieces[O].Name).starts_with("extern")) {
          Holder = O;
          break;
        }
    }
    if (Found)
      Declarations = aboveComments(Tokens.bytes(Pieces[Holder].Tokens).Begin);
  }

  /// At the end of the last include's line, or before the declarations when
  /// there is none.
  size_t includes() const {
    if (!HasInclude)
      return Pieces.empty() ? 0 : Tokens.bytes(Pieces.front().Tokens).Begin;
    size_t At = Text.find_first_of("\r\n", Includes);
    return At == llvm::StringRef::npos ? Text.size() : At;
  }
  bool hasInclude() const { return HasInclude; }
  size_t declarations() const { return Declarations; }

  bool present(const Piece &Include, const SourceTokens &Other) const {
    for (const Piece &C : Pieces) {
      if (C.Kind != PieceKind::Include ||
          C.Tokens.size() != Include.Tokens.size())
        continue;
      bool Same = true;
      for (size_t I = 0; I < C.Tokens.size(); ++I)
        Same &= Tokens.text(C.Tokens.Begin + I) ==
                Other.text(Include.Tokens.Begin + I);
      if (Same)
        return true;
    }
    return false;
  }

private:
  /// The comments right above a declaration stay with it.
  size_t aboveComments(size_t At) const {
    for (auto C = Tokens.Comments.rbegin(); C != Tokens.Comments.rend(); ++C) {
      if (C->Bytes.End > At)
        continue;
      llvm::StringRef Between = Text.slice(C->Bytes.End, At);
      bool Adjacent = Between.trim().empty() &&
                      Tokens.line(At) - Tokens.line(C->Bytes.End) <= 1;
      if (!Adjacent || !startsLine(Text, C->Bytes.Begin))
        break;
      At = C->Bytes.Begin;
    }
    return blanksBefore(Text, At);
  }

  llvm::StringRef Text;
  Spellings Names;
  SourceTokens Tokens;
  std::vector<Piece> Pieces;
  size_t Includes = 0, Declarations = 0;
  bool HasInclude = false;
};
} // namespace

std::string stark::spliceAnchors(const ParsedSource &Base,
                                 const std::vector<Anchor> &Anchors,
                                 const std::vector<std::string> &Texts,
                                 llvm::StringRef Declarations) {
  return spliceAnchors(Base.text(), Anchors, Texts, Declarations);
}

/// The includes of \p Tokens that stand in no conditional.
static std::vector<Piece> freeIncludes(const SourceTokens &Tokens) {
  std::vector<Piece> Free;
  int Ifs = 0;
  for (const Piece &P : findPieces(Tokens)) {
    if (P.Kind == PieceKind::Conditional)
      Ifs += ifStep(conditionalOf(Tokens.text(P.Tokens.Begin + 1)));
    if (P.Kind == PieceKind::Include && Ifs == 0)
      Free.push_back(P);
  }
  return Free;
}

std::string stark::spliceAnchors(llvm::StringRef Base,
                                 const std::vector<Anchor> &Anchors,
                                 const std::vector<std::string> &Texts,
                                 llvm::StringRef Declarations) {
  assert(Anchors.size() == Texts.size() && "one text for each anchor");
  llvm::StringRef Ending = lineEnding(Base);
  std::vector<Edit> Edits;
  size_t FirstAnchor = Base.size();
  for (size_t I = 0; I < Anchors.size() && I < Texts.size(); ++I) {
    FirstAnchor = std::min(FirstAnchor, Anchors[I].Bytes.Begin);
    Edits.push_back({Anchors[I].Bytes, fitted(Base, Anchors[I].Bytes,
                                              stripMarks(Texts[I]), Ending)});
  }

  std::string Clean = stripMarks(Declarations);
  Spellings Names;
  SourceTokens Tokens(Clean, Names);
  Places Where(Base, FirstAnchor);
  std::string Includes;
  std::vector<Edit> Taken;
  for (const Piece &P : freeIncludes(Tokens)) {
    Range Bytes = Tokens.bytes(P.Tokens);
    std::string Text = Clean.substr(Bytes.Begin, Bytes.size());
    if (!Where.present(P, Tokens))
      Includes +=
          Where.hasInclude() ? Ending.str() + Text : Text + Ending.str();
    // Its line ending goes with it.
    llvm::StringRef Behind = llvm::StringRef(Clean).substr(Bytes.End);
    Bytes.End += Behind.starts_with("\r\n")                             ? 2
                 : Behind.starts_with("\n") || Behind.starts_with("\r") ? 1
                                                                        : 0;
    Taken.push_back({Bytes, ""});
  }
  std::string Others = applyEdits(Clean, std::move(Taken));
  if (!Includes.empty())
    Edits.push_back({{Where.includes(), Where.includes()}, Includes});
  if (llvm::StringRef Rest = llvm::StringRef(Others).trim(); !Rest.empty()) {
    size_t At = Where.declarations();
    std::string Text = startsLine(Base, At) ? "" : Ending.str();
    Edits.push_back(
        {{At, At},
         Text + withLineEndings(Rest, Ending) + Ending.str() + Ending.str()});
  }
  return applyEdits(Base, std::move(Edits));
}
