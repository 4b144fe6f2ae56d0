//===- LoneSum.cpp - A sum that one thread of a block adds up alone -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop of a block's first thread that adds something up while
/// the others wait or leave: its warp adds it up.
///
///     if (threadIdx.x == 0) {               float sum_all = 0;
///       float sum = 0;                      if (threadIdx.x < 32) {
///       for (int i = 0; i < 256; ++i)         ... every 32nd of each lane,
///         sum += s[i];                  ->    put together with shuffles
///       out[blockIdx.x] = sum;              }
///     }                                     if (threadIdx.x == 0) {
///                                             float sum = 0;
///                                             sum += sum_all;
///                                             out[blockIdx.x] = sum;
///                                           }
///
/// Faster, because 32 loads are under way where one waited for the other's sum.
///
/// Kept: what is added, in another order. All threads of the warp are there:
/// the condition stands in no other statement and none has returned. What the
/// loop uses is the same in each of them, and what thread 0 has stored before
/// is made visible to the others. Refused where the loop stores, where it uses
/// what is computed under the condition, and where it is known to be short.
///
//===----------------------------------------------------------------------===//

#include "Analysis/LaneLoop.h"
#include "Analysis/Pragmas.h"
#include "Analysis/ThreadNumber.h"
#include "Analysis/Uniform.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind TooShort("it is short");
static constexpr ReasonKind Stores("it stores (line %0)");
static constexpr ReasonKind OddBlock("its blocks are no rows of 32 and more");
static constexpr ReasonKind OddPlace("its threads need not all come there");
static constexpr ReasonKind OddBefore("line %0, before it, does more than give "
                                      "variables a value");
static constexpr ReasonKind OddSum("it adds up more than one number");

/// Iterations below which sharing does not pay.
static constexpr uint64_t Short = 64;

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  LaneLoop L;
  const IfStmt *Alone;
};
} // namespace

/// threadIdx.x == 0, !threadIdx.x
static bool isFirstThread(const Facts &F, const Kernel &K, const Expr *E) {
  if (const auto *Not = llvm::dyn_cast<UnaryOperator>(strip(E));
      Not && Not->getOpcode() == UO_LNot)
    return isThreadNumber(Not->getSubExpr()->IgnoreParenImpCasts(), K);
  const BinaryOperator *B = binary(E);
  return B && B->getOpcode() == BO_EQ &&
         eitherWay(
             {B->getLHS(), B->getRHS()},
             [&](const Expr *N) { return isThreadNumber(N, K); },
             [&](const Expr *N) { return F.constantOf(N, K) == 0u; });
}

/// The condition that \p Loop stands under, with nothing else between.
static const IfStmt *aloneAt(const Facts &F, const Kernel &K,
                             const ForStmt *Loop) {
  const Stmt *Up = K.parent(Loop);
  while (Up && llvm::isa<CompoundStmt, AttributedStmt>(Up))
    Up = K.parent(Up);
  const auto *If = llvm::dyn_cast_or_null<IfStmt>(Up);
  bool Plain =
      If && !If->getElse() && !If->getInit() && !If->getConditionVariable();
  return Plain && isFirstThread(F, K, If->getCond()) ? If : nullptr;
}

/// What comes before the loop in \p S, which holds it, changes no memory.
static WhyNot whyNotBefore(const Facts &F, const Plan &P, const Stmt *S) {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(S);
  if (!Body)
    return std::nullopt;
  for (const Stmt *Each : Body->body()) {
    if (nodesOf(Each).count(P.L.L.S))
      return whyNotBefore(F, P, Each);
    const auto *B = llvm::dyn_cast<BinaryOperator>(Each);
    bool Plain = B && B->getOpcode() == BO_Assign && variableOf(B->getLHS()) &&
                 isPure(B->getRHS(), F.context());
    if (const auto *D = llvm::dyn_cast<DeclStmt>(Each))
      Plain = llvm::all_of(D->decls(), [&](const Decl *Of) {
        const auto *V = llvm::dyn_cast<VarDecl>(Of);
        return V && V->hasLocalStorage() && V->getType()->isScalarType() &&
               (!V->getInit() || isPure(V->getInit(), F.context()));
      });
    if (!Plain)
      return Reason(OddBefore, F.lineOf(Each));
  }
  return std::nullopt;
}

