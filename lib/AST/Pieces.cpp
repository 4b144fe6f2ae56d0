//===- Pieces.cpp - A source's top-level pieces, by tokens ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pieces.h"
#include "Brackets.h"
#include "stark/Json/Names.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;

namespace stark {
static constexpr Named<PieceKind> PieceKindNames[] = {
    {PieceKind::Include, "include of"},
    {PieceKind::Define, "macro"},
    {PieceKind::Pragma, "pragma"},
    {PieceKind::Conditional, "conditional"},
    {PieceKind::Directive, "directive"},
    {PieceKind::Open, "opening of"},
    {PieceKind::Close, "closing brace"},
    {PieceKind::Function, "function"},
    {PieceKind::FunctionDeclaration, "declaration of function"},
    {PieceKind::Type, "type"},
    {PieceKind::Variable, "variable"},
    {PieceKind::Using, "using, typedef or static_assert"},
    {PieceKind::Other, "declaration"}};
static constexpr std::span<const Named<PieceKind>> namesOf(PieceKind) {
  return PieceKindNames;
}
} // namespace stark

llvm::StringRef stark::pieceKindName(PieceKind Kind) { return nameOf(Kind); }

namespace {
class PieceFinder {
public:
  explicit PieceFinder(const SourceTokens &T) : T(T), Walk(T) {}

  std::vector<Piece> run() {
    while (At < T.All.size())
      next();
    return std::move(Pieces);
  }

private:
  void next() {
    Begin = At;
    if (T.All[At].InDirective) {
      directive();
      return;
    }
    // The depth at namespace level, whatever unbalanced text came before.
    Level = Walk.Depth;
    if (T.is(At, "}") && Open > 0) {
      --Open;
      take();
      return emit(PieceKind::Close, "");
    }
    if (opensBlock())
      return;
    declaration();
  }

  void take() { Walk.take(At++); }

  void directive() {
    llvm::StringRef Word = T.text(At + 1);
    size_t NameAt = At + 2;
    do
      take();
    while (At < T.All.size() &&
           T.All[At - 1].Kind != SourceToken::EndOfDirective);
    std::string Name;
    for (size_t I = NameAt; I + 1 < At; ++I) {
      Name += T.text(I);
      if (Word == "define" || Word == "undef")
        break;
    }
    emit(llvm::StringSwitch<PieceKind>(Word)
             .Cases("include", "include_next", "import", PieceKind::Include)
             .Case("define", PieceKind::Define)
             .Case("pragma", PieceKind::Pragma)
             .Default(conditionalOf(Word) == Conditional::None
                          ? PieceKind::Directive
                          : PieceKind::Conditional),
         Name);
  }

  /// namespace N {  and  extern "C" {  are pieces; what is inside follows.
  bool opensBlock() {
    size_t I = At;
    if (T.is(I, "inline"))
      ++I;
    std::string Name;
    if (T.is(I, "namespace")) {
      for (++I; I < T.All.size() && !T.is(I, "{"); ++I) {
        if (T.is(I, ";") || T.is(I, "=") || T.All[I].InDirective)
          return false;
        Name += T.text(I);
      }
      Name = "namespace " + Name;
    } else if (T.is(I, "extern") && I + 2 < T.All.size() &&
               T.text(I + 1).starts_with("\"") && T.is(I + 2, "{")) {
      Name = ("extern " + T.text(I + 1)).str();
      I += 2;
    } else {
      return false;
    }
    if (I >= T.All.size())
      return false;
    while (At <= I)
      take();
    ++Open;
    emit(PieceKind::Open, Name);
    return true;
  }

  void declaration() {
    bool Parens = false, Equals = false, Body = false, TypeWord = false;
    for (size_t Head = behindTemplates(T, At); At < Head;)
      take();
    while (At < T.All.size()) {
      llvm::StringRef Text = T.text(At);
      bool Top = Walk.Depth == Level && !T.All[At].InDirective;
      // A macro call with no semicolon, alone on its line.
      if (Top && T.All[At].StartsLine && isMacroCall())
        return emit(PieceKind::Other, T.text(Begin).str());
      if (Top && T.All[At].Kind == SourceToken::Word)
        TypeWord |= !Parens && (Text == "struct" || Text == "class" ||
                                Text == "union" || Text == "enum");
      if (Top && Text == "}") // closes more than was opened
        break;
      Parens |= Top && Text == "(";
      Equals |= Top && Text == "=" && !T.is(At - 1, "operator");
      Body |= Top && Text == "{";
      bool WasDirective = T.All[At].InDirective;
      take();
      if (WasDirective || Walk.Depth != Level)
        continue;
      if (Text == ";")
        break;
      if (Text != "}")
        continue;
      // The end of a body; of a type or an initialiser only its semicolon.
      if (T.is(At, ";")) {
        take();
        break;
      }
      if (Equals || (TypeWord && !Parens) || T.is(At, ",") || T.is(At, "{"))
        continue;
      break;
    }
    if (At == Begin)
      take(); // a stray }
    bool Function = Parens && !Equals && Body;
    PieceKind Kind = PieceKind::Other;
    size_t Head = behindTemplates(T, Begin);
    if (T.is(Head, "using") || T.is(Head, "typedef") ||
        T.is(Head, "static_assert") || T.is(Head, "namespace"))
      Kind = PieceKind::Using;
    else if (TypeWord && !Parens)
      Kind = PieceKind::Type;
    else if (Function)
      Kind = PieceKind::Function;
    else if (Parens && !Equals)
      Kind = PieceKind::FunctionDeclaration;
    else if (At - Begin > 1 && T.is(At - 1, ";"))
      Kind = PieceKind::Variable;
    emit(Kind, declaredName(T, Kind, {Head, At}));
  }

  bool isMacroCall() const {
    if (At - Begin < 3 || T.All[Begin].Kind != SourceToken::Word ||
        !T.is(Begin + 1, "(") || !T.is(At - 1, ")") ||
        T.All[At].Kind != SourceToken::Word)
      return false;
    int Depth = 0;
    for (size_t I = Begin + 1; I + 1 < At; ++I)
      if ((Depth += bracketStep(T.text(I))) == 0)
        return false; // the first parenthesis closed before the end
    return true;
  }

  void emit(PieceKind Kind, std::string Name) {
    Piece P;
    P.Tokens = {Begin, At};
    P.Kind = Kind;
    P.Name = std::move(Name);
    std::vector<uint32_t> Symbols;
    for (size_t I = Begin; I < At; ++I)
      Symbols.push_back(T.All[I].Spelling);
    P.Hash = llvm::hash_combine_range(Symbols.begin(), Symbols.end());
    Pieces.push_back(std::move(P));
  }

  const SourceTokens &T;
  DepthWalk Walk;
  std::vector<Piece> Pieces;
  size_t At = 0, Begin = 0;
  int Level = 0, Open = 0;
};
} // namespace

std::vector<Piece> stark::findPieces(const SourceTokens &Tokens) {
  return PieceFinder(Tokens).run();
}
