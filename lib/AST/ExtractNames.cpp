//===- ExtractNames.cpp - What a text names -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractNames.h"
#include "stark/AST/Walk.h"
#include "clang/AST/TypeLoc.h"

using namespace stark;
using namespace clang;

namespace {
class NameReader : public Walker {
public:
  NameReader(MeaningWalk &Walk, llvm::function_ref<bool(const Decl *)> Enters)
      : Walk(Walk), Enters(Enters) {}

  bool enters(Decl *D) override { return Enters(D); }

  bool onDecl(Decl *D) override {
    if (auto *Using = dyn_cast<UsingDecl>(D))
      for (const UsingShadowDecl *S : Using->shadows())
        Walk.add(S);
    else if (auto *F = dyn_cast<FunctionDecl>(D); F && F->getPrimaryTemplate())
      Walk.add(F->getPrimaryTemplate());
    else if (auto *C = dyn_cast<ClassTemplateSpecializationDecl>(D))
      Walk.add(C->getSpecializedTemplate());
    else if (auto *V = dyn_cast<VarTemplateSpecializationDecl>(D))
      Walk.add(V->getSpecializedTemplate());
    else if (auto *Guide = dyn_cast<CXXDeductionGuideDecl>(D))
      Walk.add(Guide->getDeducedTemplate());
    // A member that is defined outside of its class.
    if (D->getDeclContext() != D->getLexicalDeclContext())
      if (auto *Class = dyn_cast<CXXRecordDecl>(D->getDeclContext()))
        Walk.add(Class);
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (auto *E = dyn_cast<Expr>(S))
      Walk.addExpression(E);
    if (auto *Ref = dyn_cast<DependentScopeDeclRefExpr>(S))
      Walk.addQualifier(Ref->getQualifier());
    else if (auto *Set = dyn_cast<OverloadExpr>(S))
      Walk.addQualifier(Set->getQualifier());
    return true;
  }

  bool onType(TypeLoc L) override {
    Walk.addType(L.getType());
    return true;
  }

private:
  MeaningWalk &Walk;
  llvm::function_ref<bool(const Decl *)> Enters;
};
} // namespace

void stark::addNamesOf(Decl *D, MeaningWalk &Walk,
                       llvm::function_ref<bool(const Decl *)> Enters) {
  NameReader(Walk, Enters).walk(D);
}
