//===- WarpFinish.cpp - Last rounds of a tree by its first warp ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpFinish.h"
#include "Accumulation.h"
#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

namespace {
class WarpFinish {
public:
  WarpFinish(const Reduction &Tree, const Facts &F, const Kernel &K)
      : Tree(Tree), F(F), K(K), Array(Tree.Array) {}
  bool read(const Stmt *S);

private:
  bool isGuard(const Expr *E) const;
  bool readCall(const CallExpr *Call);
  bool readLines(const Stmt *Body);
  bool isRound(const Stmt *S, uint64_t Stride) const;
  bool isElement(const Expr *E,
                 llvm::function_ref<bool(const Expr *)> Index) const;
  bool isThread(const Expr *E) const {
    return Number ? variableOf(E) == Number : isThreadNumber(E, K);
  }

  const Reduction &Tree;
  const Facts &F;
  const Kernel &K;
  const VarDecl *Array;            ///< or what stands for it
  const VarDecl *Number = nullptr; ///< a parameter for the thread's number
};
} // namespace

/// t < 32, or as many as the first round has.
bool WarpFinish::isGuard(const Expr *E) const {
  const BinaryOperator *Less = binary(E);
  if (!Less || Less->getOpcode() != BO_LT || !isThreadNumber(Less->getLHS(), K))
    return false;
  std::optional<uint64_t> N = F.constantOf(Less->getRHS(), K);
  return N && (*N == 32 || *N == Tree.WarpFrom);
}

bool WarpFinish::isElement(const Expr *E,
                           llvm::function_ref<bool(const Expr *)> Index) const {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  return Sub && variableOf(Sub->getBase()) == Array && Index(Sub->getIdx());
}

/// x[t] += x[t + STRIDE], or the like.
bool WarpFinish::isRound(const Stmt *S, uint64_t Stride) const {
  std::optional<Combination> C = readCombination(S, F.context());
  if (!C || C->Operation != Tree.Operation)
    return false;
  auto Thread = [&](const Expr *E) { return isThread(E); };
  auto Mine = [&](const Expr *E) { return isElement(E, Thread); };
  auto Other = [&](const Expr *E) {
    return isElement(E, [&](const Expr *I) {
      return eitherWay(termsOf(I), Thread, [&](const Expr *By) {
        return F.constantOf(By, K) == Stride;
      });
    });
  };
  return Mine(C->Target) && (C->Compound ? Other(C->Values.front())
                                         : eitherWay(C->Values, Mine, Other));
}

bool WarpFinish::readLines(const Stmt *Body) {
  const auto *Block = llvm::dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block)
    return false;
  uint64_t Stride = Tree.WarpFrom;
  for (const Stmt *S : Block->body()) {
    // "volatile float *x = partial;" before the first of them.
    const VarDecl *Name = onlyVariable(S);
    if (Name && Name->getType()->isPointerType() && Name->getInit() &&
        Stride == Tree.WarpFrom && Array == Tree.Array &&
        variableOf(Name->getInit()) == Array) {
      Array = Name;
    } else if (calleeOf(S) != "__syncwarp") {
      if (!Stride || !isRound(S, Stride))
        return false;
      Stride /= 2;
    }
  }
  return !Stride;
}

/// finish(partial, t), either parameter at its place.
bool WarpFinish::readCall(const CallExpr *Call) {
  const FunctionDecl *Text = nullptr, *Callee = Call->getDirectCallee();
  if (!Callee || !Callee->hasBody(Text) || Call->getNumArgs() != 2 ||
      Text->getNumParams() != 2)
    return false;
  for (unsigned I : {0u, 1u}) {
    const ParmVarDecl *P = Text->getParamDecl(I);
    if (P->getType()->isPointerType() &&
        variableOf(Call->getArg(I)) == Tree.Array)
      Array = P;
    else if (P->getType()->isIntegerType() &&
             F.context().getTypeSize(P->getType()) >= 32 &&
             isThreadNumber(Call->getArg(I), K))
      Number = P;
  }
  return Number && Array != Tree.Array && readLines(Text->getBody());
}

bool WarpFinish::read(const Stmt *S) {
  const auto *If = llvm::dyn_cast_or_null<IfStmt>(S);
  if (!If || If->getElse() || If->getInit() || If->getConditionVariable() ||
      Tree.WarpFrom > 32 || !isGuard(If->getCond()))
    return false;
  const Stmt *Then = onlyStatement(If->getThen());
  const auto *Call = llvm::dyn_cast<CallExpr>(Then);
  return Call ? readCall(Call) : readLines(If->getThen());
}

bool stark::isWarpFinish(const Stmt *S, const Reduction &Tree, const Facts &F,
                         const Kernel &K) {
  return WarpFinish(Tree, F, K).read(S);
}
