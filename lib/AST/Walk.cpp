//===- Walk.cpp - The nodes of a source's own file -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Walk.h"
#include "stark/AST/Parse.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;

namespace {
class Visitor : public RecursiveASTVisitor<Visitor> {
public:
  explicit Visitor(Walker &W) : W(W) {}

  bool shouldWalkTypesOfTypeLocs() const { return false; }

  bool TraverseDecl(Decl *D) {
    if (D && !W.enters(D))
      return true;
    auto *F = dyn_cast_or_null<FunctionDecl>(D);
    if (!F)
      return RecursiveASTVisitor::TraverseDecl(D);
    W.beginFunction(F);
    bool Result = RecursiveASTVisitor::TraverseDecl(D);
    W.endFunction();
    return Result;
  }
  bool TraverseLambdaExpr(LambdaExpr *E) {
    W.beginFunction(E->getCallOperator());
    bool Result = RecursiveASTVisitor::TraverseLambdaExpr(E);
    W.endFunction();
    return Result;
  }

  bool VisitDecl(Decl *D) { return W.onDecl(D); }
  bool VisitStmt(Stmt *S) { return W.onStmt(S); }
  bool VisitTypeLoc(TypeLoc L) { return W.onType(L); }

private:
  Walker &W;
};
} // namespace

Walker::~Walker() = default;
bool Walker::enters(Decl *) { return true; }
bool Walker::onDecl(Decl *) { return true; }
bool Walker::onStmt(Stmt *) { return true; }
bool Walker::onType(TypeLoc) { return true; }
void Walker::beginFunction(FunctionDecl *) {}
void Walker::endFunction() {}

bool Walker::walk(const ParsedSource &Source) {
  // parseSource() narrows the scope to the file's own declarations.
  for (Decl *D : Source.unit().getASTContext().getTraversalScope())
    if (!walk(D))
      return false;
  return true;
}
bool Walker::walk(Decl *D) { return Visitor(*this).TraverseDecl(D); }
