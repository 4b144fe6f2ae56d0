//===- CountedLoop.cpp - Loops that count ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountedLoop.h"
#include "CodeTemplate.h"
#include "Pragmas.h"

using namespace stark;
using namespace clang;

std::optional<IndexedLoop> stark::readIndex(const Facts &F, const ForStmt *S) {
  auto [I, Start] = indexOf(S);
  if (!I || !Start || !I->getType()->isIntegerType() ||
      F.context().getTypeSize(I->getType()) < 32)
    return std::nullopt;
  IndexedLoop L;
  L.S = S;
  L.I = I;
  L.Start = Start;
  return L;
}

/// Pure, and of variables alone that the loop does not change.
static bool staysTheSame(const Facts &F, const Kernel &K, const ForStmt *S,
                         const Expr *E) {
  if (!isPure(E, F.context()) || !E->getType()->isIntegerType())
    return false;
  return keepsVariablesOf(E, S, K.body(), *K.Parents);
}

std::optional<CountedLoop>
stark::readCountedLoop(const Facts &F, const Kernel &K, const ForStmt *S) {
  std::optional<IndexedLoop> Index = readIndex(F, S);
  if (!Index || Index->I->getType().isVolatileQualified() || !S->getCond() ||
      !S->getInc() || S->getConditionVariable())
    return std::nullopt;
  CountedLoop L{*Index};
  L.Start = L.Start->IgnoreImpCasts();
  const BinaryOperator *Cond = binary(S->getCond());
  if (!Cond || !Cond->isRelationalOp() || variableOf(Cond->getLHS()) != L.I)
    return std::nullopt;
  L.Compare = Cond->getOpcode();
  L.Bound = Cond->getRHS()->IgnoreImpCasts();
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(S->getInc())) {
    if (!U->isIncrementDecrementOp() || variableOf(U->getSubExpr()) != L.I)
      return std::nullopt;
    L.Down = U->isDecrementOp();
  } else if (const auto *B = llvm::dyn_cast<BinaryOperator>(S->getInc())) {
    if ((B->getOpcode() != BO_AddAssign && B->getOpcode() != BO_SubAssign) ||
        variableOf(B->getLHS()) != L.I)
      return std::nullopt;
    L.Step = B->getRHS()->IgnoreImpCasts();
    L.Down = B->getOpcode() == BO_SubAssign;
  } else {
    return std::nullopt;
  }
  bool Up = L.Compare == BO_LT || L.Compare == BO_LE;
  if (Up == L.Down || !isNeverWritten(L.I, S->getBody(), *K.Parents))
    return std::nullopt;
  for (const Expr *E : {L.Start, L.Bound, L.Step})
    if (E && (mentions(E, L.I) || !staysTheSame(F, K, S, E)))
      return std::nullopt;
  return L;
}

bool stark::surelyRuns(const Facts &F, const Kernel &K, const CountedLoop &L) {
  std::optional<uint64_t> A = F.constantOf(L.Start, K),
                          B = F.constantOf(L.Bound, K);
  if (!A || !B)
    return false;
  switch (L.Compare) {
  case BO_LT:
    return *A < *B;
  case BO_LE:
    return *A <= *B;
  case BO_GT:
    return *A > *B;
  default:
    return *A >= *B;
  }
}

OrReason<std::string> stark::whetherItRuns(const Facts &F, const CountedLoop &L,
                                           llvm::ArrayRef<Instead> Nodes) {
  auto Replaced = [&](const Expr *E) {
    std::set<const Stmt *> Inside = nodesOf(E);
    std::vector<Instead> Mine;
    for (const Instead &Each : Nodes)
      if (Inside.count(Each.first))
        Mine.push_back(Each);
    return F.textWith(E, Mine);
  };
  std::optional<std::string> Start = Replaced(L.Start),
                             Bound = Replaced(L.Bound);
  if (!Start || !Bound)
    return Reason(why::InMacro, "a bound");
  std::string Type = F.writtenType(L.I->getType());
  if (!F.context().hasSameUnqualifiedType(L.Start->getType(), L.I->getType()))
    Start = "static_cast<" + Type + ">(" + *Start + ")";
  else
    Start = asOperand(*Start);
  return *Start + " " + BinaryOperator::getOpcodeStr(L.Compare).str() + " " +
         asOperand(*Bound);
}

std::optional<size_t> stark::lineBefore(const Facts &F, const Kernel &K,
                                        const ForStmt *Loop) {
  std::optional<Range> R = F.range(Loop);
  const Stmt *Up = K.parent(Loop);
  // With a pragma.
  if (llvm::isa_and_nonnull<AttributedStmt>(Up))
    Up = K.parent(Up);
  if (!R || !llvm::isa_and_nonnull<CompoundStmt>(Up))
    return std::nullopt;
  std::optional<Range> Whole = withPragmas(F, *R);
  return Whole ? std::optional(Whole->Begin) : std::nullopt;
}
