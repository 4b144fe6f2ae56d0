//===- IterationBody.cpp - What an iteration of a loop does ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationBody.h"

using namespace stark;
using namespace clang;

/// Of \p S itself, not of what is in it.
static WhyNot whyNotPlain(const Stmt *S, bool InInner) {
  if (llvm::isa<ReturnStmt, LambdaExpr, AsmStmt, SwitchStmt>(S))
    return Reason(why::BodyDoesMore);
  if (llvm::isa<BreakStmt>(S) && !InInner)
    return Reason(why::EndsEarly);
  if (const auto *D = llvm::dyn_cast<DeclStmt>(S))
    for (const Decl *Each : D->decls()) {
      const auto *V = llvm::dyn_cast<VarDecl>(Each);
      if (!V || !V->hasLocalStorage() || V->getType()->isReferenceType())
        return Reason(why::OddDeclaration);
    }
  return std::nullopt;
}

WhyNot IterationBody::whyNot(const Stmt *S, bool InInner) {
  if (!S)
    return std::nullopt;
  if (WhyNot Why = whyNotPlain(S, InInner))
    return Why;
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(S);
      B && B->isAssignmentOp()) {
    if (WhyNot Why = changes(B->getLHS(), B))
      return Why;
    return whyNot(B->getRHS(), InInner);
  }
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(S);
      U && U->isIncrementDecrementOp())
    return counts(U->getSubExpr());
  if (const auto *O = llvm::dyn_cast<CXXOperatorCallExpr>(S);
      O && O->getOperator() == OO_Equal && O->getNumArgs() == 2) {
    if (WhyNot Why = changes(O->getArg(0), nullptr))
      return Why;
    return whyNot(O->getArg(1), InInner);
  }
  if (llvm::isa<CallExpr, CXXConstructExpr, PseudoObjectExpr>(S)) {
    if (std::optional<Reason> Met = impurityOf(S, Context))
      return Reason(why::BodyHas, *Met);
    return std::nullopt;
  }
  if (const auto *E = llvm::dyn_cast<Expr>(S); E && isPure(E, Context))
    return std::nullopt;
  bool Loop = InInner || llvm::isa<ForStmt, WhileStmt, DoStmt>(S);
  for (const Stmt *Child : S->children())
    if (WhyNot Why = whyNot(Child, Loop))
      return Why;
  return std::nullopt;
}
