//===- PythonModule.cpp - A module's file inside of another ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> words, literals, brackets; statements by indentation -> text
///
//===----------------------------------------------------------------------===//

#include "PythonModule.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::torch;
using llvm::StringRef;

static bool isWordLetter(char C) {
  return llvm::isAlnum(C) || C == '_' || (unsigned char)C >= 0x80;
}

/// The length of the literal that \p Text begins with, prefix included, else 0.
static size_t literalLength(StringRef Text) {
  size_t Prefix =
      Text.take_while([](char C) { return llvm::isAlpha(C); }).size();
  StringRef Rest = Text.drop_front(Prefix);
  if (Prefix > 2 || Rest.empty() || (Rest[0] != '"' && Rest[0] != '\'') ||
      Text.take_front(Prefix).find_first_not_of("rRbBuUfFtT") !=
          StringRef::npos)
    return 0;
  std::string Quote(1, Rest[0]);
  if (Rest.starts_with(Quote + Quote + Quote))
    Quote += Quote + Quote;
  size_t At = Quote.size();
  while (At < Rest.size() && !Rest.substr(At).starts_with(Quote))
    At += Rest[At] == '\\' ? 2 : 1;
  return std::min(Text.size(), Prefix + At + Quote.size());
}

namespace {
class Embedder {
public:
  Embedder(StringRef Text, StringRef Class, StringRef NewName,
           const std::set<std::string> &Dropped)
      : Rest(Text), Class(Class), NewName(NewName), Dropped(Dropped) {}
  PythonModule run();

private:
  void take(size_t Length) {
    emit(Rest.take_front(Length));
    Rest = Rest.drop_front(Length);
  }
  void emit(StringRef Text) {
    if (!Skipping)
      Out.Text += Text;
  }
  void beginStatement();
  void word(StringRef Word);
  bool endsStatement(StringRef After) const;

  StringRef Rest, Class, NewName;
  const std::set<std::string> &Dropped;
  PythonModule Out;
  unsigned Depth = 0; ///< of brackets
  bool Begins = true; ///< a statement
  bool Skipping = false;
  char Before = 0; ///< the last character that is no space
};
} // namespace

/// At the first character of a line on which a statement begins.
void Embedder::beginStatement() {
  StringRef Indent =
      Rest.take_while([](char C) { return C == ' ' || C == '\t'; });
  StringRef Line = Rest.drop_front(Indent.size());
  bool IsBlank =
      Line.empty() || Line[0] == '\n' || Line[0] == '\r' || Line[0] == '#';
  if (!IsBlank && Indent.empty()) {
    StringRef Keyword = Line.take_while(isWordLetter);
    StringRef Name =
        Line.drop_front(Keyword.size()).ltrim(" \t").take_while(isWordLetter);
    // A later one of __future__ would be an error.
    Skipping = (Keyword == "def" && Dropped.count(Name.str())) ||
               (Keyword == "from" && Name == "__future__");
    Out.HasClass |= Keyword == "class" && Name == Class;
  }
  take(Indent.size());
}

bool Embedder::endsStatement(StringRef After) const {
  After = After.ltrim(" \t");
  return After.empty() || StringRef("\r\n#;").contains(After[0]);
}

void Embedder::word(StringRef Word) {
  if (Word == "pass")
    emit("...");
  else if (Word == Class && Before != '.')
    emit(NewName);
  else
    emit(Word);
  Out.HasHandlers |= Word == "try" || Word == "except";
  Rest = Rest.drop_front(Word.size());
}

PythonModule Embedder::run() {
  while (!Rest.empty()) {
    bool First = Begins;
    if (Begins) {
      Begins = false;
      beginStatement();
      if (Rest.empty())
        break;
    }
    char C = Rest[0];
    if (size_t Length = literalLength(Rest)) {
      if (First && endsStatement(Rest.drop_front(Length))) {
        emit("...");
        Rest = Rest.drop_front(Length);
      } else {
        take(Length);
      }
    } else if (isWordLetter(C)) {
      word(Rest.take_while(isWordLetter));
    } else if (C == '#') {
      take(Rest.find('\n') == StringRef::npos ? Rest.size() : Rest.find('\n'));
      continue;
    } else if (C == '\\') {
      take(Rest.starts_with("\\\r\n") ? 3 : std::min<size_t>(2, Rest.size()));
      continue;
    } else {
      Depth += C == '(' || C == '[' || C == '{';
      Depth -= Depth && (C == ')' || C == ']' || C == '}');
      Begins = C == '\n' && !Depth;
      take(1);
    }
    Before = C == ' ' || C == '\t' ? Before : C;
  }
  return std::move(Out);
}

PythonModule torch::embedModule(StringRef Text, StringRef Class,
                                StringRef NewName,
                                const std::set<std::string> &Dropped) {
  return Embedder(Text, Class, NewName, Dropped).run();
}
