//===- Unroll.cpp - Several iterations at once ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to an innermost counting loop without a pragma of its own:
///
///     for (int i = 0; i < n; ++i)         #pragma unroll 4
///       sum += x[i];                 ->   for (int i = 0; i < n; ++i)
///                                           sum += x[i];
///
/// Faster, because the loads of several iterations can be under way together,
/// and there are fewer branches.
///
/// Kept: everything; the compiler takes care of what is left over. Refused
/// where the loop holds a barrier, and where no line can be put before it.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind LoopInMacro("it stands in a macro");
static constexpr ReasonKind HasPragma("a pragma stands before it");
static constexpr ReasonKind HoldsBarrier("it holds a barrier");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  size_t Begin; ///< of the loop
};
} // namespace

static WhyNot whyNot(const Facts &F, const Kernel &K, const ForStmt *Loop,
                     size_t At) {
  std::optional<size_t> Line = F.lineBegin(At);
  if (!Line || !llvm::isa_and_nonnull<CompoundStmt>(K.parent(Loop)))
    return Reason(why::NoLineBefore);
  llvm::StringRef Above = F.text().take_front(*Line).rtrim();
  if (Above.ends_with("\\"))
    return Reason(LoopInMacro);
  Above = Above.substr(Above.rfind('\n') + 1).trim();
  if (Above.starts_with("#pragma") || Above.starts_with("_Pragma"))
    return Reason(HasPragma);
  WhyNot Why;
  forEach(Loop->getBody(), [&](const Stmt *N) {
    if (isBlockBarrier(N))
      Why = Reason(HoldsBarrier);
    if (llvm::isa<ReturnStmt, BreakStmt>(N))
      Why = Reason(why::EndsEarly);
  });
  return Why;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels())
    for (const ForStmt *Loop : loopsOf(*K)) {
      bool Innermost = !anyOf(Loop->getBody(), [](const Stmt *N) {
        return llvm::isa<ForStmt, WhileStmt, DoStmt>(N);
      });
      const Site *At = F.siteAt(SiteKind::Loop, Loop);
      std::optional<Range> R = F.range(Loop);
      if (!Loop->getCond() || !Loop->getInc() || !Innermost || !At || !R)
        continue;
      if (WhyNot Why = whyNot(F, *K, Loop, R->Begin))
        Out.refuse(*At, *Why);
      else
        Out.fits({K, At, R->Begin});
    }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(*P.At, {P.K->name()}, 15, "Unroll the loop by four",
                 "Unroll the loop at line " + std::to_string(P.At->Line) +
                     " by four, so that the loads of four iterations are under "
                     "way together.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  Changes Made;
  Made.insert(P.Begin, "#pragma unroll 4\n" + F.indentAt(P.Begin));
  return Made;
}

STARK_REWRITE(Unroll, "unroll")
