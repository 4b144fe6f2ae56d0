//===- Variables.cpp - What variables and expressions hold ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variables.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace stark;
using namespace clang;

bool stark::isNeverWritten(const VarDecl *V, const Stmt *Body,
                           const ParentMap &Parents) {
  // What a reference stands for may be written by its own name.
  if (V->getType().isVolatileQualified() || V->getType()->isReferenceType())
    return false;
  if (V->getType().isConstQualified())
    return true;
  bool Clean = true;
  forEach(Body, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (llvm::isa<LambdaExpr>(N) && mentions(N, V))
      Clean = false;
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *At = Ref, *Up = Parents.getParent(At);
    // A member of a struct is read or written with it.
    while (Up &&
           (llvm::isa<ParenExpr, MemberExpr>(Up) ||
            (llvm::isa<ImplicitCastExpr>(Up) &&
             llvm::cast<ImplicitCastExpr>(Up)->getCastKind() == CK_NoOp))) {
      At = Up;
      Up = Parents.getParent(At);
    }
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    const auto *Copy = llvm::dyn_cast_or_null<CXXConstructExpr>(Up);
    bool Read = (Cast && Cast->getCastKind() == CK_LValueToRValue) ||
                (Copy && Copy->getConstructor()->isCopyConstructor()) ||
                (V->getType()->isArrayType() && Cast &&
                 Cast->getCastKind() == CK_ArrayToPointerDecay);
    Clean &= Read;
  });
  return Clean;
}

bool stark::isUnchangedIn(const VarDecl *V, const Stmt *Part, const Stmt *Body,
                          const ParentMap &Parents) {
  if (isNeverWritten(V, Body, Parents))
    return true;
  if (V->getType().isVolatileQualified() || V->getType()->isReferenceType() ||
      !V->getType()->isScalarType() || !isNeverWritten(V, Part, Parents))
    return false;
  bool Plain = true;
  forEach(Body, [&](const Stmt *N) {
    if (llvm::isa<LambdaExpr>(N) && mentions(N, V))
      Plain = false;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *At = Ref, *Up = Parents.getParent(At);
    while (llvm::isa_and_nonnull<ParenExpr>(Up)) {
      At = Up;
      Up = Parents.getParent(At);
    }
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Up);
    const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
    // "(v = 1)" as a value could be bound to a reference.
    bool Statement =
        Up && Parents.getParent(const_cast<Stmt *>(Up)) &&
        !llvm::isa<Expr>(Parents.getParent(const_cast<Stmt *>(Up)));
    Plain &= (Cast && Cast->getCastKind() == CK_LValueToRValue) ||
             (B && B->isAssignmentOp() && B->getLHS() == At && Statement) ||
             (U && U->isIncrementDecrementOp() && Statement);
  });
  return Plain;
}

bool stark::keepsVariablesOf(const Expr *E, const Stmt *Part, const Stmt *Body,
                             const ParentMap &Parents) {
  bool Same = true;
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *V) {
    if (V->hasLocalStorage())
      Same = Same && isUnchangedIn(V, Part, Body, Parents);
  });
  return Same;
}

std::optional<uint64_t> stark::constantOf(const Expr *E,
                                          const ASTContext &Context,
                                          const Stmt *Body,
                                          const ParentMap &Parents) {
  if (!E || E->isValueDependent() || E->containsErrors())
    return std::nullopt;
  E = strip(E);
  if (!E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  Expr::EvalResult R;
  if (E->EvaluateAsInt(R, Context) && R.Val.isInt() && !R.HasSideEffects &&
      R.Val.getInt().isNonNegative())
    return R.Val.getInt().getZExtValue();
  if (const VarDecl *V = variableOf(E)) {
    if (V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
        isNeverWritten(V, Body, Parents))
      return constantOf(V->getInit(), Context, Body, Parents);
    return std::nullopt;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (!B)
    return std::nullopt;
  std::optional<uint64_t> L = constantOf(B->getLHS(), Context, Body, Parents),
                          R2 = constantOf(B->getRHS(), Context, Body, Parents);
  if (!L || !R2 || *L > UINT32_MAX || *R2 > UINT32_MAX)
    return std::nullopt;
  switch (B->getOpcode()) {
  case BO_Add:
    return *L + *R2;
  case BO_Mul:
    return *L * *R2;
  case BO_Sub:
    return *L >= *R2 ? std::optional(*L - *R2) : std::nullopt;
  case BO_Div:
    return *R2 ? std::optional(*L / *R2) : std::nullopt;
  default:
    return std::nullopt;
  }
}

const Expr *stark::resolve(const Expr *E, const Stmt *Body,
                           const ParentMap &Parents) {
  for (unsigned Step = 0; Step < MostSteps; ++Step) {
    E = strip(E);
    const VarDecl *V = variableOf(E);
    if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) ||
        !V->getInit() || !isNeverWritten(V, Body, Parents))
      break;
    E = V->getInit();
  }
  return E;
}
