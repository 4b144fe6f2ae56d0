//===- Remap.cpp - Whether iterations may change threads ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remap.h"
#include "Accumulation.h"
#include "GridSum.h"
#include "IterationBody.h"
#include "Uniform.h"

using namespace stark;
using namespace clang;

namespace {
class RemapCheck : public IterationBody {
public:
  RemapCheck(const Facts &F, const Kernel &K, const Accesses &A,
             const std::vector<Reduction> &Reductions, const ThreadLoop &L)
      : IterationBody(F.context()), F(F), K(K), A(A), Reductions(Reductions),
        L(L), Order(K), Same(F, K, Order, L.Grid), Total(F, K, A, Same),
        Inside(nodesOf(L.S)), Own(L.variables()) {}

  WhyNot run();

private:
  WhyNot body();
  WhyNot changes(const Expr *Target, const BinaryOperator *By) override;
  WhyNot counts(const Expr *Target) override;
  WhyNot storesElement(const Expr *E) const;
  WhyNot reads() const;
  WhyNot consumer(const VarDecl *V, const std::string &Operation) const;
  bool mayUse(const Stmt *S, const VarDecl *V, const std::string &Operation,
              bool &Consumed) const;
  WhyNot memory() const;
  WhyNot clash(const Access &One, const Access &Other,
               const std::set<const Stmt *> &Near) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const std::vector<Reduction> &Reductions;
  const ThreadLoop &L;
  const Flow Order;
  const Uniform Same;
  const GridSum Total;
  const std::set<const Stmt *> Inside;
  const std::set<const VarDecl *> Own; ///< declared in the loop
  Accumulators Sums;
};
} // namespace

WhyNot RemapCheck::run() {
  if (!Order.known())
    return Reason(why::OrderUnknown);
  if (WhyNot Why = body())
    return Why;
  if (WhyNot Why = reads())
    return Why;
  for (const auto &[V, Operation] : Sums.all())
    if (WhyNot Why = consumer(V, Operation))
      return Why;
  return memory();
}

/// All of an iteration but the next index.
WhyNot RemapCheck::body() {
  if (!L.isWhile())
    return whyNot(L.Body);
  for (const Stmt *Each : llvm::cast<CompoundStmt>(L.Body)->body())
    if (Each != L.Next)
      if (WhyNot Why = whyNot(Each))
        return Why;
  return std::nullopt;
}

WhyNot RemapCheck::counts(const Expr *Target) {
  const VarDecl *V = variableOf(Target);
  if (V && V != L.I && Own.count(V))
    return std::nullopt;
  return Reason(why::CountsOutside);
}

WhyNot RemapCheck::changes(const Expr *Target, const BinaryOperator *By) {
  const VarDecl *V = By ? variableOf(Target) : nullptr;
  if (!V)
    return storesElement(Target);
  if (V == L.I)
    return Reason(why::ChangesIndex);
  if (Own.count(V))
    return std::nullopt;
  return Sums.add(V, By, F.context());
}

/// What is stored to is an element that only this iteration has.
WhyNot RemapCheck::storesElement(const Expr *E) const {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  if (!Sub) {
    // An element of a local array, a member of a local variable.
    const Expr *Base = strip(E);
    while (const auto *M = llvm::dyn_cast<MemberExpr>(Base)) {
      if (M->isArrow())
        return Reason(why::StoresByPointer);
      Base = strip(M->getBase());
    }
    const VarDecl *V = variableOf(Base);
    if (V && Own.count(V))
      return std::nullopt;
    return Reason(why::StoresToNoElement);
  }
  if (const VarDecl *V = variableOf(Sub->getBase());
      V && Own.count(V) && V->getType()->isArrayType())
    return std::nullopt;
  bool Seen = llvm::any_of(A.in(L.S), [&](const Access *Each) {
    return Each->E == Sub && !Each->Unclear;
  });
  if (!Seen || !isShiftedIndex(F, K, L, Sub->getIdx()))
    return Reason(why::StoresUnshifted);
  return std::nullopt;
}

/// Everything else that an iteration reads is the same for all threads.
WhyNot RemapCheck::reads() const {
  WhyNot Why;
  forEach(L.Body, [&](const Stmt *N) {
    if (Why)
      return;
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && (B->Name == "threadIdx" || (L.Grid && B->Name == "blockIdx")))
      Why = Reason(why::UsesThread, B->Name);
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || Own.count(V) || Sums.contains(V) || !V->hasLocalStorage())
      return;
    if (!Same.at(V, L.S))
      Why = Reason(why::VariableDiffers, nameOf(V));
  });
  if (Why)
    return Why;
  if (!Same.expression(L.Bound, L.S))
    return Reason(why::BoundDiffers);
  return Sums.whyRead(L.S, F.context());
}

