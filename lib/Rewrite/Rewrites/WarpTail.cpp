//===- WarpTail.cpp - The last rounds of a tree without barriers ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop over halving strides in each round of which threads
/// below the stride work and the whole block waits, in any memory:
///
///     for (int s = blockDim.x / 2; s > 0; s /= 2) {
///       if (tid < s) x[tid] += x[tid + s];
///       __syncthreads();
///     }
/// ->
///     int s = blockDim.x / 2;
///     for (; s > 32; s /= 2) { as before }
///     if (tid < 32)
///       for (; s > 0; s /= 2) {
///         if (tid < s) x[tid] += x[tid + s];
///         __syncwarp();
///       }
///     __syncthreads();
///
/// Faster, because the last six rounds are the first warp's alone, and the
/// others need not wait through them.
///
/// Kept: everything, the order of each sum included. Refused where a round
/// does more than the guarded part, where that waits or ends early, and where
/// threads are told apart in more than one dimension. Where only the total is
/// needed block-reduce is faster.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Pragmas.h"
#include "Analysis/Reduction.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    RoundDoesMore("a round does more than compute and store (line %0)");
static constexpr ReasonKind
    MoreDimensions("line %0 tells threads apart in more than one dimension");

static constexpr CodeTemplate Rounds(R"cuda({
  $declared
  for (; $stride > 32; $step) {
    $before$round
    $after
  }
  // From here on the first warp is alone.
  $before if ($thread < 32)
    for (; $condition; $step) {
      $round
      __syncwarp();
    }
  $after
})cuda");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  const Stmt *Loop;
  HalvingLoop H;
  const Expr *Thread;
};
} // namespace

/// "tid < stride", alone or with more: the thread's number.
static const Expr *guardOf(const Expr *E, const HalvingLoop &H,
                           const Kernel &K) {
  const BinaryOperator *B = binary(E);
  if (!B || B->getOpcode() != BO_LAnd)
    return belowStride(E, H.Stride, K);
  const Expr *Left = guardOf(B->getLHS(), H, K);
  return Left ? Left : guardOf(B->getRHS(), H, K);
}

static WhyNot whyNot(const Facts &F, const Kernel &K, const HalvingLoop &H) {
  WhyNot Why;
  forEach(H.If, [&](const Stmt *N) {
    if (llvm::isa<ReturnStmt, BreakStmt, ContinueStmt>(N) ||
        isWarpOperation(N) || isBlockBarrier(N))
      Why = Reason(RoundDoesMore, F.lineOf(N));
    // A function of the file may wait, too.
    const auto *C = llvm::dyn_cast<CallExpr>(N);
    if (C && !isPure(C, F.context()))
      Why = Reason(RoundDoesMore, F.lineOf(N));
  });
  if (!isNeverWritten(H.Stride, H.If, *K.Parents) ||
      !isPure(H.If->getCond(), F.context()))
    Why = Reason(RoundDoesMore, F.lineOf(H.If));
  forEach(K.body(), [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx" && B->Axis != 'x')
      Why = Reason(MoreDimensions, F.lineOf(N));
  });
  return Why;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels())
    forEach(K->body(), [&](const Stmt *N) {
      if (!llvm::isa<ForStmt, WhileStmt>(N) ||
          !llvm::isa_and_nonnull<CompoundStmt>(K->parent(N)))
        return;
      std::optional<HalvingLoop> H = readHalvingLoop(N, F, *K);
      const Site *At = F.siteAt(SiteKind::Loop, N);
      const Expr *Thread = H ? guardOf(H->If->getCond(), *H, *K) : nullptr;
      if (!Thread || !At)
        return;
      if (WhyNot Why = whyNot(F, *K, *H))
        Out.refuse(*At, *Why);
      else
        Out.fits({K, At, N, *H, Thread});
    });
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 58, "End the tree within the first warp",
      "In the last six rounds of the tree at line " +
          std::to_string(P.At->Line) +
          " only threads of the first warp do anything, and the whole block "
          "waits at a barrier after each. Let the block leave the loop at a "
          "stride of 32 and the first warp go on alone, with __syncwarp().");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const auto *For = llvm::dyn_cast<ForStmt>(P.Loop);
  std::optional<Range> Loop = F.statementRange(P.Loop),
                       Whole = Loop ? withPragmas(F, *Loop) : std::nullopt,
                       Round = F.statementRange(P.H.If),
                       Declared = For ? F.range(For->getInit()) : Whole;
  std::string Step = F.text(P.H.Step), Condition = F.text(P.H.Condition),
              Thread = F.text(P.Thread);
  if (!Whole || !Round || !Declared || Step.empty() || Condition.empty() ||
      Thread.empty())
    return Reason(why::InMacro, "the loop");
  std::string Start = For ? F.text(*Declared) : "";
  if (For && !llvm::StringRef(Start).ends_with(";"))
    Start += ";";
  std::string Barrier = "__syncthreads();";
  std::string Text = llvm::cantFail(
      Rounds.fill({{"declared", Start},
                   {"stride", nameOf(P.H.Stride)},
                   {"step", Step},
                   {"condition", Condition},
                   {"thread", Thread},
                   {"before", P.H.BarrierFirst ? Barrier + "\n" : ""},
                   {"round", F.text(*Round)},
                   {"after", P.H.BarrierFirst ? "" : Barrier}}));
  Changes Made;
  Made.write(*Whole, Text);
  return Made;
}

STARK_REWRITE(WarpTail, "warp-tail")
