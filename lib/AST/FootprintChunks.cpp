//===- FootprintChunks.cpp - A source's top-level pieces, by tokens -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintChunks.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;

llvm::StringRef stark::chunkKindName(ChunkKind Kind) {
  switch (Kind) {
  case ChunkKind::Include:
    return "include of";
  case ChunkKind::Define:
    return "macro";
  case ChunkKind::Pragma:
    return "pragma";
  case ChunkKind::Conditional:
    return "conditional";
  case ChunkKind::Directive:
    return "directive";
  case ChunkKind::Open:
    return "opening of";
  case ChunkKind::Close:
    return "closing brace";
  case ChunkKind::Function:
    return "function";
  case ChunkKind::FunctionDeclaration:
    return "declaration of function";
  case ChunkKind::Type:
    return "type";
  case ChunkKind::Variable:
    return "variable";
  case ChunkKind::Using:
    return "using, typedef or static_assert";
  case ChunkKind::Other:
    return "declaration";
  }
  return "";
}

static int bracketStep(llvm::StringRef T) {
  if (T == "{" || T == "(" || T == "[" || T == "<parameters>(")
    return 1;
  if (T == "}" || T == ")" || T == "]")
    return -1;
  return 0;
}

namespace {
/// Follows brackets; on #else goes back to the depth at its #if.
class DepthWalk {
public:
  explicit DepthWalk(const SourceTokens &T) : T(T) {}
  int Depth = 0;

  /// Takes token \p I into account.
  void step(size_t I) {
    const SourceToken &Token = T.All[I];
    if (Token.InDirective) {
      if (Token.StartsLine && Token.Kind == SourceToken::Punctuator)
        directive(I + 1);
      return;
    }
    if (Token.Kind == SourceToken::Punctuator)
      Depth += bracketStep(T.text(I));
  }

private:
  void directive(size_t Name) {
    if (Name >= T.All.size())
      return;
    llvm::StringRef Word = T.text(Name);
    if (Word == "if" || Word == "ifdef" || Word == "ifndef")
      Ifs.push_back(Depth);
    else if ((Word == "else" || Word.starts_with("elif")) && !Ifs.empty())
      Depth = Ifs.back();
    else if (Word == "endif" && !Ifs.empty())
      Ifs.pop_back();
  }

  const SourceTokens &T;
  std::vector<int> Ifs;
};

class Chunker {
public:
  explicit Chunker(const SourceTokens &T) : T(T), Walk(T) {}

  std::vector<Chunk> run() {
    while (At < T.All.size())
      next();
    return std::move(Chunks);
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
      return emit(ChunkKind::Close, "");
    }
    if (opensBlock())
      return;
    declaration();
  }

  void take() { Walk.step(At++); }

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
    emit(llvm::StringSwitch<ChunkKind>(Word)
             .Cases("include", "include_next", "import", ChunkKind::Include)
             .Case("define", ChunkKind::Define)
             .Case("pragma", ChunkKind::Pragma)
             .Cases("if", "ifdef", "ifndef", "else", "elif", "endif",
                    ChunkKind::Conditional)
             .Cases("elifdef", "elifndef", ChunkKind::Conditional)
             .Default(ChunkKind::Directive),
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
    emit(ChunkKind::Open, Name);
    return true;
  }

