//===- Alignments.cpp - Alignments where Clang reads them ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Alignments.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace stark::sim;

namespace {
struct Piece {
  size_t Begin = 0, End = 0;
  StringRef Text;
};
} // namespace

/// What may stand before the type of a variable.
static bool isSpecifier(StringRef Word) {
  return StringSwitch<bool>(Word)
      .Cases("extern", "static", "volatile", "const", true)
      .Cases("__shared__", "__device__", "__constant__", true)
      .Default(false);
}

static std::vector<Piece> piecesOf(const std::string &Whole) {
  clang::LangOptions Options;
  Options.CPlusPlus = Options.CPlusPlus17 = true;
  clang::Lexer Lexer(clang::SourceLocation(), Options, Whole.c_str(),
                     Whole.c_str(), Whole.c_str() + Whole.size());
  std::vector<Piece> All;
  clang::Token T;
  for (bool Last = false; !Last;) {
    Last = Lexer.LexFromRawLexer(T);
    if (T.is(clang::tok::eof))
      break;
    size_t End = size_t(Lexer.getBufferLocation() - Whole.c_str());
    size_t Begin = End - T.getLength();
    All.push_back({Begin, End, StringRef(Whole).slice(Begin, End)});
  }
  return All;
}

std::string stark::sim::alignmentsFirst(StringRef Source) {
  std::string Read = Source.str();
  if (!Source.contains("alignas"))
    return Read;
  const std::string Whole = Read;
  std::vector<Piece> All = piecesOf(Whole);
  for (size_t I = 1; I + 1 < All.size(); ++I) {
    if (All[I].Text != "alignas" || All[I + 1].Text != "(")
      continue;
    size_t First = I;
    bool Memory = false; // of CUDA, or it is well where it is
    while (First > 0 && isSpecifier(All[First - 1].Text))
      Memory |= All[--First].Text.starts_with("__");
    size_t Close = I + 1;
    for (unsigned Depth = 0; Close < All.size(); ++Close) {
      Depth += All[Close].Text == "(";
      if (All[Close].Text == ")" && --Depth == 0)
        break;
    }
    if (!Memory || Close == All.size())
      continue;
    StringRef Before = StringRef(Whole).slice(All[First].Begin, All[I].Begin);
    StringRef Alignment = StringRef(Whole).slice(All[I].Begin, All[Close].End);
    std::string Turned = (Alignment + " " + Before.rtrim()).str();
    Turned.resize(Before.size() + Alignment.size(), ' ');
    // A line break between them is where it was, so that lines are.
    if (Turned.size() == Before.size() + Alignment.size() &&
        !Before.contains('\n') && !Alignment.contains('\n'))
      Read.replace(All[First].Begin, Turned.size(), Turned);
  }
  return Read;
}
