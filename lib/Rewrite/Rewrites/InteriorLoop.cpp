//===- InteriorLoop.cpp - Neighbours that are all there -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to loops over neighbours that test in each iteration whether the
/// neighbour is there, or bring its place back to the edge: one test before the
/// loops tells whether all are there.
///
///     for (int i = -r; i <= r; ++i)
///       if (x + i >= 0 && x + i < w)
///         sum += in[x + i] * k[i + r];
/// ->
///     if (__all_sync(__activemask(), 0 <= x + -r && x + r < w))
///       for (int i = -r; i <= r; ++i)
///         sum += in[x + i] * k[i + r];
///     else (the loops as they were)
///
/// Faster, because most warps lie inside, and then neither compare nor branch
/// for each neighbour. The loops as they were are right for every thread, so a
/// warp of which one thread is at an edge takes these alone.
///
/// Kept: each operation and their order. An end of a loop is the least or the
/// most that its index can be, and sums, differences and multiples that grow
/// with it are least and most there. Refused where the loops wait for other
/// threads, which would wait in two places, and where a number is unsigned,
/// which a difference may carry below zero.
///
//===----------------------------------------------------------------------===//

#include "Analysis/InteriorNest.h"
#include "Analysis/Pragmas.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    TooMany("it would have to test for %0 things at once");

namespace {
/// More than four edges and their like.
constexpr size_t MostTests = 12;

struct Plan {
  const Kernel *K;
  const Site *At;
  const ForStmt *Outer;
  InteriorNest Nest;
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::set<const Stmt *> Taken; // in an outer loop already
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      if (!At || Taken.count(S))
        continue;
      std::optional<OrReason<InteriorNest>> Nest = readInteriorNest(F, *K, S);
      if (!Nest)
        continue;
      if (!*Nest) {
        Out.refuse(*At, Nest->why());
        continue;
      }
      Taken.merge(nodesOf(S));
      if ((*Nest)->Tests.size() > MostTests)
        Out.refuse(*At, Reason(TooMany, (*Nest)->Tests.size()));
      else
        Out.fits({K, At, S, **Nest});
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 67, "Test once whether all neighbours are there",
      "The loop at line " + std::to_string(P.At->Line) +
          " tests for each neighbour whether it is there. Test before the loop "
          "whether all are: then the loop needs no tests, and only threads at "
          "an edge go through the loop as it is. The order of operations "
          "stays.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::optional<Range> Loop = F.statementRange(P.Outer),
                       Whole = Loop ? withPragmas(F, *Loop) : std::nullopt;
  if (!Whole || !lineBefore(F, *P.K, P.Outer))
    return Reason(why::NoLineBefore);
  std::optional<std::string> Inside =
      substituted(F.text(), *Whole, P.Nest.Inside);
  if (!Inside)
    return Reason(why::InMacro, "part of it");
  std::string Tests;
  for (const std::string &Each : P.Nest.Tests)
    Tests += (Tests.empty() ? "" : " && ") + Each;
  Changes Made;
  // A warp at an edge goes one way, not both.
  Made.write(*Whole, "if (__all_sync(__activemask(), " + Tests + ")) {\n" +
                         *Inside + "\n} else { // at an edge\n" +
                         F.text(*Whole) + "\n}");
  return Made;
}

STARK_REWRITE(InteriorLoop, "interior-loop")
