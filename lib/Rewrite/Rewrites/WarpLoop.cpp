//===- WarpLoop.cpp - A loop that a warp's threads all run alike ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop that collects a sum, a minimum or a maximum and is the
/// same, operand for operand, in all threads of a warp (or of a part of it):
/// the lanes share its iterations.
///
///     for (int i = 0; i < n; ++i)         if (__activemask() == 0xffffffffu)
///       sum += x[row * n + i];      ->      for (int i = 0 + lane; i < n;
///                                                i += 32)
///                                             sum += x[row * n + i];
///                                           sum = the sum of all lanes'
///                                         else
///                                           as before
///
/// Faster, because each element is looked at once a warp rather than once a
/// thread.
///
/// Kept: all threads get the value that each had, with sums added in another
/// order. What the iterations read is the same for all lanes: parameters, and
/// what does not depend on threadIdx.x. Where not all lanes of a warp are there
/// at that time the old form runs. Refused where iterations store or need each
/// other, where the block is not known to be made of whole rows of a warp, and
/// where the loop is known to be short.
///
//===----------------------------------------------------------------------===//

#include "Analysis/LaneLoop.h"
#include "Analysis/Uniform.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind TooShort("it is short");
static constexpr ReasonKind InLoop("it lies in another loop");
static constexpr ReasonKind Stores("it stores (line %0)");
static constexpr ReasonKind
    OddBlock("its blocks are no whole rows of 8, 16 or 32 threads");

/// Iterations below which sharing does not pay.
static constexpr uint64_t Short = 64;

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  LaneLoop L;
  unsigned Lanes = 32;
};

/// What is the same in the threads that differ in threadIdx.x alone.
class SameInRow {
public:
  SameInRow(const Facts &F, const Kernel &K, const ForStmt *Loop)
      : F(F), K(K), Loop(Loop), Order(K), Same(F, K, Order, /*Grid=*/false),
        Inside(variablesDeclaredIn(Loop)) {}
  bool known() const { return Order.known(); }
  WhyNot whyNot(const Stmt *S, const LaneLoop &L) const;
  bool everywhere(const VarDecl *V) const { return Same.at(V, Loop); }

private:
  WhyNot whyNotHere(const Stmt *S) const;
  WhyNot whyNot(const VarDecl *V, unsigned Depth) const;
  bool isGivenAlike(const VarDecl *V, unsigned Depth) const;
  bool isAlike(const Expr *E, unsigned Depth) const;
  bool runsAlike(const Stmt *S, unsigned Depth) const;

  const Facts &F;
  const Kernel &K;
  const ForStmt *Loop;
  const Flow Order;
  const Uniform Same;
  const std::set<const VarDecl *> Inside;
  mutable std::set<const VarDecl *> Assumed;
};
} // namespace

WhyNot SameInRow::whyNotHere(const Stmt *S) const {
  WhyNot Why;
  forEach(S, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx" && B->Axis == 'x')
      Why = Reason(why::UsesThread, "threadIdx.x");
    if (isWarpOperation(N) || isBlockBarrier(N))
      Why = Reason(why::WorksOnWarps);
  });
  return Why;
}

bool SameInRow::isAlike(const Expr *E, unsigned Depth) const {
  bool Alike = isPure(E, F.context()) && !whyNotHere(E);
  forEachUse(E, [&](const DeclRefExpr *, const VarDecl *Used) {
    Alike = Alike && !whyNot(Used, Depth + 1);
  });
  return Alike;
}

/// What decides whether \p S runs, and not whether the loop does, is the same.
bool SameInRow::runsAlike(const Stmt *S, unsigned Depth) const {
  for (const Stmt *Up = K.parent(S); Up; Up = K.parent(Up)) {
    if (nodesOf(Up).count(Loop))
      return true; // and all that is further out
    const Expr *Decides = nullptr;
    if (const auto *If = llvm::dyn_cast<IfStmt>(Up))
      Decides = If->getCond();
    else if (const auto *For = llvm::dyn_cast<ForStmt>(Up))
      Decides = For->getCond();
    else if (!llvm::isa<CompoundStmt, AttributedStmt, Expr>(Up))
      return false;
    if (llvm::isa<IfStmt, ForStmt>(Up) &&
        (!Decides || !isAlike(Decides, Depth)))
      return false;
  }
  return true;
}

/// Whatever it is assigned is the same, and so is whether it is.
bool SameInRow::isGivenAlike(const VarDecl *V, unsigned Depth) const {
  if (llvm::isa<ParmVarDecl>(V) || !V->getType()->isArithmeticType() ||
      V->getType().isVolatileQualified() || !V->getInit())
    return false;
  Assumed.insert(V);
  bool Alike = isAlike(V->getInit(), Depth);
  forEach(K.body(), [&](const Stmt *N) {
    if (llvm::isa<LambdaExpr>(N) || (llvm::isa<BreakStmt, ContinueStmt>(N)))
      Alike = false;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Alike || !Ref || Ref->getDecl() != V)
      return;
    const Stmt *Up = K.parent(N);
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue)
      return;
    const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Up);
    const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
    bool Given = (B && B->isAssignmentOp() && B->getLHS() == N &&
                  isAlike(B->getRHS(), Depth)) ||
                 (U && U->isIncrementDecrementOp());
    Alike = Given && runsAlike(Up, Depth);
  });
  Assumed.erase(V);
  return Alike;
}