  void declaration() {
    bool Parens = false, Equals = false, Body = false, TypeWord = false;
    for (size_t Head = afterTemplate(At); At < Head;)
      take();
    while (At < T.All.size()) {
      llvm::StringRef Text = T.text(At);
      bool Top = Walk.Depth == Level && !T.All[At].InDirective;
      // A macro call with no semicolon, alone on its line.
      if (Top && T.All[At].StartsLine && isMacroCall())
        return emit(ChunkKind::Other, T.text(Begin).str());
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
    ChunkKind Kind = ChunkKind::Other;
    size_t Head = afterTemplate(Begin);
    if (T.is(Head, "using") || T.is(Head, "typedef") ||
        T.is(Head, "static_assert") || T.is(Head, "namespace"))
      Kind = ChunkKind::Using;
    else if (TypeWord && !Parens)
      Kind = ChunkKind::Type;
    else if (Function)
      Kind = ChunkKind::Function;
    else if (Parens && !Equals)
      Kind = ChunkKind::FunctionDeclaration;
    else if (At - Begin > 1 && T.is(At - 1, ";"))
      Kind = ChunkKind::Variable;
    std::string Name =
        Kind == ChunkKind::Function || Kind == ChunkKind::FunctionDeclaration
            ? functionName(Head)
        : Kind == ChunkKind::Type     ? typeName(Head)
        : Kind == ChunkKind::Variable ? variableName(Head)
                                      : "";
    emit(Kind, Name);
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

  /// Skips `template <...>` prefixes.
  size_t afterTemplate(size_t I) const {
    while (T.is(I, "template") && T.is(I + 1, "<"))
      I = afterAngles(I + 1);
    return I;
  }

  /// From a '<' to behind its '>', or \p I when it has none.
  size_t afterAngles(size_t I) const {
    int Angles = 0, Depth = 0;
    for (size_t J = I; J < T.All.size(); ++J) {
      llvm::StringRef Text = T.text(J);
      Depth += bracketStep(Text);
      if (Depth < 0 || Text == ";" || Text == "{")
        return I;
      if (Depth > 0)
        continue;
      if (Text == "<")
        ++Angles;
      else if (Text == ">")
        --Angles;
      else if (Text == ">>")
        Angles -= 2;
      else if (Text == ">>>")
        Angles -= 3;
      if (Angles <= 0)
        return J + 1;
    }
    return I;
  }

  size_t afterParens(size_t I) const {
    int Depth = 0;
    for (; I < At; ++I)
      if ((Depth += bracketStep(T.text(I))) == 0)
        return I + 1;
    return I;
  }

  std::string functionName(size_t Head) const {
    std::string Name;
    for (size_t I = Head; I < At;) {
      llvm::StringRef Text = T.text(I);
      if (Text == "operator") {
        Name = "operator";
        for (++I; I < At && !T.is(I, "("); ++I)
          Name += T.text(I);
        return Name;
      }
      if (Text == "__launch_bounds__" || Text == "__attribute__" ||
          Text == "alignas" || Text == "decltype" || Text == "__declspec" ||
          Text == "__maxnreg__" || Text == "__cluster_dims__" ||
          Text == "__block_size__" || Text == "__align__" ||
          Text == "noexcept" || Text == "explicit") {
        I = T.is(I + 1, "(") ? afterParens(I + 1) : I + 1;
        continue;
      }
      if (Text == "(" || Text == "{" || Text == ";")
        return Name;
      if (Text == "<") {
        size_t Next = afterAngles(I);
        I = Next == I ? I + 1 : Next;
        continue;
      }
      if (T.All[I].Kind == SourceToken::Word)
        Name = Text.str();
      ++I;
    }
    return Name;
  }

  std::string typeName(size_t Head) const {
    std::string Name;
    for (size_t I = Head + 1; I < At; ++I) {
      llvm::StringRef Text = T.text(I);
      if (Text == "{" || Text == ":" || Text == ";" || Text == "<")
        break;
      if (Text == "alignas" || Text == "__align__" || Text == "__attribute__") {
        I = afterParens(I + 1) - 1;
        continue;
      }
      if (T.All[I].Kind == SourceToken::Word && Text != "class" &&
          Text != "struct" && Text != "final")
        Name = Text.str();
    }
    return Name;
  }

  std::string variableName(size_t Head) const {
    std::string Name;
    for (size_t I = Head; I < At; ++I) {
      llvm::StringRef Text = T.text(I);
      if (Text == "=" || Text == ";" || Text == "{" ||
          (Text == "[" && !Name.empty()) || Text == ",")
        break;
      if (Text == "<") {
        size_t Next = afterAngles(I);
        I = Next == I ? I : Next - 1;
      } else if (T.All[I].Kind == SourceToken::Word) {
        Name = Text.str();
      }
    }
    return Name;
  }

  void emit(ChunkKind Kind, std::string Name) {
    Chunk C;
    C.Tokens = {Begin, At};
    C.Kind = Kind;
    C.Name = std::move(Name);
    std::vector<uint32_t> Symbols;
    for (size_t I = Begin; I < At; ++I)
      Symbols.push_back(T.All[I].Spelling);
    C.Hash = llvm::hash_combine_range(Symbols.begin(), Symbols.end());
    Chunks.push_back(std::move(C));
  }

  const SourceTokens &T;
  DepthWalk Walk;
  std::vector<Chunk> Chunks;
  size_t At = 0, Begin = 0;
  int Level = 0, Open = 0;
};
} // namespace

std::vector<Chunk> stark::findChunks(const SourceTokens &Tokens) {
  return Chunker(Tokens).run();
}

std::vector<int> stark::bracketDepths(const SourceTokens &Tokens) {
  std::vector<int> Depths{0};
  DepthWalk Walk(Tokens);
  for (size_t I = 0; I < Tokens.All.size(); ++I) {
    Walk.step(I);
    Depths.push_back(Walk.Depth);
  }
  return Depths;
}
