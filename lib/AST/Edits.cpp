//===- Edits.cpp - Changes of a text, made together ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Edits.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

std::string stark::applyEdits(llvm::StringRef Text, std::vector<Edit> Edits) {
  llvm::stable_sort(Edits, [](const Edit &A, const Edit &B) {
    return A.Place.Begin != B.Place.Begin ? A.Place.Begin < B.Place.Begin
                                          : A.Place.size() < B.Place.size();
  });
  std::string Result;
  size_t Done = 0;
  for (const Edit &E : Edits) {
    if (E.Place.Begin < Done)
      continue;
    Result += Text.slice(Done, E.Place.Begin);
    Result += E.Text;
    Done = E.Place.End;
  }
  Result += Text.substr(Done);
  return Result;
}

static bool isLineEnd(char C) { return C == '\n' || C == '\r'; }

size_t stark::blanksBefore(llvm::StringRef Text, size_t At) {
  while (At > 0 && isBlank(Text[At - 1]))
    --At;
  return At;
}

size_t stark::blanksBehind(llvm::StringRef Text, size_t At) {
  while (At < Text.size() && isBlank(Text[At]))
    ++At;
  return At;
}

bool stark::startsLine(llvm::StringRef Text, size_t At) {
  At = blanksBefore(Text, At);
  return At == 0 || isLineEnd(Text[At - 1]);
}

bool stark::endsLine(llvm::StringRef Text, size_t At) {
  At = blanksBehind(Text, At);
  return At == Text.size() || isLineEnd(Text[At]);
}

llvm::StringRef stark::lineEnding(llvm::StringRef Text) {
  size_t At = Text.find_first_of("\r\n");
  if (At == llvm::StringRef::npos || Text[At] == '\n')
    return "\n";
  return Text.substr(At).starts_with("\r\n") ? "\r\n" : "\r";
}

std::string stark::withLineEndings(llvm::StringRef Text,
                                   llvm::StringRef Ending) {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\r' && I + 1 < Text.size() && Text[I + 1] == '\n')
      continue;
    if (Text[I] == '\n')
      Result += Ending;
    else
      Result += Text[I];
  }
  return Result;
}
