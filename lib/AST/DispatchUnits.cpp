//===- DispatchUnits.cpp - Declarations that are moved as one  -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DispatchUnits.h"
#include "MainFile.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// The outermost class of which \p D is a member.
static const CXXRecordDecl *classOf(const Decl *D) {
  const CXXRecordDecl *Outer = nullptr;
  for (const DeclContext *C = D->getDeclContext(); C && C->isRecord();
       C = C->getParent())
    Outer = dyn_cast<CXXRecordDecl>(C);
  return Outer;
}

/// What \p D specialises, or null.
static const NamedDecl *templateOf(const Decl *D) {
  if (auto *F = dyn_cast<FunctionDecl>(D))
    return F->getPrimaryTemplate();
  if (auto *C = dyn_cast<ClassTemplateSpecializationDecl>(D))
    return C->getSpecializedTemplate();
  if (auto *V = dyn_cast<VarTemplateSpecializationDecl>(D))
    return V->getSpecializedTemplate();
  return nullptr;
}

static std::string described(const NamedDecl &D) {
  return "'" + D.getQualifiedNameAsString() + "'";
}

static void addName(Unit &U, const NamedDecl &D) {
  std::string Name = D.getNameAsString(); // "operator+", too
  if (!Name.empty() && !llvm::is_contained(U.Names, Name))
    U.Names.push_back(Name);
}

static void readNames(Unit &U, const Decl *D, const SourceManager &SM) {
  auto Elsewhere = [&](const Decl *Other) {
    return !isInMainFile(SM, Other->getCanonicalDecl()->getLocation());
  };
  auto *Named = dyn_cast<NamedDecl>(D);
  if (!Named || isa<UsingDirectiveDecl>(D))
    return;
  if (const CXXRecordDecl *Class = classOf(D)) {
    if (Elsewhere(Class))
      U.Fixed = "the member " + described(*Named) + " of a class of a header";
    return addName(U, *Class);
  }
  if (const NamedDecl *Template = templateOf(D);
      Template && Elsewhere(Template))
    U.Fixed = "a specialisation of a header's template " + described(*Template);
  if (auto *Enum = dyn_cast<EnumDecl>(D); Enum && !Enum->isScoped())
    for (const EnumConstantDecl *E : Enum->enumerators())
      addName(U, *E);
  if (auto *Guide = dyn_cast<CXXDeductionGuideDecl>(D))
    return addName(U, *Guide->getDeducedTemplate());
  if (isa<FunctionDecl, FunctionTemplateDecl>(D) &&
      !Named->getDeclName().isIdentifier())
    U.Fixed = "the function " + described(*Named);
  addName(U, *Named);
}

UnitList::UnitList(const ParsedSource &Source, Spellings &Names)
    : Source(Source), Tokens(Source.text(), Names),
      From(Source, std::vector<std::string>()) {
  std::optional<std::vector<Item>> Found = readItems(Source, From, WhyNot);
  if (!Found)
    return;
  Items = std::move(*Found);
  for (const Item &I : Items) {
    if (Units.empty() || !Units.back().Bytes.overlaps(I.Bytes)) {
      Units.emplace_back();
      Units.back().Bytes = I.Bytes;
    }
    Unit &U = Units.back();
    U.Bytes.End = std::max(U.Bytes.End, I.Bytes.End);
    // A function has no semicolon, all else has one, which may stand apart.
    U.Items.push_back(&I);
    readNames(U, I.D, Source.unit().getSourceManager());
  }
  for (Unit &U : Units) {
    size_t Next = Tokens.firstAt(U.Bytes.End);
    if (Tokens.is(Next, ";"))
      U.Bytes.End = Tokens.All[Next].Bytes.End;
  }
}

const Unit *UnitList::at(size_t Offset) const {
  for (const Unit &U : Units)
    if (U.Bytes.Begin <= Offset && Offset < U.Bytes.End)
      return &U;
  return nullptr;
}

std::string UnitList::print(Range Bytes) const {
  std::string Text;
  for (size_t I = Tokens.firstAt(Bytes.Begin);
       I < Tokens.All.size() && Tokens.All[I].Bytes.Begin < Bytes.End; ++I)
    Text += Tokens.text(I).str() + "\n";
  return Text;
}

std::set<std::string> UnitList::words(Range Bytes) const {
  std::set<std::string> Found;
  for (size_t I = Tokens.firstAt(Bytes.Begin);
       I < Tokens.All.size() && Tokens.All[I].Bytes.Begin < Bytes.End; ++I)
    if (Tokens.All[I].Kind == SourceToken::Word)
      Found.insert(Tokens.text(I).str());
  return Found;
}