/// All lanes would run the loop as the first thread does.
static WhyNot whyNotSame(const Facts &F, const Plan &P) {
  const Kernel &K = *P.K;
  const Flow Order(K);
  const Uniform Same(F, K, Order, /*Grid=*/false);
  if (!Order.known())
    return Reason(OddPlace);
  const std::set<const VarDecl *> Inside = variablesDeclaredIn(P.L.L.S),
                                  Under = variablesDeclaredIn(P.Alone);
  WhyNot Why;
  forEach(P.L.L.S, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx")
      Why = Reason(why::UsesThread, "threadIdx");
    if (isWarpOperation(N) || isBlockBarrier(N))
      Why = Reason(why::WorksOnWarps);
  });
  forEachUse(P.L.L.S, [&](const DeclRefExpr *, const VarDecl *V) {
    if (Inside.count(V) || P.L.Sums.count(V) || !V->hasLocalStorage())
      return;
    if (Under.count(V) || !K.keeps(V) || !V->getType()->isScalarType() ||
        !Same.at(V, P.Alone))
      Why = Reason(why::VariableDiffers, nameOf(V));
  });
  return Why;
}

static WhyNot whyNot(const Facts &F, const Accesses &A, const Plan &P) {
  const Kernel &K = *P.K;
  const ForStmt *Loop = P.L.L.S;
  if (K.parent(P.Alone) != K.body() ||
      anyOf(K.body(), [](const Stmt *N) { return llvm::isa<ReturnStmt>(N); }))
    return Reason(OddPlace);
  if (P.L.Sums.size() != 1 || P.L.Sums.begin()->second != "+")
    return Reason(OddSum);
  if (onlyVariable(Loop->getInit()) != P.L.L.I)
    return Reason(why::OddLoopLine, F.lineOf(Loop));
  std::vector<const Access *> Mine = A.in(Loop);
  for (const Access *Each : Mine) {
    if (Each->Store || Each->Unclear)
      return Reason(Stores, F.lineOf(Each->E));
    if (Each->E->getType().isVolatileQualified())
      return Reason(why::Volatile);
  }
  std::optional<uint64_t> From = F.constantOf(P.L.L.Start, K),
                          To = F.constantOf(P.L.L.Bound, K);
  if (From && To && *To < *From + Short)
    return Reason(TooShort);
  if (WhyNot Why = whyNotBefore(F, P, P.Alone->getThen()))
    return Why;
  if (WhyNot Why = whyNotSame(F, P))
    return Why;
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (!Block)
    return Block.why();
  if ((*Block)[0] < 32 || (*Block)[1] != 1 || (*Block)[2] != 1)
    return Reason(OddBlock);
  return std::nullopt;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      const IfStmt *Alone = aloneAt(F, *K, S);
      if (!At || !Alone || A.in(S).empty())
        continue;
      OrReason<LaneLoop> L = readLaneLoop(F, *K, A, S);
      if (!L || L->Sums.empty())
        continue;
      Plan P{K, At, *L, Alone};
      if (WhyNot Why = whyNot(F, A, P))
        Out.refuse(*At, *Why);
      else
        Out.fits(P);
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 91, "Let a warp add up what one thread does",
      "Thread 0 of each block runs the loop at line " +
          std::to_string(P.At->Line) +
          " alone. Let each lane of its warp take every 32nd iteration and put "
          "together with shuffles what the lanes add up. Sums are added in "
          "another order, so their rounding may differ.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const VarDecl *Sum = P.L.Sums.begin()->first;
  std::optional<Range> If = F.statementRange(P.Alone),
                       Loop = F.statementRange(P.L.L.S),
                       Whole = Loop ? withPragmas(F, *Loop) : std::nullopt;
  std::optional<std::string> Shared =
      laneLoopText(F, P.L, "int(threadIdx.x)", 32);
  if (!If || !Whole || !Shared)
    return Reason(why::InMacro, "part of it");
  std::string Name = nameOf(Sum), All = F.freshName(Name + "_all"),
              Type = F.typeName(Sum->getType().getUnqualifiedType());
  Changes Made;
  Made.write({If->Begin, If->Begin},
             "// The first warp adds up what thread 0 alone would.\n" + Type +
                 " " + All + " = 0;\nif (threadIdx.x < 32) {\n__syncwarp();\n" +
                 Type + " " + Name + " = 0;\n" + *Shared + All + " = " + Name +
                 ";\n}\n");
  Made.write(*Whole, Name + " += " + All + ";");
  return Made;
}

STARK_REWRITE(LoneSum, "lone-sum")
