//===- LineWriter.cpp - Whose line it is ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineWriter.h"
#include "stark/Support/CodeTokens.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// With their ends; the last may have none.
Lines stark::splitLines(llvm::StringRef Text) {
  Lines Split;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Length = End == llvm::StringRef::npos ? Text.size() : End + 1;
    Split.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Split;
}

/// The same line but for how it ends.
static bool sameLine(llvm::StringRef A, llvm::StringRef B) {
  return A.rtrim("\r\n") == B.rtrim("\r\n");
}

/// For each line of \p New the line of \p Old that it is, or -1: a longest
/// common subsequence between equal heads and tails.
std::vector<int> stark::matchLines(const Lines &Old, const Lines &New) {
  std::vector<int> Match(New.size(), -1);
  size_t Head = 0;
  while (Head < Old.size() && Head < New.size() &&
         sameLine(Old[Head], New[Head])) {
    Match[Head] = int(Head);
    ++Head;
  }
  size_t Tail = 0;
  while (Tail < Old.size() - Head && Tail < New.size() - Head &&
         sameLine(Old[Old.size() - 1 - Tail], New[New.size() - 1 - Tail])) {
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
      At(R, C) = sameLine(Old[Head + R], New[Head + C])
                     ? At(R + 1, C + 1) + 1
                     : std::max(At(R + 1, C), At(R, C + 1));
  for (size_t R = 0, C = 0; R < Rows && C < Columns;) {
    if (sameLine(Old[Head + R], New[Head + C]))
      Match[Head + C++] = int(Head + R++);
    else if (At(R + 1, C) >= At(R, C + 1))
      ++R;
    else
      ++C;
  }
  return Match;
}

std::string stark::inQuotes(llvm::StringRef Path) {
  std::string Text = "\"";
  for (char C : Path) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"";
}

namespace {
/// Gathers pieces of text into lines.
class LineGatherer {
public:
  /// \p Line: where \p Piece begins in the text, or -1.
  void add(llvm::StringRef Piece, int Line) {
    for (char C : Piece) {
      Current.Text += C;
      if (Current.Line < 0 && !llvm::isSpace(C))
        Current.Line = Line;
      if (C != '\n')
        continue;
      if (Current.Line < 0 && Line >= 0)
        Current.Line = Line; // a blank one
      finish();
      Line += Line >= 0;
    }
  }
  void finish() {
    if (!Current.Text.empty())
      All.push_back(std::exchange(Current, OwnedLine()));
  }
  std::vector<OwnedLine> All;

private:
  OwnedLine Current;
};
} // namespace

std::optional<std::vector<OwnedLine>>
stark::editLines(llvm::StringRef Text, llvm::ArrayRef<TokenEdit> Edits) {
  std::vector<CodeToken> Tokens = codeTokens(Text);
  LineGatherer Lines;
  size_t Done = 0;
  int Line = 0;
  for (const TokenEdit &E : Edits) {
    if (E.First > E.Last || E.Last > Tokens.size())
      return std::nullopt;
    auto EndBefore = [&](size_t I) { return I ? Tokens[I - 1].End : 0; };
    size_t Begin = EndBefore(E.First);
    if (Begin < Done)
      return std::nullopt;
    Lines.add(Text.slice(Done, Begin), Line);
    Lines.add(E.Text, -1);
    size_t End = EndBefore(E.Last);
    Line += int(Text.slice(Done, End).count('\n'));
    Done = End;
  }
  Lines.add(Text.drop_front(Done), Line);
  Lines.finish();
  return std::move(Lines.All);
}

void LineWriter::write(llvm::StringRef Line, int User) {
  bool Wrong = User >= 0 ? Named != Users || Next != User : Named != Own;
  if (Wrong && Scanner.clean()) {
    if (User >= 0)
      OS << "#line " << User + 1 << " " << SourcePath << "\n";
    else
      OS << "#line " << Physical + 2 << " " << OutputPath << "\n";
    Named = User >= 0 ? Users : Own;
    Next = User;
    ++Physical;
    // In a group that the preprocessor skips it has no effect.
    Unsure.assign(Unsure.size(), true);
  }
  OS << Line;
  ++Physical;
  ++Next;
  switch (Scanner.scan(Line)) {
  case LineScanner::Condition::None:
    return;
  case LineScanner::Condition::Opens:
    Unsure.push_back(false);
    return;
  case LineScanner::Condition::Switches:
    if (!Unsure.empty() && Unsure.back())
      Named = Unknown;
    return;
  case LineScanner::Condition::Closes:
    if (Unsure.empty())
      return;
    if (Unsure.back())
      Named = Unknown;
    Unsure.pop_back();
    return;
  }
}
