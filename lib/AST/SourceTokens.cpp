//===- SourceTokens.cpp - The tokens of a source, by bytes ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceTokens.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace stark;

uint32_t Spellings::number(llvm::StringRef Text) {
  auto [At, New] = Numbers.try_emplace(Text, uint32_t(Texts.size()));
  if (New)
    Texts.push_back(At->getKey());
  return At->second;
}

static const clang::LangOptions &lexOptions() {
  static const clang::LangOptions Options = [] {
    clang::LangOptions O;
    O.CPlusPlus = O.CPlusPlus11 = O.CPlusPlus14 = O.CPlusPlus17 = true;
    O.CPlusPlus20 = O.CUDA = O.LineComment = O.Bool = O.Digraphs = true;
    O.GNUMode = O.DollarIdents = true;
    return O;
  }();
  return Options;
}

namespace {
/// Turns Clang's raw tokens into ours; knows where directives begin and end.
class Builder {
public:
  Builder(SourceTokens &Out, Spellings &Names, llvm::StringRef Text)
      : Out(Out), Names(Names), Text(Text),
        EndName(Names.number("<end of directive>")) {}

  void comment(Range Bytes, bool StartsLine) {
    if (StartsLine)
      endDirective();
    PendingStart |= StartsLine;
    Out.Comments.push_back({Bytes, Out.All.size(), Directive});
  }

  void token(const clang::Token &T, Range Bytes) {
    bool Starts = T.isAtStartOfLine() || PendingStart;
    if (T.isAtStartOfLine())
      endDirective();
    PendingStart = false;
    if (Starts && T.is(clang::tok::hash)) {
      Directive = true;
      DirectiveStart = Out.All.size();
    }
    SourceToken New;
    New.Bytes = Bytes;
    New.StartsLine = Starts;
    New.InDirective = Directive;
    std::string Cleaned;
    llvm::StringRef Spelling = Text.substr(Bytes.Begin, Bytes.size());
    if (T.needsCleaning() && !clang::tok::isLiteral(T.getKind())) {
      Cleaned = withoutSplices(Spelling);
      Spelling = Cleaned;
    }
    if (const char *Digraph = withoutDigraph(T.getKind()))
      Spelling = Digraph;
    // "#define F(x)" is a macro with a parameter, "#define F (x)" is not.
    if (Directive && Spelling == "(" && !T.hasLeadingSpace() &&
        Out.All.size() == DirectiveStart + 3 &&
        Names.text(Out.All[DirectiveStart + 1].Spelling) == "define")
      Spelling = "<parameters>(";
    New.Spelling = Names.number(Spelling);
    if (T.is(clang::tok::raw_identifier))
      New.Kind = SourceToken::Word;
    else if (clang::tok::isLiteral(T.getKind()))
      New.Kind = SourceToken::Literal;
    Out.All.push_back(New);
  }

  void endDirective() {
    if (!Directive)
      return;
    Directive = false;
    SourceToken End;
    size_t At = Out.All.back().Bytes.End;
    End.Bytes = {At, At};
    End.Spelling = EndName;
    End.Kind = SourceToken::EndOfDirective;
    End.InDirective = true;
    Out.All.push_back(End);
    // Comments that trail a directive stand after it.
    for (auto C = Out.Comments.rbegin();
         C != Out.Comments.rend() && C->NextToken + 1 == Out.All.size(); ++C) {
      C->NextToken = Out.All.size();
      C->InDirective = false;
    }
  }

private:
  /// One spelling for what may be written as a digraph, null for the rest.
  static const char *withoutDigraph(clang::tok::TokenKind Kind) {
    using namespace clang::tok;
    constexpr TokenKind Digraphs[] = {l_brace,  r_brace, l_square,
                                      r_square, hash,    hashhash};
    return llvm::is_contained(Digraphs, Kind) ? getPunctuatorSpelling(Kind)
                                              : nullptr;
  }

  static std::string withoutSplices(llvm::StringRef Spelling) {
    std::string Result;
    for (size_t I = 0; I < Spelling.size(); ++I) {
      if (Spelling[I] == '\\') {
        size_t J = I + 1;
        while (J < Spelling.size() &&
               (Spelling[J] == ' ' || Spelling[J] == '\t'))
          ++J;
        if (J < Spelling.size() &&
            (Spelling[J] == '\n' || Spelling[J] == '\r')) {
          if (Spelling[J] == '\r' && J + 1 < Spelling.size() &&
              Spelling[J + 1] == '\n')
            ++J;
          I = J;
          continue;
        }
      }
      Result += Spelling[I];
    }
    return Result;
  }

  SourceTokens &Out;
  Spellings &Names;
  llvm::StringRef Text;
  uint32_t EndName;
  bool Directive = false, PendingStart = false;
  size_t DirectiveStart = 0;
};
} // namespace

SourceTokens::SourceTokens(llvm::StringRef Text, Spellings &Names)
    : Source(Text), Names(&Names) {
  LineStarts.push_back(0);
  for (size_t I = 0; I < Text.size(); ++I)
    if (Text[I] == '\n' ||
        (Text[I] == '\r' && (I + 1 == Text.size() || Text[I + 1] != '\n')))
      LineStarts.push_back(I + 1);

  // The lexer needs a terminating null, which a StringRef need not have, and
  // stops nowhere else: nulls inside the text are skipped as white space.
  std::string Copy = Text.str();
  const char *Begin = Copy.c_str();
  Builder Build(*this, Names, Text);
  clang::Lexer Lex(clang::SourceLocation(), lexOptions(), Begin, Begin,
                   Begin + Copy.size());
  Lex.SetCommentRetentionState(true);
  clang::Token T;
  for (;;) {
    Lex.LexFromRawLexer(T);
    if (T.is(clang::tok::eof))
      break;
    size_t End = Lex.getBufferLocation() - Begin;
    Range Bytes{End - T.getLength(), End};
    if (T.is(clang::tok::comment))
      Build.comment(Bytes, T.isAtStartOfLine());
    else
      Build.token(T, Bytes);
  }
  Build.endDirective();
}

unsigned SourceTokens::line(size_t Offset) const {
  return std::upper_bound(LineStarts.begin(), LineStarts.end(), Offset) -
         LineStarts.begin();
}

llvm::StringRef SourceTokens::lineText(unsigned Line) const {
  if (Line == 0 || Line > LineStarts.size())
    return "";
  size_t Begin = LineStarts[Line - 1];
  size_t End = Line < LineStarts.size() ? LineStarts[Line] : Source.size();
  return Source.slice(Begin, End).rtrim("\r\n");
}

Range SourceTokens::bytes(Range Tokens) const {
  if (Tokens.size())
    return {All[Tokens.Begin].Bytes.Begin, All[Tokens.End - 1].Bytes.End};
  size_t Place = Tokens.Begin ? All[Tokens.Begin - 1].Bytes.End : 0;
  return {Place, Place};
}

size_t SourceTokens::firstAt(size_t Offset) const {
  return std::partition_point(
             All.begin(), All.end(),
             [&](const SourceToken &T) { return T.Bytes.Begin < Offset; }) -
         All.begin();
}
