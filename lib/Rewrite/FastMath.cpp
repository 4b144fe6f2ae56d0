//===- FastMath.cpp - Fast intrinsics -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to `expf` in a kernel, where the workload allows an error of 1e-5
/// or more in every output: `__expf`.
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
#include "Facts.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

static constexpr double LeastTolerance = 1e-5;

namespace {
class FastMath : public Rewrite {
public:
  llvm::StringRef name() const override { return "fast-math"; }
  llvm::StringRef summary() const override {
    return "use fast intrinsics where the workload's tolerance allows them";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static std::string whyNotInexact(const Facts &F) {
  if (!F.In.T)
    return "only a workload could say what error is allowed";
  bool Any = false;
  for (const Argument &A : F.In.T->Load.Arguments) {
    if (!A.IsBuffer ||
        (A.Use != job::Role::Output && A.Use != job::Role::InOut))
      continue;
    Any = true;
    auto Found = F.In.T->Load.Tolerance.find(A.Type);
    if (Found == F.In.T->Load.Tolerance.end() || Found->second < LeastTolerance)
      return "the workload allows less than 1e-5 of error in '" + A.Name + "'";
  }
  return Any ? "" : "the workload names no output";
}

void FastMath::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    std::vector<Edit> Edits;
    forEach(K.body(), [&](const Stmt *N) {
      const auto *C = llvm::dyn_cast<CallExpr>(N);
      if (!C || calleeOf(C) != "expf" || C->getNumArgs() != 1 ||
          F.context().getSourceManager().isInMainFile(
              C->getDirectCallee()->getLocation()))
        return;
      std::optional<Range> R = F.range(C->getCallee());
      if (R && F.text(*R) == "expf")
        Edits.push_back({*R, "__expf"});
    });
    if (Edits.empty())
      continue;
    if (std::string Why = whyNotInexact(F); !Why.empty()) {
      Out.refuse(K.name(), K.At->Line, Why);
      continue;
    }
    Match M;
    M.Site = K.name();
    M.Line = K.At->Line;
    M.Sites = {K.name()};
    M.Promise = 35;
    M.Title = "Use the fast exponential";
    M.Advice = "Replace expf by __expf, at " + std::to_string(Edits.size()) +
               (Edits.size() == 1 ? " place" : " places") +
               ". The result changes in its last bits (2 + |1.173 x| units in "
               "the last place); the workload's tolerance allows that.";
    Out.offer(std::move(M),
              [Edits]() -> llvm::Expected<std::vector<Edit>> { return Edits; });
  }
}

std::unique_ptr<const Rewrite> stark::makeFastMath() {
  return std::make_unique<FastMath>();
}
