//===- BlockScan.cpp - Warp shuffles instead of a scan in shared memory ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to the loop that adds up, for each thread of a block, what it and
/// the threads before it hold in shared memory, a barrier or two a round.
///
///     for (int s = 1; s < blockDim.x; s *= 2) {
///       __syncthreads();
///       float t = 0;
///       if (threadIdx.x >= s) t = sums[threadIdx.x - s];
///       __syncthreads();
///       if (threadIdx.x >= s) sums[threadIdx.x] += t;
///     }
/// ->
///     const float scanned = block_scan_float(sums[threadIdx.x]);
///
/// also where the first if adds and the second stores, where barriers stand
/// elsewhere in the round, and where both ifs ask for `i < n` as well.
///
/// Faster, because a warp hands sums on in registers, and the block waits four
/// times and not twenty.
///
/// Kept: each element's sum, in another order. Whole warps and one dimension
/// are tested at run time, with the source's loop where they are not there.
/// Refused where threads may have returned, or may not all come there.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Facts.h"
#include "Analysis/Purity.h"
#include "Analysis/ScannedType.h"
#include "Analysis/ThreadNumber.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "WarpScan.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    NotAllCome("threads may have returned, or not all come to line %0");
static constexpr ReasonKind
    RoundOther("a round at line %0 is not one of a scan");

static constexpr char Says[] =
    "/// What this thread and those before it in the block bring, added up. "
    "All\n"
    "/// threads of the block call it, which are whole warps along x.";

static constexpr CodeTemplate Scan(R"cuda(
if (blockDim.x % 32 == 0 && blockDim.y == 1 && blockDim.z == 1$more) {
  __syncthreads();
  const $type @scanned = block_scan_$type($array[$thread]);
  $guard$array[$thread] = @scanned;
  __syncthreads();
} else {
  $loop
}
)cuda");

namespace {
struct Plan {
  const Kernel *K = nullptr;
  const Site *At = nullptr;
  const ForStmt *Loop = nullptr;
  const VarDecl *Array = nullptr;
  const Expr *Thread = nullptr;
  const Expr *Guard = nullptr; ///< "i < n", or null
  std::string More;            ///< what else has to be tested
};

/// Reads one loop.
class Rounds {
public:
  Rounds(const Facts &F, const Kernel &K, const ForStmt *Loop)
      : F(F), K(K), Loop(Loop), Stride(onlyVariable(Loop->getInit())) {}
  bool doubles() const;
  bool reachesAll(Plan &P) const;
  bool isScan(Plan &P) const;
  /// Something is done by the threads from the stride on.
  bool looksAhead() const {
    return anyOf(Loop->getBody(), [&](const Stmt *N) {
      Plan None;
      const auto *E = llvm::dyn_cast<Expr>(N);
      return E && guard(E, None);
    });
  }

private:
  bool guard(const Expr *E, Plan &P) const;
  bool isOwn(const Expr *E, Plan &P) const;
  bool isBelow(const Expr *E, Plan &P) const;
  bool take(const Stmt *S, const VarDecl *&V, bool &Sum, bool &Zero,
            Plan &P) const;
  bool put(const Stmt *S, const VarDecl *V, bool Sum, bool Zero, Plan &P) const;
  const Expr *conditionally(const Stmt *S, Plan &P, bool &Guarded) const;

  const Facts &F;
  const Kernel &K;
  const ForStmt *Loop;
  const VarDecl *Stride;
};
} // namespace

