//===- Diff.cpp - What an attempt changed ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   edits of lines -> hunks with context, as a model reads them
///
//===----------------------------------------------------------------------===//

#include "stark/Support/Diff.h"
#include "stark/Agent/Quote.h"
#include <algorithm>

using namespace stark;

static constexpr size_t Context = 3;

/// As a unified diff has it, by LineEdit::KindType.
static constexpr char Signs[] = {' ', '-', '+'};

static std::string printHunks(const std::vector<LineEdit> &Script) {
  std::string Out;
  size_t OldLine = 1, NewLine = 1, I = 0;
  while (I < Script.size()) {
    // The next change, with context before it.
    size_t First = I;
    while (First < Script.size() && Script[First].Kind == LineEdit::Same)
      ++First;
    if (First == Script.size())
      break;
    size_t Begin = First - std::min(First - I, Context);
    OldLine += Begin - I;
    NewLine += Begin - I;
    size_t End = First, Same = 0;
    while (End < Script.size() && Same <= 2 * Context)
      Same = Script[End++].Kind == LineEdit::Same ? Same + 1 : 0;
    End -= Same > Context ? Same - Context : 0;
    size_t Old = 0, New = 0;
    std::string Body;
    for (size_t J = Begin; J < End; ++J) {
      Old += Script[J].Kind != LineEdit::Added;
      New += Script[J].Kind != LineEdit::Removed;
      Body += Signs[Script[J].Kind];
      Body += Script[J].Line;
      Body += '\n';
    }
    Out += "@@ -" + std::to_string(OldLine) + "," + std::to_string(Old) + " +" +
           std::to_string(NewLine) + "," + std::to_string(New) + " @@\n" + Body;
    OldLine += Old;
    NewLine += New;
    I = End;
  }
  return Out;
}

std::optional<std::string> stark::unifiedDiff(llvm::StringRef Old,
                                              llvm::StringRef New) {
  std::optional<std::vector<LineEdit>> Script = diffLines(Old, New);
  if (!Script)
    return std::nullopt;
  return printHunks(*Script);
}
