//===- LoopElement.cpp - Elements that stay the same in a loop ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopElement.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

bool stark::meetsThreads(const Stmt *S) {
  return anyOf(S, [](const Stmt *N) {
    llvm::StringRef Name = calleeOf(N);
    return Name.starts_with("__sync") || Name.starts_with("__shfl") ||
           Name.starts_with("__threadfence");
  });
}

/// The node \p N of \p At, which helps to give its place, is not loaded
/// itself and stays the same.
static bool givesPlace(const Kernel &K, const CountedLoop &L,
                       const std::set<const VarDecl *> &Own, const Access &At,
                       const Stmt *N) {
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
    return U->getOpcode() != UO_Deref;
  // Rows of a shared array are no loads.
  if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N))
    return Sub->getType()->isArrayType();
  if (const auto *M = llvm::dyn_cast<MemberExpr>(N))
    return !M->isArrow() || builtinIndex(M);
  const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
  const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || (V == At.Root && V->getType()->isArrayType()))
    return true;
  if (!V->hasLocalStorage())
    return V->isConstexpr() ||
           builtinIndex(llvm::dyn_cast_or_null<Expr>(K.parent(N)));
  return !Own.count(V) && isUnchangedIn(V, L.S, K.body(), *K.Parents);
}

bool stark::isSameElement(const Kernel &K, const CountedLoop &L,
                          const Access &At) {
  if (!At.Root || At.Unclear || (!At.Index && !llvm::isa<UnaryOperator>(At.E)))
    return false;
  std::set<const VarDecl *> Own = variablesDeclaredIn(L.S);
  return !anyOf(At.E, [&](const Stmt *N) {
    return N != At.E && !givesPlace(K, L, Own, At, N);
  });
}

/// Whatever \p Up does, it evaluates its child \p At first.
static bool isFirstOf(const Stmt *Up, const Stmt *At) {
  if (const auto *If = llvm::dyn_cast<IfStmt>(Up))
    return At == If->getCond() && !If->getInit();
  if (const auto *Two = llvm::dyn_cast<AbstractConditionalOperator>(Up))
    return At == Two->getCond();
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(Up))
    return !B->isLogicalOp() || At == B->getLHS();
  if (const auto *For = llvm::dyn_cast<ForStmt>(Up))
    return At == For->getInit() || At == For->getCond();
  if (const auto *While = llvm::dyn_cast<WhileStmt>(Up))
    return At == While->getCond();
  return !llvm::isa<SwitchStmt, SwitchCase, DoStmt, CXXForRangeStmt, LambdaExpr,
                    UnaryExprOrTypeTraitExpr>(Up);
}

Made stark::madeIn(const Facts &F, const Kernel &K, const CountedLoop &L,
                   const Access &Of, const Stmt *Skips) {
  const Stmt *At = Of.Whole;
  Made When = Made::WhenItRuns;
  for (const Stmt *Up = K.parent(At); Up; At = Up, Up = K.parent(Up)) {
    if (Up == L.S) {
      if (At == L.S->getCond())
        return Made::Always;
      if (At != L.S->getBody())
        return Made::Perhaps;
      break;
    }
    if (!isFirstOf(Up, At))
      When = Made::Perhaps;
  }
  // Something before it may end the iteration.
  const SourceManager &SM = F.context().getSourceManager();
  std::set<const Stmt *> Skipping = nodesOf(Skips);
  if (anyOf(L.S->getBody(), [&](const Stmt *N) {
        return llvm::isa<ReturnStmt, BreakStmt, ContinueStmt>(N) &&
               !Skipping.count(N) &&
               SM.isBeforeInTranslationUnit(N->getBeginLoc(),
                                            Of.E->getBeginLoc());
      }))
    When = Made::Perhaps;
  return When;
}