/// From 1; s *= 2, s <<= 1, s += s.
bool Rounds::doubles() const {
  const auto *Step = llvm::dyn_cast_or_null<BinaryOperator>(Loop->getInc());
  if (!Stride || !Stride->getInit() || !Loop->getCond() || !Step ||
      !Step->isAssignmentOp() || variableOf(Step->getLHS()) != Stride ||
      F.constantOf(Stride->getInit(), K) != 1u ||
      !Stride->getType()->isIntegerType() ||
      F.context().getTypeSize(Stride->getType()) < 32 ||
      !isNeverWritten(Stride, Loop->getBody(), *K.Parents))
    return false;
  const Expr *By = Step->getRHS();
  BinaryOperatorKind Kind = Step->getOpcode();
  if (Kind == BO_Assign) {
    const BinaryOperator *Of = binary(By);
    if (!Of || variableOf(Of->getLHS()) != Stride)
      return false;
    By = Of->getRHS();
    Kind = Of->getOpcode();
  }
  std::optional<uint64_t> N = F.constantOf(By, K);
  return ((Kind == BO_MulAssign || Kind == BO_Mul) && N == 2u) ||
         ((Kind == BO_ShlAssign || Kind == BO_Shl) && N == 1u) ||
         ((Kind == BO_AddAssign || Kind == BO_Add) && variableOf(By) == Stride);
}

/// s < blockDim.x, s <= blockDim.x / 2, and the same with a constant.
bool Rounds::reachesAll(Plan &P) const {
  const BinaryOperator *C = binary(Loop->getCond());
  if (!C || variableOf(C->getLHS()) != Stride)
    return false;
  const Expr *Width = C->getRHS();
  if (C->getOpcode() == BO_LE) {
    const BinaryOperator *Half = binary(Width);
    std::optional<uint64_t> N =
        Half ? F.constantOf(Half->getRHS(), K) : std::nullopt;
    if (!Half || !((Half->getOpcode() == BO_Div && N == 2u) ||
                   (Half->getOpcode() == BO_Shr && N == 1u)))
      return false;
    Width = Half->getLHS();
    P.More = " && (blockDim.x & (blockDim.x - 1)) == 0";
  } else if (C->getOpcode() != BO_LT) {
    return false;
  }
  std::optional<uint64_t> N = F.constantOf(Width, K);
  if (N)
    P.More += " && blockDim.x <= " + std::to_string(*N);
  return N ? *N >= 32 : isBlockWidth(Width, F, K);
}

static bool isZero(const Expr *E) {
  E = E->IgnoreParenCasts();
  const auto *Real = llvm::dyn_cast<FloatingLiteral>(E);
  const auto *Whole = llvm::dyn_cast<IntegerLiteral>(E);
  return Real ? Real->getValue().isZero() : Whole && Whole->getValue() == 0;
}

/// Takes "threadIdx.x >= s", alone or with "i < n".
bool Rounds::guard(const Expr *E, Plan &P) const {
  const BinaryOperator *B = binary(E);
  if (!B)
    return false;
  auto IsReached = [&](const Expr *Part) {
    const BinaryOperator *C = binary(Part);
    return C && ((C->getOpcode() == BO_GE && isThreadNumber(C->getLHS(), K) &&
                  variableOf(C->getRHS()) == Stride) ||
                 (C->getOpcode() == BO_LE && isThreadNumber(C->getRHS(), K) &&
                  variableOf(C->getLHS()) == Stride));
  };
  if (IsReached(B))
    return true;
  if (B->getOpcode() != BO_LAnd)
    return false;
  const Expr *Other = IsReached(B->getLHS())   ? B->getRHS()
                      : IsReached(B->getRHS()) ? B->getLHS()
                                               : nullptr;
  // Where it holds for a thread it holds for those before it.
  const BinaryOperator *Less = Other ? binary(Other) : nullptr;
  if (!Less || Less->getOpcode() != BO_LT ||
      !(isThreadNumber(Less->getLHS(), K) ||
        isGlobalThreadNumber(Less->getLHS(), F, K)))
    return false;
  const auto *Bound =
      llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(Less->getRHS()));
  if (!F.constantOf(Less->getRHS(), K) && (!Bound || !K.keeps(Bound)))
    return false;
  if (P.Guard && !isSameTree(P.Guard, Other, F.context()))
    return false;
  P.Guard = Other;
  return true;
}

