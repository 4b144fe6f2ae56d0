//===- ElementKernel.cpp - Kernels of one element a thread ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementKernel.h"
#include "ThreadLoop.h"

using namespace stark;
using namespace clang;

std::string stark::readElementKernel(const Facts &F, const Kernel &K,
                                     ElementKernel &S) {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  if (!Body || Body->size() < 2)
    return "-";
  S.Declared = llvm::dyn_cast<DeclStmt>(Body->body_begin()[0]);
  S.Guard = llvm::dyn_cast<IfStmt>(Body->body_begin()[1]);
  S.I = S.Declared && S.Declared->isSingleDecl()
            ? llvm::dyn_cast<VarDecl>(S.Declared->getSingleDecl())
            : nullptr;
  if (!S.I || !S.Guard || !S.I->getInit() ||
      !isGlobalThreadNumber(S.I->getInit(), F, K))
    return "-";
  if (!S.I->getType()->isIntegerType() ||
      F.context().getTypeSize(S.I->getType()) < 32)
    return "its index is no plain number";
  if (!isNeverWritten(S.I, K.body(), *K.Parents))
    return "its index changes";
  if (S.Guard->getElse() || S.Guard->getInit() ||
      S.Guard->getConditionVariable())
    return "more than a bound decides what a thread does";
  const auto *Cond =
      llvm::dyn_cast<BinaryOperator>(S.Guard->getCond()->IgnoreParenImpCasts());
  S.Returns =
      llvm::isa_and_nonnull<ReturnStmt>(onlyStatement(S.Guard->getThen()));
  BinaryOperatorKind Wanted = S.Returns ? BO_GE : BO_LT;
  if (!Cond || Cond->getOpcode() != Wanted || variableOf(Cond->getLHS()) != S.I)
    return "its bound is not 'index < number'";
  const auto *P =
      llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(Cond->getRHS()));
  if (!P || !P->getType()->isIntegerType() ||
      !isNeverWritten(P, K.body(), *K.Parents))
    return "its bound is no parameter";
  S.Bound = Cond->getRHS();
  if (S.Returns)
    S.Rest.assign(Body->body_begin() + 2, Body->body_end());
  else if (Body->size() != 2)
    return "it does something after the bounded part";
  else
    S.Rest.push_back(S.Guard->getThen());
  if (S.Rest.empty())
    return "-";
  std::string Why;
  for (const Stmt *Part : S.Rest)
    forEach(Part, [&](const Stmt *N) {
      if (llvm::isa<ReturnStmt>(N))
        Why = "it can return early";
      if (isBlockBarrier(N) || calleeOf(N).starts_with("__shfl") ||
          calleeOf(N) == "__syncwarp")
        Why = "its threads work together";
      if (const auto *E = llvm::dyn_cast<Expr>(N);
          E && llvm::isa<PseudoObjectExpr, MemberExpr>(E) && builtinIndex(E))
        Why = "it uses " + builtinIndex(E)->Name.str() +
              " for more than its index";
      if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
        for (const Decl *Each : D->decls())
          if (const auto *V = llvm::dyn_cast<VarDecl>(Each);
              V && !V->hasLocalStorage())
            Why = "it declares shared or static memory";
    });
  if (!Why.empty())
    return Why;
  // Elements become ordered that were not: nothing may tell. A function or a
  // pointer that is not understood could.
  Accesses A(F, K);
  for (const Access &Each : A.all()) {
    if (Each.Shared)
      return "it uses shared memory";
    const auto *C = llvm::dyn_cast<CallExpr>(Each.E);
    if (C && !calleeOf(C).starts_with("atomic"))
      return "it calls " +
             (calleeOf(C).empty() ? "a function" : calleeOf(C).str()) +
             ", which may look at the thread's number";
  }
  return "";
}
