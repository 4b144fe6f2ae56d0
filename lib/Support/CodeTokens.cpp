//===- CodeTokens.cpp - The tokens of a source, without Clang ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/CodeTokens.h"
#include "stark/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using llvm::StringRef;

static bool beginsWord(char C) {
  return llvm::isAlpha(C) || C == '_' || C == '$' || (C & 0x80);
}
static bool isInWord(char C) { return beginsWord(C) || llvm::isDigit(C); }

namespace {
class CodeLexer {
public:
  explicit CodeLexer(StringRef Text) : Text(Text) {}

  std::vector<CodeToken> run() {
    if (Text.starts_with("\xEF\xBB\xBF"))
      At = 3;
    while (At < Text.size())
      step();
    endDirective();
    return std::move(Tokens);
  }

private:
  char peek(size_t Ahead = 0) const {
    return At + Ahead < Text.size() ? Text[At + Ahead] : '\0';
  }

  void add(CodeToken::KindType Kind, size_t End) {
    if (FreshLine && Text[At] == '#')
      Directive = true;
    FreshLine = false;
    Tokens.push_back({At, End, Kind, Directive});
    At = End;
  }

  void endDirective() {
    FreshLine = true;
    if (!Directive)
      return;
    size_t End = Tokens.back().End;
    Tokens.push_back({End, End, CodeToken::EndOfDirective, true});
    Directive = false;
  }

  /// Behind a backslash: how many bytes end the line, 0 when it goes on.
  size_t splice() const {
    size_t I = At + 1;
    while (I < Text.size() && (Text[I] == ' ' || Text[I] == '\t'))
      ++I;
    StringRef Rest = Text.drop_front(I);
    return Rest.starts_with("\r\n") ? I + 2 - At
           : Rest.starts_with("\n") ? I + 1 - At
                                    : 0;
  }

  void step() {
    char C = peek();
    if (C == '\n') {
      endDirective();
      ++At;
    } else if (llvm::isSpace(C) || C == '\0') {
      ++At;
    } else if (C == '/' && peek(1) == '/') {
      lineComment();
    } else if (C == '/' && peek(1) == '*') {
      size_t End = Text.find("*/", At + 2);
      At = End == StringRef::npos ? Text.size() : End + 2;
    } else if (C == '\\' && splice()) {
      size_t Length = splice();
      add(CodeToken::Punctuator, At + 1);
      At += Length - 1;
    } else if (beginsWord(C)) {
      word();
    } else if (llvm::isDigit(C) || (C == '.' && llvm::isDigit(peek(1)))) {
      number();
    } else if (C == '"' || C == '\'') {
      add(CodeToken::Literal, quotedEnd(At));
    } else {
      add(CodeToken::Punctuator, At + 1);
    }
  }

  void lineComment() {
    while (At < Text.size() && Text[At] != '\n') {
      size_t Length = Text[At] == '\\' ? splice() : 0;
      At += Length ? Length : 1;
    }
  }

  void word() {
    size_t End = At;
    while (End < Text.size() && isInWord(Text[End]))
      ++End;
    StringRef Word = Text.slice(At, End);
    bool Raw = Word == "R" || Word == "LR" || Word == "uR" || Word == "UR" ||
               Word == "u8R";
    if (Raw && End < Text.size() && Text[End] == '"')
      if (size_t Open = Text.find('(', End); Open != StringRef::npos) {
        std::string Closing = (")" + Text.slice(End + 1, Open) + "\"").str();
        size_t Close = Text.find(Closing, Open);
        return add(CodeToken::Literal, Close == StringRef::npos
                                           ? Text.size()
                                           : Close + Closing.size());
      }
    add(CodeToken::Word, End);
  }

  void number() {
    size_t End = At + 1;
    while (End < Text.size()) {
      char C = Text[End], Last = llvm::toLower(Text[End - 1]);
      bool Sign = (C == '+' || C == '-') && (Last == 'e' || Last == 'p');
      bool Separator =
          C == '\'' && End + 1 < Text.size() && llvm::isAlnum(Text[End + 1]);
      if (!Sign && !Separator && C != '.' && !isInWord(C))
        break;
      ++End;
    }
    add(CodeToken::Number, End);
  }

  size_t quotedEnd(size_t Begin) const {
    for (size_t I = Begin + 1; I < Text.size(); ++I) {
      if (Text[I] == '\\')
        I += Text.substr(I + 1).starts_with("\r\n") ? 2 : 1;
      else if (Text[I] == Text[Begin])
        return I + 1;
      else if (Text[I] == '\n')
        return I;
    }
    return Text.size();
  }

  StringRef Text;
  size_t At = 0;
  bool FreshLine = true, Directive = false;
  std::vector<CodeToken> Tokens;
};
} // namespace

std::vector<CodeToken> stark::codeTokens(StringRef Text) {
  return CodeLexer(Text).run();
}

/// A character of which operators of several are made.
static bool isOperator(const CodeToken &T, StringRef Text) {
  return T.Kind == CodeToken::Punctuator && T.Begin < T.End &&
         !StringRef(";,(){}[]").contains(Text[T.Begin]);
}

std::string stark::codeDigest(StringRef Text) {
  DigestBuilder Digest;
  CodeToken Before;
  for (const CodeToken &T : codeTokens(Text)) {
    // "++" is not "+ +"; in a directive "F(x)" is not "F (x)".
    bool Touches = Before.End == T.Begin &&
                   ((isOperator(Before, Text) && isOperator(T, Text)) ||
                    (T.InDirective && T.Begin < T.End && Text[T.Begin] == '('));
    Digest.add(T.Kind == CodeToken::EndOfDirective ? "end"
               : Touches                           ? "on"
                                                   : "token",
               Text.slice(T.Begin, T.End));
    Before = T;
  }
  return Digest.finish();
}
