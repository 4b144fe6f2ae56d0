//===- InvariantLoads.cpp - Loads that a loop repeats ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InvariantLoads.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

namespace {
/// When a load in a loop is made.
enum class Made {
  Always,     ///< also when no iteration runs
  WhenItRuns, ///< in the first iteration, whatever it does
  Perhaps
};

class Finder {
public:
  Finder(const Facts &F, const Kernel &K, const Accesses &A,
         const CountedLoop &L)
      : F(F), K(K), A(A), L(L), Own(variablesDeclaredIn(L.S)) {}
  std::optional<InvariantLoads> run() const;

private:
  bool isInvariant(const Access &Load) const;
  bool givesPlace(const Access &Load, const Stmt *N) const;
  Made madeAt(const Access &Load) const;
  WhyNot whyChanged(const Access &Load) const;
  bool isInInnerLoop(const Access &Load) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop &L;
  const std::set<const VarDecl *> Own;
};
} // namespace

/// Something that other threads take part in, or wait at.
static bool isMeeting(const Stmt *N) {
  llvm::StringRef Name = calleeOf(N);
  return Name.starts_with("__sync") || Name.starts_with("__shfl") ||
         Name.starts_with("__threadfence");
}

/// The node \p N of \p Load, which helps to give its place, is not loaded
/// itself and stays the same.
bool Finder::givesPlace(const Access &Load, const Stmt *N) const {
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
    return U->getOpcode() != UO_Deref;
  // Rows of a shared array are no loads.
  if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N))
    return Sub->getType()->isArrayType();
  if (const auto *M = llvm::dyn_cast<MemberExpr>(N))
    return !M->isArrow() || builtinIndex(M);
  const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
  const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || (V == Load.Root && V->getType()->isArrayType()))
    return true;
  if (!V->hasLocalStorage())
    return V->isConstexpr() ||
           builtinIndex(llvm::dyn_cast_or_null<Expr>(K.parent(N)));
  return !Own.count(V) && isUnchangedIn(V, L.S, K.body(), *K.Parents);
}

bool Finder::isInvariant(const Access &Load) const {
  if (!Load.Root || !Load.Load || Load.Store || Load.Unclear || !Load.Whole ||
      (!Load.Index && !llvm::isa<UnaryOperator>(Load.E)) ||
      !isPure(Load.Whole, F.context()))
    return false;
  return !anyOf(Load.E, [&](const Stmt *N) {
    return N != Load.E && !givesPlace(Load, N);
  });
}

/// Whatever \p Up does, it evaluates its child \p At first.
static bool isFirstOf(const Stmt *Up, const Stmt *At) {
  if (const auto *If = llvm::dyn_cast<IfStmt>(Up))
    return At == If->getCond() && !If->getInit();
  if (const auto *Two = llvm::dyn_cast<AbstractConditionalOperator>(Up))
    return At == Two->getCond();
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(Up))
    return !B->isLogicalOp() || At == B->getLHS();
  if (const auto *For = llvm::dyn_cast<ForStmt>(Up))
    return At == For->getInit() || At == For->getCond();
  if (const auto *While = llvm::dyn_cast<WhileStmt>(Up))
    return At == While->getCond();
  return !llvm::isa<SwitchStmt, SwitchCase, DoStmt, CXXForRangeStmt, LambdaExpr,
                    UnaryExprOrTypeTraitExpr>(Up);
}

Made Finder::madeAt(const Access &Load) const {
  const Stmt *At = Load.Whole;
  Made When = Made::WhenItRuns;
  for (const Stmt *Up = K.parent(At); Up; At = Up, Up = K.parent(Up)) {
    if (Up == L.S) {
      if (At == L.S->getCond())
        return Made::Always;
      if (At != L.S->getBody())
        return Made::Perhaps;
      break;
    }
    if (!isFirstOf(Up, At))
      When = Made::Perhaps;
  }
  // Something before it may end the iteration.
  const SourceManager &SM = F.context().getSourceManager();
  if (anyOf(L.S->getBody(), [&](const Stmt *N) {
        return llvm::isa<ReturnStmt, BreakStmt, ContinueStmt>(N) &&
               SM.isBeforeInTranslationUnit(N->getBeginLoc(),
                                            Load.E->getBeginLoc());
      }))
    When = Made::Perhaps;
  return When;
}

WhyNot Finder::whyChanged(const Access &Load) const {
  std::vector<const Access *> Others = A.in(L.S);
  if (anyOf(L.S, isMeeting)) {
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
  if (!Stores && !anyOf(L.S, isMeeting))
    return std::nullopt;
  InvariantLoads Found;
  for (const Access *Each : Mine) {
    // A constant cache serves what all threads have in common.
    if (!isInvariant(*Each) || Each->Root->hasAttr<CUDAConstantAttr>())
      continue;
    Made When = madeAt(*Each);
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
