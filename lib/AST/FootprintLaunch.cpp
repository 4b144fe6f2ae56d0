//===- FootprintLaunch.cpp - Statements that only launch -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintLaunch.h"
#include "Brackets.h"
#include "StatementTree.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace stark;

namespace {

/// What is found of a statement of the tree.
struct StatementFacts {
  bool Launches = false; ///< launches or names a kernel of the set
  bool Related = false;
  std::vector<uint32_t> Names{}; ///< that it declares or assigns
};

class LaunchFinder {
public:
  LaunchFinder(const SourceTokens &T, Range Body,
               const std::set<std::string> &Kernels)
      : T(T), End(Body.End), Kernels(Kernels), Tree(readStatements(T, Body)),
        Facts(Tree.All.size()) {}

  std::vector<bool> run(Range Body) {
    std::vector<bool> Result;
    bool Any = false;
    for (size_t S = 0; S < Tree.All.size(); ++S)
      Any |= Tree.All[S].Kind == StatementKind::Simple && describe(S);
    if (!Any)
      return Result;
    findFeeders(Body);
    Result.resize(Body.size(), false);
    mark(Tree.Root, false, Result, Body.Begin);
    return Result;
  }

private:
  bool is(size_t I, llvm::StringRef Text) const {
    return I < End && T.is(I, Text);
  }

  bool isKernel(size_t I) const {
    return T.All[I].Kind == SourceToken::Word && Kernels.count(T.text(I).str());
  }

  /// Finds what statement \p S launches and declares; whether it launches.
  bool describe(size_t S) {
    Range Own = Tree.All[S].Tokens;
    bool Other = false;
    for (size_t I = Own.Begin; I < Own.End; ++I) {
      Facts[S].Launches |= isKernel(I);
      if (is(I, "<<<"))
        Other |= !isKernel(nameBeforeAngles(T, I ? I - 1 : 0));
    }
    if (Other) {
      Facts[S].Launches = false;
      return false;
    }
    if (Facts[S].Launches)
      aliasOf(Own);
    else
      findNames(Own, Facts[S].Names);
    return Facts[S].Launches;
  }

  /// `auto k = kernel<4>;` makes k a kernel too.
  void aliasOf(Range Own) {
    for (size_t I = Own.Begin; I + 2 < Own.End; ++I) {
      if (is(I, "(") || is(I, "<<<"))
        return;
      if (!is(I, "="))
        continue;
      size_t Kernel = is(I + 1, "&") ? I + 2 : I + 1;
      if (I > Own.Begin && isKernel(Kernel) &&
          (is(Kernel + 1, ";") || is(Kernel + 1, "<")) &&
          T.All[I - 1].Kind == SourceToken::Word)
        Kernels.insert(T.text(I - 1).str());
      return;
    }
  }

