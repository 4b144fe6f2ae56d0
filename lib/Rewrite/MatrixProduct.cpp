//===- MatrixProduct.cpp - Kernels that compute a matrix product ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"
#include "Syntax.h"
#include "clang/AST/ExprCXX.h"

using namespace stark;
using namespace clang;

static const VarDecl *onlyVariable(const Stmt *S) {
  const auto *D = llvm::dyn_cast_or_null<DeclStmt>(S);
  return D && D->isSingleDecl() ? llvm::dyn_cast<VarDecl>(D->getSingleDecl())
                                : nullptr;
}

/// blockIdx.A * blockDim.A + threadIdx.A -> A.
static char axisOf(const Expr *E) {
  std::vector<const Expr *> Terms = termsOf(E);
  if (Terms.size() != 2)
    return 0;
  for (char Axis : {'x', 'y', 'z'})
    for (unsigned I : {0u, 1u}) {
      std::vector<const Expr *> Factors = factorsOf(Terms[I]);
      if (isBuiltin(Terms[1 - I], "threadIdx", Axis) && Factors.size() == 2 &&
          ((isBuiltin(Factors[0], "blockIdx", Axis) &&
            isBuiltin(Factors[1], "blockDim", Axis)) ||
           (isBuiltin(Factors[1], "blockIdx", Axis) &&
            isBuiltin(Factors[0], "blockDim", Axis))))
        return Axis;
    }
  return 0;
}

const ParmVarDecl *stark::parameterOf(const Expr *E, const Kernel &K) {
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(E));
  return P && P->getType()->isIntegerType() &&
                 isNeverWritten(P, K.body(), *K.Parents)
             ? P
             : nullptr;
}

/// row >= m || col >= n (Inside false), row < m && col < n (Inside true).
static bool readGuard(const Expr *E, bool Inside, const Kernel &K,
                      std::vector<Coordinate> &Found) {
  const auto *B = llvm::dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  if (!B)
    return false;
  if (B->getOpcode() == (Inside ? BO_LAnd : BO_LOr))
    return readGuard(B->getLHS(), Inside, K, Found) &&
           readGuard(B->getRHS(), Inside, K, Found);
  const Expr *L = B->getLHS(), *R = B->getRHS();
  BinaryOperatorKind Kind = B->getOpcode();
  if (Kind == BO_GT || Kind == BO_LE) {
    std::swap(L, R);
    Kind = Kind == BO_GT ? BO_LT : BO_GE;
  }
  if (Kind != (Inside ? BO_LT : BO_GE) || !variableOf(L) || !parameterOf(R, K))
    return false;
  Coordinate C;
  C.V = variableOf(L);
  C.Bound = R;
  Found.push_back(C);
  return true;
}

/// Whether \p Index is Major * something + Minor, where something is a
/// parameter.
static bool isPlace(const Expr *Index, const VarDecl *Major,
                    const VarDecl *Minor, const Kernel &K) {
  std::vector<const Expr *> Terms = termsOf(Index);
  if (Terms.size() != 2)
    return false;
  for (unsigned I : {0u, 1u}) {
    std::vector<const Expr *> Factors = factorsOf(Terms[I]);
    if (variableOf(Terms[1 - I]) == Minor && Factors.size() == 2 &&
        ((variableOf(Factors[0]) == Major && parameterOf(Factors[1], K)) ||
         (variableOf(Factors[1]) == Major && parameterOf(Factors[0], K))))
      return true;
  }
  return false;
}

static bool isZero(const Expr *E, const ASTContext &Context) {
  if (!E || E->isValueDependent())
    return false;
  APValue Value;
  Expr::EvalResult R;
  if (!E->EvaluateAsRValue(R, Context) || R.HasSideEffects)
    return false;
  return (R.Val.isInt() && R.Val.getInt().isZero()) ||
         (R.Val.isFloat() && R.Val.getFloat().isPosZero());
}

static bool isUnitStep(const Stmt *S, const VarDecl *V, const Facts &F,
                       const Kernel &K) {
  if (const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(S))
    return U->isIncrementOp() && variableOf(U->getSubExpr()) == V;
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  return B && B->getOpcode() == BO_AddAssign && variableOf(B->getLHS()) == V &&
         F.constantOf(B->getRHS(), K) == 1u;
}

