//===- IndexSwap.cpp - Neighbouring threads to neighbouring memory --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of square blocks whose threads of neighbouring
/// threadIdx.x touch global memory rows apart, while threadIdx.y counts along
/// the row: threadIdx.x and threadIdx.y change places.
///
///     row = ... + threadIdx.x;            row = ... + threadIdx.y;
///     col = ... + threadIdx.y;        ->  col = ... + threadIdx.x;
///     y[row * n + col] = ...              y[row * n + col] = ...
///
/// Faster, because the 32 accesses of a warp then lie in a few sectors of 32
/// bytes rather than in one each.
///
/// Kept: the block's threads are numbered otherwise, and nothing else. Grid and
/// launch stay. Refused where blocks are not square or not known, and where
/// the kernel works on warps or calls what may look at the thread's number.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind NotSquare("its blocks are not square");
static constexpr ReasonKind ThreadInMacro("it names threadIdx in a macro");
static constexpr ReasonKind
    Calls("it calls a function that may look at the thread's number (line %0)");

namespace {
struct Plan {
  const Kernel *K;
  std::vector<std::pair<Range, char>> Uses; ///< of threadIdx, with the axis
};
} // namespace

/// More accesses step from row to row with threadIdx.x than along one.
static bool pays(const Accesses &A) {
  int Apart = 0, Along = 0;
  for (const Access &Each : A.all()) {
    if (Each.Shared || !Each.Index)
      continue;
    for (const Expr *Term : termsOf(Each.Index)) {
      bool Product = factorsOf(Term).size() > 1;
      (Product ? Apart : Along) +=
          dependsOnThread(Term, 'x') && !dependsOnThread(Term, 'y');
      (Product ? Along : Apart) +=
          dependsOnThread(Term, 'y') && !dependsOnThread(Term, 'x');
    }
  }
  return Apart > Along;
}

static OrReason<Plan> planFor(const Facts &F, const Kernel &K,
                              const Accesses &A) {
  Plan P{&K, {}};
  WhyNot Why;
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (!Block)
    Why = Block.why();
  else if ((*Block)[0] != (*Block)[1] || (*Block)[2] != 1)
    Why = Reason(NotSquare);
  forEach(K.body(), [&](const Stmt *N) {
    if (isWarpOperation(N))
      Why = Reason(why::WorksOnWarps);
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (!B || B->Name != "threadIdx" || B->Axis == 'z')
      return;
    std::optional<Range> R = F.range(N);
    if (R && F.text(*R) == "threadIdx." + std::string(1, B->Axis))
      P.Uses.emplace_back(*R, B->Axis);
    else
      Why = Reason(ThreadInMacro);
  });
  for (const Access &Each : A.all())
    if (!Why && llvm::isa<CallExpr>(Each.E) && Each.Unclear)
      Why = Reason(Calls, F.lineOf(Each.E));
  if (Why)
    return *Why;
  return P;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    if (!pays(A))
      continue;
    if (OrReason<Plan> P = planFor(F, *K, A))
      Out.fits(*P);
    else
      Out.refuse(*K->At, P.why());
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(*P.K->At, {P.K->name()}, 85,
                 "Let neighbouring threads touch neighbouring memory",
                 "In '" + P.K->name() +
                     "' threads of neighbouring threadIdx.x touch global "
                     "memory rows apart, so that a warp needs a sector for "
                     "each of them. The blocks are square: let threadIdx.x "
                     "and threadIdx.y change places.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  for (auto [Use, Axis] : P.Uses)
    Made.replace(Use, Axis == 'x' ? "threadIdx.y" : "threadIdx.x");
  return Made;
}

STARK_REWRITE(IndexSwap, "index-swap")