WhyNot SameInRow::whyNot(const VarDecl *V, unsigned Depth) const {
  if (!V->hasLocalStorage() || Assumed.count(V) || Same.at(V, Loop))
    return std::nullopt;
  if (Depth <= MostSteps && !K.keeps(V) && isGivenAlike(V, Depth))
    return std::nullopt;
  const Reason Differs(why::VariableDiffers, nameOf(V));
  if (Depth > MostSteps || !K.keeps(V) || llvm::isa<ParmVarDecl>(V) ||
      !V->getInit() || !V->getType()->isScalarType() ||
      !isPure(V->getInit(), F.context()) || readsMemory(V->getInit()))
    return Differs;
  if (whyNotHere(V->getInit()))
    return Differs;
  WhyNot Why;
  forEachUse(V->getInit(), [&](const DeclRefExpr *, const VarDecl *Used) {
    if (!Why)
      Why = whyNot(Used, Depth + 1);
  });
  return Why;
}

WhyNot SameInRow::whyNot(const Stmt *S, const LaneLoop &L) const {
  WhyNot Why = whyNotHere(S);
  forEachUse(S, [&](const DeclRefExpr *, const VarDecl *V) {
    if (!Why && !Inside.count(V) && !L.Sums.count(V))
      Why = whyNot(V, 0);
  });
  return Why;
}

static WhyNot whyNot(const Facts &F, const Kernel &K, const Accesses &A,
                     const SameInRow &Same, Plan &P) {
  // Lanes that are there together could be in different rounds.
  for (const Stmt *Up = K.parent(P.L.L.S); Up; Up = K.parent(Up))
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(Up))
      return Reason(InLoop);
  for (const Access *Each : A.in(P.L.L.S)) {
    if (Each->Store || Each->Unclear)
      return Reason(Stores, F.lineOf(Each->E));
    if (Each->E->getType().isVolatileQualified())
      return Reason(why::Volatile);
  }
  std::optional<uint64_t> From = F.constantOf(P.L.L.Start, K),
                          To = F.constantOf(P.L.L.Bound, K);
  if (From && To && *To < *From + Short)
    return Reason(TooShort);
  if (WhyNot Why = Same.whyNot(P.L.L.S, P.L))
    return Why;
  // Of what a minimum begins with there may be one a lane.
  for (const auto &[V, Operation] : P.L.Sums)
    if (Operation != "+" && !Same.everywhere(V))
      return Reason(why::VariableDiffers, nameOf(V));
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (!Block)
    return Block.why();
  uint64_t X = (*Block)[0], All = X * (*Block)[1] * (*Block)[2];
  P.Lanes = X % 32 == 0 ? 32 : unsigned(std::min<uint64_t>(X, 32));
  if (All % 32 != 0 || (P.Lanes != 32 && P.Lanes != 16 && P.Lanes != 8))
    return Reason(OddBlock);
  return std::nullopt;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      OrReason<LaneLoop> L = readLaneLoop(F, *K, A, S);
      if (!At || !L || L->Sums.empty() || A.in(S).empty())
        continue;
      Plan P{K, At, *L};
      const SameInRow Same(F, *K, S);
      // Lanes that look at elements of their own are other rewrites'.
      bool Near = Same.known() && llvm::none_of(A.in(S), [&](const Access *E) {
                    return Same.whyNot(E->E, *L).has_value();
                  });
      if (!Near)
        continue;
      if (WhyNot Why = whyNot(F, *K, A, Same, P))
        Out.refuse(*At, *Why);
      else
        Out.fits(P);
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 87, "Let a warp share a loop that it runs alike",
      "All threads of a warp that differ in threadIdx.x alone run the loop at "
      "line " +
          std::to_string(P.At->Line) +
          " over the same elements. Let each lane take every " +
          std::to_string(P.Lanes) +
          "th iteration and put together with shuffles what the lanes collect. "
          "Sums are added in another order, so their rounding may differ.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::optional<Range> Whole = F.statementRange(P.L.L.S);
  std::optional<std::string> Shared = laneLoopText(
      F, P.L, "int(threadIdx.x % " + std::to_string(P.Lanes) + ")", P.Lanes);
  if (!Whole || !Shared)
    return Reason(why::InMacro, "part of it");
  std::optional<size_t> Begin = lineBefore(F, *P.K, P.L.L.S);
  if (!Begin)
    return Reason(why::NoLineBefore);
  Changes Made;
  Made.write({*Begin, *Begin},
             "// The lanes share what all of them would do, if all are there.\n"
             "if (__activemask() == 0xffffffffu) {\n" +
                 *Shared + "} else {\n");
  Made.write({Whole->End, Whole->End}, "\n}");
  return Made;
}

STARK_REWRITE(WarpLoop, "warp-loop")
