//===- Accesses.cpp - What a kernel reads and writes ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

bool stark::isBlockBarrier(const Stmt *S) {
  const auto *E = llvm::dyn_cast_or_null<Expr>(S);
  return E && calleeOf(E->IgnoreParenImpCasts()) == "__syncthreads";
}

static bool isMemory(const VarDecl *V) {
  return V->hasAttr<CUDASharedAttr>() || V->hasGlobalStorage();
}

const VarDecl *Accesses::rootOf(const Expr *Pointer) const {
  for (unsigned Depth = 0; Pointer && Depth < 8; ++Depth) {
    const Expr *E = strip(Pointer);
    if (const VarDecl *V = variableOf(E)) {
      if (V->getType()->isReferenceType())
        return nullptr;
      if (V->getType()->isArrayType())
        return V;
      if (!isNeverWritten(V, K.body(), *K.Parents))
        return nullptr;
      if (llvm::isa<ParmVarDecl>(V))
        return V;
      if (!V->hasLocalStorage() || !V->getInit())
        return nullptr;
      Pointer = V->getInit();
      continue;
    }
    if (const auto *C = llvm::dyn_cast<CastExpr>(E);
        C && (C->getCastKind() == CK_BitCast)) {
      Pointer = C->getSubExpr();
      continue;
    }
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(E);
        U && U->getOpcode() == UO_AddrOf) {
      const auto *Sub =
          llvm::dyn_cast<ArraySubscriptExpr>(strip(U->getSubExpr()));
      if (!Sub)
        return nullptr;
      Pointer = Sub->getBase();
      continue;
    }
    if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(E)) {
      if (!Sub->getType()->isArrayType())
        return nullptr;
      Pointer = Sub->getBase();
      continue;
    }
    const auto *B = llvm::dyn_cast<BinaryOperator>(E);
    if (!B || !B->isAdditiveOp())
      return nullptr;
    Pointer = B->getLHS()->getType()->isPointerType() ||
                      B->getLHS()->getType()->isArrayType()
                  ? B->getLHS()
                  : B->getRHS();
  }
  return nullptr;
}

/// Follows \p E upwards to what is done with it.
void Accesses::classify(const Expr *E, Access A) {
  A.Whole = E;
  const Stmt *At = E, *Up = K.Parents->getParent(At);
  auto Climb = [&] {
    At = Up;
    Up = K.Parents->getParent(At);
  };
  for (;; Climb()) {
    if (!Up)
      break;
    if (llvm::isa<ParenExpr, MaterializeTemporaryExpr>(Up))
      continue;
    const auto *Cast = llvm::dyn_cast<ImplicitCastExpr>(Up);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue) {
      A.Load = true;
      All.push_back(A);
      return;
    }
    if (Cast && Cast->getCastKind() == CK_NoOp)
      continue;
    break;
  }
  if (const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Up);
      B && B->isAssignmentOp() && B->getLHS() == At) {
    A.Store = true;
    A.Load = B->isCompoundAssignmentOp();
    // The value of an assignment is used: p[i] = q[i] = 0.
    All.push_back(A);
    return;
  }
  if (const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up)) {
    if (U->isIncrementDecrementOp()) {
      A.Load = A.Store = true;
      All.push_back(A);
      return;
    }
    if (U->getOpcode() == UO_AddrOf) {
      const Stmt *Call = K.Parents->getParentIgnoreParenImpCasts(
          const_cast<UnaryOperator *>(U));
      if (calleeOf(Call) == "__ldg") {
        A.Load = true;
        A.Whole = llvm::cast<Expr>(Call);
        All.push_back(A);
        return;
      }
    }
  }
  if (const auto *C = llvm::dyn_cast_or_null<CXXConstructExpr>(Up);
      C && C->getConstructor()->isCopyOrMoveConstructor()) {
    A.Load = true;
    All.push_back(A);
    return;
  }
  if (const auto *O = llvm::dyn_cast_or_null<CXXOperatorCallExpr>(Up);
      O && O->getOperator() == OO_Equal && O->getNumArgs() == 2 &&
      O->getArg(0) == At) {
    A.Store = true;
    All.push_back(A);
    return;
  }
  if (const auto *O = llvm::dyn_cast_or_null<CXXOperatorCallExpr>(Up);
      O && O->getOperator() == OO_Equal && O->getNumArgs() == 2 &&
      O->getArg(1) == At) {
    A.Load = true;
    All.push_back(A);
    return;
  }
  // A conversion of half, or a pure function that takes a reference.
  const Expr *Use = llvm::dyn_cast_or_null<Expr>(Up);
  if (const auto *M = llvm::dyn_cast_or_null<MemberExpr>(Up);
      M && llvm::isa<CXXMethodDecl>(M->getMemberDecl()))
    Use = llvm::dyn_cast_or_null<Expr>(K.Parents->getParent(Up));
  if (Use && llvm::isa<CallExpr>(Use) && isPure(Use, F.context())) {
    A.Load = true;
    All.push_back(A);
    return;
  }
  A.Load = A.Store = A.Unclear = true;
  All.push_back(A);
}

