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
      if (!K.keeps(V))
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

namespace {
enum class Use { Load, Store, Both, Unclear };
} // namespace

/// What an assignment by operator= does with its argument \p At.
static std::optional<Use> useByOperator(const Stmt *Up, const Stmt *At) {
  const auto *O = llvm::dyn_cast_or_null<CXXOperatorCallExpr>(Up);
  if (!O || O->getOperator() != OO_Equal || O->getNumArgs() != 2)
    return std::nullopt;
  if (O->getArg(0) == At)
    return Use::Store;
  if (O->getArg(1) == At)
    return Use::Load;
  return std::nullopt;
}

/// What \p Up does with the memory that \p At, right beneath it, names.
static Use useOf(const Stmt *Up, const Stmt *At, const Kernel &K,
                 const ASTContext &Context) {
  // The value of an assignment may be used: p[i] = q[i] = 0.
  if (const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Up);
      B && B->isAssignmentOp() && B->getLHS() == At)
    return B->isCompoundAssignmentOp() ? Use::Both : Use::Store;
  if (const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
      U && U->isIncrementDecrementOp())
    return Use::Both;
  if (const auto *C = llvm::dyn_cast_or_null<CXXConstructExpr>(Up);
      C && C->getConstructor()->isCopyOrMoveConstructor())
    return Use::Load;
  if (std::optional<Use> ByOperator = useByOperator(Up, At))
    return *ByOperator;
  // A conversion of half, or a pure function that takes a reference.
  const Expr *Caller = llvm::dyn_cast_or_null<Expr>(Up);
  if (const auto *M = llvm::dyn_cast_or_null<MemberExpr>(Up);
      M && llvm::isa<CXXMethodDecl>(M->getMemberDecl()))
    Caller = llvm::dyn_cast_or_null<Expr>(K.parent(Up));
  if (Caller && llvm::isa<CallExpr>(Caller) && isPure(Caller, Context))
    return Use::Load;
  return Use::Unclear;
}

/// Follows \p E upwards to what is done with it.
void Accesses::classify(const Expr *E, Access A) {
  A.Whole = E;
  const Stmt *At = E, *Up = K.parent(At);
  for (; Up; At = Up, Up = K.parent(At)) {
    if (llvm::isa<ParenExpr, MaterializeTemporaryExpr>(Up))
      continue;
    const auto *Cast = llvm::dyn_cast<ImplicitCastExpr>(Up);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue) {
      A.Load = true;
      All.push_back(A);
      return;
    }
    if (!Cast || Cast->getCastKind() != CK_NoOp)
      break;
  }
  if (const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
      U && U->getOpcode() == UO_AddrOf) {
    const Stmt *Call =
        K.Parents->getParentIgnoreParenImpCasts(const_cast<UnaryOperator *>(U));
    if (calleeOf(Call) == "__ldg") {
      A.Load = true;
      A.Whole = llvm::cast<Expr>(Call);
      All.push_back(A);
      return;
    }
  }
  Use How = useOf(Up, At, K, F.context());
  A.Load = How != Use::Store;
  A.Store = How != Use::Load;
  A.Unclear = How == Use::Unclear;
  All.push_back(A);
}

/// An atomic touches what its pointer leads to, and nothing else.
void Accesses::addUnclear(const Expr *E) {
  Access A;
  A.E = A.Whole = E;
  const auto *C = llvm::dyn_cast<CallExpr>(E);
  if (C && calleeOf(C).starts_with("atomic") && C->getNumArgs() > 0) {
    A.Root = rootOf(C->getArg(0));
    A.Shared = A.Root && A.Root->hasAttr<CUDASharedAttr>();
  }
  A.Load = A.Store = A.Unclear = true;
  All.push_back(A);
}

void Accesses::addSubscript(const ArraySubscriptExpr *Sub) {
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
}

void Accesses::addDereference(const UnaryOperator *U) {
  Access A;
  A.E = U;
  A.Root = rootOf(U->getSubExpr());
  if (A.Root && A.Root->getType()->isArrayType() && !isMemory(A.Root))
    return;
  A.Shared = A.Root && A.Root->hasAttr<CUDASharedAttr>();
  classify(U, A);
}

/// A shared or global variable that is no array.
void Accesses::addVariable(const DeclRefExpr *R) {
  const auto *V = llvm::dyn_cast<VarDecl>(R->getDecl());
  if (!V || !isMemory(V) || V->getType()->isArrayType() ||
      V->getType().isConstQualified() || V->isConstexpr() ||
      builtinIndex(llvm::dyn_cast_or_null<Expr>(K.parent(R))))
    return;
  Access A;
  A.E = R;
  A.Root = V;
  A.Shared = V->hasAttr<CUDASharedAttr>();
  classify(R, A);
}

/// A function of the file may reach global variables.
void Accesses::addCall(const CallExpr *C) {
  if (isBlockBarrier(C) || isWarpOperation(C))
    return;
  if (const auto *O = llvm::dyn_cast<CXXOperatorCallExpr>(C);
      O && O->getOperator() == OO_Equal)
    return; // seen at its left side
  if (!isPure(C, F.context()))
    addUnclear(C);
}

Accesses::Accesses(const Facts &F, const Kernel &K) : F(F), K(K) {
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N))
      addSubscript(Sub);
    else if (const auto *U = llvm::dyn_cast<UnaryOperator>(N);
             U && U->getOpcode() == UO_Deref)
      addDereference(U);
    else if (const auto *M = llvm::dyn_cast<MemberExpr>(N); M && M->isArrow())
      addUnclear(M);
    else if (const auto *R = llvm::dyn_cast<DeclRefExpr>(N))
      addVariable(R);
    else if (const auto *C = llvm::dyn_cast<CallExpr>(N))
      addCall(C);
  });
}

std::vector<const Access *> Accesses::in(const Stmt *S) const {
  std::set<const Stmt *> Inside = nodesOf(S);
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
  // Dynamic shared memory is one, whatever names it has.
  if (A.Shared && A.Root->hasExternalStorage() && B.Root->hasExternalStorage())
    return true;
  if (A.Shared || A.Root->getType()->isArrayType() ||
      B.Root->getType()->isArrayType())
    return false; // different variables
  const auto *P = llvm::dyn_cast<ParmVarDecl>(A.Root),
             *Q = llvm::dyn_cast<ParmVarDecl>(B.Root);
  return !P || !Q || F.whyNotApart(K, P, Q);
}
