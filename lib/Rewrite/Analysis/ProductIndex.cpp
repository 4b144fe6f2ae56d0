//===- ProductIndex.cpp - What tells the elements of a product apart ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductIndex.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

const ParmVarDecl *stark::parameterOf(const Expr *E, const Kernel &K) {
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(E));
  return P && P->getType()->isIntegerType() && K.keeps(P) ? P : nullptr;
}

ProductIndex::ProductIndex(const Facts &F, const Kernel &K) : F(F), K(K) {
  if (OrReason<std::array<uint64_t, 3>> Size = F.block(K))
    Block = *Size;
}

bool ProductIndex::isFixed(const Expr *E) const {
  bool Local = false;
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    Local |= V->hasLocalStorage();
  });
  return parameterOf(E, K) || (!Local && F.constantOf(E, K));
}

bool ProductIndex::isOneThread(char Axis) const {
  return Block && (*Block)[unsigned(Axis - 'x')] == 1;
}

bool ProductIndex::isOfBlock(const VarDecl *V, unsigned Depth) const {
  if (!V->hasLocalStorage())
    return V->getType().isConstQualified() || V->hasAttr<CUDAConstantAttr>();
  if (!V->getType()->isScalarType() || !K.keeps(V))
    return false;
  if (llvm::isa<ParmVarDecl>(V))
    return true;
  return V->getInit() && Depth < MostSteps &&
         isOfBlock(V->getInit(), Depth + 1);
}

bool ProductIndex::isOfBlock(const Expr *E, unsigned Depth) const {
  if (!isPure(E, F.context()) || readsMemory(E))
    return false;
  bool Common = true;
  forEach(E, [&](const Stmt *N) {
    if (std::optional<BuiltinIndex> B = builtinNode(N)) {
      Common &= B->Name != "threadIdx" || isOneThread(B->Axis);
      return;
    }
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr)
      Common = Common && isOfBlock(V, Depth);
  });
  return Common;
}

char ProductIndex::axisOf(const Expr *E) const {
  for (char Axis : {'x', 'y', 'z'}) {
    auto Is = [&](llvm::StringRef Name) {
      return [this, Axis, Name](const Expr *N) {
        return isBuiltin(resolve(N, K.body(), *K.Parents), Name, Axis);
      };
    };
    auto IsWidth = [&](const Expr *N) {
      return Is("blockDim")(N) ||
             (Block && F.constantOf(N, K) == (*Block)[unsigned(Axis - 'x')]);
    };
    auto IsFirst = [&](const Expr *N) {
      return eitherWay(factorsOf(N), Is("blockIdx"), IsWidth);
    };
    if (eitherWay(termsOf(E), Is("threadIdx"), IsFirst))
      return Axis;
  }
  return 0;
}

ProductIndex::Place
ProductIndex::placeOf(const Expr *Index, const VarDecl *Major,
                      const VarDecl *Minor,
                      llvm::ArrayRef<ShiftedIndex> Shifted) const {
  Place Found = Place::Plain;
  auto Names = [&](const Expr *N, const VarDecl *V) {
    const VarDecl *Named = variableOf(N);
    return Named &&
           (Named == V || llvm::any_of(Shifted, [&](const ShiftedIndex &S) {
              return S.V == Named && S.Of == V;
            }));
  };
  // The variable, or with something of the block: batch * m + row.
  auto Is = [&](const Expr *N, const VarDecl *V) {
    std::vector<const Expr *> Terms = termsOf(N);
    auto At = llvm::find_if(Terms, [&](const Expr *T) { return Names(T, V); });
    if (At == Terms.end())
      return false;
    Terms.erase(At);
    bool Rest =
        llvm::all_of(Terms, [&](const Expr *T) { return isOfBlock(T); });
    if (Rest && !Terms.empty())
      Found = Place::OfBlock;
    return Rest;
  };
  auto IsRow = [&](const Expr *N) {
    std::vector<const Expr *> Factors = factorsOf(N);
    auto At =
        llvm::find_if(Factors, [&](const Expr *T) { return Is(T, Major); });
    if (Factors.size() < 2 || At == Factors.end())
      return false;
    Factors.erase(At);
    return llvm::all_of(
        Factors, [&](const Expr *T) { return isFixed(T) || isOfBlock(T); });
  };
  std::vector<const Expr *> Terms = termsOf(Index);
  auto Row = llvm::find_if(Terms, IsRow);
  if (Row == Terms.end())
    return Place::No;
  Terms.erase(Row);
  auto Col =
      llvm::find_if(Terms, [&](const Expr *T) { return Names(T, Minor); });
  if (Col == Terms.end())
    return Place::No;
  Terms.erase(Col);
  if (!llvm::all_of(Terms, [&](const Expr *T) { return isOfBlock(T); }))
    return Place::No;
  return Terms.empty() ? Found : Place::OfBlock;
}
