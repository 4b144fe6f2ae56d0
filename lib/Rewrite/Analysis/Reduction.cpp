//===- Reduction.cpp - Reductions over a block ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "Accumulation.h"
#include "ThreadNumber.h"
#include "WarpFinish.h"
#include "WarpReduction.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/bit.h"

using namespace stark;
using namespace clang;

/// The variable that \p Loop counts in when it is used nowhere else.
static const VarDecl *countedBy(const WhileStmt *Loop, const Expr *Step,
                                const Kernel &K) {
  const auto *B = llvm::dyn_cast<BinaryOperator>(Step);
  const VarDecl *V =
      B && B->isAssignmentOp() ? variableOf(B->getLHS()) : nullptr;
  if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V))
    return nullptr;
  std::set<const Stmt *> Inside = nodesOf(Loop);
  bool Elsewhere = false;
  forEachUse(K.body(), [&](const DeclRefExpr *Ref, const VarDecl *Used) {
    Elsewhere |= Used == V && !Inside.count(Ref);
  });
  // Declared in a loop around it, it would begin anew there.
  const Stmt *Block = K.parent(Loop);
  bool Beside = Block && llvm::any_of(Block->children(), [&](const Stmt *S) {
                  return onlyVariable(S) == V;
                });
  return Elsewhere || !Beside ? nullptr : V;
}

