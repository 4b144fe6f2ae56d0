//===- NestMemory.cpp - What the iterations of a nest touch ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestMemory.h"
#include "Linear.h"

using namespace stark;
using namespace clang;

namespace {
class NestMemory {
public:
  NestMemory(const Facts &F, const Kernel &K, const Accesses &A,
             const LoopNest &N)
      : F(F), K(K), A(A), Outer(N.Outer), Inner(N.Inner), Indices(F, K),
        Own(variablesDeclaredIn(Inner.S->getBody())) {}
  WhyNot whyOrdered() const;

private:
  WhyNot storeClashes(const Access &Store,
                      const std::vector<const Access *> &All) const;
  WhyNot elements(const Access &Store) const;
  WhyNot pointers(const std::vector<const Access *> &All) const;
  WhyNot localArrays() const;
  const ArraySubscriptExpr *wholeSubscript(const DeclRefExpr *Ref) const;
  bool hasOwnElements(const ArraySubscriptExpr *Whole) const;
  bool isPositive(const std::vector<const Expr *> &Factors) const;
  bool isRow(const std::vector<const Expr *> &Rows,
             const CountedLoop &Along) const;
  bool isClear(const std::vector<LinearTerm> &Terms) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop &Outer, &Inner;
  const Linear Indices;
  const std::set<const VarDecl *> Own; ///< declared in the inner body
};
} // namespace

bool NestMemory::isPositive(const std::vector<const Expr *> &Factors) const {
  if (std::optional<uint64_t> C = Indices.constantOf(Factors))
    return *C > 0;
  // Within its loop, a bound is larger than where the loop began.
  for (const CountedLoop *L : {&Outer, &Inner})
    if (L->Compare == BO_LT && F.constantOf(L->Start, K) &&
        Indices.isThe(Factors, L->Bound))
      return true;
  return false;
}

/// \p Rows are so long that no two indices of \p Along meet the same element.
bool NestMemory::isRow(const std::vector<const Expr *> &Rows,
                       const CountedLoop &Along) const {
  if (Along.Compare != BO_LT || !F.constantOf(Along.Start, K))
    return false;
  std::optional<uint64_t> Length = Indices.constantOf(Rows),
                          Bound = F.constantOf(Along.Bound, K);
  if (Length && Bound)
    return *Bound <= *Length;
  return Indices.isThe(Rows, Along.Bound);
}

/// Nothing in \p Terms but the indices changes within the loops.
bool NestMemory::isClear(const std::vector<LinearTerm> &Terms) const {
  bool Clear = true;
  for (const LinearTerm &T : Terms)
    for (const Expr *Factor : T.Factors) {
      Clear &= !readsMemory(Factor) && isPure(Factor, F.context());
      forEachUse(Factor, [&](const DeclRefExpr *, const VarDecl *V) {
        if (V != Outer.I && V != Inner.I && V->hasLocalStorage())
          Clear = Clear && !Own.count(V) &&
                  isUnchangedIn(V, Outer.S, K.body(), *K.Parents);
      });
    }
  return Clear;
}

/// Iterations that store to the same element differ in one index alone.
WhyNot NestMemory::elements(const Access &Store) const {
  std::string Name = nameOf(Store.Root);
  std::optional<std::vector<LinearTerm>> Terms = Indices.offsetOf(Store);
  Reason Unknown(why::ElementsUnseen, Name, F.lineOf(Store.E));
  if (!Terms || !isClear(*Terms))
    return Unknown;
  Growth I = Indices.growth(*Terms, Outer.I),
         J = Indices.growth(*Terms, Inner.I);
  if (I.Is == Growth::Unclear || J.Is == Growth::Unclear)
    return Unknown;
  if (I.Is == Growth::None && J.Is == Growth::None)
    return Reason(why::OneElement, Name);
  if (I.Is == Growth::None || J.Is == Growth::None) {
    if (isPositive(I.Is == Growth::None ? J.Coefficient : I.Coefficient))
      return std::nullopt;
    return Unknown;
  }
  auto IsOne = [&](const Growth &G) {
    return !G.Negative && Indices.constantOf(G.Coefficient) == 1u;
  };
  if ((IsOne(I) && isRow(J.Coefficient, Outer)) ||
      (IsOne(J) && isRow(I.Coefficient, Inner)))
    return std::nullopt;
  return Reason(why::ShortRows, Name);
}

/// Memory that Accesses does not list, but for elements of local arrays by
/// their own name: a thread's own, by a pointer.
WhyNot NestMemory::pointers(const std::vector<const Access *> &All) const {
  WhyNot Why;
  forEach(Inner.S->getBody(), [&](const Stmt *N) {
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N);
    const auto *U = llvm::dyn_cast<UnaryOperator>(N);
    const auto *M = llvm::dyn_cast<MemberExpr>(N);
    bool Through = (Sub && !Sub->getType()->isArrayType()) ||
                   (U && U->getOpcode() == UO_Deref) ||
                   (M && M->isArrow() && !builtinIndex(M));
    if (!Through ||
        llvm::any_of(All, [&](const Access *Each) { return Each->E == N; }))
      return;
    const Expr *Base = Sub;
    while (const auto *Row = llvm::dyn_cast_or_null<ArraySubscriptExpr>(Base))
      Base = strip(Row->getBase());
    const VarDecl *V = Base ? variableOf(Base) : nullptr;
    if (!V || !V->hasLocalStorage() || !V->getType()->isArrayType())
      Why = Reason(why::AccessUnknown, F.lineOf(N));
  });
  return Why;
}