/// An element, converted at most: x, (float)x, __half2float(x).
static const Access *elementOf(const Expr *E, const std::vector<Access> &All) {
  for (unsigned Depth = 0; Depth < 6; ++Depth) {
    for (const Access &A : All)
      if (A.Whole == E || A.E == E)
        return &A;
    const Expr *Inner = strip(E);
    if (Inner == E) {
      if (const auto *C = llvm::dyn_cast<CastExpr>(E))
        Inner = C->getSubExpr();
      else if (const auto *M = llvm::dyn_cast<CXXMemberCallExpr>(E);
               M &&
               llvm::isa_and_nonnull<CXXConversionDecl>(M->getMethodDecl()))
        Inner = M->getImplicitObjectArgument();
      else if (const auto *Call = llvm::dyn_cast<CallExpr>(E);
               Call && Call->getNumArgs() == 1 &&
               (calleeOf(Call) == "__half2float" ||
                calleeOf(Call) == "__bfloat162float"))
        Inner = Call->getArg(0);
      else
        return nullptr;
    }
    E = Inner;
  }
  return nullptr;
}

static std::string elementType(const Access &A, const Facts &F) {
  return A.E->getType().getCanonicalType().getUnqualifiedType().getAsString(
      F.context().getPrintingPolicy());
}

