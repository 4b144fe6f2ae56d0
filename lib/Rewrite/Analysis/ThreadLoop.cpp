//===- ThreadLoop.cpp - Loops whose iterations the threads share ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadLoop.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

/// i += step, i = i + step, i = step + i.
static const Expr *stepOf(const Stmt *S, const VarDecl *I) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  if (!B || variableOf(B->getLHS()) != I)
    return nullptr;
  if (B->getOpcode() == BO_AddAssign)
    return B->getRHS();
  const auto *Sum = B->getOpcode() == BO_Assign
                        ? llvm::dyn_cast<BinaryOperator>(strip(B->getRHS()))
                        : nullptr;
  if (!Sum || Sum->getOpcode() != BO_Add)
    return nullptr;
  if (variableOf(Sum->getLHS()) == I)
    return Sum->getRHS();
  return variableOf(Sum->getRHS()) == I ? Sum->getLHS() : nullptr;
}

/// i < bound, bound > i.
static const Expr *boundOf(const Expr *E, const VarDecl *I) {
  const BinaryOperator *Cond = binary(E);
  if (Cond && Cond->getOpcode() == BO_LT && variableOf(Cond->getLHS()) == I)
    return Cond->getRHS();
  if (Cond && Cond->getOpcode() == BO_GT && variableOf(Cond->getRHS()) == I)
    return Cond->getLHS();
  return nullptr;
}

/// Nothing that is read from memory or from a variable of the whole program.
static bool isPlainBound(const Expr *Bound, const VarDecl *I,
                         const ASTContext &Context) {
  if (!Bound->getType()->isIntegerType() || !isPure(Bound, Context) ||
      mentions(Bound, I))
    return false;
  return !anyOf(Bound, [](const Stmt *N) {
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
      return U->getOpcode() == UO_Deref;
    const auto *E = llvm::dyn_cast<Expr>(N);
    const VarDecl *V = E ? variableOf(E) : nullptr;
    return llvm::isa<ArraySubscriptExpr>(N) ||
           (V && !V->hasLocalStorage() && !V->getType().isConstQualified());
  });
}

std::optional<OrReason<ThreadLoop>>
stark::readThreadLoop(const Facts &F, const Kernel &K, const ForStmt *S) {
  std::optional<IndexedLoop> Index = readIndex(F, S);
  if (!Index)
    return std::nullopt;
  ThreadLoop L{*Index};
  L.Step = stepOf(S->getInc(), L.I);
  if (!L.Step)
    return std::nullopt;
  if (isThreadNumber(L.Start, K) && isBlockWidth(L.Step, F, K))
    L.Grid = false;
  else if (isGlobalThreadNumber(L.Start, F, K) && isGridWidth(L.Step, F, K))
    L.Grid = true;
  else
    return std::nullopt;
  L.Bound = boundOf(S->getCond(), L.I);
  if (!L.Bound || S->getConditionVariable())
    return Reason(why::OddCondition);
  L.Bound = L.Bound->IgnoreImpCasts();
  if (!isPlainBound(L.Bound, L.I, F.context()))
    return Reason(why::BoundNotFixed);
  return L;
}

bool stark::isLoopIndex(const Kernel &K, const ThreadLoop &L, const Expr *E) {
  const VarDecl *V = variableOf(E);
  if (!V || V == L.I)
    return V;
  return V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
         V->getType()->isIntegerType() && variableOf(V->getInit()) == L.I &&
         K.keeps(V);
}

bool stark::isShiftedIndex(const Facts &F, const Kernel &K, const ThreadLoop &L,
                           const Expr *Index) {
  std::set<const VarDecl *> Own = variablesDeclaredIn(L.S);
  unsigned Count = 0;
  bool Fixed = true;
  for (const Expr *Term : termsOf(Index)) {
    if (isLoopIndex(K, L, Term)) {
      ++Count;
      continue;
    }
    Fixed &= isPure(Term, F.context());
    forEachUse(Term, [&](const DeclRefExpr *, const VarDecl *V) {
      Fixed &= !Own.count(V) && isNeverWritten(V, L.S, *K.Parents);
    });
    Fixed &= !anyOf(Term, [](const Stmt *N) {
      const auto *U = llvm::dyn_cast<UnaryOperator>(N);
      return llvm::isa<ArraySubscriptExpr>(N) ||
             (U && U->getOpcode() == UO_Deref);
    });
  }
  return Count == 1 && Fixed;
}

bool stark::isSameShift(const Facts &F, const Kernel &K, const ThreadLoop &L,
                        const Expr *A, const Expr *B) {
  if (!isShiftedIndex(F, K, L, A) || !isShiftedIndex(F, K, L, B))
    return false;
  auto Shift = [&](const Expr *Index) {
    std::vector<const Expr *> Terms = termsOf(Index);
    llvm::erase_if(Terms, [&](const Expr *T) { return isLoopIndex(K, L, T); });
    return Terms;
  };
  std::vector<const Expr *> X = Shift(A), Y = Shift(B);
  return llvm::equal(X, Y, [&](const Expr *S, const Expr *T) {
    return isSameTree(S, T, F.context());
  });
}
