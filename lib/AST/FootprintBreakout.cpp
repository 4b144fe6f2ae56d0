//===- FootprintBreakout.cpp - Anchors whose text reaches out of them ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintBreakout.h"

using namespace stark;

bool stark::isBalanced(const Comparison &C, Range Tokens) {
  int Start = C.CandidateDepths[Tokens.Begin], Ifs = 0;
  for (size_t I = Tokens.Begin; I < Tokens.End; ++I) {
    const SourceToken &T = C.Candidate.All[I];
    if (T.InDirective && T.StartsLine && C.Candidate.is(I, "#")) {
      llvm::StringRef Word = C.Candidate.text(I + 1);
      if (Word == "if" || Word == "ifdef" || Word == "ifndef")
        ++Ifs;
      else if (Word == "endif")
        --Ifs;
      else if ((Word == "else" || Word.starts_with("elif")) && Ifs == 0)
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

std::string stark::breakout(const Comparison &C, const Hunk &H) {
  Range Text = H.AnchorText;
  if (!isBalanced(C, Text))
    return "has brackets, or #if and #endif, that do not match";
  // Anchors with nothing between them share one text.
  Range Old = C.Anchors[H.Anchor];
  for (const Range &Next : C.Anchors)
    if (Next.Begin == Old.End)
      Old.End = Next.End;
  if (Text.size() == 0) {
    bool Governed = Old.Begin > 0 && (C.Base.is(Old.Begin - 1, ")") ||
                                      C.Base.is(Old.Begin - 1, "else") ||
                                      C.Base.is(Old.Begin - 1, "do"));
    return Governed ? "is empty, so that the statement after it takes its place"
                    : "";
  }
  size_t Last = Text.End - 1;
  bool Brace = C.Candidate.is(Last, "}");
  bool Ends =
      Brace || C.Candidate.is(Last, ";") ||
      C.Candidate.All[Last].Kind == SourceToken::EndOfDirective ||
      C.Candidate.All[Last].Spelling == C.Base.All[Old.End - 1].Spelling;
  if (!Ends)
    return "ends in the middle of a statement or declaration";
  Outline Shape = outline(C, Text);
  if (Shape.Dos > Shape.Whiles)
    return "ends with a do that has no while";
  if (C.Base.is(Old.End, "else") && Shape.Ifs > Shape.Elses)
    return "has an if that would take the else after it";
  if (Brace) {
    // A type or an initialiser goes on after its brace.
    llvm::StringRef Head = C.Candidate.text(Shape.LastHead);
    bool Type = Head == "struct" || Head == "class" || Head == "union" ||
                Head == "enum" || Head == "typedef" || Head == "using";
    int Start = C.CandidateDepths[Text.Begin];
    bool Function = false;
    for (size_t I = Shape.LastHead; I < Last && Head != "template"; ++I) {
      bool Top = C.CandidateDepths[I] == Start;
      if (Top && C.Candidate.is(I, "("))
        Function = true;
      if (Top && C.Candidate.is(I, "=") && !C.Candidate.is(I - 1, "operator"))
        return "ends with a declaration that has no semicolon";
    }
    if (Type && !Function)
      return "ends with a declaration that has no semicolon";
  }
  return "";
}