std::string stark::readProduct(const Facts &F, const Kernel &K,
                               const Accesses &All, Product &P) {
  std::vector<const Stmt *> Lines;
  std::vector<Coordinate> Guarded;
  bool Odd = false;
  auto Take = [&](const CompoundStmt *Block, auto &&Self) -> void {
    for (const Stmt *S : Block->body()) {
      const auto *If = llvm::dyn_cast<IfStmt>(S);
      if (!If) {
        Lines.push_back(S);
        continue;
      }
      if (If->getElse() || If->getInit() || If->getConditionVariable()) {
        Odd = true;
        continue;
      }
      if (llvm::isa_and_nonnull<ReturnStmt>(onlyStatement(If->getThen()))) {
        Odd |= !readGuard(If->getCond(), false, K, Guarded);
      } else if (const auto *Then = llvm::dyn_cast<CompoundStmt>(If->getThen());
                 Then && S == Block->body_back()) {
        Odd |= !readGuard(If->getCond(), true, K, Guarded);
        Self(Then, Self);
      } else {
        Odd = true;
      }
    }
  };
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  if (!Body)
    return "-";
  Take(Body, Take);
  const ForStmt *Loop = nullptr;
  for (const Stmt *S : Lines)
    if (const auto *Each = llvm::dyn_cast<ForStmt>(S)) {
      if (Loop)
        return "-";
      Loop = Each;
    }
  if (!Loop || Odd || Guarded.size() != 2 || Lines.size() < 4)
    return "-";
  // sum += x * y
  const auto *Add =
      llvm::dyn_cast_or_null<BinaryOperator>(onlyStatement(Loop->getBody()));
  P.Depth = onlyVariable(Loop->getInit());
  const auto *Cond = Loop->getCond()
                         ? llvm::dyn_cast<BinaryOperator>(
                               Loop->getCond()->IgnoreParenImpCasts())
                         : nullptr;
  if (!Add || !P.Depth || !Cond)
    return "-";
  if (Add->getOpcode() == BO_AddAssign) {
    P.Term = Add->getRHS();
  } else if (Add->getOpcode() == BO_Assign) {
    const auto *Two = llvm::dyn_cast<BinaryOperator>(strip(Add->getRHS()));
    if (Two && Two->getOpcode() == BO_Add &&
        variableOf(Two->getLHS()) == variableOf(Add->getLHS()))
      P.Term = Two->getRHS();
  }
  P.Sum = variableOf(Add->getLHS());
  if (!P.Term || !P.Sum)
    return "-";
  const auto *Times =
      llvm::dyn_cast<BinaryOperator>(P.Term->IgnoreParenImpCasts());
  if (!Times || Times->getOpcode() != BO_Mul)
    return "what is summed up is no product of two elements";
  if (!P.Sum->getType()->isArithmeticType() ||
      P.Sum->getType()->isBooleanType())
    return "what is summed up is no plain number";
  if (!P.Depth->getInit() || !isZero(P.Depth->getInit(), F.context()) ||
      !P.Depth->getType()->isIntegerType() || Cond->getOpcode() != BO_LT ||
      variableOf(Cond->getLHS()) != P.Depth ||
      !parameterOf(Cond->getRHS(), K) ||
      !isUnitStep(Loop->getInc(), P.Depth, F, K))
    return "its loop does not run from 0 to a parameter in steps of one";
  P.DepthBound = Cond->getRHS();
  // The other statements: two indices, the sum, the store.
  std::vector<Coordinate> Places;
  for (const Stmt *S : Lines) {
    if (S == Loop)
      continue;
    if (const VarDecl *V = onlyVariable(S)) {
      if (V == P.Sum) {
        if (!isZero(V->getInit(), F.context()))
          return "its sum does not begin with 0";
        continue;
      }
      char Axis = V->getInit() ? axisOf(V->getInit()) : 0;
      if (!Axis || !V->getType()->isIntegerType() ||
          F.context().getTypeSize(V->getType()) < 32 ||
          !isNeverWritten(V, K.body(), *K.Parents))
        return "'" + V->getNameAsString() +
               "' is neither the sum nor an index of the grid";
      Coordinate C;
      C.V = V;
      C.Axis = Axis;
      for (const Coordinate &G : Guarded)
        if (G.V == V)
          C.Bound = G.Bound;
      if (!C.Bound)
        return "'" + V->getNameAsString() + "' has no bound";
      Places.push_back(C);
      continue;
    }
    if (P.Store)
      return "it does more than sum and store";
    P.Store = S;
  }
  if (Places.size() != 2 || !P.Store || Places[0].Axis == Places[1].Axis)
    return "it does not compute one element of two dimensions";
  // The store, and nothing else, touches the result.
  const Access *Result = nullptr;
  for (const Access *Each : All.in(P.Store)) {
    if (Each->Unclear || !Each->Index || !Each->Base)
      return "its store is not understood";
    if (Each->Store)
      Result = Each;
  }
  if (!Result)
    return "it stores no element";
  const auto *Whole = llvm::dyn_cast<Expr>(P.Store);
  for (const Access *Each : All.in(P.Store))
    if (Each->Base != Result->Base ||
        F.text(Each->Index) != F.text(Result->Index))
      return "its store reads other elements";
  const Expr *Value = nullptr;
  if (const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Whole))
    Value = B->isAssignmentOp() ? B->getRHS() : nullptr;
  else if (const auto *O = llvm::dyn_cast_or_null<CXXOperatorCallExpr>(
               Whole ? strip(Whole) : nullptr))
    Value = O->getOperator() == OO_Equal && O->getNumArgs() == 2 ? O->getArg(1)
                                                                 : nullptr;
  std::string Met;
  if (!Value || !isPure(Value, F.context(), &Met))
    return "its store does more than store a value";
  P.Row = Places[0];
  P.Col = Places[1];
  if (!isPlace(Result->Index, P.Row.V, P.Col.V, K))
    std::swap(P.Row, P.Col);
  if (!isPlace(Result->Index, P.Row.V, P.Col.V, K))
    return "its result is not indexed as row * width + column";
  bool Uses = true;
  forEach(Value, [&](const Stmt *N) {
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N))
      if (const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl()))
        Uses &= V == P.Sum || V == P.Row.V || V == P.Col.V ||
                llvm::isa<ParmVarDecl>(V) || V->getType().isConstQualified();
    if (const auto *E = llvm::dyn_cast<Expr>(N))
      Uses &= !llvm::isa<PseudoObjectExpr>(E);
  });
  if (!Uses)
    return "its store uses more than the sum and the parameters";
  const Access *X = elementOf(Times->getLHS(), All.all()),
               *Y = elementOf(Times->getRHS(), All.all());
  if (!X || !Y || !X->Index || !Y->Index || !X->Base || !Y->Base || X->Store ||
      Y->Store || X->Shared || Y->Shared)
    return "what is summed up is no product of two elements";
  auto Fits = [&](const Access *Each, const Coordinate &C, Operand &O) {
    O.At = *Each;
    O.Type = elementType(*Each, F);
    O.Along = isPlace(Each->Index, C.V, P.Depth, K);
    return O.Along || isPlace(Each->Index, P.Depth, C.V, K);
  };
  if (!(Fits(X, P.Row, P.A) && Fits(Y, P.Col, P.B)) &&
      !(Fits(Y, P.Row, P.A) && Fits(X, P.Col, P.B)))
    return "its operands are not indexed by row and depth, depth and column";
  for (const Access *Each :
       std::initializer_list<const Access *>{&P.A.At, &P.B.At, Result})
    if (!Each->Root || !llvm::isa<ParmVarDecl>(Each->Root) ||
        Each->Root != Each->Base || Each->Root == nullptr ||
        Each->E->getType().isVolatileQualified())
      return "its arrays are no parameters";
  if (P.A.At.Base == Result->Base || P.B.At.Base == Result->Base)
    return "it reads its own result";
  if (F.context().getTypeSize(P.A.At.E->getType()) > 64 ||
      F.context().getTypeSize(P.B.At.E->getType()) > 64)
    return "its elements are larger than 8 bytes";
  return "";
}