Accesses::Accesses(const Facts &F, const Kernel &K) : F(F), K(K) {
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N)) {
      if (Sub->getType()->isArrayType())
        return; // a row of an array: the outer subscript is the access
      Access A;
      A.E = Sub;
      A.Base = variableOf(Sub->getBase());
      A.Root = rootOf(Sub->getBase());
      A.Index = Sub->getIdx();
      if (A.Root && A.Root->getType()->isArrayType()) {
        if (!isMemory(A.Root))
          return; // a local array
        A.Shared = A.Root->hasAttr<CUDASharedAttr>();
      }
      classify(Sub, A);
    } else if (const auto *U = llvm::dyn_cast<UnaryOperator>(N);
               U && U->getOpcode() == UO_Deref) {
      Access A;
      A.E = U;
      A.Root = rootOf(U->getSubExpr());
      if (A.Root && A.Root->getType()->isArrayType() && !isMemory(A.Root))
        return;
      A.Shared = A.Root && A.Root->hasAttr<CUDASharedAttr>();
      classify(U, A);
    } else if (const auto *M = llvm::dyn_cast<MemberExpr>(N);
               M && M->isArrow()) {
      Access A;
      A.E = M;
      A.Load = A.Store = A.Unclear = true;
      All.push_back(A);
    } else if (const auto *R = llvm::dyn_cast<DeclRefExpr>(N)) {
      // A shared or global variable that is no array.
      const auto *V = llvm::dyn_cast<VarDecl>(R->getDecl());
      if (!V || !isMemory(V) || V->getType()->isArrayType() ||
          V->getType().isConstQualified() || V->isConstexpr() ||
          builtinIndex(llvm::dyn_cast_or_null<Expr>(
              K.Parents->getParent(const_cast<Stmt *>(N)))))
        return;
      Access A;
      A.E = R;
      A.Root = V;
      A.Shared = V->hasAttr<CUDASharedAttr>();
      classify(R, A);
    } else if (const auto *C = llvm::dyn_cast<CallExpr>(N)) {
      if (isBlockBarrier(C) || calleeOf(C) == "__syncwarp" ||
          calleeOf(C).starts_with("__shfl"))
        return;
      if (const auto *O = llvm::dyn_cast<CXXOperatorCallExpr>(C);
          O && O->getOperator() == OO_Equal)
        return; // seen at its left side
      bool Memory = !C->getDirectCallee();
      for (const Expr *Argument : C->arguments())
        Memory |=
            Argument->getType()->isPointerType() ||
            (Argument->isGLValue() && !Argument->getType().isConstQualified());
      // A function of the file may reach global variables.
      if (!isPure(C, F.context()) ||
          (Memory && calleeOf(C) != "__ldg" && !isPure(C, F.context()))) {
        Access A;
        A.E = A.Whole = C;
        A.Load = A.Store = A.Unclear = true;
        All.push_back(A);
      }
    }
  });
}

