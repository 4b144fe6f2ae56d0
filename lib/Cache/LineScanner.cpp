//===- LineScanner.cpp - Where a directive may stand ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineScanner.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using llvm::StringRef;

static LineScanner::Condition conditionOf(StringRef Directive) {
  Directive = Directive.ltrim().drop_front().ltrim(); // "#"
  if (Directive.starts_with("if"))
    return LineScanner::Condition::Opens;
  if (Directive.starts_with("el"))
    return LineScanner::Condition::Switches;
  if (Directive.starts_with("endif"))
    return LineScanner::Condition::Closes;
  return LineScanner::Condition::None;
}

LineScanner::Condition LineScanner::scan(StringRef Line) {
  // Compilers take a backslash with blanks behind it for a continuation, too.
  StringRef Body = Line.rtrim("\r\n");
  bool Begins = !Continued && State == Code;
  Continued = Body.rtrim(" \t\v\f").ends_with("\\");
  Condition Found = Condition::None;
  if (Begins) {
    InDirective = Body.ltrim().starts_with("#");
    if (InDirective)
      Found = conditionOf(Body);
  }
  for (size_t I = 0; I < Body.size(); ++I)
    I = step(Body, I);
  // Comments and quoted strings end with their line unless it is continued.
  if (!Continued && (State == LineComment || State == Quoted))
    State = Code;
  return Found;
}

/// The identifier or number that ends before Body[I].
static StringRef wordBefore(StringRef Body, size_t I) {
  size_t Begin = I;
  while (Begin > 0 && (llvm::isAlnum(Body[Begin - 1]) ||
                       Body[Begin - 1] == '_' || Body[Begin - 1] == '\''))
    --Begin;
  return Body.slice(Begin, I);
}

static bool isRawPrefix(StringRef Word) {
  return Word == "R" || Word == "LR" || Word == "uR" || Word == "UR" ||
         Word == "u8R";
}

/// Looks at Body[I]; returns the index of the last character it took.
size_t LineScanner::step(StringRef Body, size_t I) {
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
  if (C == '/' && Next == '/') {
    State = LineComment;
    return I;
  }
  if (C == '/' && Next == '*') {
    State = BlockComment;
    return I + 1;
  }
  if (C == '"' && isRawPrefix(wordBefore(Body, I)) && startRaw(Body, I)) {
    State = Raw;
  } else if (C == '"' || C == '\'') {
    // 1'000: a quote inside a number separates its digits.
    StringRef Word = C == '\'' ? wordBefore(Body, I) : "";
    if (Word.empty() || !llvm::isDigit(Word.front())) {
      State = Quoted;
      Quote = C;
    }
  }
  // The parentheses of a macro's definition need not be balanced.
  if (InDirective || llvm::isSpace(C) || C == '\\')
    return I;
  if (C == '(')
    ++Depth;
  else if (C == ')' && Depth > 0)
    --Depth;
  AtBoundary = C == ';' || C == '{' || C == '}';
  return I;
}

bool LineScanner::startRaw(StringRef Body, size_t Quote) {
  size_t Open = Body.find('(', Quote);
  if (Open == StringRef::npos || Open - Quote > 17)
    return false;
  RawEnd = (")" + Body.slice(Quote + 1, Open) + "\"").str();
  return true;
}