/// \p S, which runs after the loop, may use \p V: it brings it to a reduction
/// with the same operation, or goes on adding up.
bool RemapCheck::mayUse(const Stmt *S, const VarDecl *V,
                        const std::string &Operation, bool &Consumed) const {
  for (const Reduction &R : Reductions)
    if (variableOf(R.Value) == V && R.Operation == Operation &&
        nodesOf(R.First).count(S)) {
      Consumed = !L.Grid || Total.isAdded(R);
      return Consumed;
    }
  if (const CallExpr *Add = L.Grid ? Total.addOf(S, /*First=*/false) : nullptr;
      Add && variableOf(Add->getArg(1)) == V && Operation == "+") {
    Consumed = true;
    return true;
  }
  for (const Stmt *Up = S; Up; Up = K.parent(Up)) {
    std::optional<Accumulation> More = readAccumulation(Up, F.context());
    if (More && More->Into == V && More->Operation == Operation)
      return true;
  }
  return false;
}

/// What a thread has summed up must flow into a reduction of the whole block
/// with the same operation, and nowhere else; of a loop that all blocks share
/// into a sum of the whole grid.
WhyNot RemapCheck::consumer(const VarDecl *V,
                            const std::string &Operation) const {
  auto Kills = [&](const Stmt *S) {
    const auto *B = llvm::dyn_cast<BinaryOperator>(S);
    if (B && B->getOpcode() == BO_Assign && variableOf(B->getLHS()) == V &&
        !mentions(B->getRHS(), V))
      return true;
    return onlyVariable(S) == V;
  };
  bool Consumed = false;
  WhyNot Why;
  for (const Stmt *S : Order.around(L.S, true, Kills))
    if (mentions(S, V) && !mayUse(S, V, Operation, Consumed))
      Why = L.Grid ? Reason(why::SumPerBlock, nameOf(V))
                   : Reason(why::SumGoesElsewhere, nameOf(V), F.lineOf(S));
  if (Why)
    return Why;
  if (L.Grid && !Total.isOfAll(L.S, /*First=*/false))
    return Reason(why::SumPerBlock, nameOf(V));
  if (!Consumed)
    return Reason(why::SumNotReduced, nameOf(V));
  return std::nullopt;
}

static std::string memoryOf(const Access &Each) {
  return Each.Root ? "'" + nameOf(Each.Root) + "'" : "memory that is not known";
}

/// \p One of the loop and \p Other, one of which stores. \p Near: what no
/// barrier keeps apart from the loop.
WhyNot RemapCheck::clash(const Access &One, const Access &Other,
                         const std::set<const Stmt *> &Near) const {
  if (Inside.count(Other.E)) {
    // The same element, or of pointers that may overlap the element of the same
    // index: another one would be a race between threads.
    if (One.Index && Other.Index && One.Root && Other.Root &&
        isSameShift(F, K, L, One.Index, Other.Index) &&
        (One.Base == Other.Base || One.Root != Other.Root))
      return std::nullopt;
    return Reason(why::OtherIndex, memoryOf(One), memoryOf(Other),
                  F.lineOf(One.E), F.lineOf(Other.E));
  }
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(One.Root),
             *Q = llvm::dyn_cast_or_null<ParmVarDecl>(Other.Root);
  if (P && Q && P != Q && !F.whyNotApart(K, P, Q))
    return std::nullopt;
  if (L.Grid || Near.count(Other.E))
    return Reason(why::NoBarrier, memoryOf(One), memoryOf(Other),
                  F.lineOf(Other.E));
  return std::nullopt;
}

WhyNot RemapCheck::memory() const {
  std::set<const Stmt *> Near;
  if (!L.Grid)
    for (bool Forward : {true, false})
      for (const Stmt *S : Order.around(L.S, Forward, isBlockBarrier))
        forEach(S, [&](const Stmt *N) { Near.insert(N); });
  for (const Access *One : A.in(L.S)) {
    if (One->Unclear)
      return Reason(why::LineUnclear, F.lineOf(One->E));
    if (L.Grid && One->Shared)
      return Reason(why::UsesShared);
    for (const Access &Other : A.all())
      if (&Other != One && A.conflict(*One, Other))
        if (WhyNot Why = clash(*One, Other, Near))
          return Why;
  }
  return std::nullopt;
}

WhyNot stark::whyNotRemap(const Facts &F, const Kernel &K, const Accesses &A,
                          const std::vector<Reduction> &Reductions,
                          const ThreadLoop &L) {
  return RemapCheck(F, K, A, Reductions, L).run();
}
