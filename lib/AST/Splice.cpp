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
#include "Marks.h"
#include "Pieces.h"
#include "stark/AST/Anchor.h"
#include "stark/AST/Parse.h"
#include <algorithm>
#include <cassert>

using namespace stark;

static std::string withEndings(llvm::StringRef Text, llvm::StringRef Ending) {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\r' && I + 1 < Text.size() && Text[I + 1] == '\n')
      continue;
    if (Text[I] == '\n')
      Result += Ending;
    else
      Result += Text[I];
  }
  return Result;
}

static bool startsLine(llvm::StringRef Text, size_t At) {
  while (At > 0 && (Text[At - 1] == ' ' || Text[At - 1] == '\t'))
    --At;
  return At == 0 || Text[At - 1] == '\n' || Text[At - 1] == '\r';
}

static bool endsLine(llvm::StringRef Text, size_t At) {
  while (At < Text.size() && (Text[At] == ' ' || Text[At] == '\t'))
    ++At;
  return At == Text.size() || Text[At] == '\n' || Text[At] == '\r';
}

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
  Result += withEndings(New, Ending);
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
struct Insertion {
  Range Place;
  std::string Text;
};

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
    while (At > 0 && (Text[At - 1] == ' ' || Text[At - 1] == '\t'))
      --At;
    return At;
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

std::string stark::spliceAnchors(llvm::StringRef Base,
                                 const std::vector<Anchor> &Anchors,
                                 const std::vector<std::string> &Texts,
                                 llvm::StringRef Declarations) {
  assert(Anchors.size() == Texts.size() && "one text for each anchor");
  llvm::StringRef Ending = lineEnding(Base);
  std::vector<Insertion> Edits;
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
  std::string Includes, Others = Clean;
  std::vector<Piece> Pieces = findPieces(Tokens);
  // An include inside a conditional stays there.
  int Ifs = 0;
  std::vector<const Piece *> Free;
  for (const Piece &C : Pieces) {
    if (C.Kind == PieceKind::Conditional) {
      Ifs += ifStep(conditionalOf(Tokens.text(C.Tokens.Begin + 1)));
    }
    if (C.Kind == PieceKind::Include && Ifs == 0)
      Free.push_back(&C);
  }
  for (const Piece *C : Free) {
    size_t Begin = Tokens.All[C->Tokens.Begin].Bytes.Begin;
    size_t End = Tokens.All[C->Tokens.End - 1].Bytes.End;
    if (Where.present(*C, Tokens))
      continue;
    if (Where.hasInclude())
      Includes += Ending.str() + Clean.substr(Begin, End - Begin);
    else
      Includes += Clean.substr(Begin, End - Begin) + Ending.str();
  }
  // From the end, so that the offsets of what comes before stay right.
  for (auto C = Free.rbegin(); C != Free.rend(); ++C) {
    size_t Begin = Tokens.All[(*C)->Tokens.Begin].Bytes.Begin;
    size_t End = Tokens.All[(*C)->Tokens.End - 1].Bytes.End;
    while (End < Others.size() && (Others[End] == '\r' || Others[End] == '\n'))
      if (Others[End++] == '\n')
        break;
    Others.erase(Begin, End - Begin);
  }
  if (!Includes.empty())
    Edits.push_back({{Where.includes(), Where.includes()}, Includes});
  if (llvm::StringRef Rest = llvm::StringRef(Others).trim(); !Rest.empty()) {
    size_t At = Where.declarations();
    std::string Text = startsLine(Base, At) ? "" : Ending.str();
    Edits.push_back(
        {{At, At},
         Text + withEndings(Rest, Ending) + Ending.str() + Ending.str()});
  }
  std::stable_sort(
      Edits.begin(), Edits.end(), [](const Insertion &A, const Insertion &B) {
        return A.Place.Begin != B.Place.Begin ? A.Place.Begin < B.Place.Begin
                                              : A.Place.size() < B.Place.size();
      });
  std::string Result;
  size_t Done = 0;
  for (const Insertion &E : Edits) {
    if (E.Place.Begin < Done)
      continue; // overlapping anchors: the first one holds
    Result += Base.slice(Done, E.Place.Begin);
    Result += E.Text;
    Done = E.Place.End;
  }
  Result += Base.substr(Done);
  return Result;
}
