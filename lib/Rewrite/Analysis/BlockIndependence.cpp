//===- BlockIndependence.cpp - Kernels for blocks of any size -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockIndependence.h"
#include "Remap.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

namespace {
class Check {
public:
  Check(const Facts &F, const Kernel &K)
      : F(F), K(K), A(F, K), Trees(findReductions(F, K).All) {
    for (const Stmt *Loop : threadLoopsOf(K))
      if (std::optional<OrReason<ThreadLoop>> L = readThreadLoop(F, K, Loop))
        if (*L)
          Loops.push_back(**L);
  }
  WhyNot run();

private:
  void allow(const Stmt *S) { Fine.merge(nodesOf(S)); }
  WhyNot reductions();
  WhyNot loops();
  WhyNot otherUses() const;
  bool mayUse(const Stmt *N, bool Copy) const;
  WhyNot warpsAndSteps() const;

  const Facts &F;
  const Kernel &K;
  const Accesses A;
  const std::vector<Reduction> Trees;
  std::vector<ThreadLoop> Loops;
  std::set<const Stmt *> Fine; ///< where the thread's number may be used
};
} // namespace

WhyNot Check::reductions() {
  for (const Reduction &R : Trees) {
    if (R.Tree && !R.StartsAtBlock)
      return Reason(why::FixedTree, F.lineOf(R.Last));
    // What each thread brings is looked at on its own.
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(R.First))
      allow(B->getLHS());
    else
      Fine.insert(R.First);
    if (R.Tree)
      allow(R.Last);
    if (!variableOf(R.Value))
      return Reason(why::BringsMore, F.lineOf(R.First));
  }
  return std::nullopt;
}

WhyNot Check::loops() {
  for (const ThreadLoop &L : Loops) {
    if (L.Grid)
      return Reason(why::GridLoop, F.lineOf(L.S));
    if (WhyNot No = whyNotRemap(F, K, A, Trees, L))
      return Reason(why::AtLine, F.lineOf(L.S), *No);
    allow(L.Start);
    allow(L.Step);
  }
  return std::nullopt;
}

/// \p N, the thread's number or a copy of it, stands in
///     if (threadIdx.x == 0)
/// or where a copy is declared.
bool Check::mayUse(const Stmt *N, bool Copy) const {
  const Stmt *Up =
      K.Parents->getParentIgnoreParenImpCasts(const_cast<Stmt *>(N));
  const auto *Compared = llvm::dyn_cast_or_null<BinaryOperator>(Up);
  if (Compared && Compared->isEqualityOp() &&
      (isThreadNumber(Compared->getLHS(), K) ||
       isThreadNumber(Compared->getRHS(), K)) &&
      (F.constantOf(Compared->getLHS(), K) == 0u ||
       F.constantOf(Compared->getRHS(), K) == 0u))
    return true;
  const VarDecl *Named = Copy ? nullptr : onlyVariable(Up);
  return Named && Named->getInit() && isThreadNumber(Named->getInit(), K) &&
         K.keeps(Named);
}

/// Copies of the thread's number are as good as it, used in the same places.
WhyNot Check::otherUses() const {
  WhyNot Why;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *E = llvm::dyn_cast<Expr>(N);
    if (!E || Why || Fine.count(N))
      return;
    std::optional<BuiltinIndex> B = builtinNode(E);
    const VarDecl *V = llvm::isa<DeclRefExpr>(E) ? variableOf(E) : nullptr;
    bool Copy = V && V->hasLocalStorage() && isThreadNumber(E, K);
    bool Index = B && (B->Name == "threadIdx" || B->Name == "blockDim");
    if ((Copy || Index) && !mayUse(N, Copy))
      Why = Reason(why::ReliesOnThread, F.lineOf(N));
  });
  if (Why)
    return Why;
  // Functions that may look at the thread's number themselves.
  for (const Access &Each : A.all()) {
    const auto *C = llvm::dyn_cast<CallExpr>(Each.E);
    llvm::StringRef Name = calleeOf(C);
    if (C && !Fine.count(C))
      return Reason(why::CallSeesBlock, Name.empty() ? "a function" : Name,
                    F.lineOf(C));
  }
  return std::nullopt;
}

WhyNot Check::warpsAndSteps() const {
  WhyNot Why;
  forEach(K.body(), [&](const Stmt *N) {
    if (!Why && isWarpOperation(N))
      Why = Reason(why::LineOnWarps, F.lineOf(N));
  });
  // With a constant that is the block's size as it is.
  for (const ThreadLoop &L : Loops)
    if (!isBuiltin(L.Step, "blockDim", 'x') && F.constantOf(L.Step, K))
      Why = Reason(why::StepIsNumber, F.lineOf(L.S));
  return Why;
}

WhyNot Check::run() {
  if (WhyNot Why = reductions())
    return Why;
  if (WhyNot Why = loops())
    return Why;
  if (WhyNot Why = otherUses())
    return Why;
  return warpsAndSteps();
}

WhyNot stark::whyNotAnyBlockSize(const Facts &F, const Kernel &K) {
  return Check(F, K).run();
}
