//===- GridCover.cpp - Launches that cover a count ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridCover.h"

using namespace stark;
using namespace clang;

/// Constants of a grid's numerator are below this.
static constexpr uint64_t MostConstant = 1u << 20;

bool stark::roundsUp(const Facts &F, const Launch &L, const CallExpr *Call) {
  const FunctionDecl *D = Call->getDirectCallee();
  if (!D || D->getNumParams() != 2 || !D->hasBody(D) ||
      !D->getReturnType()->isIntegerType() ||
      F.context().getTypeSize(D->getReturnType()) < 32)
    return false;
  const auto *Return =
      llvm::dyn_cast_or_null<ReturnStmt>(onlyStatement(D->getBody()));
  const auto *Div =
      Return && Return->getRetValue()
          ? llvm::dyn_cast<BinaryOperator>(strip(Return->getRetValue()))
          : nullptr;
  auto Is = [&](unsigned I) {
    return [=](const Expr *E) { return variableOf(E) == D->getParamDecl(I); };
  };
  if (!Div || Div->getOpcode() != BO_Div || !Is(1)(Div->getRHS()))
    return false;
  const auto *Less = llvm::dyn_cast<BinaryOperator>(strip(Div->getLHS()));
  return Less && Less->getOpcode() == BO_Sub &&
         eitherWay(termsOf(Less->getLHS()), Is(0), Is(1)) &&
         F.constantOf(Less->getRHS(), L) == 1u;
}

namespace {
class Cover {
public:
  Cover(const Facts &F, const Launch &L, const Expr *Count, char Axis)
      : F(F), L(L), Count(strip(Count)), Axis(Axis),
        Width((*L.BlockSize)[unsigned(Axis - 'x')]) {}
  bool all(const Expr *Grid);

private:
  bool isCount(const Expr *E) const {
    return isSameTree(strip(E), Count, F.context());
  }
  std::optional<uint64_t> value(const Expr *E) const;
  void addTerms(const Expr *E, int Sign);

  const Facts &F;
  const Launch &L;
  const Expr *const Count;
  const char Axis;
  const uint64_t Width; ///< threads a block
  int64_t Rest = 0;     ///< of the numerator, beside the count
  unsigned Counts = 0;
  bool Known = true;
};
} // namespace

/// A constant, or block.x.
std::optional<uint64_t> Cover::value(const Expr *E) const {
  if (std::optional<uint64_t> N = F.constantOf(E, L))
    return N;
  const auto *M = llvm::dyn_cast<MemberExpr>(strip(E));
  const VarDecl *Of = M ? variableOf(M->getBase()) : nullptr;
  if (Of && Of == variableOf(L.Block) &&
      M->getMemberDecl()->getName() == llvm::StringRef(&Axis, 1))
    return Width;
  return std::nullopt;
}

void Cover::addTerms(const Expr *E, int Sign) {
  const Expr *Inner = strip(E);
  const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
  if (B && B->isAdditiveOp()) {
    addTerms(B->getLHS(), Sign);
    addTerms(B->getRHS(), B->getOpcode() == BO_Sub ? -Sign : Sign);
    return;
  }
  if (Sign > 0 && isCount(Inner)) {
    ++Counts;
    return;
  }
  std::optional<uint64_t> N = value(Inner);
  Known &= N && *N < MostConstant;
  Rest += Sign * int64_t(N.value_or(0));
}

bool Cover::all(const Expr *Grid) {
  const HostFunction *H = F.hostOf(L.Host);
  if (!Grid || !H)
    return false;
  const Expr *E = resolve(Grid, L.Host->getBody(), *H->Parents);
  if (const auto *Call = llvm::dyn_cast<CallExpr>(E))
    return Call->getNumArgs() == 2 && roundsUp(F, L, Call) &&
           isCount(Call->getArg(0)) && value(Call->getArg(1)) == Width;
  const auto *Div = llvm::dyn_cast<BinaryOperator>(E);
  if (!Div || Div->getOpcode() != BO_Div || value(Div->getRHS()) != Width)
    return false;
  addTerms(Div->getLHS(), 1);
  return Known && Counts == 1 && Rest == int64_t(Width) - 1;
}

bool stark::coversAll(const Facts &F, const Launch &L, const Expr *Count,
                      char Axis) {
  return Cover(F, L, Count, Axis)
      .all(F.dimensions(L.Grid, L)[unsigned(Axis - 'x')]);
}
