//===- FootprintLaunch.cpp - Statements that only launch -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintLaunch.h"
#include "Brackets.h"
#include <map>

using namespace stark;

namespace {

enum class Shape { Simple, Jump, Control, Block };

struct Statement {
  Shape Kind = Shape::Simple;
  Range Own; ///< for Control and Block: without the children
  Range All;
  std::vector<size_t> Parts; ///< indices of governed statements
  bool Launches = false;     ///< launches or names a kernel of the set
  bool Related = false;
  std::vector<uint32_t> Names; ///< that it declares or assigns
};

class LaunchFinder {
public:
  LaunchFinder(const SourceTokens &T, Range Body,
               const std::set<std::string> &Kernels)
      : T(T), End(Body.End), At(Body.Begin), Kernels(Kernels) {}

  std::vector<bool> run(Range Body) {
    while (At < End && !T.is(At, "{"))
      ++At;
    std::vector<bool> Result;
    if (At >= End)
      return Result;
    Root = parse();
    bool Any = false;
    for (Statement &S : Statements)
      Any |= S.Kind == Shape::Simple && describe(S);
    if (!Any)
      return Result;
    findFeeders(Body);
    Result.resize(Body.size(), false);
    mark(Root, false, Result, Body.Begin);
    return Result;
  }

private:
  bool is(size_t I, llvm::StringRef Text) const {
    return I < End && T.is(I, Text);
  }

  size_t add(Statement S) {
    Statements.push_back(std::move(S));
    return Statements.size() - 1;
  }

  size_t parse() {
    size_t Begin = At;
    Statement S;
    ++Nesting;
    if (Nesting > 256) { // hostile text: Clang gives up here too
      At = End;
    } else if (is(At, "{")) {
      S.Kind = Shape::Block;
      ++At;
      while (At < End && !is(At, "}"))
        S.Parts.push_back(parse());
      At = At < End ? At + 1 : End;
    } else if (T.All[At].InDirective) {
      while (At < End && T.All[At].Kind != SourceToken::EndOfDirective)
        ++At;
      At = At < End ? At + 1 : End;
      S.Kind = Shape::Jump;
    } else if (is(At, "if") || is(At, "for") || is(At, "while") ||
               is(At, "switch")) {
      bool If = is(At, "if");
      S.Kind = Shape::Control;
      ++At;
      if (is(At, "constexpr"))
        ++At;
      if (is(At, "("))
        At = behindBracket(T, At, End);
      if (At < End && !is(At, "}"))
        S.Parts.push_back(parse());
      if (If && is(At, "else")) {
        ++At;
        if (At < End && !is(At, "}"))
          S.Parts.push_back(parse());
      }
    } else if (is(At, "do")) {
      S.Kind = Shape::Control;
      ++At;
      if (At < End)
        S.Parts.push_back(parse());
      simple();
    } else if (is(At, "break") || is(At, "continue") ||
               (is(At, "return") && is(At + 1, ";")) || is(At, ";") ||
               is(At, "case") || is(At, "default")) {
      S.Kind = Shape::Jump;
      bool Label = is(At, "case") || is(At, "default");
      while (At < End && !is(At, Label ? ":" : ";"))
        ++At;
      At = At < End ? At + 1 : End;
    } else {
      simple();
    }
    if (At == Begin)
      ++At; // a stray }
    --Nesting;
    S.All = S.Own = {Begin, At};
    return add(std::move(S));
  }

  /// To behind the semicolon; braces belong to an initialiser or a lambda.
  void simple() {
    while (At < End && !is(At, ";") && !is(At, "}")) {
      if (is(At, "(") || is(At, "{") || is(At, "["))
        At = behindBracket(T, At, End);
      else
        ++At;
    }
    if (is(At, ";"))
      ++At;
  }

  bool isKernel(size_t I) const {
    return T.All[I].Kind == SourceToken::Word && Kernels.count(T.text(I).str());
  }

  /// Finds what \p S launches and declares; whether it launches.
  bool describe(Statement &S) {
    bool Other = false;
    for (size_t I = S.Own.Begin; I < S.Own.End; ++I) {
      S.Launches |= isKernel(I);
      if (is(I, "<<<"))
        Other |= !isKernel(nameBeforeAngles(T, I ? I - 1 : 0));
    }
    if (Other) {
      S.Launches = false;
      return false;
    }
    if (S.Launches)
      aliasOf(S);
    else
      findNames(S);
    return S.Launches;
  }

  /// `auto k = kernel<4>;` makes k a kernel too.
  void aliasOf(const Statement &S) {
    for (size_t I = S.Own.Begin; I + 2 < S.Own.End; ++I) {
      if (is(I, "(") || is(I, "<<<"))
        return;
      if (!is(I, "="))
        continue;
      size_t Kernel = is(I + 1, "&") ? I + 2 : I + 1;
      if (I > S.Own.Begin && isKernel(Kernel) &&
          (is(Kernel + 1, ";") || is(Kernel + 1, "<")) &&
          T.All[I - 1].Kind == SourceToken::Word)
        Kernels.insert(T.text(I - 1).str());
      return;
    }
  }

