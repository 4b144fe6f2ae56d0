//===- CodeText.cpp - What tells code from what looks like it -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/CodeText.h"
#include "Brackets.h"
#include "SourceTokens.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;
using llvm::StringRef;

static bool hasNoWidth(uint32_t Code) {
  return Code == 0x00AD || (Code >= 0x200B && Code <= 0x200D) ||
         (Code >= 0x2060 && Code <= 0x2064) || Code == 0xFEFF;
}

/// Of any width, where a blank is meant.
static bool isOddBlank(uint32_t Code) {
  return Code == 0x00A0 || (Code >= 0x2000 && Code <= 0x200A) ||
         Code == 0x202F || Code == 0x205F || Code == 0x3000;
}

std::string stark::withoutInvisible(StringRef Text, StringRef Base) {
  std::string Out;
  Out.reserve(Text.size());
  while (!Text.empty()) {
    Utf8Character C = firstCharacter(Text);
    StringRef Bytes = Text.take_front(C.Bytes);
    bool Odd = hasNoWidth(C.Code) || isOddBlank(C.Code);
    if (!Odd || Base.contains(Bytes))
      Out += Bytes;
    else if (isOddBlank(C.Code))
      Out += ' ';
    Text = Text.drop_front(C.Bytes);
  }
  return Out;
}

namespace {
/// What a typographic character is, and what stands for it in C++.
struct Typographic {
  const char *Kind = "character";
  std::string Wanted; ///< empty: nothing
};
} // namespace

static Typographic meaningOf(uint32_t Code) {
  if ((Code >= 0x201C && Code <= 0x201F) || Code == 0x00AB || Code == 0x00BB)
    return {"quotation mark", "'\"'"};
  if (Code >= 0x2018 && Code <= 0x201B)
    return {"quotation mark", "\"'\""};
  if ((Code >= 0x2010 && Code <= 0x2015) || Code == 0x2212)
    return {"dash", "'-'"};
  if (Code == 0x00D7)
    return {"multiplication sign", "'*'"};
  if (Code == 0x2026)
    return {"ellipsis", "what it stands for"};
  // The wide forms of ASCII.
  if (Code > 0xFF00 && Code <= 0xFF5E)
    return {"wide character",
            std::string("'") + char(Code - 0xFF00 + 0x20) + "'"};
  return {};
}

static std::string strange(unsigned Line, uint32_t Code) {
  Typographic Is = meaningOf(Code);
  if (changesDirection(Code))
    return llvm::formatv(
        "line {0} has the control U+{1:X-4}, which changes the "
        "direction of writing and could hide code",
        Line, Code);
  return llvm::formatv(
      "line {0} has the {1} U+{2:X-4}, {3}", Line, Is.Kind, Code,
      Is.Wanted.empty() ? "which is no C++" : "wanted " + Is.Wanted);
}

std::string stark::strangeCharacter(StringRef Text, StringRef Base) {
  Spellings Names;
  SourceTokens T(Text, Names);
  size_t First = Text.size();
  uint32_t Code = 0;
  auto Note = [&](size_t At, uint32_t Found) {
    if (At < First) {
      First = At;
      Code = Found;
    }
  };
  for (size_t At = 0; At < Text.size();) {
    Utf8Character C = firstCharacter(Text.substr(At));
    if (changesDirection(C.Code) && !Base.contains(Text.substr(At, C.Bytes)))
      Note(At, C.Code);
    At += C.Bytes;
  }
  for (const SourceToken &Token : T.All) {
    if (Token.Kind != SourceToken::Punctuator || Token.Bytes.size() == 0)
      continue;
    StringRef Spelling = Text.substr(Token.Bytes.Begin, Token.Bytes.size());
    if ((unsigned char)Spelling[0] >= 0x80 && !Base.contains(Spelling))
      Note(Token.Bytes.Begin, firstCharacter(Spelling).Code);
  }
  return First == Text.size() ? "" : strange(T.line(First), Code);
}

