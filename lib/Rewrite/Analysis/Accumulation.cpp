//===- Accumulation.cpp - Sums, products, minima and maxima ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Accumulation.h"

using namespace stark;
using namespace clang;

/// What \p Kind does to two values in any order, alone or with an assignment;
/// empty when the order matters.
static llvm::StringRef commutativeSign(BinaryOperatorKind Kind) {
  switch (Kind) {
  case BO_AddAssign:
  case BO_Add:
    return "+";
  case BO_MulAssign:
  case BO_Mul:
    return "*";
  case BO_AndAssign:
  case BO_And:
    return "&";
  case BO_OrAssign:
  case BO_Or:
    return "|";
  case BO_XorAssign:
  case BO_Xor:
    return "^";
  default:
    return "";
  }
}

std::optional<Combination> stark::readCombination(const Stmt *S,
                                                  const ASTContext &Context) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  if (!B || !B->isAssignmentOp())
    return std::nullopt;
  Combination C;
  C.Target = B->getLHS();
  const Expr *Value = strip(B->getRHS());
  if (B->isCompoundAssignmentOp()) {
    C.Operation = commutativeSign(B->getOpcode());
    C.Values = {B->getRHS()};
    C.Compound = true;
  } else if (const auto *Two = llvm::dyn_cast<BinaryOperator>(Value)) {
    C.Operation = commutativeSign(Two->getOpcode());
    C.Values = {Two->getLHS(), Two->getRHS()};
  } else if (const auto *Call = llvm::dyn_cast<CallExpr>(Value);
             Call && Call->getNumArgs() == 2 && isMinMax(calleeOf(Call)) &&
             isPure(Call, Context)) {
    C.Operation = calleeOf(Call);
    C.Values = {Call->getArg(0), Call->getArg(1)};
  }
  if (C.Operation.empty())
    return std::nullopt;
  return C;
}

std::optional<Accumulation> stark::readAccumulation(const Stmt *S,
                                                    const ASTContext &Context) {
  // What is taken away is a sum as well.
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  std::optional<Combination> C;
  if (B && B->getOpcode() == BO_SubAssign)
    C = Combination{B->getLHS(), "+", {B->getRHS()}, true};
  else
    C = readCombination(S, Context);
  const VarDecl *Into = C ? variableOf(C->Target) : nullptr;
  if (!Into || !Into->hasLocalStorage() || !Into->getType()->isArithmeticType())
    return std::nullopt;
  auto IsIt = [&](const Expr *E) { return variableOf(E) == Into; };
  auto Clean = [&](const Expr *E) {
    return isPure(E, Context) && !mentions(E, Into);
  };
  if (!(C->Compound ? Clean(C->Values.front())
                    : eitherWay(C->Values, IsIt, Clean)))
    return std::nullopt;
  return Accumulation{Into, C->Operation.str()};
}

WhyNot Accumulators::add(const VarDecl *V, const BinaryOperator *S,
                         const ASTContext &Context) {
  std::optional<Accumulation> Sum = readAccumulation(S, Context);
  if (!Sum)
    return Reason(why::NoAccumulation, nameOf(V));
  auto [At, New] = All.emplace(V, Sum->Operation);
  if (!New && At->second != Sum->Operation)
    return Reason(why::TwoWays, nameOf(V));
  return std::nullopt;
}

static unsigned countUses(const Stmt *S, const VarDecl *V) {
  unsigned Count = 0;
  forEachUse(
      S, [&](const DeclRefExpr *, const VarDecl *Used) { Count += Used == V; });
  return Count;
}

WhyNot Accumulators::whyRead(const Stmt *Loop,
                             const ASTContext &Context) const {
  for (const auto &[V, Operation] : All) {
    unsigned Growing = 0;
    forEach(Loop, [&, V = V](const Stmt *N) {
      std::optional<Accumulation> Sum = readAccumulation(N, Context);
      if (Sum && Sum->Into == V)
        Growing += countUses(N, V);
    });
    if (countUses(Loop, V) != Growing)
      return Reason(why::ReadWhileGrowing, nameOf(V));
  }
  return std::nullopt;
}
