//===- FastMath.cpp - Fast intrinsics -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to `expf` and to the reciprocal of `sqrtf` in a kernel, where the
/// workload allows an error of 1e-5 or more in every output:
///
///     y[i] = expf(x[i]);           ->  y[i] = __expf(x[i]);
///     y[i] = 1.0f / sqrtf(x[i]);   ->  y[i] = rsqrtf(x[i]);
///
/// Faster, because it is two instructions instead of about ten.
///
/// Not kept: the last bits. The error of __expf is 2 + |1.173 x| units in the
/// last place, about 1e-5 of the value for x = -70, that of rsqrtf 2 units.
/// That is why only a workload can allow it, and the judge's comparison has the
/// last word. Division and logarithm are left alone: their fast forms are wrong
/// altogether in part of the range.
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
  std::vector<Range> Calls; ///< the name alone of expf
  std::vector<Substitute> Roots;
};
} // namespace

/// \p C calls \p Name of the toolkit, and is written so.
static bool isCallOf(const Facts &F, const CallExpr *C, llvm::StringRef Name) {
  if (!C || calleeOf(C) != Name || C->getNumArgs() != 1 ||
      F.context().getSourceManager().isInMainFile(
          C->getDirectCallee()->getLocation()))
    return false;
  std::optional<Range> R = F.range(C->getCallee());
  return R && F.text(*R) == Name;
}

/// 1.0f / sqrtf(x) as rsqrtf(x), in float.
static std::optional<Substitute> rootAt(const Facts &F, const Stmt *N) {
  const auto *B = llvm::dyn_cast<BinaryOperator>(N);
  if (!B || B->getOpcode() != BO_Div ||
      !B->getType()->isSpecificBuiltinType(BuiltinType::Float))
    return std::nullopt;
  Expr::EvalResult One;
  const Expr *Left = B->getLHS();
  const auto *C = llvm::dyn_cast<CallExpr>(B->getRHS()->IgnoreParens());
  if (Left->isValueDependent() || !Left->EvaluateAsRValue(One, F.context()) ||
      !One.Val.isFloat() || !One.Val.getFloat().isExactlyValue(1.0) ||
      !(isCallOf(F, C, "sqrtf") || isCallOf(F, C, "sqrt")) ||
      !C->getType()->isSpecificBuiltinType(BuiltinType::Float))
    return std::nullopt;
  std::optional<Range> Whole = F.range(B);
  std::string Of = F.text(C->getArg(0));
  if (!Whole || Of.empty())
    return std::nullopt;
  return Substitute{*Whole, "rsqrtf(" + Of + ")"};
}

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
    Plan P{K, {}, {}};
    forEach(K->body(), [&](const Stmt *N) {
      const auto *C = llvm::dyn_cast<CallExpr>(N);
      if (isCallOf(F, C, "expf"))
        P.Calls.push_back(*F.range(C->getCallee()));
      else if (std::optional<Substitute> Root = rootAt(F, N))
        P.Roots.push_back(*Root);
    });
    // One root may stand in another, where only one can be replaced.
    for (size_t I = 0; I < P.Roots.size(); ++I) {
      auto Within = [&](Range R) { return P.Roots[I].Bytes.contains(R); };
      llvm::erase_if(P.Calls, Within);
      P.Roots.erase(
          std::remove_if(P.Roots.begin() + I + 1, P.Roots.end(),
                         [&](const Substitute &S) { return Within(S.Bytes); }),
          P.Roots.end());
    }
    if (P.Calls.empty() && P.Roots.empty())
      continue;
    if (WhyNot Why = whyExact(F.In.Given))
      Out.refuse(*K->At, *Why);
    else
      Out.fits(P);
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Places, Errors;
  auto Add = [&](const char *What, const char *Error, size_t Count) {
    if (!Count)
      return;
    Places += (Places.empty() ? "" : " and ") + std::string(What) + ", at " +
              std::to_string(Count) + (Count == 1 ? " place," : " places,");
    Errors += (Errors.empty() ? "" : ", ") + std::string(Error);
  };
  Add("expf by __expf", "2 + |1.173 x| units in the last place",
      P.Calls.size());
  Add("1 / sqrtf by rsqrtf", "2 units in the last place", P.Roots.size());
  Places.pop_back();
  return matchAt(
      *P.K->At, {P.K->name()}, 35,
      P.Roots.empty()   ? "Use the fast exponential"
      : P.Calls.empty() ? "Use the reciprocal square root"
                        : "Use the fast exponential and reciprocal root",
      "Replace " + Places + ". The result changes in its last bits (" + Errors +
          "); the workload's tolerance allows that.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  for (Range Call : P.Calls)
    Made.replace(Call, "__expf");
  for (const Substitute &Root : P.Roots)
    Made.replace(Root.Bytes, Root.Text);
  return Made;
}

STARK_REWRITE(FastMath, "fast-math")
