//===- ContractTokens.cpp - Forbidden words, wherever they stand ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "ContractNames.h"

using namespace stark;
using llvm::StringRef;

ContractText::ContractText(const ParsedSource &Source)
    : Source(Source), Tokens(Source.text(), Names), Pieces(findPieces(Tokens)) {
  for (size_t I = 0; I + 2 < Tokens.All.size(); ++I)
    if (Tokens.All[I].InDirective && Tokens.All[I].StartsLine &&
        Tokens.is(I, "#") && Tokens.is(I + 1, "define"))
      Macros.insert(Tokens.text(I + 2).str());
}

bool ContractText::deviceOnly(const Piece &P) const {
  if (P.Kind != PieceKind::Function && P.Kind != PieceKind::FunctionDeclaration)
    return false;
  bool Device = false, InAttribute = false;
  for (size_t I = P.Tokens.Begin; I < P.Tokens.End; ++I) {
    InAttribute |= Tokens.text(I).starts_with("__attribute");
    if (Tokens.is(I, "{") || (Tokens.is(I, "(") && !InAttribute))
      break;
    InAttribute &= !Tokens.is(I, ")");
    if (Tokens.is(I, "__host__") || Tokens.is(I, "host") ||
        Tokens.is(I, "__host"))
      return false;
    Device |= Tokens.is(I, "__device__") || Tokens.is(I, "__global__");
  }
  return Device;
}

namespace {
class TokenReader {
public:
  explicit TokenReader(const ContractText &Text) : Text(Text), T(Text.Tokens) {}

  std::vector<Finding> run() {
    for (size_t I = 0; I < T.All.size(); ++I) {
      if (T.All[I].Kind == SourceToken::Word)
        word(I);
      else if (T.All[I].Kind == SourceToken::Literal)
        literal(I);
      else if (T.is(I, "##"))
        add(I, ViolationKind::PastesTokens, "");
      if (T.is(I, "[") && T.is(I + 1, "["))
        attributes(I + 2);
    }
    return std::move(Findings);
  }

private:
  void add(size_t At, ViolationKind Kind, StringRef Name,
           std::optional<Harm> Why = std::nullopt) {
    // What the source asks of its place it asks there: another use is new.
    std::string Key = Name.str();
    if (Why == Harm::Place || Why == Harm::Build)
      Key += " " + T.lineText(Text.line(At)).trim().str();
    Findings.push_back({{Kind, Text.line(At), Name.str(), Why}, Key});
  }

  /// Of #if and its like, which others look at.
  bool inCondition(size_t I) const {
    while (I > 0 && T.All[I].InDirective && !T.All[I].StartsLine)
      --I;
    if (!T.All[I].InDirective || I + 1 >= T.All.size())
      return false;
    StringRef Directive = T.text(I + 1);
    return Directive.contains("if") || Directive == "undef";
  }

  void word(size_t I) {
    StringRef Word = T.text(I);
    if (std::optional<Harm> Why = forbiddenWord(Word)) {
      // The only use of the driver's table that kernels have is a tensor map.
      bool TensorMap = Word.starts_with("cudaGetDriverEntryPoint") &&
                       T.is(I + 1, "(") && I + 2 < T.All.size() &&
                       T.text(I + 2).starts_with("\"cuTensorMapEncode");
      if (!TensorMap)
        add(I, ViolationKind::UsesName, Word, Why);
    } else if (!Text.Macros.count(Word.str()) && predefinedWord(Word) &&
               !inCondition(I)) {
      add(I, ViolationKind::UsesName, Word, Harm::Build);
    }
    if (Word == "__attribute__" || Word == "__attribute" ||
        Word == "__declspec")
      attributes(I + 1);
    if (Word == "_Pragma" || Word == "__pragma") {
      StringRef What = T.is(I + 1, "(") && I + 2 < T.All.size() ? T.text(I + 2)
                                                                : StringRef();
      if (!What.starts_with("\"unroll") && !What.starts_with("\"nv_") &&
          !What.starts_with("\"nounroll") && !What.starts_with("unroll"))
        add(I, ViolationKind::PragmaOperator, What);
    }
    if (Word == "std" && T.is(I + 1, "::") && I + 2 < T.All.size()) {
      std::string Name = ("std::" + T.text(I + 2)).str();
      if (std::optional<Harm> Why = forbiddenQualified(Name))
        add(I, ViolationKind::UsesName, Name, Why);
    }
  }

