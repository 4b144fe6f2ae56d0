//===- MarkRemarks.cpp - What a plan says in the marked code --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Marks.h"
#include "stark/AST/Anchor.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using llvm::StringRef;

/// A comment's words without its signs, marks and what \p Base says, too, in
/// one line.
static std::string wordsOf(StringRef Comment, StringRef Base) {
  Comment.consume_front("/*");
  Comment.consume_back("*/");
  std::string Words;
  while (!Comment.empty()) {
    auto [Line, Rest] = Comment.split('\n');
    Comment = Rest;
    Line = Line.trim().ltrim("/*! \t");
    if (size_t Open = Line.find("<<<"); Open != StringRef::npos)
      if (size_t Close = Line.find(">>>", Open); Close != StringRef::npos)
        Line = Line.drop_front(Close + 3).trim(" \t:-");
    if (!Line.empty() && !Base.contains(Line))
      Words += (Words.empty() ? "" : " ") + Line.str();
  }
  return Words;
}

std::vector<std::string> stark::remarksInMarks(StringRef Marked,
                                               StringRef Base) {
  Spellings Names;
  SourceTokens Tokens(Marked, Names);
  std::vector<Mark> Marks = findMarks(Tokens);
  std::vector<std::string> Remarks;
  for (size_t I = 0; I < Marks.size(); ++I) {
    if (!Marks[I].Begin)
      continue;
    size_t End = I + 1 < Marks.size() ? Marks[I + 1].Bytes.End : Marked.size();
    std::string Region;
    for (const SourceComment &C : Tokens.Comments) {
      if (C.Bytes.Begin < Marks[I].Bytes.Begin || C.Bytes.Begin >= End)
        continue;
      std::string Words =
          wordsOf(Marked.substr(C.Bytes.Begin, C.Bytes.size()), Base);
      if (!Words.empty())
        Region += (Region.empty() ? "" : " ") + Words;
    }
    Remarks.push_back(std::move(Region));
  }
  return Remarks;
}