/// sums[threadIdx.x]
bool Rounds::isOwn(const Expr *E, Plan &P) const {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  const VarDecl *V = Sub ? variableOf(Sub->getBase()) : nullptr;
  if (!V || (P.Array && V != P.Array) || !isThreadNumber(Sub->getIdx(), K))
    return false;
  P.Array = V;
  P.Thread = Sub->getIdx();
  return true;
}

/// sums[threadIdx.x - s]
bool Rounds::isBelow(const Expr *E, Plan &P) const {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  const VarDecl *V = Sub ? variableOf(Sub->getBase()) : nullptr;
  const BinaryOperator *I = Sub ? binary(Sub->getIdx()) : nullptr;
  if (!V || (P.Array && V != P.Array) || !I || I->getOpcode() != BO_Sub ||
      !isThreadNumber(I->getLHS(), K) || variableOf(I->getRHS()) != Stride)
    return false;
  P.Array = V;
  return true;
}

/// The expression that \p S is, or that it is under the guard.
const Expr *Rounds::conditionally(const Stmt *S, Plan &P, bool &Guarded) const {
  const auto *If = llvm::dyn_cast<IfStmt>(S);
  Guarded = If != nullptr;
  if (!If)
    return llvm::dyn_cast<Expr>(S);
  if (If->getElse() || If->getInit() || If->getConditionVariable() ||
      !guard(If->getCond(), P))
    return nullptr;
  return llvm::dyn_cast_or_null<Expr>(onlyStatement(If->getThen()));
}

/// "if (GUARD) t = BELOW;", or with OWN + BELOW; "float t = GUARD ? BELOW :
/// 0;".
bool Rounds::take(const Stmt *S, const VarDecl *&V, bool &Sum, bool &Zero,
                  Plan &P) const {
  auto Takes = [&](const Expr *E) {
    if (isBelow(E, P))
      return true;
    std::vector<const Expr *> Terms = termsOf(E);
    Sum = Terms.size() == 2 &&
          eitherWay(
              Terms, [&](const Expr *T) { return isOwn(T, P); },
              [&](const Expr *T) { return isBelow(T, P); });
    return Sum;
  };
  if (const VarDecl *Declared = onlyVariable(S)) {
    const auto *C = Declared->getInit()
                        ? llvm::dyn_cast<ConditionalOperator>(
                              Declared->getInit()->IgnoreParenImpCasts())
                        : nullptr;
    V = Declared;
    Zero = true;
    return C && guard(C->getCond(), P) && isBelow(C->getTrueExpr(), P) &&
           isZero(C->getFalseExpr());
  }
  bool Guarded = false;
  const Expr *E = conditionally(S, P, Guarded);
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(E);
  return Guarded && B && B->getOpcode() == BO_Assign &&
         variableOf(B->getLHS()) == V && V && Takes(B->getRHS());
}

/// "if (GUARD) OWN += t;", or "OWN = t" where that is the sum.
bool Rounds::put(const Stmt *S, const VarDecl *V, bool Sum, bool Zero,
                 Plan &P) const {
  bool Guarded = false;
  const Expr *E = conditionally(S, P, Guarded);
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(E);
  if (!B || !isOwn(B->getLHS(), P) || (!Guarded && (Sum || !Zero)))
    return false;
  if (B->getOpcode() == BO_AddAssign)
    return !Sum && variableOf(B->getRHS()) == V;
  if (B->getOpcode() != BO_Assign)
    return false;
  if (Sum)
    return variableOf(B->getRHS()) == V;
  std::vector<const Expr *> Terms = termsOf(B->getRHS());
  return Terms.size() == 2 &&
         eitherWay(
             Terms, [&](const Expr *T) { return isOwn(T, P); },
             [&](const Expr *T) { return variableOf(T) == V; });
}

