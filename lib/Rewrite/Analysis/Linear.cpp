//===- Linear.cpp - Indices as sums of products ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linear.h"

using namespace stark;
using namespace clang;

static constexpr size_t MostTerms = 32;
static constexpr unsigned MostDepth = 12;

/// What \p V was initialised with, when it always holds that.
const Expr *Linear::valueOf(const VarDecl *V) const {
  if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) ||
      !V->getInit() || !isPure(V->getInit(), F.context()) || !K.keeps(V))
    return nullptr;
  return V->getInit();
}

bool Linear::add(const Expr *E, bool Negative, unsigned Depth,
                 std::vector<LinearTerm> &Into) const {
  if (Depth > MostDepth || Into.size() > MostTerms)
    return false;
  E = strip(E);
  if (const VarDecl *V = variableOf(E); V && V->getType()->isIntegerType())
    if (const Expr *Value = valueOf(V); Value && !readsMemory(Value))
      return add(Value, Negative, Depth + 1, Into);
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (B && B->isAdditiveOp() && B->getType()->isIntegerType())
    return add(B->getLHS(), Negative, Depth + 1, Into) &&
           add(B->getRHS(), Negative != (B->getOpcode() == BO_Sub), Depth + 1,
               Into);
  if (B && B->getOpcode() == BO_Mul && B->getType()->isIntegerType()) {
    std::vector<LinearTerm> L, R;
    if (!add(B->getLHS(), Negative, Depth + 1, L) ||
        !add(B->getRHS(), false, Depth + 1, R) ||
        L.size() * R.size() > MostTerms)
      return false;
    for (const LinearTerm &X : L)
      for (const LinearTerm &Y : R) {
        LinearTerm Product = X;
        Product.Negative = X.Negative != Y.Negative;
        Product.Factors.insert(Product.Factors.end(), Y.Factors.begin(),
                               Y.Factors.end());
        Into.push_back(std::move(Product));
      }
    return true;
  }
  LinearTerm One;
  One.Negative = Negative;
  One.Factors.push_back(E);
  Into.push_back(std::move(One));
  return true;
}

bool Linear::addPointer(const Expr *E, unsigned Depth,
                        std::vector<LinearTerm> &Into) const {
  if (Depth > MostDepth)
    return false;
  E = strip(E);
  if (const VarDecl *V = variableOf(E)) {
    if (V->getType()->isArrayType() || llvm::isa<ParmVarDecl>(V))
      return true;
    const Expr *Value = valueOf(V);
    return Value && addPointer(Value, Depth + 1, Into);
  }
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf) {
    const auto *Sub =
        llvm::dyn_cast<ArraySubscriptExpr>(strip(U->getSubExpr()));
    return Sub && !Sub->getType()->isArrayType() &&
           addPointer(Sub->getBase(), Depth + 1, Into) &&
           add(Sub->getIdx(), false, Depth + 1, Into);
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (!B || !B->isAdditiveOp())
    return false;
  bool Left = B->getLHS()->getType()->isPointerType();
  if (!Left && B->getOpcode() == BO_Sub)
    return false;
  return addPointer(Left ? B->getLHS() : B->getRHS(), Depth + 1, Into) &&
         add(Left ? B->getRHS() : B->getLHS(), B->getOpcode() == BO_Sub,
             Depth + 1, Into);
}

std::optional<std::vector<LinearTerm>> Linear::expand(const Expr *E) const {
  std::vector<LinearTerm> Terms;
  if (!E || !add(E, false, 0, Terms) || Terms.size() > MostTerms)
    return std::nullopt;
  return Terms;
}

std::optional<std::vector<LinearTerm>> Linear::offsetOf(const Access &A) const {
  std::vector<LinearTerm> Terms;
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(A.E);
  if (!Sub || !addPointer(Sub->getBase(), 0, Terms) ||
      !add(Sub->getIdx(), false, 0, Terms) || Terms.size() > MostTerms)
    return std::nullopt;
  return Terms;
}

/// Whether \p E mentions \p V, also by a variable that was initialised so.
static bool isMadeOf(const Expr *E, const VarDecl *V, unsigned Depth) {
  bool Found = mentions(E, V) || Depth > MostDepth;
  forEach(E, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const VarDecl *Other = Ref && !Found ? variableOf(Ref) : nullptr;
    if (Other && Other->hasLocalStorage() && !llvm::isa<ParmVarDecl>(Other) &&
        Other->getInit())
      Found |= isMadeOf(Other->getInit(), V, Depth + 1);
  });
  return Found;
}

Growth Linear::growth(const std::vector<LinearTerm> &Terms,
                      const VarDecl *V) const {
  Growth G;
  for (const LinearTerm &T : Terms) {
    unsigned Count = 0;
    std::vector<const Expr *> Others;
    for (const Expr *Factor : T.Factors) {
      if (variableOf(Factor) == V) {
        ++Count;
        continue;
      }
      if (isMadeOf(Factor, V, 0))
        Count += 2;
      Others.push_back(Factor);
    }
    if (!Count)
      continue;
    if (Count > 1 || G.Is != Growth::None) {
      G.Is = Growth::Unclear;
      return G;
    }
    G.Is = Growth::Linear;
    G.Negative = T.Negative;
    G.Coefficient = std::move(Others);
  }
  return G;
}

std::optional<uint64_t>
Linear::constantOf(const std::vector<const Expr *> &Factors) const {
  uint64_t Product = 1;
  for (const Expr *Factor : Factors) {
    std::optional<uint64_t> One = F.constantOf(Factor, K);
    if (!One || *One > UINT32_MAX || Product > UINT32_MAX)
      return std::nullopt;
    Product *= *One;
  }
  return Product;
}

bool Linear::isThe(const std::vector<const Expr *> &Factors,
                   const Expr *E) const {
  std::optional<std::vector<LinearTerm>> Wanted = expand(E);
  if (!Wanted || Wanted->size() != 1 || Wanted->front().Negative)
    return false;
  const std::vector<const Expr *> &Theirs = Wanted->front().Factors;
  std::optional<uint64_t> A = constantOf(Factors), B = constantOf(Theirs);
  if (A || B)
    return A && B && *A == *B;
  if (Factors.size() != 1 || Theirs.size() != 1)
    return false;
  const VarDecl *V = variableOf(Factors.front());
  return V && V == variableOf(Theirs.front()) && K.keeps(V);
}
