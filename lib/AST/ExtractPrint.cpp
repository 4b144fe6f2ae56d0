//===- ExtractPrint.cpp - Kept tokens as a text ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractPrint.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using llvm::StringRef;

namespace {
class Printer {
public:
  Printer(const IncludeTree &Tree, const UnitsOfFiles &Units,
          const KeptTokens &Kept, bool WithLines)
      : Tree(Tree), Units(Units), Kept(Kept), WithLines(WithLines) {
    StringRef First =
        Tree.Files[0].Text.take_until([](char C) { return C == '\n'; });
    if (First.ends_with("\r"))
      NewLine = "\r\n";
  }

  void file(int File, bool Conditional);
  PrintedText Made;

private:
  void run(int File, size_t First, size_t Last);
  void place(int File, unsigned Line);
  std::string withoutRulers(int File, size_t Begin, size_t End) const;
  bool isAgain(int File, size_t First, bool Conditional);
  bool isConditional(int File, size_t Token) const;
  bool endsDeclaration(int File, size_t Token) const;

  const IncludeTree &Tree;
  const UnitsOfFiles &Units;
  const KeptTokens &Kept;
  const bool WithLines;
  std::string NewLine = "\n";
  int LastFile = 0;
  unsigned LastLine = 0; ///< that the text ended in
  std::set<StringRef> Included;
};
} // namespace

/// A gap that is as long as a directive is no shorter.
static constexpr unsigned ShortGap = 3;

static std::string quoted(StringRef Name) {
  std::string Text = "\"";
  for (char C : Name) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"";
}

void Printer::place(int File, unsigned Line) {
  bool Same = File == LastFile && LastLine;
  bool Near = Same && Line > LastLine && Line - LastLine <= ShortGap;
  if (!WithLines) {
    if (File != LastFile)
      Made.Text += (Made.Text.empty() ? "" : NewLine) + "// From " +
                   Tree.Files[File].Name + NewLine;
    else if (!Made.Text.empty() && Line > 1 &&
             Tree.Files[File].Tokens->lineText(Line - 1).trim().empty())
      Made.Text += NewLine;
  } else if (Near) {
    for (unsigned I = LastLine + 1; I < Line; ++I)
      Made.Text += NewLine;
  } else if (!Same || Line != LastLine + 1) {
    Made.Text += "#line " + std::to_string(Line) + " " +
                 quoted(Tree.shown(File)) + NewLine;
  }
  LastFile = File;
}

/// The bytes without a header's lines of comment that have no word in them.
std::string Printer::withoutRulers(int File, size_t Begin, size_t End) const {
  const SourceTokens &T = *Tree.Files[File].Tokens;
  StringRef Text = Tree.Files[File].Text;
  std::string Made;
  for (const SourceComment &C : T.Comments) {
    if (WithLines || File == 0)
      break;
    size_t LineStart = Text.rfind('\n', C.Bytes.Begin) + 1;
    size_t LineEnd = std::min(Text.find('\n', C.Bytes.End), Text.size());
    if (LineStart < Begin || End <= LineEnd || C.InDirective ||
        Text.slice(LineStart, LineEnd).trim() !=
            Text.slice(C.Bytes.Begin, C.Bytes.End).trim() ||
        llvm::any_of(Text.slice(LineStart, LineEnd), llvm::isAlnum))
      continue;
    Made += Text.slice(Begin, LineStart);
    Begin = LineEnd + 1;
    // One empty line of the two around it is enough.
    while (StringRef(Made).rtrim(" \t\r").ends_with("\n\n") || Made.empty()) {
      size_t Next = Text.find('\n', Begin);
      if (Next >= End || !Text.slice(Begin, Next).trim().empty())
        break;
      Begin = Next + 1;
    }
  }
  return Made + Text.slice(Begin, End).rtrim("\r").str();
}

