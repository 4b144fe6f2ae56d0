//===- GridSum.cpp - Sums that the whole grid adds to one place -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridSum.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

/// threadIdx.x == 0, !threadIdx.x
static bool isFirstThread(const Expr *E, const Facts &F, const Kernel &K) {
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(strip(E)))
    return U->getOpcode() == UO_LNot && isThreadNumber(U->getSubExpr(), K);
  const BinaryOperator *B = binary(E);
  return B && B->getOpcode() == BO_EQ &&
         ((isThreadNumber(B->getLHS(), K) &&
           F.constantOf(B->getRHS(), K) == 0u) ||
          (isThreadNumber(B->getRHS(), K) &&
           F.constantOf(B->getLHS(), K) == 0u));
}

/// Where \p Pointer leads follows from memory; p + i and &p[i] do not.
static bool leadsByMemory(const Expr *Pointer) {
  const auto *U = llvm::dyn_cast<UnaryOperator>(strip(Pointer));
  const auto *Sub =
      U && U->getOpcode() == UO_AddrOf
          ? llvm::dyn_cast<ArraySubscriptExpr>(strip(U->getSubExpr()))
          : nullptr;
  return Sub ? readsMemory(Sub->getBase()) || readsMemory(Sub->getIdx())
             : readsMemory(Pointer);
}

bool GridSum::isOfAll(const Stmt *S, bool First) const {
  if (anyOf(K.body(), [](const Stmt *N) { return llvm::isa<ReturnStmt>(N); }))
    return false;
  for (const Stmt *At = S, *Up = K.parent(S); Up; At = Up, Up = K.parent(Up)) {
    const auto *If = llvm::dyn_cast<IfStmt>(Up);
    if (!If && !llvm::isa<CompoundStmt, AttributedStmt, ExprWithCleanups>(Up))
      return false;
    if (If && (At == If->getCond() || (!(First && At == If->getThen() &&
                                         isFirstThread(If->getCond(), F, K)) &&
                                       !Same.expression(If->getCond(), If))))
      return false;
  }
  return true;
}

const CallExpr *GridSum::addOf(const Stmt *S, bool First) const {
  const CallExpr *Call = nullptr;
  for (const Stmt *Up = S; Up && !Call; Up = K.parent(Up))
    Call = llvm::dyn_cast<CallExpr>(Up);
  if (calleeOf(Call) != "atomicAdd" || Call->getNumArgs() != 2 ||
      nodesOf(Call->getArg(0)).count(S) ||
      !Same.expression(Call->getArg(0), Call) ||
      leadsByMemory(Call->getArg(0)) || !isOfAll(Call, First))
    return nullptr;
  return Call;
}

bool GridSum::isAdded(const Reduction &R) const {
  std::set<const Stmt *> Own = nodesOf(R.First);
  Own.merge(nodesOf(R.Last));
  bool Any = false;
  for (const Access &Each : A.all()) {
    if (Each.Root != R.Array || Own.count(Each.E))
      continue;
    const CallExpr *Call = addOf(Each.E, /*First=*/true);
    if (!Each.Load || Each.Store || !Call || !Each.Index ||
        F.constantOf(Each.Index, K) != 0u || strip(Call->getArg(1)) != Each.E)
      return false;
    Any = true;
  }
  return Any && R.Operation == "+";
}
