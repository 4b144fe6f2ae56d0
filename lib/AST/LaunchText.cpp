//===- LaunchText.cpp - Launches as Clang can read them -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/LaunchText.h"
#include "Brackets.h"
#include "SourceTokens.h"
#include <utility>

using namespace stark;

/// "<< <" becomes "<<< ", where \p Last is the last of its tokens.
static void joinBrackets(std::string &Text, const SourceTokens &T,
                         size_t Last) {
  size_t From = T.All[Last].Bytes.Begin, To = T.All[Last - 1].Bytes.End;
  std::swap(Text[From], Text[To]);
}

std::string stark::launchesForClang(llvm::StringRef Text) {
  std::string Read = Text.str();
  if (!Text.contains("<<"))
    return Read;
  Spellings Names;
  SourceTokens T(Text, Names);
  size_t End = T.All.size();
  for (size_t I = 0; I < End; ++I) {
    size_t First = I + 1;
    if (T.is(I, "<<") && T.is(I + 1, "<"))
      joinBrackets(Read, T, First++);
    else if (!T.is(I, "<<<"))
      continue;
    size_t At = First;
    while (At < End && !T.is(At, ">>>") && !T.is(At, ";")) {
      if (T.is(At, ">>") && T.is(At + 1, ">") && T.is(At + 2, "(")) {
        joinBrackets(Read, T, At + 1);
        break;
      }
      bool Brace = T.is(At, "{");
      if (!Brace && !T.is(At, "(")) {
        ++At;
        continue;
      }
      size_t Behind = behindBracket(T, At, End);
      // An argument of its own, and not an empty one.
      if (Brace && (At == First || T.is(At - 1, ",")) && Behind > At + 2 &&
          T.is(Behind - 1, "}")) {
        Read[T.All[At].Bytes.Begin] = '(';
        Read[T.All[Behind - 1].Bytes.Begin] = ')';
      }
      At = Behind > At ? Behind : At + 1;
    }
  }
  return Read;
}
