//===- CodeDiff.cpp - Two sources side by side ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeDiff.h"
#include "../Figures.h"
#include "stark/Support/Diff.h"
#include <algorithm>

using namespace stark;

static constexpr size_t Context = 3;
/// Lines of an anchor that are shown at its begin, and at its end.
static constexpr size_t AnchorHead = 16, AnchorTail = 4;

/// Of what a line costs in the page: its words come in elements.
static size_t costOf(llvm::StringRef Line) {
  return 2 * std::min<size_t>(Line.size(), 1000) + 80;
}

/// Removed and added lines that follow one another, side by side.
static void pairUp(std::vector<size_t> &Removed, std::vector<size_t> &Added,
                   CodeDiff &Diff) {
  for (size_t I = 0; I < std::max(Removed.size(), Added.size()); ++I)
    Diff.Rows.push_back({.Old = I < Removed.size() ? Removed[I] : DiffRow::None,
                         .New = I < Added.size() ? Added[I] : DiffRow::None,
                         .Changed = true});
  Diff.Removed += Removed.size();
  Diff.Added += Added.size();
  Removed.clear();
  Added.clear();
}

static CodeDiff diffEnds(const Code &Old, const Code &New) {
  size_t Head = 0, Tail = 0, Least = std::min(Old.lines(), New.lines());
  while (Head < Least && Old.line(Head) == New.line(Head))
    ++Head;
  while (Tail < Least - Head &&
         Old.line(Old.lines() - 1 - Tail) == New.line(New.lines() - 1 - Tail))
    ++Tail;
  CodeDiff Diff;
  for (size_t I = 0; I < Head; ++I)
    Diff.Rows.push_back({.Old = I, .New = I, .Changed = false});
  std::vector<size_t> Removed, Added;
  for (size_t I = Head; I < Old.lines() - Tail; ++I)
    Removed.push_back(I);
  for (size_t I = Head; I < New.lines() - Tail; ++I)
    Added.push_back(I);
  pairUp(Removed, Added, Diff);
  for (size_t I = Tail; I; --I)
    Diff.Rows.push_back(
        {.Old = Old.lines() - I, .New = New.lines() - I, .Changed = false});
  return Diff;
}

CodeDiff stark::diffCode(const Code &Old, const Code &New) {
  auto Edits = diffLines(Old.text(), New.text());
  if (!Edits)
    return diffEnds(Old, New);
  CodeDiff Diff;
  size_t OldLine = 0, NewLine = 0;
  std::vector<size_t> Removed, Added;
  for (const LineEdit &E : *Edits) {
    if (E.Kind == LineEdit::Removed)
      Removed.push_back(OldLine++);
    else if (E.Kind == LineEdit::Added)
      Added.push_back(NewLine++);
    else {
      pairUp(Removed, Added, Diff);
      Diff.Rows.push_back(
          {.Old = OldLine++, .New = NewLine++, .Changed = false});
    }
  }
  pairUp(Removed, Added, Diff);
  return Diff;
}

static void writeCell(HtmlWriter &W, const Code &Of, size_t Line,
                      const char *Class) {
  if (Line == DiffRow::None) {
    W.element("td", {{"class", "n"}}, "");
    W.element("td", {{"class", "x"}}, "");
    return;
  }
  W.element("td", {{"class", "n"}}, std::to_string(Line + 1));
  W.open("td", {{"class", Class}});
  Of.writeLine(W, Line);
  W.close();
}

static void writeGap(HtmlWriter &W, const std::string &Text,
                     const char *Columns) {
  W.open("tr", {{"class", "gap"}});
  W.element("td", {{"colspan", Columns}}, Text).close().line();
}

/// A column of numbers and one of code, \p Times.
static void writeColumns(HtmlWriter &W, int Times) {
  W.open("colgroup");
  while (Times--)
    W.empty("col", {{"class", "cn"}}).empty("col");
  W.close().line();
}

static std::string linesOf(size_t Count, llvm::StringRef What) {
  return std::to_string(Count) + (Count == 1 ? " line " : " lines ") +
         What.str();
}

