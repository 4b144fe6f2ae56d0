//===- FastMath.cpp - Fast intrinsics -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to `expf` in a kernel, where the workload allows an error of 1e-5
/// or more in every output:
///
///     y[i] = expf(x[i]);  ->  y[i] = __expf(x[i]);
///
/// Faster, because it is two instructions instead of about ten.
///
/// Not kept: the last bits. The error is 2 + |1.173 x| units in the last place,
/// about 1e-5 of the value for x = -70. That is why only a workload can allow
/// it, and the judge's comparison has the last word. Division and logarithm
/// are left alone: their fast forms are wrong altogether in part of the range.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

static constexpr double LeastTolerance = 1e-5;

static constexpr ReasonKind
    NoWorkload("only a workload could say what error is allowed");
static constexpr ReasonKind
    TooStrict("the workload allows less than 1e-5 of error in '%0'");
static constexpr ReasonKind NoOutput("the workload names no output");

namespace {
struct Plan {
  const Kernel *K;
  std::vector<Range> Calls; ///< the name alone
};
} // namespace

static WhyNot whyExact(const Task *Given) {
  if (!Given)
    return Reason(NoWorkload);
  bool Any = false;
  for (const Argument &A : Given->Load.Arguments) {
    if (!A.IsBuffer ||
        (A.Use != job::Role::Output && A.Use != job::Role::InOut))
      continue;
    Any = true;
    auto Found = Given->Load.Tolerance.find(A.Type);
    if (Found == Given->Load.Tolerance.end() || Found->second < LeastTolerance)
      return Reason(TooStrict, A.Name);
  }
  if (!Any)
    return Reason(NoOutput);
  return std::nullopt;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Plan P{K, {}};
    forEach(K->body(), [&](const Stmt *N) {
      const auto *C = llvm::dyn_cast<CallExpr>(N);
      if (!C || calleeOf(C) != "expf" || C->getNumArgs() != 1 ||
          F.context().getSourceManager().isInMainFile(
              C->getDirectCallee()->getLocation()))
        return;
      std::optional<Range> R = F.range(C->getCallee());
      if (R && F.text(*R) == "expf")
        P.Calls.push_back(*R);
    });
    if (P.Calls.empty())
      continue;
    if (WhyNot Why = whyExact(F.In.Given))
      Out.refuse(*K->At, *Why);
    else
      Out.fits(P);
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(*P.K->At, {P.K->name()}, 35, "Use the fast exponential",
                 "Replace expf by __expf, at " +
                     std::to_string(P.Calls.size()) +
                     (P.Calls.size() == 1 ? " place" : " places") +
                     ". The result changes in its last bits (2 + |1.173 x| "
                     "units in the last place); the workload's tolerance "
                     "allows that.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  for (Range Call : P.Calls)
    Made.replace(Call, "__expf");
  return Made;
}

STARK_REWRITE(FastMath, "fast-math")
