//===- SourceSymbols.cpp - What a source offers to other files -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceSymbols.h"
#include "SourceTokens.h"
#include "TypeSteps.h"
#include "stark/AST/CalledName.h"
#include "stark/AST/RecordText.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace clang;

namespace {
class SymbolReader {
public:
  explicit SymbolReader(const ParsedSource &Source)
      : Unit(Source.unit()), SM(Unit.getSourceManager()),
        Policy(Unit.getASTContext().getPrintingPolicy()),
        Namer(Unit.getASTContext()) {
    Policy.SuppressTagKeyword = true;
  }

  std::vector<Symbol> run() {
    for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
      declaration(*I);
    return std::move(Symbols);
  }

private:
  void declaration(Decl *D) {
    if (!D || D->isImplicit() || !isInMainFile(SM, D->getLocation()))
      return;
    if (isa<NamespaceDecl>(D) || isa<LinkageSpecDecl>(D) ||
        isa<ExportDecl>(D)) {
      for (Decl *Inner : cast<DeclContext>(D)->decls())
        declaration(Inner);
      return;
    }
    if (auto *Template = dyn_cast<FunctionTemplateDecl>(D)) {
      function(Template->getTemplatedDecl(), true);
      for (FunctionDecl *F : Template->specializations())
        if (F->getTemplateSpecializationKind() ==
            TSK_ExplicitInstantiationDefinition)
          function(F, false);
    } else if (auto *F = dyn_cast<FunctionDecl>(D)) {
      // Those of templates come with their template.
      if (!isTemplateInstantiation(F->getTemplateSpecializationKind()))
        function(F, false);
    } else if (auto *V = dyn_cast<VarDecl>(D)) {
      if (V->getTemplateSpecializationKind() != TSK_ImplicitInstantiation)
        variable(V);
    }
  }

  void function(FunctionDecl *F, bool Template) {
    Symbol S;
    llvm::raw_string_ostream Out(S.Name);
    F->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
    if (F->getDeclName().isIdentifier() && !isa<CXXMethodDecl>(F))
      S.Called = {calledName(F), calledName(F, /*WithInline=*/true)};
    S.Type = F->getType().getCanonicalType().getAsString(Policy);
    S.Member = isa<CXXMethodDecl>(F);
    S.Where = sideOf(F);
    S.ExternC = F->isExternC();
    S.External = F->isExternallyVisible();
    S.Template = Template || F->isTemplated();
    S.Inline = F->isInlined();
    S.Defined = F->isThisDeclarationADefinition() ||
                F->getTemplateSpecializationKind() ==
                    TSK_ExplicitInstantiationDefinition;
    if (!F->isTemplated() && S.External)
      S.Linked = linked(F);
    for (const FunctionDecl *Other : F->redecls())
      S.InHeader |= !isInMainFile(SM, Other->getLocation());
    for (const ParmVarDecl *P : F->parameters())
      if (P->hasDefaultArg() && !P->hasUninstantiatedDefaultArg() &&
          !P->hasUnparsedDefaultArg())
        S.Defaults.push_back(defaultText(P));
    for (const ParmVarDecl *P : F->parameters())
      S.Parameters.push_back(P->getNameAsString());
    S.Line = SM.getExpansionLineNumber(F->getLocation());
    Symbols.push_back(std::move(S));
  }

  std::vector<std::string> linked(FunctionDecl *F) {
    std::vector<std::string> All = {Namer.getName(F)};
    std::set<const RecordDecl *> Seen;
    for (const ParmVarDecl *P : F->parameters())
      layouts(P->getType(), Seen, All);
    layouts(F->getReturnType(), Seen, All);
    return All;
  }

  /// "struct Point {float x at 0, float y at 4}", and of what it is made of.
  /// Callers in other files have a definition of their own.
  void layouts(QualType Type, std::set<const RecordDecl *> &Seen,
               std::vector<std::string> &All) {
    Type = Type.getCanonicalType().getNonReferenceType();
    while (leadsOn(Type))
      Type = stepOf(Type);
    const RecordDecl *R = Type->getAsRecordDecl();
    R = R ? R->getDefinition() : nullptr;
    if (!R || R->isDependentContext() || R->isInvalidDecl() ||
        !isInMainFile(SM, R->getLocation()) || !Seen.insert(R).second)
      return;
    const ASTRecordLayout &Layout = Unit.getASTContext().getASTRecordLayout(R);
    All.push_back("struct " + Type.getAsString(Policy) + " {" + fieldsText(R) +
                  "} of " + std::to_string(Layout.getSize().getQuantity()) +
                  " bytes");
    for (const FieldDecl *Field : R->fields())
      layouts(Field->getType(), Seen, All);
  }

  /// The default's own tokens, so that a change of white space is none.
  std::string defaultText(const ParmVarDecl *P) const {
    CharSourceRange R = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(P->getDefaultArgRange()), SM,
        Unit.getLangOpts());
    std::string Text = std::to_string(P->getFunctionScopeIndex()) + "=";
    Spellings Names;
    SourceTokens T(Lexer::getSourceText(R, SM, Unit.getLangOpts()), Names);
    for (size_t I = 0; I < T.All.size(); ++I)
      Text += (I ? " " : "") + T.text(I).str();
    return Text;
  }

  void variable(VarDecl *V) {
    if (V->isThisDeclarationADefinition() == VarDecl::DeclarationOnly)
      return;
    Symbol S;
    S.Variable = true;
    S.Name = V->getQualifiedNameAsString();
    S.Type = V->getType().getCanonicalType().getAsString(Policy);
    bool Device = isWritten<CUDADeviceAttr>(V) ||
                  isWritten<CUDAConstantAttr>(V) ||
                  isWritten<CUDASharedAttr>(V);
    S.External = V->isExternallyVisible() && !Device;
    S.Inline = V->isInline();
    S.Template = V->isTemplated();
    S.ExternC = V->isExternC();
    S.Defined = true;
    S.Line = SM.getExpansionLineNumber(V->getLocation());
    Symbols.push_back(std::move(S));
  }

  ASTUnit &Unit;
  const SourceManager &SM;
  PrintingPolicy Policy;
  ASTNameGenerator Namer;
  std::vector<Symbol> Symbols;
};
} // namespace

std::vector<Symbol> stark::symbolsOf(const ParsedSource &Source) {
  return SymbolReader(Source).run();
}
