//===- Reduction.cpp - Reductions over a block ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "ThreadLoop.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static std::string wordOf(llvm::StringRef Operation) {
  if (Operation == "+")
    return "sum";
  if (Operation == "*")
    return "product";
  if (Operation == "&")
    return "and";
  if (Operation == "|")
    return "or";
  if (Operation == "^")
    return "xor";
  return Operation.str();
}

std::string stark::blockReduceName(llvm::StringRef Operation,
                                   llvm::StringRef Type) {
  std::string Name = "block_reduce_" + wordOf(Operation) + "_";
  for (char C : Type)
    Name += C == ' ' ? '_' : C;
  return Name;
}

std::string stark::blockReduceText(llvm::StringRef Operation,
                                   llvm::StringRef Type) {
  std::string T = Type.str();
  std::string Other = "__shfl_xor_sync(0xffffffffu, value, offset)";
  std::string Combine = llvm::isAlpha(Operation[0])
                            ? Operation.str() + "(value, " + Other + ")"
                            : "value " + Operation.str() + " " + Other;
  return "/// Leaves the " + wordOf(Operation) +
         " of the block's values in scratch[0], for all of its threads.\n"
         "/// blockDim.x is a power of two from 32 to 1024; y and z are 1.\n"
         "static __device__ __forceinline__ void " +
         blockReduceName(Operation, Type) + "(" + T + " *scratch, " + T +
         " value) {\n"
         "  for (int offset = 16; offset > 0; offset /= 2)\n"
         "    value = " +
         Combine +
         ";\n"
         "  if (threadIdx.x % 32 == 0)\n"
         "    scratch[threadIdx.x / 32] = value;\n"
         "  __syncthreads();\n"
         "  if (threadIdx.x < 32) {\n"
         "    int warps = blockDim.x / 32;\n"
         "    value = scratch[threadIdx.x % warps];\n"
         "    for (int offset = warps / 2; offset > 0; offset /= 2)\n"
         "      value = " +
         Combine +
         ";\n"
         "    __syncwarp();\n"
         "    if (threadIdx.x == 0)\n"
         "      scratch[0] = value;\n"
         "  }\n"
         "  __syncthreads();\n"
         "}\n";
}

/// The same array at the same place: partial[threadIdx.x] twice.
static bool isElement(const Expr *E, const VarDecl *Array,
                      llvm::function_ref<bool(const Expr *)> Index) {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  return Sub && variableOf(Sub->getBase()) == Array && Index(Sub->getIdx());
}

/// s /= 2, s >>= 1, s = s / 2, s = s >> 1.
static bool halves(const Stmt *S, const VarDecl *V, const Facts &F,
                   const Kernel &K) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  if (!B || variableOf(B->getLHS()) != V)
    return false;
  BinaryOperatorKind Kind = B->getOpcode();
  const Expr *By = B->getRHS();
  if (Kind == BO_Assign) {
    const auto *Of = llvm::dyn_cast<BinaryOperator>(strip(B->getRHS()));
    if (!Of || variableOf(Of->getLHS()) != V)
      return false;
    Kind = Of->getOpcode() == BO_Div   ? BO_DivAssign
           : Of->getOpcode() == BO_Shr ? BO_ShrAssign
                                       : BO_Assign;
    By = Of->getRHS();
  }
  std::optional<uint64_t> N = F.constantOf(By, K);
  return N && ((Kind == BO_DivAssign && *N == 2) ||
               (Kind == BO_ShrAssign && *N == 1));
}

/// s > 0, s >= 1, s != 0, s.
static bool untilZero(const Expr *E, const VarDecl *V, const Facts &F,
                      const Kernel &K) {
  if (!E)
    return false;
  const Expr *Inner = E->IgnoreParenImpCasts();
  if (variableOf(Inner) == V)
    return true;
  const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
  if (!B || variableOf(B->getLHS()) != V)
    return false;
  std::optional<uint64_t> N = F.constantOf(B->getRHS(), K);
  return N && ((B->getOpcode() == BO_GT && *N == 0) ||
               (B->getOpcode() == BO_NE && *N == 0) ||
               (B->getOpcode() == BO_GE && *N == 1));
}

