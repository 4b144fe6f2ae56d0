//===- RegisterSum.cpp - What a loop changes stays in a register ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a counting loop that reads and stores the same element of
/// global or shared memory in all of its iterations: a variable stands for the
/// element while the loop runs.
///
///     y[row] = 0;                        float y_kept = 0;
///     for (int i = 0; i < n; ++i)   ->   for (int i = 0; i < n; ++i)
///       y[row] += a[i] * x[i];             y_kept += a[i] * x[i];
///                                        y[row] = y_kept;
///
/// Faster, because the element goes to memory and comes back once, where each
/// iteration had to wait for the store of the one before, and because a
/// compiler that must take the store to change a and x loads them one by one.
///
/// Kept: each operation and their order. Nothing else in the loop touches the
/// element, and no other thread may, since the loop waits for none. The element
/// is loaded and stored only where the source does: the thread has assigned to
/// it before, or the loop runs and its first iteration does. Refused where
/// memory that the loop uses may be the same (only the workload can say that
/// it is not), where it waits for other threads, calls something or can
/// return, and where the element is volatile.
///
//===----------------------------------------------------------------------===//

#include "Analysis/KeptElement.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  CountedLoop L;
  KeptElement E;
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    std::set<const Expr *> Kept; // in an outer loop already
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<CountedLoop> L =
          At ? readCountedLoop(F, *K, S) : std::nullopt;
      if (!L)
        continue;
      KeptElements Found = findKeptElements(F, *K, A, *L);
      bool Any = false;
      for (const KeptElement &E : Found.All) {
        if (!Any && !Kept.count(E.Element))
          Out.fits({K, At, *L, E});
        Any = true;
        Kept.insert(E.Uses.begin(), E.Uses.end());
      }
      if (!Any && Found.Lacks)
        Out.refuse(*At, *Found.Lacks);
    }
  }
}

static Match describe(const Facts &F, const Plan &P) {
  std::string Element = F.text(P.E.Element);
  Match M = matchAt(
      *P.At, {P.K->name()}, 65, "Keep in a register what the loop changes",
      "Each iteration of the loop at line " + std::to_string(P.At->Line) +
          " loads and stores `" + Element +
          "`. Nothing else touches it meanwhile: compute in a variable, and "
          "store it once, after the loop. The order of operations stays.");
  M.Alone = true;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const KeptElement &E = P.E;
  std::optional<size_t> Begin = lineBefore(F, *P.K, P.L.S);
  std::optional<Range> Loop = F.statementRange(P.L.S);
  if (!Begin || !Loop)
    return Reason(why::NoLineBefore);
  OrReason<KeptText> Text = keptText(F, *P.K, P.L, E);
  if (!Text)
    return Text.why();
  Changes Made = Text->Before;
  for (const Expr *Use : E.Uses) {
    std::optional<Range> R = F.range(Use);
    if (!R)
      return Reason(why::InMacro, "part of it");
    Made.replace(*R, Text->Name);
  }
  if (!Text->Load.empty())
    Made.write({*Begin, *Begin}, Text->Load + "\n" + F.indentAt(*Begin));
  Made.write({Loop->End, Loop->End},
             "\n" + F.indentAt(Loop->Begin) + Text->Store);
  return Made;
}

STARK_REWRITE(RegisterSum, "register-sum")