/// Tokens [First, Last] with the comments that belong to them.
void Printer::run(int File, size_t First, size_t Last) {
  const SourceTokens &T = *Tree.Files[File].Tokens;
  StringRef Text = Tree.Files[File].Text;
  while (Last > First && T.All[Last].Kind == SourceToken::EndOfDirective)
    --Last;
  size_t Begin = T.All[First].Bytes.Begin, End = T.All[Last].Bytes.End;
  auto Comment = llvm::partition_point(
      T.Comments, [&](const SourceComment &C) { return C.NextToken <= First; });
  bool AtTop = File == 0 && First == 0;
  for (auto I = Comment; I != T.Comments.begin();) {
    --I;
    if (I->NextToken != First ||
        (!AtTop && Text.slice(I->Bytes.End, Begin).count('\n') > 1))
      break;
    // It may end the line of something that is left out.
    size_t LineStart = Text.rfind('\n', I->Bytes.Begin) + 1;
    if (!AtTop && !Text.slice(LineStart, I->Bytes.Begin).trim().empty())
      break;
    Begin = I->Bytes.Begin;
  }
  for (; Comment != T.Comments.end() && Comment->Bytes.Begin >= End &&
         !Text.slice(End, Comment->Bytes.Begin).contains('\n');
       ++Comment)
    End = Comment->Bytes.End;
  size_t LineStart = Text.rfind('\n', Begin) + 1;
  std::string Indent;
  if (Text.slice(LineStart, Begin).trim().empty())
    Indent = Text.slice(LineStart, Begin).str();
  else if (WithLines)
    Indent.assign(Begin - LineStart, ' ');
  place(File, T.line(Begin));
  size_t Start = Made.Text.size();
  Made.Text += Indent;
  Made.Text += withoutRulers(File, Begin, End);
  Made.Text += NewLine;
  if (File)
    Made.OfFile[File] += Made.Text.substr(Start);
  LastLine = T.line(End ? End - 1 : 0);
}

bool Printer::isConditional(int File, size_t Token) const {
  return llvm::any_of(Units.Conditionals[File], [&](const Conditional &C) {
    return C.Branches.front() < Token && Token < C.Last &&
           Kept.has(File, C.Branches.front());
  });
}

/// What is not ours is guarded, but for <cassert>.
bool Printer::isAgain(int File, size_t First, bool Conditional) {
  const IncludedFile &F = Tree.Files[File];
  const Directive *D = F.directiveAt(First);
  if (!F.Foreign.count(First) || !D || !F.Tokens->is(First + 2, "<"))
    return false;
  StringRef Name = F.Text.slice(F.Tokens->All[First + 2].Bytes.Begin,
                                F.Tokens->All[D->End - 2].Bytes.End);
  if (Name.contains("assert"))
    return false;
  if (Included.count(Name))
    return true;
  if (!Conditional && !isConditional(File, First))
    Included.insert(Name);
  return false;
}

/// The semicolon of a class without its definition.
bool Printer::endsDeclaration(int File, size_t Token) const {
  int Unit = Units.atToken(File, Token);
  return Unit >= 0 && llvm::any_of(Units.All[Unit].Parts, [&](size_t I) {
           const UnitPart &P = Units.Parts[I];
           return !P.Kept && P.Member.empty() && P.Tokens.End == Token;
         });
}

void Printer::file(int File, bool Conditional) {
  const IncludedFile &F = Tree.Files[File];
  size_t Count = F.Tokens->All.size();
  size_t First = Count; // of the run, or none
  auto Flush = [&](size_t End) {
    if (First < End)
      run(File, First, End - 1);
    First = Count;
  };
  for (size_t I = 0; I < Count; ++I) {
    if (!Kept.has(File, I)) {
      Flush(I);
      continue;
    }
    if (First == Count && endsDeclaration(File, I)) {
      Made.Text.insert(Made.Text.size() - NewLine.size(), ";");
      if (std::string &Of = Made.OfFile[File]; !Of.empty())
        Of.insert(Of.size() - NewLine.size(), ";");
      continue;
    }
    auto Child = F.Children.find(I);
    bool Again = Child == F.Children.end() && F.directiveAt(I) &&
                 F.directiveAt(I)->First == I && isAgain(File, I, Conditional);
    if (Child == F.Children.end() && !Again) {
      First = std::min(First, I);
      continue;
    }
    Flush(I);
    if (!Again)
      file(Child->second, Conditional || isConditional(File, I));
    I = F.directiveAt(I)->End - 1;
  }
  Flush(Count);
}

PrintedText stark::printKept(const IncludeTree &Tree, const UnitsOfFiles &Units,
                             const KeptTokens &Kept, bool WithLines) {
  Printer P(Tree, Units, Kept, WithLines);
  P.file(0, false);
  return std::move(P.Made);
}