  void findNames(Statement &S) {
    static const std::set<llvm::StringRef> NoDeclaration = {
        "return",  "goto",   "delete", "throw", "using",
        "typedef", "static", "asm",    "else",  "co_return"};
    if (NoDeclaration.count(T.text(S.Own.Begin)))
      return;
    bool Declares = false, Done = false;
    size_t Last = 0; // the word that may be a name, plus one
    int Depth = 0;
    for (size_t I = S.Own.Begin; I < S.Own.End; ++I) {
      llvm::StringRef Text = T.text(I);
      bool Opens = Text == "(" || Text == "[" || Text == "{";
      if (Depth == 0 && !Done) {
        bool Ends = Text == "=" || Text == ";" || Text == "," || Opens;
        bool Member = Text == "." || Text == "->";
        bool Updates = Text.size() > 1 && Text.ends_with("=") && Text != "==" &&
                       Text != "!=" && Text != "<=" && Text != ">=";
        if (T.All[I].Kind == SourceToken::Word) {
          Declares |= Last != 0 && !T.is(I - 1, "::");
          Last = T.is(I - 1, "::") ? 0 : I + 1;
          if (T.is(I - 1, "::") && !Declares)
            Last = 0;
        } else if (Last && (Member || Updates) && !Declares) {
          if (Updates || assigns(I, S.Own.End))
            S.Names.push_back(T.All[Last - 1].Spelling);
          return;
        } else if (Ends) {
          if (Last && (Declares || Text == "="))
            S.Names.push_back(T.All[Last - 1].Spelling);
          if (!Declares && Text != "=")
            return;
          Done = Text != ",";
          Last = 0;
        } else if (Text == ">") {
          Declares = true;
        }
      } else if (Depth == 0 && Text == ",") {
        Done = false;
      }
      if (Opens)
        ++Depth;
      else if (Text == ")" || Text == "]" || Text == "}")
        --Depth;
    }
  }

  /// Whether an assignment follows before the statement ends: `grid.x = n;`.
  bool assigns(size_t I, size_t Stop) const {
    for (; I < Stop; ++I)
      if (T.is(I, "="))
        return true;
      else if (T.is(I, "("))
        return false;
    return false;
  }

  void findFeeders(Range Body) {
    std::map<uint32_t, std::vector<size_t>> Uses; // name -> tokens
    for (size_t I = Body.Begin; I < Body.End; ++I)
      if (T.All[I].Kind == SourceToken::Word && !T.is(I - 1, ".") &&
          !T.is(I - 1, "->") && !T.is(I - 1, "::"))
        Uses[T.All[I].Spelling].push_back(I);
    std::map<size_t, size_t> Owner; // token -> simple statement
    for (size_t S = 0; S < Statements.size(); ++S)
      if (Statements[S].Kind == Shape::Simple)
        for (size_t I = Statements[S].Own.Begin; I < Statements[S].Own.End; ++I)
          Owner[I] = S;
    for (Statement &S : Statements)
      S.Related = S.Launches || !S.Names.empty();
    if (Statements.size() > 2000) { // what follows is quadratic
      for (Statement &S : Statements)
        S.Related = S.Launches;
      return;
    }
    // A control statement around launches only is decided below; what its
    // condition reads counts as used by it.
    auto UsedElsewhere = [&](uint32_t Name) {
      for (size_t I : Uses[Name]) {
        auto It = Owner.find(I);
        if (It != Owner.end() ? !Statements[It->second].Related
                              : !governsRelated(I))
          return true;
      }
      return false;
    };
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (Statement &S : Statements)
        if (S.Related && !S.Launches)
          for (uint32_t Name : S.Names)
            if (UsedElsewhere(Name)) {
              S.Related = false;
              Changed = true;
              break;
            }
    }
    // Of those that remain, only what a launch needs.
    std::set<size_t> Needed;
    for (size_t S = 0; S < Statements.size(); ++S)
      if (Statements[S].Launches)
        Needed.insert(S);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (size_t S = 0; S < Statements.size(); ++S) {
        if (!Statements[S].Related || Needed.count(S))
          continue;
        for (uint32_t Name : Statements[S].Names)
          for (size_t I : Uses[Name]) {
            auto It = Owner.find(I);
            if (It == Owner.end() ||
                (It->second != S && Needed.count(It->second)))
              Changed |= Needed.insert(S).second;
          }
      }
    }
    for (size_t S = 0; S < Statements.size(); ++S)
      Statements[S].Related = Needed.count(S);
  }

  /// Whether the innermost control statement that token \p I is the head of
  /// governs only related statements.
  bool governsRelated(size_t I) const {
    const Statement *Inner = nullptr;
    for (const Statement &S : Statements)
      if (S.Kind == Shape::Control && S.All.Begin <= I && I < S.All.End &&
          (!Inner || S.All.size() < Inner->All.size()))
        Inner = &S;
    return Inner && governed(*Inner);
  }

  /// All that \p S governs is related, and there is at least one of it.
  bool governed(const Statement &S) const {
    bool Some = false;
    for (size_t P : S.Parts) {
      const Statement &Part = Statements[P];
      if (Part.Kind == Shape::Jump)
        continue;
      if (Part.Kind == Shape::Simple ? !Part.Related : !governed(Part))
        return false;
      Some = true;
    }
    return Some;
  }

  void mark(size_t Index, bool Inside, std::vector<bool> &Result,
            size_t Origin) const {
    const Statement &S = Statements[Index];
    bool Mine = S.Related && S.Kind == Shape::Simple;
    if (Index != Root && S.Kind != Shape::Simple && S.Kind != Shape::Jump)
      Mine = governed(S);
    Mine |= Inside;
    if (Mine)
      for (size_t I = S.All.Begin; I < S.All.End; ++I)
        Result[I - Origin] = true;
    for (size_t P : S.Parts)
      mark(P, Mine && Index != Root, Result, Origin);
  }

  const SourceTokens &T;
  size_t End, At;
  size_t Root = 0;
  unsigned Nesting = 0;
  std::set<std::string> Kernels;
  std::vector<Statement> Statements;
};
} // namespace

std::vector<bool> stark::launchTokens(const SourceTokens &Tokens, Range Body,
                                      const std::set<std::string> &Kernels) {
  return LaunchFinder(Tokens, Body, Kernels).run(Body);
}
