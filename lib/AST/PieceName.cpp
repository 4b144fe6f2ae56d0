//===- PieceName.cpp - What a top-level piece declares -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Brackets.h"
#include "Pieces.h"

using namespace stark;

static std::string functionName(const SourceTokens &T, Range R) {
  std::string Name;
  for (size_t I = R.Begin; I < R.End;) {
    llvm::StringRef Text = T.text(I);
    if (Text == "operator") {
      Name = "operator";
      for (++I; I < R.End && !T.is(I, "("); ++I)
        Name += T.text(I);
      return Name;
    }
    if (isAttributeWord(Text)) {
      I = T.is(I + 1, "(") ? behindBracket(T, I + 1, R.End) : I + 1;
      continue;
    }
    if (Text == "(" || Text == "{" || Text == ";")
      return Name;
    if (Text == "<") {
      I = std::max(behindAngles(T, I), I + 1);
      continue;
    }
    if (T.All[I].Kind == SourceToken::Word)
      Name = Text.str();
    ++I;
  }
  return Name;
}

static std::string typeName(const SourceTokens &T, Range R) {
  std::string Name;
  for (size_t I = R.Begin + 1; I < R.End; ++I) {
    llvm::StringRef Text = T.text(I);
    if (Text == "{" || Text == ":" || Text == ";" || Text == "<")
      break;
    if (isAttributeWord(Text) && T.is(I + 1, "("))
      I = behindBracket(T, I + 1, R.End) - 1;
    else if (T.All[I].Kind == SourceToken::Word && Text != "class" &&
             Text != "struct" && Text != "final")
      Name = Text.str();
  }
  return Name;
}

static std::string variableName(const SourceTokens &T, Range R) {
  std::string Name;
  for (size_t I = R.Begin; I < R.End; ++I) {
    llvm::StringRef Text = T.text(I);
    if (Text == "=" || Text == ";" || Text == "{" ||
        (Text == "[" && !Name.empty()) || Text == ",")
      break;
    if (Text == "<")
      I = std::max(behindAngles(T, I), I + 1) - 1;
    else if (T.All[I].Kind == SourceToken::Word)
      Name = Text.str();
  }
  return Name;
}

std::string stark::declaredName(const SourceTokens &Tokens, PieceKind Kind,
                                Range Declaration) {
  switch (Kind) {
  case PieceKind::Function:
  case PieceKind::FunctionDeclaration:
    return functionName(Tokens, Declaration);
  case PieceKind::Type:
    return typeName(Tokens, Declaration);
  case PieceKind::Variable:
    return variableName(Tokens, Declaration);
  default:
    return "";
  }
}
