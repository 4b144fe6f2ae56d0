//===- ExtractUnits.cpp - Declarations of all files -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractUnits.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

bool stark::isMadeByClang(const Decl *D) {
  if (D->isImplicit() || isa<EmptyDecl>(D))
    return true;
  if (auto *F = dyn_cast<FunctionDecl>(D))
    return F->isTemplateInstantiation();
  if (auto *C = dyn_cast<ClassTemplateSpecializationDecl>(D))
    return C->getSpecializationKind() != TSK_ExplicitSpecialization;
  if (auto *V = dyn_cast<VarTemplateSpecializationDecl>(D))
    return V->getSpecializationKind() != TSK_ExplicitSpecialization;
  return false;
}

UnitsOfFiles::UnitsOfFiles(const IncludeTree &Tree, bool WithParts)
    : OfFile(Tree.Files.size()), Conditionals(Tree.Files.size()), Tree(Tree),
      Structure(Tree.Files.size()) {
  for (size_t Pass = 0; Pass < Tree.passes(); ++Pass) {
    ASTUnit &Unit = Tree.source(Pass).unit();
    for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
      if (*I)
        collect(Pass, *I, *I);
  }
  takeTrailingTokens();
  merge();
  takeLeadingTokens();
  for (size_t File = 0; File < Tree.Files.size(); ++File)
    readConditionals(int(File));
  do
    merge();
  while (growOverConditionals());
  for (size_t I = 0; I < All.size(); ++I)
    OfFile[All[I].File].push_back(I);
  if (WithParts)
    for (size_t I = 0; I < All.size(); ++I)
      findParts(I);
}

/// A macro that opens or closes a namespace is no part of what follows it.
void UnitsOfFiles::noteStructure(size_t Pass, SourceLocation L) {
  if (!L.isMacroID())
    return;
  const SourceManager &SM = Tree.sources(Pass);
  auto [File, At] = Tree.place(Pass, SM.getExpansionRange(L).getEnd());
  if (File >= 0)
    Structure[File].insert(Tree.Files[File].Tokens->firstAt(At));
}

void UnitsOfFiles::collect(size_t Pass, Decl *D, Decl *Outer) {
  if (isMadeByClang(D))
    return;
  if (auto *Space = dyn_cast<NamespaceDecl>(D)) {
    noteStructure(Pass, D->getBeginLoc());
    noteStructure(Pass, Space->getRBraceLoc());
    for (Decl *Inner : Space->decls())
      collect(Pass, Inner, Inner);
  } else if (auto *Linkage = dyn_cast<LinkageSpecDecl>(D)) {
    if (Linkage->hasBraces()) {
      noteStructure(Pass, D->getBeginLoc());
      noteStructure(Pass, Linkage->getRBraceLoc());
    }
    for (Decl *Inner : Linkage->decls())
      collect(Pass, Inner, Linkage->hasBraces() ? Inner : D);
  } else {
    add(Pass, D, Outer);
  }
}

void UnitsOfFiles::add(size_t Pass, Decl *D, Decl *Outer) {
  CharSourceRange R =
      Tree.sources(Pass).getExpansionRange(Outer->getSourceRange());
  auto [First, Begin] = Tree.place(Pass, R.getBegin());
  auto [Last, End] = Tree.place(Pass, R.getEnd());
  if (First < 0 && Last < 0)
    return;
  if (First != Last) {
    int File = First < 0 ? Last : First;
    const IncludedFile &F = Tree.Files[File];
    if (WhyNot.empty())
      WhyNot = F.Path + ":" +
               std::to_string(F.Tokens->line(First < 0 ? End : Begin)) +
               ": a declaration begins in one file and ends in another";
    return;
  }
  const SourceTokens &T = *Tree.Files[First].Tokens;
  CodeUnit New;
  New.File = First;
  New.Tokens = {T.firstAt(Begin), T.firstAt(End) + 1};
  New.Decls.resize(Tree.passes());
  New.Decls[Pass].push_back(D);
  if (New.Tokens.Begin >= T.All.size() || New.Tokens.End > T.All.size())
    return;
  if (Outer->getEndLoc().isMacroID() && Outer->getBeginLoc().isMacroID())
    Structure[First].insert(New.Tokens.End - 1);
  All.push_back(std::move(New));
}

/// The semicolon, and attributes and initialisers before it.
void UnitsOfFiles::takeTrailingTokens() {
  for (CodeUnit &U : All) {
    const SourceTokens &T = *Tree.Files[U.File].Tokens;
    size_t Next = U.Tokens.End;
    bool Macro = Structure[U.File].count(U.Tokens.End - 1);
    const Decl *D = nullptr;
    for (const auto &Of : U.Decls)
      if (!Of.empty())
        D = Of.front();
    const FunctionDecl *F = D->getAsFunction();
    bool Body = F && F->doesThisDeclarationHaveABody() && T.is(Next - 1, "}");
    // What follows a body, or what a macro makes, is no part of it.
    size_t Most = Macro || Body ? 1 : 64;
    for (size_t I = Next; I < T.All.size() && I < Next + Most; ++I) {
      if (T.All[I].InDirective || T.is(I, "{") || T.is(I, "}"))
        break;
      if (T.is(I, ";")) {
        U.Tokens.End = I + 1;
        break;
      }
    }
  }
}

