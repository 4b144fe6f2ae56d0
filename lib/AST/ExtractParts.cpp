//===- ExtractParts.cpp - What may be left out of a declaration -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractUnits.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"

using namespace stark;
using namespace clang;

/// The class that \p D defines here, or null.
static CXXRecordDecl *definedClass(Decl *D) {
  auto *Template = dyn_cast<ClassTemplateDecl>(D);
  auto *Class =
      Template ? Template->getTemplatedDecl() : dyn_cast<CXXRecordDecl>(D);
  return Class && Class->isThisDeclarationADefinition() ? Class : nullptr;
}

/// A member function that only its name calls, or null.
static const CXXMethodDecl *plainMember(const Decl *D) {
  auto *Template = dyn_cast<FunctionTemplateDecl>(D);
  auto *Method =
      dyn_cast<CXXMethodDecl>(Template ? Template->getTemplatedDecl() : D);
  return Method && !Method->isImplicit() && !Method->isVirtual() &&
                 Method->getDeclName().isIdentifier()
             ? Method
             : nullptr;
}

/// Conditionals and includes stay where they are.
bool UnitsOfFiles::isPart(int File, Range Tokens) const {
  for (const Directive &D : Tree.Files[File].Directives)
    if (Tokens.Begin < D.End && D.First < Tokens.End &&
        (D.Word != "pragma" || D.First < Tokens.Begin || Tokens.End < D.End))
      return false;
  return Tokens.Begin < Tokens.End;
}

/// What stands behind the name of a class template, but the semicolon.
Range UnitsOfFiles::definitionOf(const CodeUnit &U, size_t Pass,
                                 const Decl *D) const {
  const SourceTokens &T = *Tree.Files[U.File].Tokens;
  auto [File, At] = Tree.place(Pass, D->getLocation());
  if (!isa<ClassTemplateDecl>(D) || U.Decls[Pass].size() != 1 ||
      File != U.File || D->getLocation().isMacroID() ||
      !T.is(U.Tokens.End - 1, ";") || !T.is(U.Tokens.End - 2, "}"))
    return {};
  Range Found{T.firstAt(At) + 1, U.Tokens.End - 1};
  // A comment there would hide the semicolon.
  bool Said = llvm::any_of(T.Comments, [&](const SourceComment &C) {
    return C.NextToken == Found.Begin;
  });
  return Said ? Range{} : Found;
}

/// \p D with what stands before and behind it.
Range UnitsOfFiles::memberOf(const CodeUnit &U, size_t Pass,
                             const Decl *D) const {
  const SourceTokens &T = *Tree.Files[U.File].Tokens;
  if (D->getBeginLoc().isMacroID() && D->getEndLoc().isMacroID())
    return {};
  CharSourceRange R = Tree.sources(Pass).getExpansionRange(D->getSourceRange());
  auto [First, Begin] = Tree.place(Pass, R.getBegin());
  auto [Last, End] = Tree.place(Pass, R.getEnd());
  if (First != U.File || Last != U.File)
    return {};
  Range Found{T.firstAt(Begin), T.firstAt(End) + 1};
  while (Found.Begin > U.Tokens.Begin && !T.All[Found.Begin - 1].InDirective &&
         !T.is(Found.Begin - 1, ";") && !T.is(Found.Begin - 1, "{") &&
         !T.is(Found.Begin - 1, "}") && !T.is(Found.Begin - 1, ":"))
    --Found.Begin;
  bool Body = D->getAsFunction()->doesThisDeclarationHaveABody();
  for (size_t I = Found.End; I < U.Tokens.End; ++I) {
    if (T.is(I, ";")) {
      Found.End = I + 1;
      break;
    }
    if (Body)
      break;
    if (T.is(I, "{") || T.is(I, "}"))
      return {};
  }
  return Found.End <= U.Tokens.End ? Found : Range{};
}

void UnitsOfFiles::addPart(size_t Unit, Range Tokens, size_t Pass, Decl *D,
                           llvm::StringRef Member) {
  CodeUnit &U = All[Unit];
  if (!isPart(U.File, Tokens))
    return;
  for (size_t I : U.Parts)
    if (Parts[I].Tokens.Begin == Tokens.Begin &&
        Parts[I].Tokens.End == Tokens.End)
      return Parts[I].Decls[Pass].push_back(D);
  U.Parts.push_back(Parts.size());
  Parts.push_back({Unit, Tokens, {}, Member.str()});
  Parts.back().Decls.resize(Tree.passes());
  Parts.back().Decls[Pass].push_back(D);
}

void UnitsOfFiles::findParts(size_t Unit) {
  const CodeUnit &U = All[Unit];
  for (size_t Pass = 0; Pass < U.Decls.size(); ++Pass)
    for (Decl *D : U.Decls[Pass]) {
      CXXRecordDecl *Class = definedClass(D);
      if (!Class)
        continue;
      addPart(Unit, definitionOf(U, Pass, D), Pass, Class, "");
      for (Decl *Inner : Class->decls())
        if (const CXXMethodDecl *Method = plainMember(Inner))
          addPart(Unit, memberOf(U, Pass, Inner), Pass, Inner,
                  Method->getName());
    }
}