static std::string oddBracketOf(StringRef Text) {
  Spellings Names;
  SourceTokens T(Text, Names);
  std::vector<int> Depths = bracketDepths(T);
  // Depths[I + 1] is behind token I.
  auto Say = [&](size_t Token, const char *What) {
    return ("'" + T.text(Token) + "' of line " +
            llvm::Twine(T.line(T.All[Token].Bytes.Begin)) + What)
        .str();
  };
  for (size_t I = 0; I < T.All.size(); ++I)
    if (Depths[I + 1] < 0)
      return Say(I, " closes nothing");
  if (Depths.back() == 0)
    return "";
  size_t Open = T.All.size();
  while (Open > 0 && Depths[Open] > 0)
    --Open;
  return Say(Open, " is never closed");
}

/// A comment or a literal that the text ends in.
static std::string unfinishedOf(StringRef Text) {
  Spellings Names;
  SourceTokens T(Text, Names);
  auto Say = [&](size_t At, const char *What) {
    return What + (" of line " + llvm::Twine(T.line(At))).str() +
           " is never closed";
  };
  // The lexer makes nothing of a comment that does not end.
  size_t Behind = T.All.empty() ? 0 : T.All.back().Bytes.End;
  if (!T.Comments.empty())
    Behind = std::max(Behind, T.Comments.back().Bytes.End);
  if (size_t At = Text.find("/*", Behind); At != StringRef::npos)
    return Say(At, "the comment");
  StringRef Line = Text.rtrim();
  Line = Line.substr(Line.rfind('\n') + 1);
  if (T.All.empty() || T.All.back().InDirective)
    return "";
  // The lexer makes a quote without its twin a token by itself.
  for (size_t I = T.All.size(); I > 0; --I) {
    const SourceToken &Token = T.All[I - 1];
    if (Token.Bytes.Begin < size_t(Line.data() - Text.data()))
      break;
    StringRef Spelling = T.text(I - 1);
    if (Token.Kind == SourceToken::Punctuator && Spelling.starts_with("\""))
      return Say(Token.Bytes.Begin, "the string");
  }
  return "";
}

std::string stark::oddBracket(StringRef Text, StringRef Base) {
  std::string Odd = unfinishedOf(Text);
  if (!Odd.empty() && unfinishedOf(Base).empty())
    return Odd;
  Odd = oddBracketOf(Text);
  return Odd.empty() || !oddBracketOf(Base).empty() ? "" : Odd;
}

/// Behind the parameters and what may stand between them and the body.
static bool hasBody(const SourceTokens &T, size_t I) {
  while (I < T.All.size()) {
    StringRef Text = T.text(I);
    if (Text == "{" || Text == "try")
      return true;
    if (Text == ";" || Text == "=" || Text == "}" || Text == ")" || Text == ",")
      return false;
    I = Text == "(" || Text == "[" ? behindBracket(T, I, T.All.size()) : I + 1;
  }
  return false;
}

std::string stark::elidedCode(StringRef Text) {
  Spellings Names;
  SourceTokens T(Text, Names);
  for (size_t I = 0; I < T.All.size(); ++I) {
    if (!T.is(I, "...") || T.All[I].InDirective)
      continue;
    bool Alone = I == 0;
    for (StringRef Before : {"=", "return", "{", "}", ";"})
      Alone |= I > 0 && T.is(I - 1, Before);
    if (Alone)
      return T.lineText(T.line(T.All[I].Bytes.Begin)).trim().str();
  }
  return "";
}

bool stark::definesFunction(StringRef Text, StringRef Name) {
  Spellings Names;
  SourceTokens T(Text, Names);
  for (size_t I = 0; I < T.All.size(); ++I) {
    if (T.All[I].Kind != SourceToken::Word || T.text(I) != Name)
      continue;
    size_t Open = T.is(I + 1, "<") ? behindAngles(T, I + 1) : I + 1;
    // A call is followed by what ends an expression, or is within one.
    if (T.is(Open, "(") && I > 0 && !T.is(I - 1, ".") && !T.is(I - 1, "->") &&
        hasBody(T, behindBracket(T, Open, T.All.size())))
      return true;
  }
  return false;
}