/// `[[nodiscard]]`, `template <...>`, `__device__` made by a macro.
void UnitsOfFiles::takeLeadingTokens() {
  std::vector<std::set<size_t>> Ends(Tree.Files.size());
  for (const CodeUnit &U : All)
    Ends[U.File].insert(U.Tokens.End);
  for (CodeUnit &U : All) {
    const SourceTokens &T = *Tree.Files[U.File].Tokens;
    size_t First = U.Tokens.Begin;
    while (First > 0) {
      size_t Before = First - 1;
      if (T.All[Before].InDirective || Ends[U.File].count(First) ||
          Structure[U.File].count(Before) || T.is(Before, ";") ||
          T.is(Before, "{") || T.is(Before, "}"))
        break;
      First = Before;
    }
    U.Tokens.Begin = First;
  }
}

/// Units that overlap are one.
void UnitsOfFiles::merge() {
  llvm::stable_sort(All, [](const CodeUnit &A, const CodeUnit &B) {
    return std::pair(A.File, A.Tokens.Begin) <
           std::pair(B.File, B.Tokens.Begin);
  });
  std::vector<CodeUnit> Made;
  for (CodeUnit &U : All) {
    if (Made.empty() || Made.back().File != U.File ||
        Made.back().Tokens.End <= U.Tokens.Begin) {
      Made.push_back(std::move(U));
      continue;
    }
    CodeUnit &Last = Made.back();
    Last.Tokens.End = std::max(Last.Tokens.End, U.Tokens.End);
    for (size_t Pass = 0; Pass < U.Decls.size(); ++Pass)
      Last.Decls[Pass].insert(Last.Decls[Pass].end(), U.Decls[Pass].begin(),
                              U.Decls[Pass].end());
  }
  All = std::move(Made);
}

void UnitsOfFiles::readConditionals(int File) {
  std::vector<Conditional> &Found = Conditionals[File];
  std::vector<size_t> Open;
  for (const Directive &D : Tree.Files[File].Directives) {
    if (D.Word.starts_with("if")) {
      Found.emplace_back();
      Found.back().Outer = Open.empty() ? -1 : int(Open.back());
      Found.back().Branches.push_back(D.First);
      Open.push_back(Found.size() - 1);
    } else if (!Open.empty() && D.Word.starts_with("el")) {
      Found[Open.back()].Branches.push_back(D.First);
    } else if (!Open.empty() && D.Word == "endif") {
      Found[Open.back()].End = D.First;
      Found[Open.back()].Last = D.End;
      Open.pop_back();
    }
  }
  if (!Open.empty() && WhyNot.empty()) {
    const IncludedFile &F = Tree.Files[File];
    size_t First = Found[Open.back()].Branches.front();
    WhyNot = F.Path + ":" +
             std::to_string(F.Tokens->line(F.Tokens->All[First].Bytes.Begin)) +
             ": a conditional has no #endif";
  }
}

/// A conditional lies in a unit or beside it, or holds all of it in one branch.
bool UnitsOfFiles::growOverConditionals() {
  bool Grown = false;
  for (CodeUnit &U : All)
    for (const Conditional &C : Conditionals[U.File]) {
      size_t First = C.Branches.front();
      if (C.Last <= U.Tokens.Begin || U.Tokens.End <= First)
        continue;
      if (U.Tokens.Begin <= First && C.Last <= U.Tokens.End)
        continue;
      bool InOne = false;
      for (size_t I = 0; I < C.Branches.size(); ++I) {
        size_t End = I + 1 < C.Branches.size() ? C.Branches[I + 1] : C.End;
        InOne |= C.Branches[I] < U.Tokens.Begin && U.Tokens.End <= End;
      }
      if (InOne)
        continue;
      U.Tokens.Begin = std::min(U.Tokens.Begin, First);
      U.Tokens.End = std::max(U.Tokens.End, C.Last);
      Grown = true;
    }
  return Grown;
}

int UnitsOfFiles::atToken(int File, size_t Token) const {
  const std::vector<size_t> &Of = OfFile[File];
  auto It = llvm::partition_point(
      Of, [&](size_t I) { return All[I].Tokens.End <= Token; });
  return It != Of.end() && All[*It].Tokens.Begin <= Token ? int(*It) : -1;
}

int UnitsOfFiles::at(std::pair<int, size_t> Place) const {
  if (Place.first < 0)
    return -1;
  int File = Place.first;
  const SourceTokens &T = *Tree.Files[File].Tokens;
  size_t Token = T.firstAt(Place.second);
  for (;;) {
    if (int Found = atToken(File, Token); Found >= 0)
      return Found;
    Token = Tree.Files[File].At;
    File = Tree.Files[File].Parent;
    if (File < 0)
      return -1;
  }
}