/// partial[t] += partial[t + s], or = f(partial[t], partial[t + s]).
static std::string combineOf(const Stmt *S, const VarDecl *Array,
                             const VarDecl *Stride, const Kernel &K) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(onlyStatement(S));
  if (!B || !B->isAssignmentOp())
    return "";
  auto Mine = [&](const Expr *E) {
    return isElement(E, Array,
                     [&](const Expr *I) { return isThreadNumber(I, K); });
  };
  auto Other = [&](const Expr *E) {
    return isElement(E, Array, [&](const Expr *I) {
      std::vector<const Expr *> Terms = termsOf(I);
      return Terms.size() == 2 &&
             ((isThreadNumber(Terms[0], K) && variableOf(Terms[1]) == Stride) ||
              (isThreadNumber(Terms[1], K) && variableOf(Terms[0]) == Stride));
    });
  };
  if (!Mine(B->getLHS()))
    return "";
  auto Sign = [](BinaryOperatorKind Kind) -> std::string {
    switch (Kind) {
    case BO_Add:
    case BO_AddAssign:
      return "+";
    case BO_Mul:
    case BO_MulAssign:
      return "*";
    case BO_And:
    case BO_AndAssign:
      return "&";
    case BO_Or:
    case BO_OrAssign:
      return "|";
    case BO_Xor:
    case BO_XorAssign:
      return "^";
    default:
      return "";
    }
  };
  if (B->isCompoundAssignmentOp())
    return Other(B->getRHS()) ? Sign(B->getOpcode()) : "";
  const Expr *Value = strip(B->getRHS());
  auto Pair = [&](const Expr *L, const Expr *R) {
    return (Mine(L) && Other(R)) || (Other(L) && Mine(R));
  };
  if (const auto *Two = llvm::dyn_cast<BinaryOperator>(Value))
    return Pair(Two->getLHS(), Two->getRHS()) ? Sign(Two->getOpcode()) : "";
  llvm::StringRef Name = calleeOf(Value);
  const auto *Call = llvm::dyn_cast<CallExpr>(Value);
  if (Call && Call->getNumArgs() == 2 &&
      (Name == "fmaxf" || Name == "fminf" || Name == "fmax" || Name == "fmin" ||
       Name == "max" || Name == "min") &&
      isPure(Call, K.F->getASTContext()) &&
      Pair(Call->getArg(0), Call->getArg(1)))
    return Name.str();
  return "";
}

/// for (s = ...; s > 0; s /= 2) { if (t < s) ...; __syncthreads(); }
static std::optional<Reduction> readTree(const ForStmt *Loop, const Facts &F,
                                         const Kernel &K) {
  const auto *Init = llvm::dyn_cast_or_null<DeclStmt>(Loop->getInit());
  const auto *Stride = Init && Init->isSingleDecl()
                           ? llvm::dyn_cast<VarDecl>(Init->getSingleDecl())
                           : nullptr;
  if (!Stride || !Stride->getInit() ||
      !untilZero(Loop->getCond(), Stride, F, K) ||
      !halves(Loop->getInc(), Stride, F, K))
    return std::nullopt;
  const auto *Body = llvm::dyn_cast<CompoundStmt>(Loop->getBody());
  if (!Body || Body->size() != 2 || !isBlockBarrier(Body->body_begin()[1]))
    return std::nullopt;
  const auto *If = llvm::dyn_cast<IfStmt>(Body->body_begin()[0]);
  const auto *Less =
      If && !If->getElse()
          ? llvm::dyn_cast<BinaryOperator>(If->getCond()->IgnoreParenImpCasts())
          : nullptr;
  if (!Less || If->getInit() || If->getConditionVariable())
    return std::nullopt;
  bool Guarded =
      (Less->getOpcode() == BO_LT && isThreadNumber(Less->getLHS(), K) &&
       variableOf(Less->getRHS()) == Stride) ||
      (Less->getOpcode() == BO_GT && isThreadNumber(Less->getRHS(), K) &&
       variableOf(Less->getLHS()) == Stride);
  const auto *Assign =
      llvm::dyn_cast<BinaryOperator>(onlyStatement(If->getThen()));
  const auto *Into =
      Assign ? llvm::dyn_cast<ArraySubscriptExpr>(strip(Assign->getLHS()))
             : nullptr;
  const VarDecl *Array = Into ? variableOf(Into->getBase()) : nullptr;
  if (!Guarded || !Array || !Array->hasAttr<CUDASharedAttr>() ||
      !Array->getType()->isArrayType())
    return std::nullopt;
  Reduction R;
  R.Operation = combineOf(If->getThen(), Array, Stride, K);
  if (R.Operation.empty())
    return std::nullopt;
  R.Array = Array;
  R.Tree = true;
  R.Last = Loop;
  const Expr *Start = strip(Stride->getInit());
  R.StartsAt = F.constantOf(Start, K);
  if (const auto *Half = llvm::dyn_cast<BinaryOperator>(Start)) {
    std::optional<uint64_t> N = F.constantOf(Half->getRHS(), K);
    R.StartsAtBlock = isBuiltin(Half->getLHS(), "blockDim", 'x') && N &&
                      ((Half->getOpcode() == BO_Div && *N == 2) ||
                       (Half->getOpcode() == BO_Shr && *N == 1));
  }
  if (!R.StartsAt && !R.StartsAtBlock)
    return std::nullopt;
  return R;
}

