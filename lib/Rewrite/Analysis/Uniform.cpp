//===- Uniform.cpp - Values that all threads have in common ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniform.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/ScopeExit.h"

using namespace stark;
using namespace clang;

/// The statement of \p V's own that gives it a whole new value: its
/// declaration or an assignment.
static const Expr *definitionOf(const Stmt *S, const VarDecl *V) {
  if (llvm::isa<DeclStmt>(S))
    return onlyVariable(S) == V ? V->getInit() : nullptr;
  const auto *B = llvm::dyn_cast<BinaryOperator>(S);
  return B && B->getOpcode() == BO_Assign && variableOf(B->getLHS()) == V
             ? B->getRHS()
             : nullptr;
}

static bool writes(const Stmt *S, const VarDecl *V, const Kernel &K) {
  bool Found = false;
  forEach(S, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *Up = K.parent(N);
    while (llvm::isa_and_nonnull<ParenExpr>(Up))
      Up = K.parent(Up);
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    Found |= !Cast || (Cast->getCastKind() != CK_LValueToRValue &&
                       Cast->getCastKind() != CK_NoOp &&
                       Cast->getCastKind() != CK_ArrayToPointerDecay);
  });
  return Found;
}

bool Uniform::expression(const Expr *E, const Stmt *Place) const {
  if (!isPure(E, F.context()))
    return false;
  bool Same = true;
  forEach(E, [&](const Stmt *N) {
    if (!Same)
      return;
    if (std::optional<BuiltinIndex> B = builtinNode(N)) {
      Same &= B->Name != "threadIdx" && !(Grid && B->Name == "blockIdx");
      return;
    }
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V)
      return;
    if (Grid && V->hasAttr<CUDASharedAttr>())
      Same = false;
    else if (V->hasLocalStorage())
      Same &= at(V, Place);
  });
  return Same;
}

/// for (int row = blockIdx.x; row < rows; row += gridDim.x) around the place:
/// all threads count alike.
bool Uniform::isLoopCounter(const VarDecl *V, const Stmt *Place) const {
  for (const Stmt *Up = Place; Up; Up = K.parent(Up)) {
    const auto *Loop = llvm::dyn_cast<ForStmt>(Up);
    if (!Loop || indexOf(Loop).V != V)
      continue;
    const Expr *Start = indexOf(Loop).Start;
    if (!Start || !Loop->getCond() || !Loop->getInc() ||
        writes(Loop->getBody(), V, K) || writes(Loop->getCond(), V, K))
      return false;
    bool Leaves = anyOf(Loop->getBody(), [](const Stmt *N) {
      return llvm::isa<BreakStmt, ReturnStmt, ContinueStmt>(N);
    });
    const Expr *By = nullptr;
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(Loop->getInc());
        B && B->getOpcode() == BO_AddAssign && variableOf(B->getLHS()) == V)
      By = B->getRHS();
    const auto *U = llvm::dyn_cast<UnaryOperator>(Loop->getInc());
    bool Counts = By || (U && U->isIncrementDecrementOp());
    if (Leaves || !Counts || !expression(Start, Loop))
      return false;
    Assumed.insert(V);
    bool Same =
        expression(Loop->getCond(), Place) && (!By || expression(By, Place));
    Assumed.erase(V);
    return Same;
  }
  return false;
}

bool Uniform::at(const VarDecl *V, const Stmt *Place) const {
  if (Assumed.count(V))
    return true;
  if (V->getType()->isArrayType())
    return V->hasAttr<CUDASharedAttr>() && !Grid;
  if (Depth > 8)
    return false;
  ++Depth;
  auto Leave = llvm::make_scope_exit([&] { --Depth; });
  if (isLoopCounter(V, Place))
    return true;
  if (llvm::isa<ParmVarDecl>(V))
    return K.keeps(V);
  if (K.keeps(V)) {
    // Its one value is made where it is declared.
    const Stmt *Declared = nullptr;
    forEach(K.body(), [&](const Stmt *N) {
      if (onlyVariable(N) == V)
        Declared = N;
    });
    return Declared && V->getInit() && expression(V->getInit(), Declared);
  }
  // The last value it was given: on every way to the place the same statement,
  // which gave all threads the same value.
  const Stmt *Last = nullptr;
  bool One = true;
  std::vector<const Stmt *> Before =
      Order.around(Place, false, [&](const Stmt *S) {
        if (!definitionOf(S, V))
          return false;
        One &= !Last || Last == S;
        Last = S;
        return true;
      });
  if (!Last || !One)
    return false;
  for (const Stmt *S : Before)
    if (writes(S, V, K) || onlyVariable(S) == V)
      return false;
  return expression(definitionOf(Last, V), Last);
}
