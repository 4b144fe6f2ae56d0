//===- LoopInterchange.cpp - Walk along the rows --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop that holds nothing but another one, where the inner loop
/// steps from row to row of what a thread touches, and the outer one along the
/// row: the loops change places.
///
///     for (int j = 0; j < cols; ++j)         for (int r = 0; r < 8; ++r)
///       for (int r = 0; r < 8; ++r)     ->     for (int j = 0; j < cols; ++j)
///         y[(at + r) * cols + j] = ...           y[(at + r) * cols + j] = ...
///
/// Faster, because a thread then uses all of a sector of 32 bytes before it
/// turns to the next, rather than have it fetched again for each element.
/// Threads of a warp that lie side by side already share sectors, so accesses
/// that grow by one with threadIdx.x do not count.
///
/// Kept: each pair of indices is gone through once. What one iteration stores
/// no other one touches, or only those that follow it in the same loop, whose
/// order stays. Sums in a variable are added in another order, which the advice
/// says. Refused where the inner bounds depend on the outer index, where an
/// iteration may use what another one stored, where an element's index is not
/// seen to differ from iteration to iteration, and where a loop can end early,
/// waits for other threads or calls something.
///
//===----------------------------------------------------------------------===//

#include "Analysis/LoopNest.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

namespace {
struct Plan {
  const Site *At;
  LoopNest Nest;
  bool Reorders; ///< sums
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<LoopNest> Nest = At ? readLoopNest(F, *K, S) : std::nullopt;
      if (!Nest || !walksAcrossRows(F, *K, A, *Nest))
        continue;
      if (OrReason<bool> Reorders = readInterchange(F, *K, A, *Nest))
        Out.fits({At, *Nest, *Reorders});
      else
        Out.refuse(*At, Reorders.why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Advice =
      "The loop over '" + nameOf(P.Nest.Inner.I) + "' in that over '" +
      nameOf(P.Nest.Outer.I) +
      "' steps from row to row, so that a thread uses one element of each "
      "sector before it goes on. The loops may change places: then it walks "
      "along a row.";
  if (P.Reorders)
    Advice += " What they sum up is added in another order.";
  Match M = matchAt(*P.At, {P.At->Id}, 70,
                    "Walk along the rows in the inner loop", Advice);
  M.Alone = true;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  auto Header = [&](const CountedLoop &L) {
    return F.range(SourceRange(L.S->getLParenLoc(), L.S->getRParenLoc()));
  };
  std::optional<Range> Outer = Header(P.Nest.Outer),
                       Inner = Header(P.Nest.Inner);
  if (!Outer || !Inner)
    return Reason(why::InMacro, "a loop");
  Changes Made;
  Made.replace(*Outer, F.text(*Inner));
  Made.replace(*Inner, F.text(*Outer));
  return Made;
}

STARK_REWRITE(LoopInterchange, "loop-interchange")
