//===- Syntax.cpp - Small questions about expressions ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace clang;

bool stark::isFullInteger(const BuiltinType *T) {
  return llvm::is_contained({BuiltinType::Int, BuiltinType::UInt,
                             BuiltinType::Long, BuiltinType::ULong,
                             BuiltinType::LongLong, BuiltinType::ULongLong},
                            T->getKind());
}

/// Casts that leave what is named and its value as they are. One to a narrow
/// integer, between integers and floats, or of a pointer does not.
static bool keepsValue(const CastExpr *C) {
  switch (C->getCastKind()) {
  case CK_NoOp:
  case CK_LValueToRValue:
  case CK_ArrayToPointerDecay:
  case CK_FunctionToPointerDecay:
    return true;
  case CK_IntegralCast: {
    const auto *T = C->getType()->getAs<BuiltinType>();
    return T && isFullInteger(T);
  }
  default:
    return false;
  }
}

/// Of "int i{0}" the 0.
static const Expr *withoutBraces(const Expr *E) {
  const auto *List = llvm::dyn_cast_or_null<InitListExpr>(E);
  return List && List->getNumInits() == 1 && List->getType()->isScalarType()
             ? List->getInit(0)
             : E;
}

const Expr *stark::strip(const Expr *E) {
  while (E) {
    const Expr *Inner = withoutBraces(E->IgnoreParens());
    if (const auto *C = llvm::dyn_cast<CastExpr>(Inner); C && keepsValue(C))
      Inner = C->getSubExpr();
    else if (const auto *T = llvm::dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = T->getSubExpr();
    else if (const auto *C = llvm::dyn_cast<ExprWithCleanups>(Inner))
      Inner = C->getSubExpr();
    else if (const auto *B = llvm::dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = B->getSubExpr();
    else if (const auto *Made = llvm::dyn_cast<CXXConstructExpr>(Inner);
             Made && Made->getNumArgs() == 1 &&
             Made->getConstructor()->isCopyOrMoveConstructor())
      Inner = Made->getArg(0);
    if (Inner == E)
      return E;
    E = Inner;
  }
  return E;
}

void stark::forEach(const Stmt *S,
                    llvm::function_ref<void(const Stmt *)> Visit) {
  if (!S)
    return;
  Visit(S);
  if (llvm::isa<PseudoObjectExpr>(S))
    return;
  for (const Stmt *Child : S->children())
    forEach(Child, Visit);
}

void stark::forEachUse(
    const Stmt *S,
    llvm::function_ref<void(const DeclRefExpr *, const VarDecl *)> Visit) {
  forEach(S, [&](const Stmt *N) {
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N))
      if (const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl()))
        Visit(Ref, V);
  });
}

bool stark::anyOf(const Stmt *S, llvm::function_ref<bool(const Stmt *)> Is) {
  bool Found = false;
  forEach(S, [&](const Stmt *N) { Found = Found || Is(N); });
  return Found;
}

std::set<const Stmt *> stark::nodesOf(const Stmt *S) {
  std::set<const Stmt *> Nodes;
  forEach(S, [&](const Stmt *N) { Nodes.insert(N); });
  return Nodes;
}

const Stmt *stark::onlyStatement(const Stmt *S) {
  while (const auto *C = llvm::dyn_cast_or_null<CompoundStmt>(S)) {
    if (C->size() != 1)
      break;
    S = C->body_front();
  }
  return S;
}

const VarDecl *stark::onlyVariable(const Stmt *S) {
  const auto *D = llvm::dyn_cast_or_null<DeclStmt>(S);
  return D && D->isSingleDecl() ? llvm::dyn_cast<VarDecl>(D->getSingleDecl())
                                : nullptr;
}

/// i = start, of an integer of the function's own.
static LoopIndex assignedFirst(const ForStmt *Loop) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Loop->getInit());
  const VarDecl *V =
      B && B->getOpcode() == BO_Assign ? variableOf(B->getLHS()) : nullptr;
  if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) ||
      !V->getType()->isIntegerType() || V->getType().isVolatileQualified() ||
      mentions(B->getRHS(), V))
    return {};
  return {V, B->getRHS()};
}

/// Every use of \p V in \p S is in a loop that gives it a value first.
static bool isUsedInLoopsAlone(const VarDecl *V, const Stmt *S) {
  if (!S)
    return true;
  if (llvm::isa<LambdaExpr>(S))
    return !mentions(S, V);
  if (const auto *Loop = llvm::dyn_cast<ForStmt>(S))
    if (assignedFirst(Loop).V == V)
      return !anyOf(S, [&](const Stmt *N) {
        return llvm::isa<LambdaExpr>(N) && mentions(N, V);
      });
  const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S);
  if (Ref && Ref->getDecl() == V)
    return false;
  return llvm::all_of(S->children(), [&](const Stmt *Child) {
    return isUsedInLoopsAlone(V, Child);
  });
}

LoopIndex stark::indexOf(const ForStmt *Loop) {
  if (const VarDecl *V = onlyVariable(Loop->getInit()))
    return {V, withoutBraces(V->getInit())};
  LoopIndex Found = assignedFirst(Loop);
  const auto *In = Found.V
                       ? llvm::dyn_cast<FunctionDecl>(Found.V->getDeclContext())
                       : nullptr;
  if (!In || !In->getBody() || !isUsedInLoopsAlone(Found.V, In->getBody()))
    return {};
  return Found;
}

