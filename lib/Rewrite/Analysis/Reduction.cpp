//===- Reduction.cpp - Reductions over a block ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "Accumulation.h"
#include "ThreadNumber.h"
#include "WarpReduction.h"
#include "clang/AST/Attr.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/ASTMatchers/ASTMatchers.h"

using namespace stark;
using namespace clang;
namespace m = clang::ast_matchers;

namespace {
/// The parts of
///     for (int s = START; CONDITION; STEP) {
///       if (GUARD) THEN
///       __syncthreads();
///     }
struct TreeParts {
  const VarDecl *Stride;
  const Expr *Start, *Condition, *Step, *Guard;
  const Stmt *Then;
};
} // namespace

static std::optional<TreeParts> matchTree(const ForStmt *Loop,
                                          const ASTContext &Context) {
  auto Barrier = m::callExpr(m::callee(
      m::functionDecl(m::hasName("__syncthreads"), m::parameterCountIs(0))));
  auto Guarded = m::ifStmt(m::unless(m::hasElse(m::stmt())),
                           m::unless(m::hasInitStatement(m::stmt())),
                           m::hasCondition(m::expr().bind("guard")),
                           m::hasThen(m::stmt().bind("then")));
  auto Tree = m::forStmt(
      m::hasLoopInit(m::declStmt(m::hasSingleDecl(
          m::varDecl(m::hasInitializer(m::expr().bind("start")))
              .bind("stride")))),
      m::hasCondition(m::expr().bind("condition")),
      m::hasIncrement(m::expr().bind("step")),
      m::hasBody(m::compoundStmt(
          m::statementCountIs(2), m::hasAnySubstatement(Guarded),
          m::hasAnySubstatement(m::expr(m::ignoringParenImpCasts(Barrier))))));
  auto Found = m::match(Tree, *Loop, const_cast<ASTContext &>(Context));
  if (Found.size() != 1)
    return std::nullopt;
  const m::BoundNodes &B = Found.front();
  const auto *Body = llvm::cast<CompoundStmt>(Loop->getBody());
  if (!isBlockBarrier(Body->body_back()))
    return std::nullopt;
  return TreeParts{B.getNodeAs<VarDecl>("stride"), B.getNodeAs<Expr>("start"),
                   B.getNodeAs<Expr>("condition"), B.getNodeAs<Expr>("step"),
                   B.getNodeAs<Expr>("guard"),     B.getNodeAs<Stmt>("then")};
}

/// partial[INDEX].
static bool isElement(const Expr *E, const VarDecl *Array,
                      llvm::function_ref<bool(const Expr *)> Index) {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  return Sub && variableOf(Sub->getBase()) == Array && Index(Sub->getIdx());
}

/// s / 2, s >> 1: the kind is the operator's, or that of its assignment.
static bool isHalf(BinaryOperatorKind Kind, const Expr *By, const Facts &F,
                   const Kernel &K) {
  std::optional<uint64_t> N = F.constantOf(By, K);
  return ((Kind == BO_Div || Kind == BO_DivAssign) && N == 2u) ||
         ((Kind == BO_Shr || Kind == BO_ShrAssign) && N == 1u);
}

/// s /= 2, s >>= 1, s = s / 2, s = s >> 1.
static bool halves(const Expr *Step, const VarDecl *V, const Facts &F,
                   const Kernel &K) {
  const auto *B = llvm::dyn_cast<BinaryOperator>(Step);
  if (!B || !B->isAssignmentOp() || variableOf(B->getLHS()) != V)
    return false;
  if (B->isCompoundAssignmentOp())
    return isHalf(B->getOpcode(), B->getRHS(), F, K);
  const auto *Of = llvm::dyn_cast<BinaryOperator>(strip(B->getRHS()));
  return Of && variableOf(Of->getLHS()) == V &&
         isHalf(Of->getOpcode(), Of->getRHS(), F, K);
}

/// s > 0, s >= 1, s != 0, s.
static bool untilZero(const Expr *E, const VarDecl *V, const Facts &F,
                      const Kernel &K) {
  if (variableOf(E->IgnoreParenImpCasts()) == V)
    return true;
  const BinaryOperator *B = binary(E);
  if (!B || variableOf(B->getLHS()) != V)
    return false;
  std::optional<uint64_t> N = F.constantOf(B->getRHS(), K);
  return ((B->getOpcode() == BO_GT || B->getOpcode() == BO_NE) && N == 0u) ||
         (B->getOpcode() == BO_GE && N == 1u);
}

/// t < s, s > t.
static bool isBelow(const Expr *E, const VarDecl *Stride, const Kernel &K) {
  const BinaryOperator *Less = binary(E);
  if (!Less || (Less->getOpcode() != BO_LT && Less->getOpcode() != BO_GT))
    return false;
  bool Swapped = Less->getOpcode() == BO_GT;
  return isThreadNumber(Swapped ? Less->getRHS() : Less->getLHS(), K) &&
         variableOf(Swapped ? Less->getLHS() : Less->getRHS()) == Stride;
}

