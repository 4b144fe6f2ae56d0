//===- Marks.cpp - Where a plan's marks stand -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Marks.h"
#include "stark/AST/Anchor.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace stark;

/// The word after "improve": true for begin, false for end.
static bool readsAsMark(llvm::StringRef Inner, bool &Begin) {
  Inner = Inner.trim(" \t_-:");
  if (!Inner.consume_front_insensitive("improve"))
    return false;
  Inner = Inner.ltrim(" \t_-:");
  if (Inner.equals_insensitive("begin") || Inner.equals_insensitive("begins"))
    Begin = true;
  else if (Inner.equals_insensitive("end") || Inner.equals_insensitive("ends"))
    Begin = false;
  else
    return false;
  return true;
}

/// Each mark in \p Text, in order: true for begin.
static std::vector<bool> marksIn(llvm::StringRef Text) {
  std::vector<bool> Found;
  for (;;) {
    size_t Open = Text.find("<<");
    if (Open == llvm::StringRef::npos)
      return Found;
    Text = Text.substr(Open).ltrim('<');
    size_t Close = Text.find_first_of("<>\n");
    if (Close == llvm::StringRef::npos)
      return Found;
    bool Begin;
    if (Text.substr(Close).starts_with(">>") &&
        readsAsMark(Text.substr(0, Close), Begin))
      Found.push_back(Begin);
    Text = Text.substr(Close);
  }
}

/// The tokens of a mark that stands alone on its line, from \p First; 0 when
/// it is none.
static size_t bareMarkLength(const SourceTokens &T, size_t First, bool &Begin) {
  if (!T.All[First].StartsLine)
    return 0;
  size_t End = First + 1;
  while (End < T.All.size() && !T.All[End].StartsLine)
    ++End;
  if (End - First > 12)
    return 0;
  size_t LastByte = T.All[End - 1].Bytes.End;
  llvm::StringRef Text =
      T.source().slice(T.All[First].Bytes.Begin, LastByte).trim();
  while (Text.consume_front("#"))
    Text = Text.ltrim();
  if (!Text.consume_front("<<") || !Text.consume_back(">>"))
    return 0;
  return readsAsMark(Text.trim("<>"), Begin) ? End - First : 0;
}

std::vector<Mark> stark::findMarks(const SourceTokens &Tokens) {
  std::vector<Mark> Marks;
  for (const SourceComment &C : Tokens.Comments)
    for (bool Begin :
         marksIn(Tokens.source().substr(C.Bytes.Begin, C.Bytes.size()))) {
      Mark M;
      M.Begin = Begin;
      M.Bytes = C.Bytes;
      M.NextToken = C.NextToken;
      M.InDirective = C.InDirective;
      Marks.push_back(M);
    }
  for (size_t I = 0; I < Tokens.All.size(); ++I) {
    bool Begin = false;
    size_t Length = bareMarkLength(Tokens, I, Begin);
    if (Length == 0)
      continue;
    Mark M;
    M.Begin = Begin;
    M.Bytes = {Tokens.All[I].Bytes.Begin, Tokens.All[I + Length - 1].Bytes.End};
    M.Tokens = {I, I + Length};
    M.NextToken = I + Length;
    Marks.push_back(M);
  }
  std::stable_sort(Marks.begin(), Marks.end(),
                   [](const Mark &A, const Mark &B) {
                     return A.Bytes.Begin < B.Bytes.Begin;
                   });
  return Marks;
}

static bool isBlank(char C) { return C == ' ' || C == '\t'; }

/// The bytes that go when the mark comment \p Mark goes: its whole line when it
/// is alone there, else also the blank that markAnchors() put beside it.
static Range strippedRange(llvm::StringRef Text, Range Mark, bool Begin,
                           bool &Glues) {
  size_t LineBegin = Mark.Begin, LineEnd = Mark.End;
  while (LineBegin > 0 && isBlank(Text[LineBegin - 1]))
    --LineBegin;
  while (LineEnd < Text.size() && isBlank(Text[LineEnd]))
    ++LineEnd;
  bool StartsLine = LineBegin == 0 || Text[LineBegin - 1] == '\n' ||
                    Text[LineBegin - 1] == '\r';
  bool EndsLine =
      LineEnd == Text.size() || Text[LineEnd] == '\n' || Text[LineEnd] == '\r';
  Glues = false;
  if (StartsLine && EndsLine) {
    if (LineEnd < Text.size()) {
      LineEnd += Text.substr(LineEnd).starts_with("\r\n") ? 2 : 1;
      return {LineBegin, LineEnd};
    }
    // The last line has no ending of its own: take the one before it.
    if (LineBegin > 0)
      LineBegin -= Text.substr(0, LineBegin).ends_with("\r\n") ? 2 : 1;
    return {LineBegin, LineEnd};
  }
  Range R = Mark;
  if (Begin && R.End < Text.size() && isBlank(Text[R.End]))
    ++R.End;
  else if (!Begin && R.Begin > 0 && isBlank(Text[R.Begin - 1]))
    --R.Begin;
  auto Solid = [&](size_t I) {
    return I < Text.size() && !llvm::isSpace(Text[I]);
  };
  Glues = R == Mark && R.Begin > 0 && Solid(R.Begin - 1) && Solid(R.End);
  return R;
}