  /// The words up to where the brackets around \p I close.
  void attributes(size_t I) {
    int Depth = 0;
    for (size_t J = I; J < T.All.size(); ++J) {
      if (T.is(J, "(") || T.is(J, "["))
        ++Depth;
      else if ((T.is(J, ")") || T.is(J, "]")) && --Depth <= 0)
        return;
      else if (T.All[J].Kind == SourceToken::Word &&
               forbiddenAttribute(T.text(J)))
        add(J, ViolationKind::UsesAttribute, T.text(J));
      else if (T.is(J, ";") || T.is(J, "{"))
        return;
    }
  }

  void literal(size_t I) {
    StringRef Value = T.text(I);
    for (StringRef Part :
         {"/proc/", "/dev/", "/sys/", ".incbin", "globaltimer"})
      if (Value.contains(Part))
        add(I, ViolationKind::TellingString, Part);
    // An operand of assembly that is text of it, which nobody reads here.
    if (Value == "\"C\"" && T.is(I + 1, "("))
      add(I, ViolationKind::TellingString, "C");
  }

  const ContractText &Text;
  const SourceTokens &T;
  std::vector<Finding> Findings;
};
} // namespace

std::vector<Finding> stark::tokenFindings(const ContractText &Text) {
  return TokenReader(Text).run();
}

/// Whether the declaration that \p I is in cannot change, or is a function.
static bool constant(const SourceTokens &T, size_t I, Range P) {
  size_t Begin = I;
  while (Begin > P.Begin && !T.is(Begin - 1, ";") && !T.is(Begin - 1, "{") &&
         !T.is(Begin - 1, "}"))
    --Begin;
  for (size_t J = Begin; J < P.End; ++J) {
    if (T.is(J, ";") || T.is(J, "=") || T.is(J, "{"))
      return false;
    for (StringRef Word :
         {"const", "constexpr", "__shared__", "(", "using", "typedef"})
      if (T.is(J, Word))
        return true;
  }
  return false;
}

std::vector<Finding> stark::unparsedFindings(const ContractText &Text) {
  std::vector<Finding> Findings;
  const SourceTokens &T = Text.Tokens;
  for (const Piece &P : Text.Pieces) {
    auto Add = [&](size_t At, ViolationKind Kind, StringRef Name = "") {
      Findings.push_back({{Kind, Text.line(At), Name.str(), std::nullopt,
                           /*Guessed=*/true},
                          (Name + " " + P.Name).str()});
    };
    bool Device = Text.deviceOnly(P);
    bool Function = P.Kind == PieceKind::Function;
    for (size_t I = P.Tokens.Begin; I < P.Tokens.End; ++I) {
      if (T.All[I].Kind != SourceToken::Word)
        continue;
      StringRef Word = T.text(I);
      bool Member = T.is(I - 1, ".") || T.is(I - 1, "->");
      if (!Device && T.is(I + 1, "(") && !Member && forbiddenFunction(Word))
        Add(I, ViolationKind::CallsFunction, Word);
      if (!Device && (Word == "asm" || Word == "__asm__" || Word == "__asm"))
        Add(I, ViolationKind::HostAssembly);
      if ((Word == "static" || Word == "thread_local") && Function &&
          I > P.Tokens.Begin && !constant(T, I, P.Tokens))
        Add(I, ViolationKind::SomeStatic);
    }
    if (P.Kind == PieceKind::Variable && !constant(T, P.Tokens.Begin, P.Tokens))
      Add(P.Tokens.Begin, ViolationKind::SomeVariable);
  }
  return Findings;
}