/// partial[t] += partial[t + s], or = f(partial[t], partial[t + s]).
static std::string combineOf(const Stmt *S, const VarDecl *Array,
                             const VarDecl *Stride, const Kernel &K) {
  std::optional<Combination> C = readCombination(S, K.F->getASTContext());
  if (!C)
    return "";
  auto IsThread = [&](const Expr *I) { return isThreadNumber(I, K); };
  auto IsStride = [&](const Expr *I) { return variableOf(I) == Stride; };
  auto Mine = [&](const Expr *E) { return isElement(E, Array, IsThread); };
  auto Other = [&](const Expr *E) {
    return isElement(E, Array, [&](const Expr *I) {
      return eitherWay(termsOf(I), IsThread, IsStride);
    });
  };
  bool Fits =
      Mine(C->Target) && (C->Compound ? Other(C->Values.front())
                                      : eitherWay(C->Values, Mine, Other));
  return Fits ? C->Operation.str() : "";
}

/// The shared array that \p S, an assignment, stores to.
static const VarDecl *sharedTarget(const Stmt *S) {
  const auto *Assign = llvm::dyn_cast_or_null<BinaryOperator>(S);
  const auto *Into =
      Assign ? llvm::dyn_cast<ArraySubscriptExpr>(strip(Assign->getLHS()))
             : nullptr;
  const VarDecl *Array = Into ? variableOf(Into->getBase()) : nullptr;
  return Array && Array->hasAttr<CUDASharedAttr>() &&
                 Array->getType()->isArrayType()
             ? Array
             : nullptr;
}

static std::optional<Reduction> readTree(const ForStmt *Loop, const Facts &F,
                                         const Kernel &K) {
  std::optional<TreeParts> P = matchTree(Loop, F.context());
  if (!P || !untilZero(P->Condition, P->Stride, F, K) ||
      !halves(P->Step, P->Stride, F, K) || !isBelow(P->Guard, P->Stride, K))
    return std::nullopt;
  const Stmt *Then = onlyStatement(P->Then);
  Reduction R;
  R.Array = sharedTarget(Then);
  if (R.Array)
    R.Operation = combineOf(Then, R.Array, P->Stride, K);
  if (R.Operation.empty())
    return std::nullopt;
  R.Tree = true;
  R.Last = Loop;
  const Expr *Start = strip(P->Start);
  R.StartsAt = F.constantOf(Start, K);
  if (const auto *Half = llvm::dyn_cast<BinaryOperator>(Start))
    R.StartsAtBlock = isBuiltin(Half->getLHS(), "blockDim", 'x') &&
                      isHalf(Half->getOpcode(), Half->getRHS(), F, K);
  if (!R.StartsAt && !R.StartsAtBlock)
    return std::nullopt;
  return R;
}

/// The two statements before the loop: partial[t] = value; __syncthreads();
static WhyNot readStore(const CompoundStmt *Block, size_t LoopAt,
                        const Kernel &K, Reduction &R) {
  if (LoopAt < 2 || !isBlockBarrier(Block->body_begin()[LoopAt - 1]))
    return Reason(why::NoBarrierBefore);
  const Stmt *S = Block->body_begin()[LoopAt - 2];
  const auto *B = llvm::dyn_cast<BinaryOperator>(S);
  if (!B || B->getOpcode() != BO_Assign ||
      !isElement(B->getLHS(), R.Array,
                 [&](const Expr *I) { return isThreadNumber(I, K); }))
    return Reason(why::NoStoreBefore);
  R.First = S;
  R.Value = B->getRHS();
  return std::nullopt;
}

Reductions stark::findReductions(const Facts &F, const Kernel &K) {
  Reductions Found;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Block = llvm::dyn_cast<CompoundStmt>(N);
    for (size_t I = 0; Block && I < Block->size(); ++I) {
      const Stmt *S = Block->body_begin()[I];
      if (const auto *Loop = llvm::dyn_cast<ForStmt>(S)) {
        std::optional<Reduction> R = readTree(Loop, F, K);
        if (!R)
          continue;
        if (WhyNot Why = readStore(Block, I, K, *R))
          Found.Almost.push_back({S, *Why});
        else
          Found.All.push_back(*R);
      } else if (const auto *Call = llvm::dyn_cast<CallExpr>(S)) {
        Reduction R;
        R.Operation = warpReductionOf(F, Call);
        if (R.Operation.empty())
          continue;
        R.Array = variableOf(Call->getArg(0));
        R.Value = Call->getArg(1);
        R.First = R.Last = S;
        if (R.Array)
          Found.All.push_back(R);
      }
    }
  });
  return Found;
}