std::string stark::stripMarks(llvm::StringRef Text) {
  Spellings Names;
  SourceTokens Tokens(Text, Names);
  std::string Result;
  size_t Done = 0;
  for (const Mark &M : findMarks(Tokens)) {
    if (M.Bytes.Begin < Done && M.Bytes.End <= Done)
      continue; // the second mark of a comment
    bool Glues;
    Range R = strippedRange(Text, M.Bytes, M.Begin, Glues);
    R.Begin = std::max(R.Begin, Done);
    Result += Text.slice(Done, R.Begin);
    if (Glues)
      Result += ' ';
    Done = R.End;
  }
  Result += Text.substr(Done);
  return Result;
}

llvm::StringRef stark::lineEnding(llvm::StringRef Text) {
  size_t At = Text.find_first_of("\r\n");
  if (At == llvm::StringRef::npos || Text[At] == '\n')
    return "\n";
  return Text.substr(At).starts_with("\r\n") ? "\r\n" : "\r";
}

namespace {
struct Insertion {
  size_t At;
  bool Begin;
  std::string Text;
};
} // namespace

static Insertion beginMark(llvm::StringRef Base, size_t At,
                           llvm::StringRef Ending) {
  size_t Line = At;
  while (Line > 0 && isBlank(Base[Line - 1]))
    --Line;
  bool StartsLine =
      Line == 0 || Base[Line - 1] == '\n' || Base[Line - 1] == '\r';
  bool Spliced = Base.substr(0, Line).rtrim("\r\n").ends_with("\\");
  if (!StartsLine || Spliced)
    return {At, true, "/* <<<IMPROVE BEGIN>>> */ "};
  return {Line, true,
          (Base.slice(Line, At) + "// <<<IMPROVE BEGIN>>>" + Ending).str()};
}

static Insertion endMark(llvm::StringRef Base, const Range &Anchor,
                         llvm::StringRef Ending) {
  size_t Line = Anchor.End;
  while (Line < Base.size() && isBlank(Base[Line]))
    ++Line;
  // A // comment at the end of the line stays with what it is about.
  if (Base.substr(Line).starts_with("//")) {
    size_t End = Base.find_first_of("\r\n", Line);
    End = End == llvm::StringRef::npos ? Base.size() : End;
    if (!Base.slice(Line, End).rtrim(" \t").ends_with("\\"))
      Line = End;
  }
  if (Line < Base.size() && Base[Line] != '\n' && Base[Line] != '\r')
    return {Anchor.End, false, " /* <<<IMPROVE END>>> */"};
  size_t Indent = Anchor.Begin;
  while (Indent > 0 && isBlank(Base[Indent - 1]))
    --Indent;
  bool StartsLine =
      Indent == 0 || Base[Indent - 1] == '\n' || Base[Indent - 1] == '\r';
  std::string Mark =
      ((StartsLine ? Base.slice(Indent, Anchor.Begin) : llvm::StringRef()) +
       "// <<<IMPROVE END>>>")
          .str();
  if (Line == Base.size())
    return {Line, false, Ending.str() + Mark};
  Line += Base.substr(Line).starts_with("\r\n") ? 2 : 1;
  return {Line, false, Mark + Ending.str()};
}

std::string stark::markAnchors(llvm::StringRef Base,
                               const std::vector<Anchor> &Anchors) {
  llvm::StringRef Ending = lineEnding(Base);
  std::vector<Insertion> Marks;
  for (const Anchor &A : Anchors) {
    Marks.push_back(beginMark(Base, A.Bytes.Begin, Ending));
    Marks.push_back(endMark(Base, A.Bytes, Ending));
  }
  // Where one anchor ends and the next begins, the end comes first.
  std::stable_sort(Marks.begin(), Marks.end(),
                   [](const Insertion &A, const Insertion &B) {
                     return A.At != B.At ? A.At < B.At : A.Begin < B.Begin;
                   });
  std::string Result;
  size_t Done = 0;
  for (const Insertion &M : Marks) {
    Result += Base.slice(Done, M.At);
    Result += M.Text;
    Done = M.At;
  }
  Result += Base.substr(Done);
  return Result;
}
