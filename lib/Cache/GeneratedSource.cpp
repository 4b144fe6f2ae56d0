//===- GeneratedSource.cpp - The winner as a source to build -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/GeneratedSource.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

using Lines = std::vector<llvm::StringRef>;

/// With their ends; the last may have none.
static Lines splitLines(llvm::StringRef Text) {
  Lines Split;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Length = End == llvm::StringRef::npos ? Text.size() : End + 1;
    Split.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Split;
}

/// For each line of \p New the line of \p Old that it is, or -1: a longest
/// common subsequence between equal heads and tails.
static std::vector<int> matchLines(const Lines &Old, const Lines &New) {
  std::vector<int> Match(New.size(), -1);
  size_t Head = 0;
  while (Head < Old.size() && Head < New.size() && Old[Head] == New[Head]) {
    Match[Head] = int(Head);
    ++Head;
  }
  size_t Tail = 0;
  while (Tail < Old.size() - Head && Tail < New.size() - Head &&
         Old[Old.size() - 1 - Tail] == New[New.size() - 1 - Tail]) {
    Match[New.size() - 1 - Tail] = int(Old.size() - 1 - Tail);
    ++Tail;
  }
  size_t Rows = Old.size() - Head - Tail, Columns = New.size() - Head - Tail;
  // A rewrite too large for the table is all one change.
  if (Rows * Columns > size_t(16) << 20)
    return Match;
  std::vector<uint32_t> Table((Rows + 1) * (Columns + 1), 0);
  auto At = [&](size_t R, size_t C) -> uint32_t & {
    return Table[R * (Columns + 1) + C];
  };
  for (size_t R = Rows; R-- > 0;)
    for (size_t C = Columns; C-- > 0;)
      At(R, C) = Old[Head + R] == New[Head + C]
                     ? At(R + 1, C + 1) + 1
                     : std::max(At(R + 1, C), At(R, C + 1));
  for (size_t R = 0, C = 0; R < Rows && C < Columns;) {
    if (Old[Head + R] == New[Head + C])
      Match[Head + C++] = int(Head + R++);
    else if (At(R + 1, C) >= At(R, C + 1))
      ++R;
    else
      ++C;
  }
  return Match;
}

namespace {
/// Walks over C++ text and knows at the start of each line whether a directive
/// may stand there.
class LineScanner {
public:
  bool clean() const { return State == Code && Depth == 0 && !Continued; }

  void scan(llvm::StringRef Line) {
    llvm::StringRef Body = Line.rtrim("\r\n");
    Continued = Body.ends_with("\\");
    if (State == LineComment)
      State = Code;
    bool Directive =
        State == Code && !WasContinued && Body.ltrim().starts_with("#");
    InDirective = Directive || (InDirective && WasContinued);
    WasContinued = Continued;
    for (size_t I = 0; I < Body.size(); ++I)
      I = step(Body, I);
    if (State == LineComment && !Continued)
      State = Code;
    // A quoted string ends with its line unless that is continued.
    if (State == Quoted && !Continued)
      State = Code;
  }

private:
  /// Looks at Body[I]; returns the index of the last character it took.
  size_t step(llvm::StringRef Body, size_t I) {
    char C = Body[I], Next = I + 1 < Body.size() ? Body[I + 1] : 0;
    switch (State) {
    case BlockComment:
      if (C == '*' && Next == '/') {
        State = Code;
        return I + 1;
      }
      return I;
    case LineComment:
      return I;
    case Quoted:
      if (C == '\\')
        return I + 1;
      if (C == Quote)
        State = Code;
      return I;
    case Raw:
      if (Body.substr(I).starts_with(RawEnd)) {
        State = Code;
        return I + RawEnd.size() - 1;
      }
      return I;
    case Code:
      break;
    }
    if (C == '/' && Next == '/')
      State = LineComment;
    else if (C == '/' && Next == '*') {
      State = BlockComment;
      return I + 1;
    } else if (C == '"' && I > 0 && Body[I - 1] == 'R' && startRaw(Body, I)) {
      State = Raw;
    } else if (C == '"' ||
               (C == '\'' && !(I > 0 && llvm::isAlnum(Body[I - 1])))) {
      // A quote behind a digit separates digits.
      State = Quoted;
      Quote = C;
    } else if (InDirective) {
      // Parentheses of a macro's definition need not be balanced.
    } else if (C == '(') {
      ++Depth;
    } else if (C == ')' && Depth > 0) {
      --Depth;
    }
    return I;
  }

