//===- Brackets.cpp - Which brackets belong together ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Brackets.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace stark;

int stark::bracketStep(llvm::StringRef Token) {
  return llvm::StringSwitch<int>(Token)
      .Cases("{", "(", "[", "<parameters>(", 1)
      .Cases("}", ")", "]", -1)
      .Default(0);
}

Conditional stark::conditionalOf(llvm::StringRef Word) {
  return llvm::StringSwitch<Conditional>(Word)
      .Cases("if", "ifdef", "ifndef", Conditional::If)
      .Cases("else", "elif", "elifdef", "elifndef", Conditional::Else)
      .Case("endif", Conditional::Endif)
      .Default(Conditional::None);
}

int stark::ifStep(Conditional C) {
  return C == Conditional::If ? 1 : C == Conditional::Endif ? -1 : 0;
}

void DepthWalk::take(size_t I) {
  const SourceToken &Token = T.All[I];
  if (Token.InDirective) {
    if (Token.StartsLine && Token.Kind == SourceToken::Punctuator)
      directive(I + 1);
    return;
  }
  if (Token.Kind == SourceToken::Punctuator)
    Depth += bracketStep(T.text(I));
}

void DepthWalk::directive(size_t Name) {
  if (Name >= T.All.size())
    return;
  switch (conditionalOf(T.text(Name))) {
  case Conditional::If:
    Ifs.push_back(Depth);
    break;
  case Conditional::Else:
    if (!Ifs.empty())
      Depth = Ifs.back();
    break;
  case Conditional::Endif:
    if (!Ifs.empty())
      Ifs.pop_back();
    break;
  case Conditional::None:
    break;
  }
}

std::vector<int> stark::bracketDepths(const SourceTokens &Tokens) {
  std::vector<int> Depths{0};
  DepthWalk Walk(Tokens);
  for (size_t I = 0; I < Tokens.All.size(); ++I) {
    Walk.take(I);
    Depths.push_back(Walk.Depth);
  }
  return Depths;
}

size_t stark::behindBracket(const SourceTokens &Tokens, size_t Open,
                            size_t End) {
  End = std::min(End, Tokens.All.size());
  int Depth = 0;
  for (size_t I = Open; I < End; ++I) {
    int Step = bracketStep(Tokens.text(I));
    Depth += Step;
    if (Step < 0 && Depth <= 0)
      return I + 1;
  }
  return End;
}

size_t stark::behindAngles(const SourceTokens &Tokens, size_t Open) {
  int Angles = 0, Depth = 0;
  for (size_t I = Open; I < Tokens.All.size(); ++I) {
    llvm::StringRef Text = Tokens.text(I);
    Depth += bracketStep(Text);
    if (Depth < 0 || Text == ";" || Text == "{")
      return Open;
    if (Depth > 0)
      continue;
    Angles += llvm::StringSwitch<int>(Text)
                  .Case("<", 1)
                  .Case(">", -1)
                  .Case(">>", -2)
                  .Case(">>>", -3)
                  .Default(0);
    if (Angles <= 0)
      return I + 1;
  }
  return Open;
}

size_t stark::behindTemplates(const SourceTokens &Tokens, size_t First) {
  while (Tokens.is(First, "template") && Tokens.is(First + 1, "<"))
    First = behindAngles(Tokens, First + 1);
  return First;
}

size_t stark::nameBeforeAngles(const SourceTokens &Tokens, size_t Last) {
  if (!Tokens.is(Last, ">") && !Tokens.is(Last, ">>"))
    return Last;
  int Depth = 0;
  for (size_t I = Last; I > 0; --I) {
    Depth += llvm::StringSwitch<int>(Tokens.text(I))
                 .Case(">", 1)
                 .Case(">>", 2)
                 .Case("<", -1)
                 .Default(0);
    if (Depth == 0)
      return I - 1;
  }
  return 0;
}

bool stark::isAttributeWord(llvm::StringRef Word) {
  return llvm::StringSwitch<bool>(Word)
      .Cases("__launch_bounds__", "__maxnreg__", "__cluster_dims__",
             "__block_size__", true)
      .Cases("__attribute__", "__attribute", "__declspec", "__align__",
             "alignas", true)
      .Cases("decltype", "noexcept", "explicit", true)
      .Default(false);
}