void stark::writeDiff(HtmlWriter &W, const CodeDiff &Diff, const Code &Old,
                      const Code &New, llvm::StringRef Label, size_t Bytes,
                      llvm::StringRef Where) {
  const std::vector<DiffRow> &Rows = Diff.Rows;
  // The nearest change of each row decides whether it is shown.
  std::vector<bool> Shown(Rows.size());
  for (size_t I = 0; I < Rows.size(); ++I)
    if (Rows[I].Changed)
      for (size_t J = I - std::min(I, Context);
           J < std::min(Rows.size(), I + Context + 1); ++J)
        Shown[J] = true;
  W.open("table", {{"class", "diff"}, {"aria-label", Label.str()}}).line();
  writeColumns(W, 2);
  W.open("thead").open("tr");
  W.element("th", {{"colspan", "2"}, {"scope", "col"}}, "before");
  W.element("th", {{"colspan", "2"}, {"scope", "col"}}, "after");
  W.close().close().line().open("tbody").line();
  size_t Used = 0;
  for (size_t I = 0; I < Rows.size(); ++I) {
    if (!Shown[I]) {
      size_t First = I;
      while (I + 1 < Rows.size() && !Shown[I + 1])
        ++I;
      writeGap(W, linesOf(I + 1 - First, "unchanged"), "4");
      continue;
    }
    const DiffRow &R = Rows[I];
    Used += (R.Old == DiffRow::None ? 0 : costOf(Old.line(R.Old))) +
            (R.New == DiffRow::None ? 0 : costOf(New.line(R.New)));
    if (Used > Bytes) {
      writeGap(W,
               linesOf(Rows.size() - I, "more are left out here; ") +
                   Where.str() + " has them",
               "4");
      break;
    }
    // What changed together stays together where it is not side by side.
    if (I && Rows[I - 1].Changed != R.Changed)
      W.close().open("tbody").line();
    W.open("tr", {{"class", !R.Changed               ? "same"
                            : R.Old == DiffRow::None ? "add"
                            : R.New == DiffRow::None ? "del"
                                                     : "both"}});
    writeCell(W, Old, R.Old, R.Changed ? "o" : "u");
    writeCell(W, New, R.New, R.Changed ? "a" : "u");
    W.close().line();
  }
  W.close().close().line();
}

void stark::writeAnchors(HtmlWriter &W, const Code &Base,
                         const std::vector<Anchor> &Anchors, size_t Bytes) {
  size_t Used = 0;
  for (const Anchor &A : Anchors) {
    W.open("figure", {{"class", "anchor"}}).open("figcaption");
    bool First = true;
    for (const std::string &Id : A.SiteIds) {
      W.text(First ? "" : ", ").element("code", {}, Id);
      First = false;
    }
    // The record's own bounds are looked at, and not believed.
    if (A.Bytes.Begin >= A.Bytes.End || A.Bytes.End > Base.text().size()) {
      W.text(" (not a range of the text that it is an anchor of)");
      W.close().close().line();
      continue;
    }
    size_t From = Base.lineAt(A.Bytes.Begin), To = Base.lineAt(A.Bytes.End - 1);
    W.text(", " + lineRange(From + 1, To + 1));
    W.close();
    W.open("table", {{"class", "code"}}).line();
    writeColumns(W, 1);
    W.open("tbody").line();
    size_t Begin = From - std::min<size_t>(From, 2),
           End = std::min(Base.lines(), To + 3);
    for (size_t Line = Begin; Line < End; ++Line) {
      size_t Into = Line - From;
      if (Line >= From && To - From > AnchorHead + AnchorTail &&
          Into == AnchorHead && To > Line + AnchorTail) {
        writeGap(W, linesOf(To - AnchorTail + 1 - Line, "more of the anchor"),
                 "2");
        Line = To - AnchorTail;
        continue;
      }
      Used += costOf(Base.line(Line));
      if (Used > Bytes) {
        writeGap(W, linesOf(End - Line, "more are left out"), "2");
        break;
      }
      bool Inside = Line >= From && Line <= To;
      W.open("tr", {{"class", Inside ? "in" : "out"}});
      writeCell(W, Base, Line, Inside ? "m" : "u");
      W.close().line();
    }
    W.close().close().close().line();
  }
}