  void findNames(Range Own, std::vector<uint32_t> &Names) const {
    static const std::set<llvm::StringRef> NoDeclaration = {
        "return",  "goto",   "delete", "throw", "using",
        "typedef", "static", "asm",    "else",  "co_return"};
    if (NoDeclaration.count(T.text(Own.Begin)))
      return;
    bool Declares = false, Done = false;
    size_t Last = 0; // the word that may be a name, plus one
    int Depth = 0;
    for (size_t I = Own.Begin; I < Own.End; ++I) {
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
          if (Updates || assigns(I, Own.End))
            Names.push_back(T.All[Last - 1].Spelling);
          return;
        } else if (Ends) {
          if (Last && (Declares || Text == "="))
            Names.push_back(T.All[Last - 1].Spelling);
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

  /// The tokens at which each word of the body is used by its own name.
  std::map<uint32_t, std::vector<size_t>> usesOf(Range Body) const {
    std::map<uint32_t, std::vector<size_t>> Uses;
    for (size_t I = Body.Begin; I < Body.End; ++I)
      if (T.All[I].Kind == SourceToken::Word && !T.is(I - 1, ".") &&
          !T.is(I - 1, "->") && !T.is(I - 1, "::"))
        Uses[T.All[I].Spelling].push_back(I);
    return Uses;
  }

  void findFeeders(Range Body) {
    std::map<uint32_t, std::vector<size_t>> Uses = usesOf(Body);
    std::map<size_t, size_t> Owner; // token -> simple statement
    for (size_t S = 0; S < Tree.All.size(); ++S)
      if (Tree.All[S].Kind == StatementKind::Simple)
        for (size_t I = Tree.All[S].Tokens.Begin; I < Tree.All[S].Tokens.End;
             ++I)
          Owner[I] = S;
    bool TooMany = Tree.All.size() > 2000; // what follows is quadratic
    for (StatementFacts &F : Facts)
      F.Related = F.Launches || (!TooMany && !F.Names.empty());
    if (TooMany)
      return;
    // A control statement around launches only is decided below; what its
    // condition reads counts as used by it.
    auto UsedElsewhere = [&](uint32_t Name) {
      return llvm::any_of(Uses[Name], [&](size_t I) {
        auto It = Owner.find(I);
        return It != Owner.end() ? !Facts[It->second].Related
                                 : !governsRelated(I);
      });
    };
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (StatementFacts &F : Facts)
        if (F.Related && !F.Launches && llvm::any_of(F.Names, UsedElsewhere)) {
          F.Related = false;
          Changed = true;
        }
    }
    keepNeeded(Uses, Owner);
  }

  /// Of the related statements, only what a launch needs.
  void keepNeeded(std::map<uint32_t, std::vector<size_t>> &Uses,
                  const std::map<size_t, size_t> &Owner) {
    std::set<size_t> Needed;
    for (size_t S = 0; S < Facts.size(); ++S)
      if (Facts[S].Launches)
        Needed.insert(S);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (size_t S = 0; S < Facts.size(); ++S) {
        if (!Facts[S].Related || Needed.count(S))
          continue;
        for (uint32_t Name : Facts[S].Names)
          for (size_t I : Uses[Name]) {
            auto It = Owner.find(I);
            if (It == Owner.end() ||
                (It->second != S && Needed.count(It->second)))
              Changed |= Needed.insert(S).second;
          }
      }
    }
    for (size_t S = 0; S < Facts.size(); ++S)
      Facts[S].Related = Needed.count(S);
  }

  /// Whether the innermost control statement that token \p I is the head of
  /// governs only related statements.
  bool governsRelated(size_t I) const {
    const Statement *Inner = nullptr;
    for (const Statement &S : Tree.All)
      if (S.Kind == StatementKind::Control && S.Tokens.Begin <= I &&
          I < S.Tokens.End &&
          (!Inner || S.Tokens.size() < Inner->Tokens.size()))
        Inner = &S;
    return Inner && governed(*Inner);
  }

  /// All that \p S governs is related, and there is at least one of it.
  bool governed(const Statement &S) const {
    bool Some = false;
    for (size_t P : S.Parts) {
      const Statement &Part = Tree.All[P];
      if (Part.Kind == StatementKind::Jump)
        continue;
      if (Part.Kind == StatementKind::Simple ? !Facts[P].Related
                                             : !governed(Part))
        return false;
      Some = true;
    }
    return Some;
  }

  void mark(size_t Index, bool Inside, std::vector<bool> &Result,
            size_t Origin) const {
    const Statement &S = Tree.All[Index];
    bool Mine = Facts[Index].Related && S.Kind == StatementKind::Simple;
    if (Index != Tree.Root && S.Kind != StatementKind::Simple &&
        S.Kind != StatementKind::Jump)
      Mine = governed(S);
    Mine |= Inside;
    if (Mine)
      for (size_t I = S.Tokens.Begin; I < S.Tokens.End; ++I)
        Result[I - Origin] = true;
    for (size_t P : S.Parts)
      mark(P, Mine && Index != Tree.Root, Result, Origin);
  }

  const SourceTokens &T;
  size_t End;
  std::set<std::string> Kernels;
  StatementTree Tree;
  std::vector<StatementFacts> Facts;
};
} // namespace

std::vector<bool> stark::launchTokens(const SourceTokens &Tokens, Range Body,
                                      const std::set<std::string> &Kernels) {
  return LaunchFinder(Tokens, Body, Kernels).run(Body);
}