/// The two statements before the loop: partial[t] = value; __syncthreads();
static std::string readStore(const CompoundStmt *Block, size_t LoopAt,
                             const Kernel &K, Reduction &R) {
  if (LoopAt < 2 || !isBlockBarrier(Block->body_begin()[LoopAt - 1]))
    return "no barrier stands before its loop";
  const Stmt *S = Block->body_begin()[LoopAt - 2];
  const auto *B = llvm::dyn_cast<BinaryOperator>(S);
  if (!B || B->getOpcode() != BO_Assign ||
      !isElement(B->getLHS(), R.Array,
                 [&](const Expr *I) { return isThreadNumber(I, K); }))
    return "what each thread brings is not stored right before it";
  R.First = S;
  R.Value = B->getRHS();
  return "";
}

static void walk(const Facts &F, const Kernel &K, std::vector<Reduction> &All,
                 std::vector<std::pair<const Stmt *, std::string>> &Almost) {
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Block = llvm::dyn_cast<CompoundStmt>(N);
    if (!Block)
      return;
    for (size_t I = 0; I < Block->size(); ++I) {
      const Stmt *S = Block->body_begin()[I];
      if (const auto *Loop = llvm::dyn_cast<ForStmt>(S)) {
        std::optional<Reduction> R = readTree(Loop, F, K);
        if (!R)
          continue;
        std::string Why = readStore(Block, I, K, *R);
        if (Why.empty())
          All.push_back(*R);
        else
          Almost.emplace_back(S, Why);
      } else if (const auto *Call = llvm::dyn_cast<CallExpr>(S);
                 Call && Call->getNumArgs() == 2 &&
                 calleeOf(Call).starts_with("block_reduce_")) {
        Reduction R;
        R.Array = variableOf(Call->getArg(0));
        R.Value = Call->getArg(1);
        R.First = R.Last = S;
        std::string Type = Call->getArg(1)
                               ->getType()
                               .getUnqualifiedType()
                               .getCanonicalType()
                               .getAsString();
        for (const char *Operation : {"+", "*", "&", "|", "^", "fmaxf", "fminf",
                                      "fmax", "fmin", "max", "min"})
          if (calleeOf(Call) == blockReduceName(Operation, Type) &&
              F.text().contains(blockReduceText(Operation, Type)))
            R.Operation = Operation;
        if (R.Array && !R.Operation.empty())
          All.push_back(R);
      }
    }
  });
}

std::vector<Reduction> stark::findReductions(const Facts &F, const Kernel &K) {
  std::vector<Reduction> All;
  std::vector<std::pair<const Stmt *, std::string>> Almost;
  walk(F, K, All, Almost);
  return All;
}

std::vector<std::pair<const Stmt *, std::string>>
stark::findAlmostReductions(const Facts &F, const Kernel &K) {
  std::vector<Reduction> All;
  std::vector<std::pair<const Stmt *, std::string>> Almost;
  walk(F, K, All, Almost);
  return Almost;
}
