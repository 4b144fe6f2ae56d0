//===- ContractPtx.cpp - What inline assembly says -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractPtx.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <tuple>

using namespace stark;
using llvm::StringRef;

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

std::string stark::declaredInPtx(StringRef Ptx) {
  int Depth = 0;
  bool Begins = true; // a statement
  for (size_t I = 0; I < Ptx.size(); ++I) {
    char C = Ptx[I];
    if (C == '{' || C == '}') {
      Depth += C == '{' ? 1 : -1;
      if (Depth < 0)
        return "}";
    } else if (C == '.' && Begins) {
      StringRef Word = Ptx.substr(I).take_while(
          [](char W) { return W == '.' || isWord(W); });
      for (StringRef Global :
           {".global", ".const", ".func", ".entry", ".visible", ".extern",
            ".weak", ".common", ".alias", ".section", ".tex"})
        if (Word == Global)
          return Word.str();
    }
    if (!llvm::isSpace(C))
      Begins = C == ';' || C == '{' || C == '}' || C == ':';
  }
  return Depth ? "{" : "";
}

std::string stark::tellingRegister(StringRef Ptx) {
  while (!Ptx.empty()) {
    size_t At = Ptx.find('%');
    if (At == StringRef::npos)
      return "";
    Ptx = Ptx.drop_front(At).ltrim('%');
    StringRef Word = Ptx.take_while(isWord);
    // PTX ISA, "Special Registers": those that differ from launch to launch.
    for (StringRef Telling :
         {"clock", "globaltimer", "gridid", "envreg", "current_graph_exec"})
      if (Word.starts_with(Telling))
        return Word.str();
    if (Word.starts_with("pm") && Word.size() > 2 && llvm::isDigit(Word[2]))
      return Word.str();
    Ptx = Ptx.drop_front(Word.size());
  }
  return "";
}

/// Does \p Statement, without its predicate, write to memory that others see?
static bool stores(StringRef Statement) {
  StringRef Word = Statement.take_until(llvm::isSpace);
  bool Bulk = Word.starts_with("cp.async.bulk") ||
              Word.starts_with("cp.reduce.async.bulk");
  // "cp.async.bulk.tensor.2d.global.shared::cta": the first is written to; a
  // prefetch names one alone.
  if (size_t From = Word.find(".shared"); Bulk)
    return From != StringRef::npos && Word.find(".global") < From;
  bool Writes = llvm::any_of(
      std::initializer_list<StringRef>{"st.", "red.", "atom.", "discard.",
                                       "multimem.st", "multimem.red"},
      [&](StringRef Prefix) { return Word.starts_with(Prefix); });
  return Writes && !Word.contains(".shared") && !Word.contains(".local");
}

std::vector<std::string> stark::storedThrough(StringRef Ptx) {
  std::vector<std::string> Operands;
  while (!Ptx.empty()) {
    StringRef Statement;
    std::tie(Statement, Ptx) = Ptx.split(';');
    // What may stand before an instruction: "{", "LABEL:", "@%p".
    size_t Brace = Statement.rfind('{', Statement.find('['));
    if (Brace != StringRef::npos && !Statement.take_front(Brace).contains('['))
      Statement = Statement.substr(Brace + 1);
    Statement = Statement.trim();
    if (Statement.starts_with("@"))
      Statement = Statement.drop_until(llvm::isSpace).ltrim();
    if (!stores(Statement) || !Statement.contains('['))
      continue;
    StringRef At = Statement.substr(Statement.find('[')).drop_front().ltrim();
    if (At.consume_front("%[")) {
      Operands.push_back(At.take_until([](char C) { return C == ']'; }).str());
      continue;
    }
    StringRef Number =
        At.consume_front("%") ? At.take_while(llvm::isDigit) : StringRef();
    Operands.push_back(Number.str());
  }
  return Operands;
}

/// Whether the condition after the word at \p I is false where __CUDA_ARCH__ is
/// not defined: an "and" of what it is compared with, or that it is defined.
static bool asksForDevice(const SourceTokens &T, size_t I) {
  if (T.is(I, "ifdef"))
    return T.is(I + 1, "__CUDA_ARCH__");
  if (!T.is(I, "if") && !T.is(I, "elif"))
    return false;
  bool Asks = false;
  for (++I; T.All[I].Kind != SourceToken::EndOfDirective; ++I) {
    StringRef Text = T.text(I);
    bool Arch = Text == "__CUDA_ARCH__",
         Compares = Text == ">=" || Text == ">" || Text == "==";
    Asks |= Arch;
    // A number that is an architecture's, on the right.
    bool Number =
        Text.size() > 2 && Text[0] != '0' && llvm::all_of(Text, llvm::isDigit);
    bool Fine = Arch || Number || Text == "(" || Text == ")" || Text == "&&" ||
                Text == "defined" || Text.starts_with("__CUDA_ARCH_FEAT_") ||
                (Compares && T.is(I - 1, "__CUDA_ARCH__"));
    if (!Fine)
      return false;
  }
  return Asks;
}

bool stark::hostSkips(const SourceTokens &T, size_t At) {
  std::vector<bool> Open; // of the conditionals around
  for (size_t I = 0; I + 1 < T.All.size() && T.All[I].Bytes.Begin < At; ++I) {
    if (!T.All[I].InDirective || !T.All[I].StartsLine || !T.is(I, "#"))
      continue;
    StringRef Word = T.text(I + 1);
    if (Word.starts_with("if"))
      Open.push_back(asksForDevice(T, I + 1));
    else if (Word.starts_with("el") && !Open.empty())
      Open.back() = asksForDevice(T, I + 1);
    else if (Word == "endif" && !Open.empty())
      Open.pop_back();
  }
  return llvm::is_contained(Open, true);
}
