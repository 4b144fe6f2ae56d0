//===- Code.cpp - CUDA with its words told apart --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Code.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;

/// Bytes of a line that are shown.
static constexpr size_t LineLimit = 1000;

/// What CUDA adds to C++ without a header.
static bool isCudaWord(llvm::StringRef Name) {
  static const llvm::StringSet<> Words = {"threadIdx", "blockIdx", "blockDim",
                                          "gridDim",   "warpSize", "dim3"};
  return Words.contains(Name) ||
         (Name.starts_with("__") && Name.size() > 4 &&
          (Name.ends_with("__") || Name.starts_with("__shfl") ||
           Name.starts_with("__sync")));
}

static clang::LangOptions languageOf() {
  clang::LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus14 =
      Language.CPlusPlus17 = true;
  Language.CUDA = true;
  Language.Bool = true;
  Language.LineComment = true;
  return Language;
}

Code::Code(std::string Bytes) : Text(std::move(Bytes)) {
  for (size_t At = 0; At < Text.size();) {
    Lines.push_back(At);
    size_t End = Text.find('\n', At);
    At = End == std::string::npos ? Text.size() : End + 1;
  }
  lex();
}

void Code::lex() {
  static const clang::LangOptions Language = languageOf();
  static clang::IdentifierTable Keywords(Language);
  const char *Begin = Text.c_str();
  clang::Lexer Lexer(clang::SourceLocation(), Language, Begin, Begin,
                     Begin + Text.size());
  Lexer.SetCommentRetentionState(true);
  clang::Token T;
  llvm::StringRef Last;
  bool Global = false, InDirective = false;
  for (;;) {
    Lexer.LexFromRawLexer(T);
    if (T.is(clang::tok::eof))
      return;
    size_t To = size_t(Lexer.getBufferLocation() - Begin);
    size_t From = To - T.getLength();
    llvm::StringRef Spelled = llvm::StringRef(Text).slice(From, To);
    bool Hash = T.is(clang::tok::hash) && T.isAtStartOfLine();
    if (T.is(clang::tok::comment))
      Words.push_back({From, To, Class::Comment});
    else if (Hash || (InDirective && T.is(clang::tok::raw_identifier)))
      Words.push_back({From, To, Class::Directive});
    else if (T.is(clang::tok::numeric_constant))
      Words.push_back({From, To, Class::Number});
    else if (clang::tok::isStringLiteral(T.getKind()) ||
             T.is(clang::tok::char_constant)) {
      Words.push_back({From, To, Class::String});
      Names.emplace_back(From, To);
    } else if (T.is(clang::tok::raw_identifier)) {
      // Only what is no longer than a keyword is asked for: the table keeps
      // what it is asked.
      bool Keyword =
          Spelled.size() <= 20 && Keywords.find(Spelled) != Keywords.end();
      Names.emplace_back(From, To);
      if (isCudaWord(Spelled))
        Words.push_back({From, To, Class::Cuda});
      else if (Keyword)
        Words.push_back({From, To, Class::Keyword});
    }
    if (T.is(clang::tok::raw_identifier) && Spelled == "__global__")
      Global = true;
    else if (Global && T.is(clang::tok::l_paren) &&
             Last != "__launch_bounds__" && Last != "__attribute__" &&
             !Last.starts_with("__cluster")) {
      if (!llvm::is_contained(Kernels, Last))
        Kernels.push_back(Last.str());
      Global = false;
    }
    InDirective = Hash;
    if (T.is(clang::tok::raw_identifier))
      Last = Spelled;
  }
}

llvm::StringRef Code::line(size_t Line) const {
  size_t End = Line + 1 < Lines.size() ? Lines[Line + 1] : Text.size();
  return llvm::StringRef(Text).slice(Lines[Line], End).rtrim("\r\n");
}

size_t Code::lineAt(size_t Byte) const {
  auto After = llvm::upper_bound(Lines, Byte);
  return After == Lines.begin() ? 0 : size_t(After - Lines.begin()) - 1;
}

void Code::writeLine(HtmlWriter &W, size_t Line) const {
  static constexpr const char *Classes[] = {"k", "g", "n", "s", "c", "p"};
  size_t Cut = 0, At = Lines[Line];
  size_t End = At + headOf(line(Line), LineLimit, Cut).size();
  auto Next = llvm::partition_point(
      Words, [&](const Word &Each) { return Each.End <= At; });
  for (; Next != Words.end() && Next->Begin < End; ++Next) {
    size_t From = std::max(Next->Begin, At), To = std::min(Next->End, End);
    W.text(llvm::StringRef(Text).slice(At, From));
    W.element("i", {{"class", Classes[size_t(Next->Is)]}},
              llvm::StringRef(Text).slice(From, To));
    At = To;
  }
  W.text(llvm::StringRef(Text).slice(At, End));
  if (Cut)
    W.element("em", {{"class", "cut"}},
              " [" + std::to_string(Cut) + " bytes more in this line]");
}

llvm::StringRef Code::wordWith(llvm::StringRef Part) const {
  for (auto [Begin, End] : Names) {
    llvm::StringRef Spelled = llvm::StringRef(Text).slice(Begin, End);
    size_t At = Spelled.find(Part);
    if (At == llvm::StringRef::npos)
      continue;
    auto IsPlain = [](char C) {
      return llvm::isAlnum(C) || C == '_' || C == '.' || C == ':';
    };
    size_t To = At + Part.size();
    while (At && IsPlain(Spelled[At - 1]))
      --At;
    while (To < Spelled.size() && IsPlain(Spelled[To]))
      ++To;
    return Spelled.slice(At, std::min(To, At + 60));
  }
  return "";
}
