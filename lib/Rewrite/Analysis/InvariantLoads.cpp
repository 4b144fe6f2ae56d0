//===- InvariantLoads.cpp - Loads that a loop repeats ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InvariantLoads.h"
#include "LoopElement.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

namespace {
class Finder {
public:
  Finder(const Facts &F, const Kernel &K, const Accesses &A,
         const CountedLoop &L)
      : F(F), K(K), A(A), L(L) {}
  std::optional<InvariantLoads> run() const;

private:
  bool isInvariant(const Access &Load) const;
  WhyNot whyChanged(const Access &Load) const;
  bool isInInnerLoop(const Access &Load) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop &L;
};
} // namespace

bool Finder::isInvariant(const Access &Load) const {
  return Load.Load && !Load.Store && Load.Whole && isSameElement(K, L, Load) &&
         isPure(Load.Whole, F.context());
}

WhyNot Finder::whyChanged(const Access &Load) const {
  std::vector<const Access *> Others = A.in(L.S);
  if (meetsThreads(L.S)) {
    Others.clear();
    for (const Access &Each : A.all())
      Others.push_back(&Each);
  }
  for (const Access *Other : Others) {
    if (!A.conflict(Load, *Other))
      continue;
    unsigned Line = F.lineOf(Other->E);
    if (Other->Unclear || !Other->Root)
      return Reason(why::LineWrites, Line);
    const auto *P = llvm::dyn_cast<ParmVarDecl>(Load.Root),
               *Q = llvm::dyn_cast<ParmVarDecl>(Other->Root);
    if (P && Q && P != Q)
      if (WhyNot Why = F.whyNotApart(K, P, Q))
        return Reason(why::LoadMayOverlap, *Why, F.lineOf(Load.E), Line);
    return Reason(why::StoredTo, nameOf(Load.Root), Line);
  }
  return std::nullopt;
}

bool Finder::isInInnerLoop(const Access &Load) const {
  for (const Stmt *Up = Load.E; Up && Up != L.S; Up = K.parent(Up))
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(Up))
      return true;
  return false;
}

std::optional<InvariantLoads> Finder::run() const {
  std::vector<const Access *> Mine = A.in(L.S);
  bool Stores =
      llvm::any_of(Mine, [](const Access *Each) { return Each->Store; });
  if (!Stores && !meetsThreads(L.S))
    return std::nullopt;
  InvariantLoads Found;
  for (const Access *Each : Mine) {
    // A constant cache serves what all threads have in common.
    if (!isInvariant(*Each) || Each->Root->hasAttr<CUDAConstantAttr>())
      continue;
    Made When = madeIn(F, K, L, *Each);
    if (When == Made::Perhaps) {
      // Of an inner loop it may stay the same there already.
      if (!Found.Lacks && !isInInnerLoop(*Each))
        Found.Lacks =
            Reason(why::Conditional, nameOf(Each->Root), F.lineOf(Each->E));
    } else if (WhyNot Changed = whyChanged(*Each)) {
      Found.Lacks = Changed;
    } else {
      Found.All.push_back({Each, When == Made::Always});
    }
  }
  return Found;
}

std::optional<InvariantLoads> stark::findInvariantLoads(const Facts &F,
                                                        const Kernel &K,
                                                        const Accesses &A,
                                                        const CountedLoop &L) {
  return Finder(F, K, A, L).run();
}