std::vector<const Access *> Accesses::in(const Stmt *S) const {
  std::set<const Stmt *> Inside;
  forEach(S, [&](const Stmt *N) { Inside.insert(N); });
  std::vector<const Access *> Found;
  for (const Access &A : All)
    if (Inside.count(A.E))
      Found.push_back(&A);
  return Found;
}

bool Accesses::conflict(const Access &A, const Access &B) const {
  if (!A.Store && !B.Store)
    return false;
  if (!A.Root || !B.Root)
    return true;
  if (A.Shared != B.Shared)
    return false;
  if (A.Root == B.Root)
    return true;
  if (A.Shared || A.Root->getType()->isArrayType() ||
      B.Root->getType()->isArrayType())
    return false; // different variables
  const auto *P = llvm::dyn_cast<ParmVarDecl>(A.Root),
             *Q = llvm::dyn_cast<ParmVarDecl>(B.Root);
  return !P || !Q || !F.whyNotApart(K, P, Q).empty();
}

Flow::Flow(const Kernel &K) {
  CFG::BuildOptions Options;
  Graph = CFG::buildCFG(K.F, const_cast<Stmt *>(K.body()),
                        &K.F->getASTContext(), Options);
}

std::vector<const Stmt *>
Flow::around(const Stmt *S, bool Forward,
             llvm::function_ref<bool(const Stmt *)> Stop) const {
  std::set<const Stmt *> Inside;
  forEach(S, [&](const Stmt *N) { Inside.insert(N); });
  using Place = std::pair<const CFGBlock *, unsigned>;
  std::vector<Place> Work;
  std::set<Place> Seen;
  std::vector<const Stmt *> Found;
  auto Element = [](const Place &P) -> const Stmt * {
    std::optional<CFGStmt> E = (*P.first)[P.second].getAs<CFGStmt>();
    return E ? E->getStmt() : nullptr;
  };
  auto Add = [&](Place P) {
    if (Seen.insert(P).second)
      Work.push_back(P);
  };
  std::set<const CFGBlock *> Entered;
  auto Enter = [&](const CFGBlock *B) {
    std::vector<const CFGBlock *> Empty{B};
    while (!Empty.empty()) {
      const CFGBlock *Next = Empty.back();
      Empty.pop_back();
      if (!Next || !Entered.insert(Next).second)
        continue;
      if (!Next->empty()) {
        Add({Next, Forward ? 0 : unsigned(Next->size()) - 1});
        continue;
      }
      if (Forward)
        for (const auto &N : Next->succs())
          Empty.push_back(N.getReachableBlock()
                              ? N.getReachableBlock()
                              : N.getPossiblyUnreachableBlock());
      else
        for (const auto &N : Next->preds())
          Empty.push_back(N.getReachableBlock()
                              ? N.getReachableBlock()
                              : N.getPossiblyUnreachableBlock());
    }
  };
  auto Step = [&](const Place &P) {
    if (Forward ? P.second + 1 < P.first->size() : P.second > 0) {
      Add({P.first, Forward ? P.second + 1 : P.second - 1});
      return;
    }
    if (Forward)
      for (const auto &N : P.first->succs())
        Enter(N.getReachableBlock() ? N.getReachableBlock()
                                    : N.getPossiblyUnreachableBlock());
    else
      for (const auto &N : P.first->preds())
        Enter(N.getReachableBlock() ? N.getReachableBlock()
                                    : N.getPossiblyUnreachableBlock());
  };
  for (const CFGBlock *B : *Graph)
    for (unsigned I = 0; I < B->size(); ++I)
      if (const Stmt *E = Element({B, I}); E && Inside.count(E))
        Step({B, I});
  while (!Work.empty()) {
    Place P = Work.back();
    Work.pop_back();
    const Stmt *E = Element(P);
    if (E && !Inside.count(E)) {
      if (Stop(E))
        continue;
      Found.push_back(E);
    }
    Step(P);
  }
  return Found;
}
