//===- Marks.cpp - Where a plan's marks stand -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Marks.h"
#include "Edits.h"
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

/// The bytes that go when the mark comment \p Mark goes: its whole line when it
/// is alone there, else also the blank that markAnchors() put beside it.
static Range strippedRange(llvm::StringRef Text, Range Mark, bool Begin,
                           bool &Glues) {
  size_t LineBegin = blanksBefore(Text, Mark.Begin);
  size_t LineEnd = blanksBehind(Text, Mark.End);
  Glues = false;
  if (startsLine(Text, Mark.Begin) && endsLine(Text, Mark.End)) {
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
  std::vector<Edit> Edits;
  size_t Done = 0;
  for (const Mark &M : findMarks(Tokens)) {
    if (M.Bytes.Begin < Done && M.Bytes.End <= Done)
      continue; // the second mark of a comment
    bool Glues;
    Range R = strippedRange(Text, M.Bytes, M.Begin, Glues);
    R.Begin = std::max(R.Begin, Done);
    Done = R.End;
    Edits.push_back({R, Glues ? " " : ""});
  }
  return applyEdits(Text, std::move(Edits));
}

static Edit insertion(size_t At, llvm::Twine Text) {
  return {{At, At}, Text.str()};
}

static Edit beginMark(llvm::StringRef Base, size_t At, llvm::StringRef Ending) {
  size_t Line = blanksBefore(Base, At);
  bool Spliced = Base.substr(0, Line).rtrim("\r\n").ends_with("\\");
  if (!startsLine(Base, At) || Spliced)
    return insertion(At, "/* <<<IMPROVE BEGIN>>> */ ");
  return insertion(Line,
                   Base.slice(Line, At) + "// <<<IMPROVE BEGIN>>>" + Ending);
}

static Edit endMark(llvm::StringRef Base, const Range &Anchor,
                    llvm::StringRef Ending) {
  size_t Line = blanksBehind(Base, Anchor.End);
  // A // comment at the end of the line stays with what it is about.
  if (Base.substr(Line).starts_with("//")) {
    size_t End = std::min(Base.find_first_of("\r\n", Line), Base.size());
    if (!Base.slice(Line, End).rtrim(" \t").ends_with("\\"))
      Line = End;
  }
  if (!endsLine(Base, Line))
    return insertion(Anchor.End, " /* <<<IMPROVE END>>> */");
  llvm::StringRef Indent;
  if (startsLine(Base, Anchor.Begin))
    Indent = Base.slice(blanksBefore(Base, Anchor.Begin), Anchor.Begin);
  if (Line == Base.size())
    return insertion(Line, Ending + Indent + "// <<<IMPROVE END>>>");
  Line += Base.substr(Line).starts_with("\r\n") ? 2 : 1;
  return insertion(Line, Indent + "// <<<IMPROVE END>>>" + Ending);
}

std::string stark::markAnchors(llvm::StringRef Base,
                               const std::vector<Anchor> &Anchors) {
  llvm::StringRef Ending = lineEnding(Base);
  std::vector<Edit> Ends, Begins;
  for (const Anchor &A : Anchors) {
    Begins.push_back(beginMark(Base, A.Bytes.Begin, Ending));
    Ends.push_back(endMark(Base, A.Bytes, Ending));
  }
  // Where one anchor ends and the next begins, the end comes first.
  Ends.insert(Ends.end(), Begins.begin(), Begins.end());
  return applyEdits(Base, std::move(Ends));
}