bool Rounds::isScan(Plan &P) const {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(Loop->getBody());
  if (!Body)
    return false;
  std::vector<const Stmt *> Lines(Body->body_begin(), Body->body_end());
  auto Barrier = [&](size_t I) {
    return I < Lines.size() && isBlockBarrier(Lines[I]);
  };
  size_t I = 0;
  bool Waits = Barrier(0);
  I += Waits;
  if (I >= Lines.size())
    return false;
  const VarDecl *V = onlyVariable(Lines[I]);
  bool Sum = false, Zero = false;
  const auto *Conditional = V && V->getInit()
                                ? llvm::dyn_cast<ConditionalOperator>(
                                      V->getInit()->IgnoreParenImpCasts())
                                : nullptr;
  if (!V)
    return false;
  if (!Conditional) {
    Zero = V->getInit() && isZero(V->getInit());
    if (V->getInit() && !Zero)
      return false;
    ++I;
  }
  if (I >= Lines.size() || !take(Lines[I++], V, Sum, Zero, P))
    return false;
  const Expr *Taken = P.Guard;
  if (!Barrier(I++) || I >= Lines.size() || !put(Lines[I++], V, Sum, Zero, P))
    return false;
  Waits |= Barrier(I);
  I += Barrier(I);
  // What only the store asks for, others have taken already.
  bool Same =
      Taken == P.Guard || (Taken && isSameTree(Taken, P.Guard, F.context()));
  if (!Waits || I != Lines.size() || !Same || !P.Array)
    return false;
  // What goes by way of another type is rounded in each round.
  const auto *A = P.Array->getType()->getAsArrayTypeUnsafe();
  return A &&
         F.context().hasSameUnqualifiedType(A->getElementType(), V->getType());
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    bool Returns = anyOf(
        K->body(), [](const Stmt *N) { return llvm::isa<ReturnStmt>(N); });
    for (const ForStmt *Loop : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, Loop);
      Rounds R(F, *K, Loop);
      Plan P;
      P.K = K;
      P.At = At;
      P.Loop = Loop;
      bool Waits = anyOf(Loop->getBody(),
                         [](const Stmt *N) { return isBlockBarrier(N); });
      if (!At || !Waits || !R.doubles() || !R.reachesAll(P) || !R.looksAhead())
        continue;
      if (!R.isScan(P) || scannedType(P.Array).empty())
        Out.refuse(*At, Reason(RoundOther, At->Line));
      else if (Returns || K->parent(Loop) != K->body())
        Out.refuse(*At, Reason(NotAllCome, At->Line));
      else
        Out.fits(P);
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 74, "Scan the block with warp shuffles",
      "The loop at line " + std::to_string(P.At->Line) + " adds up in `" +
          nameOf(P.Array) +
          "` what each thread and those before it hold, with barriers in each "
          "round. Let the warps do so in registers with __shfl_up_sync, and "
          "one warp with what the warps come to. The sums are added up in "
          "another order.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::string Type = scannedType(P.Array);
  std::optional<Range> Loop = F.statementRange(P.Loop);
  std::string Guard = P.Guard ? F.text(P.Guard) : "", Thread = F.text(P.Thread);
  if (!Loop || Thread.empty() || (P.Guard && Guard.empty()))
    return Reason(why::InMacro, "part of it");
  auto Names = Scan.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::string Text = llvm::cantFail(
      Scan.fill({{"more", P.More},
                 {"type", Type},
                 {"array", nameOf(P.Array)},
                 {"thread", Thread},
                 {"guard", P.Guard ? "if (" + Guard + ")\n" : ""},
                 {"loop", F.text(*Loop)}},
                Names));
  std::string Name = "block_scan_" + Type;
  OrReason<Changes> Made = F.declare(
      *P.K, Name,
      printWarpScan({Name, Type, Says,
                     "  return warp > 0 ? value + sums[warp - 1] : value;"}));
  if (Made)
    Made->write(*Loop, llvm::StringRef(Text).trim());
  return Made;
}

STARK_REWRITE(BlockScan, "block-scan")