  bool startRaw(llvm::StringRef Body, size_t Quote) {
    size_t Open = Body.find('(', Quote);
    if (Open == llvm::StringRef::npos || Open - Quote > 17)
      return false;
    RawEnd = (")" + Body.slice(Quote + 1, Open) + "\"").str();
    return true;
  }

  enum { Code, BlockComment, LineComment, Quoted, Raw } State = Code;
  char Quote = 0;
  std::string RawEnd;
  unsigned Depth = 0;
  bool Continued = false, WasContinued = false, InDirective = false;
};
} // namespace

static std::string quoted(llvm::StringRef Path) {
  std::string Text = "\"";
  for (char C : Path) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"";
}

/// What came from a model or a file, as lines of a comment.
static void comment(llvm::raw_ostream &OS, llvm::StringRef Label,
                    llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef> Split;
  Text.trim().split(Split, '\n');
  bool First = true;
  for (llvm::StringRef Line : Split) {
    std::string Safe;
    for (char C : Line.rtrim())
      Safe += llvm::isPrint(C) || (C & 0x80) ? C : ' ';
    // A backslash at the end would continue the comment.
    while (!Safe.empty() &&
           (Safe.back() == '\\' || Safe.back() == ' ' || Safe.back() == '/'))
      Safe.pop_back();
    OS << "//  " << (First ? Label : llvm::StringRef("")) << Safe << "\n";
    First = false;
  }
}

static void writeFacts(llvm::raw_ostream &OS, const WinnerFacts &Facts,
                       llvm::StringRef SourcePath,
                       llvm::ArrayRef<std::pair<size_t, size_t>> Changed) {
  OS << "// Generated by Stark from " << llvm::sys::path::filename(SourcePath)
     << "; edit that file, not this one.\n//\n";
  comment(OS, "changed: ", Facts.Title);
  std::string Where;
  for (auto [From, To] : Changed)
    Where += (Where.empty() ? "" : ", ") + std::to_string(From + 1) +
             (From == To ? "" : "-" + std::to_string(To + 1));
  comment(OS, "lines of the winner that are not the source's: ",
          Where.empty() ? "none" : Where);
  comment(OS, "written by: ", Facts.Model);
  comment(OS,
          Facts.Modelled ? "modelled, not measured, for: " : "measured on: ",
          Facts.Device);
  for (const std::string &Line : Facts.Timings)
    comment(OS, "", Line);
  OS << "//  " << llvm::format("%.3f", Facts.Speedup)
     << " times as fast as the source, geometric mean over the timed sizes\n";
  comment(OS, "task: ", Facts.RunDigest);
  OS << "\n";
}

std::string stark::makeGeneratedSource(llvm::StringRef SourceText,
                                       llvm::StringRef WinnerText,
                                       const WinnerFacts &Facts,
                                       llvm::StringRef SourcePath,
                                       llvm::StringRef OutputPath) {
  Lines Old = splitLines(SourceText), New = splitLines(WinnerText);
  std::vector<int> Match = matchLines(Old, New);
  std::vector<std::pair<size_t, size_t>> Changed;
  for (size_t I = 0; I < New.size(); ++I)
    if (Match[I] < 0) {
      if (!Changed.empty() && Changed.back().second + 1 == I)
        Changed.back().second = I;
      else
        Changed.push_back({I, I});
    }
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  writeFacts(OS, Facts, SourcePath, Changed);

  LineScanner Scanner;
  size_t Physical = llvm::StringRef(Text).count('\n'); // lines written so far
  enum { None, Users, Own } Named = None;
  int Expected = -1; // the user's line that the compiler thinks comes next
  for (size_t I = 0; I < New.size(); ++I) {
    bool Wrong =
        Match[I] >= 0 ? Named != Users || Expected != Match[I] : Named != Own;
    if (Wrong && Scanner.clean()) {
      if (Match[I] >= 0) {
        OS << "#line " << Match[I] + 1 << " " << quoted(SourcePath) << "\n";
        Named = Users;
        Expected = Match[I];
      } else {
        OS << "#line " << Physical + 2 << " " << quoted(OutputPath) << "\n";
        Named = Own;
      }
      ++Physical;
    }
    OS << New[I];
    ++Physical;
    ++Expected;
    Scanner.scan(New[I]);
  }
  return Text;
}
