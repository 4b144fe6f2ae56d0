//===- PtxText.cpp - The text of inline PTX -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stark::sim;

bool PtxStatement::has(StringRef Word) const {
  return is_contained(Words, Word);
}

std::optional<PtxType> stark::sim::parsePtxType(StringRef Word) {
  PtxType T;
  if (Word == "pred")
    return PtxType{'p', 1, 1};
  if (Word.consume_back("x2"))
    T.Lanes = 2;
  if (Word.consume_front("bf"))
    T.Kind = 'g';
  else if (!Word.empty() && StringRef("busf").contains(Word[0])) {
    T.Kind = Word[0];
    Word = Word.drop_front();
  } else {
    return std::nullopt;
  }
  if (Word.getAsInteger(10, T.Bits) ||
      !is_contained({8u, 16u, 32u, 64u}, T.Bits))
    return std::nullopt;
  bool Half = T.Bits == 16 && T.floats();
  if ((T.Kind == 'g' || T.Lanes == 2) && !Half)
    return std::nullopt;
  return T.Kind == 'f' && T.Bits == 8 ? std::nullopt : std::optional(T);
}

static std::string withoutComments(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    if (Text.starts_with("//"))
      Text = Text.drop_until([](char C) { return C == '\n'; });
    else if (Text.starts_with("/*"))
      Text = Text.drop_front(std::min(Text.size(), Text.find("*/", 2)));
    if (Text.consume_front("*/") || Text.empty()) {
      Out += ' ';
      continue;
    }
    Out += Text[0];
    Text = Text.drop_front();
  }
  return Out;
}

static void splitOperands(StringRef Text, std::vector<std::string> &Out) {
  unsigned Depth = 0;
  std::string Part;
  for (char C : Text) {
    Depth += C == '{' || C == '[';
    Depth -= (C == '}' || C == ']') && Depth;
    if (C == ',' && !Depth) {
      Out.push_back(StringRef(Part).trim().str());
      Part.clear();
    } else {
      Part += C;
    }
  }
  if (!StringRef(Part).trim().empty() || !Out.empty())
    Out.push_back(StringRef(Part).trim().str());
}

bool stark::sim::readPtx(StringRef Text, std::vector<PtxStatement> &Out) {
  std::string Clean = withoutComments(Text);
  SmallVector<StringRef, 8> Parts;
  StringRef(Clean).split(Parts, ';');
  for (StringRef Part : Parts) {
    // Braces at the begin of a statement open or close a scope.
    Part = Part.ltrim("{} \t\r\n").rtrim();
    if (Part.empty())
      continue;
    // "LABEL: instruction"
    for (size_t Colon; (Colon = Part.find(':')) != StringRef::npos;) {
      StringRef Label = Part.take_front(Colon);
      if (Label.empty() || !all_of(Label, [](char C) {
            return isAlnum(C) || C == '_' || C == '$' || C == '%';
          }))
        break;
      Out.push_back({"", false, Label.str(), {":"}, {Label.str()}});
      Part = Part.drop_front(Colon + 1).ltrim("{} \t\r\n");
    }
    if (Part.empty())
      continue;
    PtxStatement S;
    S.Text = Part.str();
    if (Part.consume_front("@")) {
      S.Negated = Part.consume_front("!");
      StringRef Guard = Part.take_until([](char C) { return isSpace(C); });
      S.Guard = Guard.str();
      Part = Part.drop_front(Guard.size()).ltrim();
    }
    StringRef Opcode = Part.take_until([](char C) { return isSpace(C); });
    StringRef Rest = Part.drop_front(Opcode.size());
    SmallVector<StringRef, 8> Words;
    bool Directive = Opcode.consume_front(".");
    Opcode.split(Words, '.');
    for (StringRef Word : Words)
      S.Words.push_back(Word.str());
    if (S.Words.empty() || S.Words[0].empty())
      return false;
    if (Directive) {
      S.Words[0] = "." + S.Words[0];
      // ".reg .b32 a, b": the type is a word of the declaration.
      Rest = Rest.ltrim();
      while (Rest.consume_front(".")) {
        StringRef Word = Rest.take_until([](char C) { return isSpace(C); });
        S.Words.push_back(Word.str());
        Rest = Rest.drop_front(Word.size()).ltrim();
      }
    }
    splitOperands(Rest, S.Operands);
    Out.push_back(std::move(S));
  }
  return true;
}