WhyNot NestMemory::storeClashes(const Access &Store,
                                const std::vector<const Access *> &All) const {
  if (!Store.Root || !Store.Index || Store.Root->getType()->isArrayType())
    return Reason(why::StoresElsewhere);
  if (WhyNot Why = elements(Store))
    return Why;
  for (const Access *Other : All) {
    if (Other == &Store || !A.conflict(Store, *Other))
      continue;
    if (Other->Root == Store.Root && Other->Base == Store.Base &&
        Other->Index && isSameTree(Store.Index, Other->Index, F.context()))
      continue;
    unsigned One = F.lineOf(Store.E), Two = F.lineOf(Other->E);
    const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(Store.Root),
               *Q = llvm::dyn_cast_or_null<ParmVarDecl>(Other->Root);
    if (P && Q && P != Q)
      if (WhyNot Why = F.whyNotApart(K, P, Q))
        return Reason(why::NestMayOverlap, *Why, One, Two);
    return Reason(why::MayUseStored, One, Two);
  }
  return std::nullopt;
}

WhyNot NestMemory::whyOrdered() const {
  std::vector<const Access *> All = A.in(Outer.S);
  if (WhyNot Why = pointers(All))
    return Why;
  for (const Access *Each : All) {
    if (Each->Unclear)
      return Reason(why::AccessUnknown, F.lineOf(Each->E));
    if (Each->Store)
      if (WhyNot Why = storeClashes(*Each, All))
        return Why;
  }
  return localArrays();
}

/// v[a][b] around the use of v; null when it is used otherwise.
const ArraySubscriptExpr *
NestMemory::wholeSubscript(const DeclRefExpr *Ref) const {
  const ArraySubscriptExpr *Whole = nullptr;
  for (const Stmt *Up = Ref; (Up = K.parent(Up));) {
    if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(Up))
      Whole = Sub;
    else if (!llvm::isa<ImplicitCastExpr, ParenExpr>(Up))
      break;
    if (Whole && !Whole->getType()->isArrayType())
      return Whole;
  }
  return nullptr;
}

/// With at most one of the loops' indices in each subscript, no element is met
/// twice by two.
bool NestMemory::hasOwnElements(const ArraySubscriptExpr *Whole) const {
  unsigned Growing = 0;
  for (const auto *Sub = Whole; Sub;
       Sub = llvm::dyn_cast<ArraySubscriptExpr>(
           Sub->getBase()->IgnoreParenImpCasts())) {
    std::optional<std::vector<LinearTerm>> Terms =
        Indices.expand(Sub->getIdx());
    if (!Terms || !isClear(*Terms))
      return false;
    Growth I = Indices.growth(*Terms, Outer.I),
           J = Indices.growth(*Terms, Inner.I);
    for (const Growth &G : {I, J}) {
      if (G.Is == Growth::Unclear ||
          (G.Is == Growth::Linear && !isPositive(G.Coefficient)))
        return false;
      Growing += G.Is == Growth::Linear;
    }
    if (I.Is != Growth::None && J.Is != Growth::None)
      return false;
  }
  return Growing != 0;
}

/// Accesses has no arrays of a thread's own.
WhyNot NestMemory::localArrays() const {
  std::map<const VarDecl *, const ArraySubscriptExpr *> First;
  WhyNot Why, Several;
  forEachUse(Inner.S->getBody(), [&](const DeclRefExpr *Ref, const VarDecl *V) {
    QualType T = V->getType();
    if (!V->hasLocalStorage() || Own.count(V) || Why ||
        !(T->isArrayType() || T->isRecordType()) ||
        (T->isRecordType() && K.keeps(V)))
      return;
    const ArraySubscriptExpr *Whole = wholeSubscript(Ref);
    if (!Whole || !T->isArrayType()) {
      Why = Reason(why::Outlives, nameOf(V));
      return;
    }
    auto [At, New] = First.emplace(V, Whole);
    if (!New && !isSameTree(At->second, Whole, F.context()))
      Several = Reason(why::ElementsOutlive, nameOf(V));
  });
  if (Why || Several)
    return Why ? Why : Several;
  for (const auto &[V, Whole] : First)
    if (!hasOwnElements(Whole))
      return Reason(why::LocalUnseen, nameOf(V));
  return std::nullopt;
}

WhyNot stark::whyMemoryOrdered(const Facts &F, const Kernel &K,
                               const Accesses &A, const LoopNest &N) {
  return NestMemory(F, K, A, N).whyOrdered();
}
