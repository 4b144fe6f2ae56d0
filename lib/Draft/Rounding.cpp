//===- Rounding.cpp - Quotients that are rounded up -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   n / d, and one more where n % d is not 0 -> ceildiv(n, d)
/// With the program's own numbers only one way is taken. What is said holds for
/// others as well.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// n % d in \p E, a condition; null where it has none.
static const BinaryOperator *remainderIn(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_LNot)
    return remainderIn(U->getSubExpr());
  if (const auto *C = dyn_cast<ConditionalOperator>(E))
    return remainderIn(C->getCond());
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B || B->getOpcode() == BO_Rem)
    return B;
  return B->isComparisonOp() ? remainderIn(B->getLHS()) : nullptr;
}

/// n % d ? n / d + 1 : n / d is n / d, rounded up, whichever is taken.
Value Machine::roundedUp(const Expr *Cond, Value V) {
  const BinaryOperator *Rest = remainderIn(Cond);
  if (!Rest || !V.isInteger() || !hasNames(V.How))
    return V;
  Value N = eval(Rest->getLHS()), D = eval(Rest->getRHS());
  if (N.isInteger() && D.isInteger() && D.Number > 0 && N.Number >= 0 &&
      (N.Number + D.Number - 1) / D.Number == V.Number)
    if (Formula How = combine(Op::CeilDiv, N.How, D.How))
      V.How = How;
  return V;
}

/// \p E as a truth value that is added: n % d > 0, !!(n % d).
static bool isCounted(const Expr *E) {
  E = E->IgnoreParenCasts();
  const auto *B = dyn_cast<BinaryOperator>(E);
  return (B && B->isComparisonOp()) || isa<ConditionalOperator>(E) ||
         (isa<UnaryOperator>(E) &&
          cast<UnaryOperator>(E)->getOpcode() == UO_LNot);
}

/// n / d + (n % d > 0), of which \p L, \p R and \p Sum are the values.
Value Machine::sumRoundedUp(const BinaryOperator *B, const Value &L,
                            const Value &R, Value Sum) {
  for (auto [Counted, Whole] :
       {std::pair(B->getRHS(), &L), std::pair(B->getLHS(), &R)})
    if (isCounted(Counted) && Whole->isInteger() && Whole->How &&
        Whole->How->Kind == Op::Div)
      return roundedUp(Counted, std::move(Sum));
  return Sum;
}

/// What \p S, a statement, adds one to: blocks++; null where it is another.
static const Expr *counted(const Stmt *S) {
  if (const auto *C = dyn_cast_or_null<CompoundStmt>(S))
    return C->size() == 1 ? counted(C->body_front()) : nullptr;
  if (const auto *U = dyn_cast_or_null<UnaryOperator>(S))
    return U->isIncrementOp() ? U->getSubExpr() : nullptr;
  const auto *A = dyn_cast_or_null<CompoundAssignOperator>(S);
  return A && A->getOpcode() == BO_AddAssign ? A->getLHS() : nullptr;
}

/// blocks = n / d; if (n % d) ++blocks;
void Machine::roundUpCounted(const IfStmt *S) {
  const Expr *Counted = S->getElse() || As ? nullptr : counted(S->getThen());
  if (!Counted || !remainderIn(S->getCond()))
    return;
  Place P = place(Counted);
  if (Value V = load(P); P && V.isInteger())
    store(P, roundedUp(S->getCond(), V));
}