std::set<const VarDecl *> stark::variablesDeclaredIn(const Stmt *S) {
  std::set<const VarDecl *> Declared;
  forEach(S, [&](const Stmt *N) {
    if (const auto *Loop = llvm::dyn_cast<ForStmt>(N))
      if (const VarDecl *V = indexOf(Loop).V)
        Declared.insert(V);
    if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
      for (const Decl *Each : D->decls())
        if (const auto *V = llvm::dyn_cast<VarDecl>(Each))
          Declared.insert(V);
  });
  return Declared;
}

const BinaryOperator *stark::binary(const Expr *E) {
  return E ? llvm::dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts()) : nullptr;
}

std::optional<BuiltinIndex> stark::builtinIndex(const Expr *E) {
  if (!E)
    return std::nullopt;
  E = strip(E);
  const Expr *Base = nullptr;
  llvm::StringRef Axis;
  if (const auto *P = llvm::dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  if (const auto *R = llvm::dyn_cast<MSPropertyRefExpr>(E)) {
    Base = R->getBaseExpr();
    Axis = R->getPropertyDecl()->getName();
  } else if (const auto *M = llvm::dyn_cast<MemberExpr>(E)) {
    Base = M->getBase();
    if (const IdentifierInfo *I = M->getMemberDecl()->getIdentifier())
      Axis = I->getName();
  }
  if (const auto *Opaque = llvm::dyn_cast_or_null<OpaqueValueExpr>(Base))
    Base = Opaque->getSourceExpr();
  const auto *Ref =
      Base ? llvm::dyn_cast<DeclRefExpr>(Base->IgnoreParenCasts()) : nullptr;
  if (!Ref || Axis.size() != 1 || !Ref->getDecl()->getIdentifier())
    return std::nullopt;
  llvm::StringRef Name = Ref->getDecl()->getName();
  if (Name != "threadIdx" && Name != "blockIdx" && Name != "blockDim" &&
      Name != "gridDim")
    return std::nullopt;
  // A variable of that name in the file is something else.
  const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl());
  if (!V || !V->hasGlobalStorage() ||
      V->getASTContext().getSourceManager().isInMainFile(V->getLocation()))
    return std::nullopt;
  return BuiltinIndex{Name, Axis[0]};
}

bool stark::isBuiltin(const Expr *E, llvm::StringRef Name, char Axis) {
  std::optional<BuiltinIndex> B = builtinIndex(E);
  return B && B->Name == Name && B->Axis == Axis;
}

std::optional<BuiltinIndex> stark::builtinNode(const Stmt *S) {
  return llvm::isa<PseudoObjectExpr, MemberExpr>(S)
             ? builtinIndex(llvm::cast<Expr>(S))
             : std::nullopt;
}

static bool dependsOnThread(const Expr *E, char Axis, unsigned Depth) {
  return anyOf(E, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx" && B->Axis == Axis)
      return true;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const VarDecl *V = Ref ? variableOf(Ref) : nullptr;
    return V && V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) &&
           V->getInit() && Depth < 6 &&
           dependsOnThread(V->getInit(), Axis, Depth + 1);
  });
}

bool stark::dependsOnThread(const Expr *E, char Axis) {
  return ::dependsOnThread(E, Axis, 0);
}

const VarDecl *stark::variableOf(const Expr *E) {
  const auto *Ref = E ? llvm::dyn_cast<DeclRefExpr>(strip(E)) : nullptr;
  return Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

bool stark::mentions(const Stmt *S, const ValueDecl *V) {
  return anyOf(S, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    return Ref && Ref->getDecl() == V;
  });
}

llvm::StringRef stark::calleeOf(const Stmt *S) {
  const auto *C = llvm::dyn_cast_or_null<CallExpr>(S);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  return F && F->getIdentifier() ? F->getName() : "";
}

bool stark::isMinMax(llvm::StringRef Name) {
  return llvm::is_contained({"fmaxf", "fminf", "fmax", "fmin", "max", "min"},
                            Name);
}

bool stark::isBlockBarrier(const Stmt *S) {
  const auto *E = llvm::dyn_cast_or_null<Expr>(S);
  return E && calleeOf(E->IgnoreParenImpCasts()) == "__syncthreads";
}

bool stark::isWarpOperation(const Stmt *S) {
  llvm::StringRef Name = calleeOf(S);
  return Name.starts_with("__shfl") || Name == "__syncwarp";
}

bool stark::isSameTree(const Expr *A, const Expr *B,
                       const ASTContext &Context) {
  if (!A || !B)
    return A == B;
  llvm::FoldingSetNodeID X, Y;
  strip(A)->Profile(X, Context, /*Canonical=*/true);
  strip(B)->Profile(Y, Context, /*Canonical=*/true);
  return X == Y;
}

static void collect(const Expr *E, BinaryOperatorKind Kind,
                    std::vector<const Expr *> &Into) {
  const Expr *Inner = strip(E);
  const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
  if (!B || B->getOpcode() != Kind) {
    Into.push_back(Inner);
    return;
  }
  collect(B->getLHS(), Kind, Into);
  collect(B->getRHS(), Kind, Into);
}

std::vector<const Expr *> stark::termsOf(const Expr *E) {
  std::vector<const Expr *> Terms;
  collect(E, BO_Add, Terms);
  return Terms;
}

std::vector<const Expr *> stark::factorsOf(const Expr *E) {
  std::vector<const Expr *> Factors;
  collect(E, BO_Mul, Factors);
  return Factors;
}

bool stark::eitherWay(llvm::ArrayRef<const Expr *> Two,
                      llvm::function_ref<bool(const Expr *)> One,
                      llvm::function_ref<bool(const Expr *)> Other) {
  return Two.size() == 2 &&
         ((One(Two[0]) && Other(Two[1])) || (One(Two[1]) && Other(Two[0])));
}
