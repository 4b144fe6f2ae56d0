//===- FootprintBreakout.cpp - Anchors whose text reaches out of them ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintBreakout.h"
#include "Brackets.h"

using namespace stark;

bool stark::isBalanced(const Comparison &C, Range Tokens) {
  int Start = C.CandidateDepths[Tokens.Begin], Ifs = 0;
  for (size_t I = Tokens.Begin; I < Tokens.End; ++I) {
    const SourceToken &T = C.Candidate.All[I];
    if (T.InDirective && T.StartsLine && C.Candidate.is(I, "#")) {
      Conditional Word = conditionalOf(C.Candidate.text(I + 1));
      Ifs += ifStep(Word);
      if (Word == Conditional::Else && Ifs == 0)
        return false;
      if (Ifs < 0)
        return false;
    }
    if (C.CandidateDepths[I + 1] < Start)
      return false;
  }
  return Ifs == 0 && C.CandidateDepths[Tokens.End] == Start;
}

namespace {
/// What stands at the outermost level of a text.
struct Outline {
  int Ifs = 0, Elses = 0, Dos = 0, Whiles = 0;
  size_t LastHead = 0; ///< where its last statement begins
};
} // namespace

static Outline outline(const Comparison &C, Range Text) {
  Outline Out;
  Out.LastHead = Text.Begin;
  int Start = C.CandidateDepths[Text.Begin];
  for (size_t I = Text.Begin; I < Text.End; ++I) {
    if (C.Candidate.All[I].InDirective || C.CandidateDepths[I + 1] > Start ||
        C.CandidateDepths[I] > Start) {
      bool Closed = C.Candidate.is(I, "}") && C.CandidateDepths[I + 1] == Start;
      if (Closed && I + 1 < Text.End)
        Out.LastHead = I + 1;
      continue;
    }
    llvm::StringRef Word = C.Candidate.text(I);
    Out.Ifs += Word == "if";
    Out.Elses += Word == "else";
    Out.Dos += Word == "do";
    Out.Whiles += Word == "while";
    if (Word == ";" && I + 1 < Text.End)
      Out.LastHead = I + 1;
  }
  return Out;
}

/// The last statement of \p Text, which ends in a brace, lacks its semicolon: a
/// type or an initialiser goes on after it.
static bool lacksSemicolon(const Comparison &C, Range Text, size_t LastHead) {
  llvm::StringRef Head = C.Candidate.text(LastHead);
  bool Type = Head == "struct" || Head == "class" || Head == "union" ||
              Head == "enum" || Head == "typedef" || Head == "using";
  int Start = C.CandidateDepths[Text.Begin];
  bool Function = false;
  for (size_t I = LastHead; I + 1 < Text.End && Head != "template"; ++I) {
    bool Top = C.CandidateDepths[I] == Start;
    if (Top && C.Candidate.is(I, "("))
      Function = true;
    if (Top && C.Candidate.is(I, "=") && !C.Candidate.is(I - 1, "operator"))
      return true;
  }
  return Type && !Function;
}

std::optional<ChangeReason::KindType> stark::breakout(const Comparison &C,
                                                      const Hunk &H) {
  Range Text = H.AnchorText;
  if (!isBalanced(C, Text))
    return ChangeReason::UnbalancedAnchor;
  // Anchors with nothing between them share one text.
  Range Old = C.Anchors[H.Anchor];
  for (const Range &Next : C.Anchors)
    if (Next.Begin == Old.End)
      Old.End = Next.End;
  if (Text.size() == 0) {
    bool Governed = Old.Begin > 0 && (C.Base.is(Old.Begin - 1, ")") ||
                                      C.Base.is(Old.Begin - 1, "else") ||
                                      C.Base.is(Old.Begin - 1, "do"));
    return Governed ? std::optional(ChangeReason::EmptyAnchor) : std::nullopt;
  }
  size_t Last = Text.End - 1;
  bool Brace = C.Candidate.is(Last, "}");
  bool Ends =
      Brace || C.Candidate.is(Last, ";") ||
      C.Candidate.All[Last].Kind == SourceToken::EndOfDirective ||
      C.Candidate.All[Last].Spelling == C.Base.All[Old.End - 1].Spelling;
  if (!Ends)
    return ChangeReason::UnfinishedAnchor;
  Outline Shape = outline(C, Text);
  if (Shape.Dos > Shape.Whiles)
    return ChangeReason::OpenDo;
  if (C.Base.is(Old.End, "else") && Shape.Ifs > Shape.Elses)
    return ChangeReason::TakesElse;
  if (Brace && lacksSemicolon(C, Text, Shape.LastHead))
    return ChangeReason::NoSemicolon;
  return std::nullopt;
}