static std::optional<HalvingLoop> readRounds(const Stmt *Loop,
                                             const Kernel &K) {
  HalvingLoop P;
  const Stmt *Inner = nullptr;
  llvm::SmallVector<const Stmt *, 3> Lines;
  if (const auto *For = llvm::dyn_cast<ForStmt>(Loop)) {
    P.Stride = onlyVariable(For->getInit());
    P.Condition = For->getCond();
    P.Step = For->getInc();
    Inner = For->getBody();
  } else if (const auto *While = llvm::dyn_cast<WhileStmt>(Loop)) {
    P.Condition = While->getCond();
    Inner = While->getBody();
  }
  if (const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(Inner))
    Lines.assign(Body->body_begin(), Body->body_end());
  if (const auto *While = llvm::dyn_cast<WhileStmt>(Loop);
      While && !Lines.empty()) {
    P.Step = llvm::dyn_cast<Expr>(Lines.pop_back_val());
    P.Stride = P.Step ? countedBy(While, P.Step, K) : nullptr;
  }
  if (!P.Stride || !P.Stride->getInit() || !P.Condition || !P.Step ||
      Lines.size() != 2)
    return std::nullopt;
  P.Start = P.Stride->getInit();
  P.BarrierFirst = isBlockBarrier(Lines.front());
  if (!P.BarrierFirst && !isBlockBarrier(Lines.back()))
    return std::nullopt;
  P.If = llvm::dyn_cast<IfStmt>(Lines[P.BarrierFirst ? 1 : 0]);
  if (!P.If || P.If->getElse() || P.If->getInit() ||
      P.If->getConditionVariable())
    return std::nullopt;
  return P;
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

/// The stride of the last round: 1 for s > 0, s >= 1, s != 0 and s, 64 for
/// s > 32 and s >= 64. 0: not known.
static uint64_t leastStride(const Expr *E, const VarDecl *V, const Facts &F,
                            const Kernel &K) {
  if (variableOf(E->IgnoreParenImpCasts()) == V)
    return 1;
  const BinaryOperator *B = binary(E);
  if (!B || variableOf(B->getLHS()) != V)
    return 0;
  std::optional<uint64_t> N = F.constantOf(B->getRHS(), K);
  if (!N || *N > 1024)
    return 0;
  switch (B->getOpcode()) {
  case BO_GT:
    return *N ? 2 * llvm::bit_floor(*N) : 1;
  case BO_GE:
    return *N ? llvm::bit_ceil(*N) : 0;
  case BO_NE:
    return *N ? 0 : 1;
  default:
    return 0;
  }
}

/// a and b of "a < b", "b > a".
static std::optional<std::pair<const Expr *, const Expr *>>
sidesOfLess(const Expr *E) {
  const BinaryOperator *Less = binary(E);
  if (!Less || (Less->getOpcode() != BO_LT && Less->getOpcode() != BO_GT))
    return std::nullopt;
  if (Less->getOpcode() == BO_GT)
    return std::pair(Less->getRHS(), Less->getLHS());
  return std::pair(Less->getLHS(), Less->getRHS());
}

const Expr *stark::belowStride(const Expr *E, const VarDecl *Stride,
                               const Kernel &K) {
  auto Sides = sidesOfLess(E);
  return Sides && isThreadNumber(Sides->first, K) &&
                 variableOf(Sides->second) == Stride
             ? Sides->first
             : nullptr;
}

static std::optional<HalvingLoop> readHalving(const Stmt *Loop, const Facts &F,
                                              const Kernel &K) {
  std::optional<HalvingLoop> P = readRounds(Loop, K);
  if (!P || !halves(P->Step, P->Stride, F, K))
    return std::nullopt;
  P->Least = leastStride(P->Condition, P->Stride, F, K);
  return P->Least ? P : std::nullopt;
}

std::optional<HalvingLoop>
stark::readHalvingLoop(const Stmt *Loop, const Facts &F, const Kernel &K) {
  std::optional<HalvingLoop> P = readHalving(Loop, F, K);
  return P && P->Least == 1 ? P : std::nullopt;
}

/// partial[t] += partial[t + s], or = f(partial[t], partial[t + s]), where t is
/// what \p IsPlace says.
static std::string combineOf(const Stmt *S, const VarDecl *Array,
                             const VarDecl *Stride, const Kernel &K,
                             llvm::function_ref<bool(const Expr *)> IsPlace) {
  std::optional<Combination> C = readCombination(S, K.F->getASTContext());
  if (!C)
    return "";
  auto IsStride = [&](const Expr *I) { return variableOf(I) == Stride; };
  auto Mine = [&](const Expr *E) { return isElement(E, Array, IsPlace); };
  auto Other = [&](const Expr *E) {
    return isElement(E, Array, [&](const Expr *I) {
      return eitherWay(termsOf(I), IsPlace, IsStride);
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

static std::optional<Reduction> readTree(const Stmt *Loop, const Facts &F,
                                         const Kernel &K) {
  std::optional<HalvingLoop> P = readHalving(Loop, F, K);
  if (!P || !belowStride(P->If->getCond(), P->Stride, K))
    return std::nullopt;
  const Stmt *Then = onlyStatement(P->If->getThen());
  Reduction R;
  R.Array = sharedTarget(Then);
  if (R.Array)
    R.Operation = combineOf(Then, R.Array, P->Stride, K, [&](const Expr *I) {
      return isThreadNumber(I, K);
    });
  if (R.Operation.empty())
    return std::nullopt;
  R.Tree = true;
  R.BarrierFirst = P->BarrierFirst;
  R.Loop = R.Last = Loop;
  R.WarpFrom = P->Least / 2;
  const Expr *Start = strip(P->Start);
  R.StartsAt = F.constantOf(Start, K);
  if (const auto *Half = llvm::dyn_cast<BinaryOperator>(Start))
    R.StartsAtBlock = isBuiltin(resolve(Half->getLHS(), K.body(), *K.Parents),
                                "blockDim", 'x') &&
                      isHalf(Half->getOpcode(), Half->getRHS(), F, K);
  if (!R.StartsAt && !R.StartsAtBlock)
    return std::nullopt;
  return R;
}

namespace {
/// The tree of neighbours, whose stride doubles:
///     for (int s = 1; s < WIDTH; s *= 2) {
///       if (t % (2 * s) == 0) partial[t] += partial[t + s];
///       __syncthreads();
///     }
/// and with place = 2 * s * t, if (place < WIDTH), partial[place].
class Neighbours {
public:
  Neighbours(const ForStmt *Loop, const Facts &F, const Kernel &K)
      : Loop(Loop), F(F), K(K) {}
  std::optional<Reduction> read();

private:
  bool isStride(const Expr *E) const { return variableOf(E) == Stride; }
  bool isNumber(const Expr *E, uint64_t N) const {
    return F.constantOf(E, K) == N;
  }
  bool isDouble(BinaryOperatorKind Kind, const Expr *By) const;
  bool isTwice(llvm::ArrayRef<const Expr *> Factors) const;
  bool isPlace(const Expr *E) const;
  bool doubles(const Expr *Step) const;
  bool isMultiple(const Expr *Guard) const;
  bool readWidth(const Expr *E, Reduction &R) const;

  const ForStmt *const Loop;
  const Facts &F;
  const Kernel &K;
  const VarDecl *Stride = nullptr;
};
} // namespace

/// s * 2, s << 1, s + s, by the operator or that of its assignment.
bool Neighbours::isDouble(BinaryOperatorKind Kind, const Expr *By) const {
  return ((Kind == BO_Mul || Kind == BO_MulAssign) && isNumber(By, 2)) ||
         ((Kind == BO_Shl || Kind == BO_ShlAssign) && isNumber(By, 1)) ||
         ((Kind == BO_Add || Kind == BO_AddAssign) && isStride(By));
}

/// 2 * s, s << 1.
bool Neighbours::isTwice(llvm::ArrayRef<const Expr *> Factors) const {
  if (Factors.size() == 1) {
    const BinaryOperator *B = binary(Factors.front());
    return B && isStride(B->getLHS()) && isDouble(B->getOpcode(), B->getRHS());
  }
  return eitherWay(
      Factors, [&](const Expr *E) { return isNumber(E, 2); },
      [&](const Expr *E) { return isStride(E); });
}

/// 2 * s * t, or a variable of that value.
bool Neighbours::isPlace(const Expr *E) const {
  const VarDecl *V = variableOf(E);
  if (V && F.context().getTypeSize(V->getType()) < 32)
    return false;
  std::vector<const Expr *> Factors =
      factorsOf(resolve(E, K.body(), *K.Parents));
  auto Thread = llvm::find_if(
      Factors, [&](const Expr *Each) { return isThreadNumber(Each, K); });
  if (Thread == Factors.end())
    return false;
  Factors.erase(Thread);
  return isTwice(Factors);
}

bool Neighbours::doubles(const Expr *Step) const {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Step);
  if (!B || !B->isAssignmentOp() || !isStride(B->getLHS()))
    return false;
  if (B->isCompoundAssignmentOp())
    return isDouble(B->getOpcode(), B->getRHS());
  return isTwice(factorsOf(B->getRHS()));
}

/// t % (2 * s) == 0, !(t % (2 * s)), (t & (2 * s - 1)) == 0.
bool Neighbours::isMultiple(const Expr *Guard) const {
  const BinaryOperator *Equal = binary(Guard);
  const auto *Not = llvm::dyn_cast<UnaryOperator>(Guard->IgnoreParenImpCasts());
  const Expr *Rest = nullptr;
  if (Equal && Equal->getOpcode() == BO_EQ && isNumber(Equal->getRHS(), 0))
    Rest = Equal->getLHS();
  else if (Not && Not->getOpcode() == UO_LNot)
    Rest = Not->getSubExpr();
  const BinaryOperator *B = Rest ? binary(Rest) : nullptr;
  if (!B || !isThreadNumber(B->getLHS(), K))
    return false;
  if (B->getOpcode() == BO_Rem)
    return isTwice(factorsOf(B->getRHS()));
  const BinaryOperator *Mask = binary(B->getRHS());
  return B->getOpcode() == BO_And && Mask && Mask->getOpcode() == BO_Sub &&
         isNumber(Mask->getRHS(), 1) && isTwice(factorsOf(Mask->getLHS()));
}

/// How many elements there are: the block's, or a power of two.
bool Neighbours::readWidth(const Expr *E, Reduction &R) const {
  R.StartsAtBlock =
      isBuiltin(resolve(E, K.body(), *K.Parents), "blockDim", 'x');
  std::optional<uint64_t> N = F.constantOf(E, K);
  if (!R.StartsAtBlock && N && *N > 1 && !(*N & (*N - 1)))
    R.StartsAt = *N / 2;
  return R.StartsAtBlock || R.StartsAt;
}

std::optional<Reduction> Neighbours::read() {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(Loop->getBody());
  Stride = onlyVariable(Loop->getInit());
  auto Until = Loop->getCond() ? sidesOfLess(Loop->getCond()) : std::nullopt;
  Reduction R, Same;
  if (!Body || !Stride || !Stride->getInit() ||
      !Stride->getType()->isIntegerType() ||
      F.context().getTypeSize(Stride->getType()) < 32 ||
      !isNumber(Stride->getInit(), 1) || !Until || !isStride(Until->first) ||
      !readWidth(Until->second, R) || !doubles(Loop->getInc()))
    return std::nullopt;
  llvm::ArrayRef<Stmt *> Lines(Body->body_begin(), Body->body_end());
  const VarDecl *Place = Lines.empty() ? nullptr : onlyVariable(Lines.front());
  if (Place && Place->getInit() && isPlace(Place->getInit()) && K.keeps(Place))
    Lines = Lines.drop_front();
  const auto *If =
      Lines.size() == 2 ? llvm::dyn_cast<IfStmt>(Lines.front()) : nullptr;
  if (!If || If->getElse() || If->getInit() || If->getConditionVariable() ||
      !isBlockBarrier(Lines.back()))
    return std::nullopt;
  const Stmt *Then = onlyStatement(If->getThen());
  R.Array = sharedTarget(Then);
  if (!R.Array)
    return std::nullopt;
  if (isMultiple(If->getCond())) {
    R.Operation = combineOf(Then, R.Array, Stride, K, [&](const Expr *I) {
      return isThreadNumber(I, K);
    });
  } else if (auto Room = sidesOfLess(If->getCond());
             Room && isPlace(Room->first) && readWidth(Room->second, Same) &&
             Same.StartsAtBlock == R.StartsAtBlock &&
             Same.StartsAt == R.StartsAt) {
    R.Operation = combineOf(Then, R.Array, Stride, K,
                            [&](const Expr *I) { return isPlace(I); });
  }
  if (R.Operation.empty())
    return std::nullopt;
  R.Tree = true;
  R.Loop = R.Last = Loop;
  return R;
}

/// What each thread brings: "x[threadIdx.x] = value;" right before the barrier,
/// else what the array holds there.
static WhyNot readStore(const CompoundStmt *Block, size_t LoopAt,
                        const Kernel &K, Reduction &R) {
  llvm::ArrayRef<const Stmt *> Above(Block->body_begin(), LoopAt);
  R.First = R.Loop;
  // A loop's own variables may be declared between.
  while (!R.BarrierFirst && !Above.empty() && onlyVariable(Above.back()) &&
         onlyVariable(Above.back())->hasLocalStorage())
    Above = Above.drop_back();
  if (!R.BarrierFirst) {
    if (Above.empty() || !isBlockBarrier(Above.back()))
      return Reason(why::NoBarrierBefore);
    Above = Above.drop_back();
  }
  const auto *B =
      Above.empty() ? nullptr : llvm::dyn_cast<BinaryOperator>(Above.back());
  if (B && B->getOpcode() == BO_Assign &&
      Above.size() + (R.BarrierFirst ? 0 : 1) == LoopAt &&
      isElement(B->getLHS(), R.Array,
                [&](const Expr *I) { return isThreadNumber(I, K); })) {
    R.First = B;
    R.Value = B->getRHS();
    return std::nullopt;
  }
  for (const Stmt *Up = K.parent(R.Loop); Up; Up = K.parent(Up))
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(Up))
      return Reason(why::NoStoreBefore);
  return std::nullopt;
}

Reductions stark::findReductions(const Facts &F, const Kernel &K) {
  Reductions Found;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Block = llvm::dyn_cast<CompoundStmt>(N);
    for (size_t I = 0; Block && I < Block->size(); ++I) {
      const Stmt *S = Block->body_begin()[I];
      if (llvm::isa<ForStmt, WhileStmt>(S)) {
        std::optional<Reduction> R = readTree(S, F, K);
        if (const auto *Loop = llvm::dyn_cast<ForStmt>(S); Loop && !R)
          R = Neighbours(Loop, F, K).read();
        const Stmt *Next =
            I + 1 < Block->size() ? Block->body_begin()[I + 1] : nullptr;
        if (!R || (R->WarpFrom && !isWarpFinish(Next, *R, F, K)))
          continue;
        if (R->WarpFrom)
          R->Last = Next;
        if (WhyNot Why = readStore(Block, I, K, *R))
          Found.Almost.push_back({S, *Why});
        else
          (R->WarpFrom ? Found.ByWarp : Found.All).push_back(*R);
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
