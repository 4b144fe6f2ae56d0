//===- Together.cpp - Kernels whose blocks wait for each other -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Together.h"
#include "stark/AST/Walk.h"
#include "stark/Task/Task.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include <set>

using namespace stark;
using namespace clang;

namespace {
/// The kernel that begins on a line of the main file.
class KernelFinder : public Walker {
public:
  explicit KernelFinder(const Task &T)
      : SM(T.Parsed->unit().getSourceManager()), Line(T.Entry.Line) {
    walk(*T.Parsed);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (F && F->hasAttr<CUDAGlobalAttr>() &&
        F->isThisDeclarationADefinition() &&
        SM.getExpansionLineNumber(F->getLocation()) == Line)
      Found = F;
    return true;
  }
  const SourceManager &SM;
  unsigned Line;
  FunctionDecl *Found = nullptr;
};
} // namespace

static bool takesGrid(const Stmt *S, std::set<const FunctionDecl *> &Seen) {
  if (!S)
    return false;
  auto IsGrid = [](llvm::StringRef Name) { return Name == "this_grid"; };
  const FunctionDecl *Named = nullptr;
  if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S))
    Named = llvm::dyn_cast<FunctionDecl>(Ref->getDecl());
  if (const auto *Open = llvm::dyn_cast<OverloadExpr>(S))
    if (const auto *Name = Open->getName().getAsIdentifierInfo();
        Name && IsGrid(Name->getName()))
      return true;
  if (Named && Named->getIdentifier() && IsGrid(Named->getName()))
    return true;
  const FunctionDecl *Body = nullptr;
  if (Named && Named->hasBody(Body) && Seen.insert(Body).second &&
      takesGrid(Body->getBody(), Seen))
    return true;
  return llvm::any_of(
      S->children(), [&](const Stmt *Child) { return takesGrid(Child, Seen); });
}

bool stark::launchesTogether(const Task &T) {
  if (!T.Load.Launch || !T.Entry.IsKernel || !T.Parsed)
    return false;
  FunctionDecl *Kernel = KernelFinder(T).Found;
  std::set<const FunctionDecl *> Seen;
  return Kernel && takesGrid(Kernel->getBody(), Seen);
}