namespace {
/// Walks a source's text token by token, as far as asm statements need it.
class Respeller {
public:
  explicit Respeller(StringRef Source) : Text(Source.str()) {}
  std::string run();

private:
  char at(size_t I) const { return I < Text.size() ? Text[I] : 0; }
  /// Beyond a comment, a literal or white space that begins at \p I, or \p I.
  size_t skip(size_t I) const;
  size_t skipLiteral(size_t I) const;
  size_t asmStatement(size_t I);
  void respell(size_t Begin, size_t End);
  std::string Text;
};
} // namespace

size_t Respeller::skipLiteral(size_t I) const {
  char Quote = Text[I];
  if (Quote == '"' && I && Text[I - 1] == 'R') {
    size_t Open = Text.find('(', I);
    if (Open == std::string::npos)
      return Text.size();
    std::string Close = ")" + Text.substr(I + 1, Open - I - 1) + "\"";
    size_t End = Text.find(Close, Open);
    return End == std::string::npos ? Text.size() : End + Close.size();
  }
  for (++I; I < Text.size() && Text[I] != Quote && Text[I] != '\n'; ++I)
    I += Text[I] == '\\';
  return std::min(Text.size(), I + 1);
}

size_t Respeller::skip(size_t I) const {
  for (;;) {
    if (isSpace(at(I)) ||
        (at(I) == '\\' && (at(I + 1) == '\n' || at(I + 1) == '\r')))
      ++I;
    else if (at(I) == '/' && at(I + 1) == '/')
      I = std::min(Text.size(), Text.find('\n', I));
    else if (at(I) == '/' && at(I + 1) == '*')
      I = std::min(Text.size() - 2, Text.find("*/", I + 2)) + 2;
    else
      return I;
  }
}

void Respeller::respell(size_t Begin, size_t End) {
  StringRef Word(Text.data() + Begin, End - Begin);
  if (Word.find_first_not_of("=+&%frhldnC") != StringRef::npos)
    return;
  for (size_t I = Begin; I < End; ++I)
    Text[I] = Text[I] == 'f' || Text[I] == 'd'   ? 'x'
              : Text[I] == 'h' || Text[I] == 'l' ? 'r'
                                                 : Text[I];
}

/// \p I stands behind the keyword.
size_t Respeller::asmStatement(size_t I) {
  I = skip(I);
  while (isAlpha(at(I)) || at(I) == '_') {
    while (isAlnum(at(I)) || at(I) == '_')
      ++I;
    I = skip(I);
  }
  if (at(I) != '(')
    return I;
  unsigned Depth = 0, Colons = 0;
  while (I < Text.size()) {
    I = skip(I);
    char C = at(I);
    if (C == '"' || C == '\'') {
      size_t End = skipLiteral(I);
      if (C == '"' && Depth == 1 && (Colons == 1 || Colons == 2))
        respell(I + 1, End - 1);
      I = End;
      continue;
    }
    Depth += C == '(';
    Colons += C == ':' && Depth == 1;
    ++I;
    if (C == ')' && --Depth == 0)
      return I;
  }
  return I;
}

std::string Respeller::run() {
  for (size_t I = 0; I < Text.size();) {
    size_t After = skip(I);
    if (After > I) {
      I = After;
    } else if (Text[I] == '"' ||
               (Text[I] == '\'' && !(I && isAlnum(Text[I - 1])))) {
      I = skipLiteral(I);
    } else if (isAlpha(Text[I]) || Text[I] == '_') {
      size_t End = I;
      while (isAlnum(at(End)) || at(End) == '_')
        ++End;
      StringRef Word(Text.data() + I, End - I);
      I = Word == "asm" || Word == "__asm__" || Word == "__asm"
              ? asmStatement(End)
              : End;
    } else {
      ++I;
    }
  }
  return std::move(Text);
}

std::string stark::sim::respellConstraints(StringRef Source) {
  return Source.contains("asm") ? Respeller(Source).run() : Source.str();
}
