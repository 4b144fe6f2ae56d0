//===- GridStride.cpp - Several elements a thread -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of one element a thread, and one launch of it: the
/// kernel gets a loop over the grid, and the launch a quarter of the blocks.
///
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) ...              (or: if (i >= n) return; ...)
/// ->
///     for (long long at = blockIdx.x * blockDim.x + threadIdx.x; at < n;
///          at += (long long)gridDim.x * blockDim.x) { int i = at; ... }
///
/// Faster, because indices and constants are computed once for four elements,
/// fewer blocks come and go, and vector-access can follow.
///
/// Kept: each element is computed once, by the same statements. The loop counts
/// in 64 bits, so it cannot run over. Refused where the kernel has barriers,
/// shared memory, or any other use of the thread's number, where the grid is
/// not one number, and where it may have fewer threads than there are elements:
/// the others are left as they are.
///
//===----------------------------------------------------------------------===//

#include "Analysis/ElementCover.h"
#include "Analysis/ElementKernel.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr CodeTemplate Loop(R"cuda(
const long long @stride = (long long)gridDim.x * blockDim.x;
for (long long @at = $start; @at < $bound; @at += @stride) {
  const $type $index = @at;
  $between$rest
}
)cuda");

namespace {
struct Plan {
  const Kernel *K;
  const Launch *L;
  ElementKernel Shape;
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::optional<OrReason<ElementKernel>> S = readElementKernel(F, *K);
    if (!S)
      continue;
    WhyNot Why = *S ? whyNotRelaunch(F, *K, (*S)->Bound) : S->why();
    if (Why)
      Out.refuse(*K->At, *Why);
    else
      Out.fits({K, K->Launches.front(), **S});
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(*P.K->At, {P.K->name(), P.L->HostAt->Id}, 50,
                 "Let a thread compute several elements",
                 "'" + P.K->name() +
                     "' computes one element a thread. Give it a loop over the "
                     "grid and launch a quarter of the blocks: what is common "
                     "to all elements is computed once for four.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const ElementKernel &S = P.Shape;
  std::optional<Range> Declared = F.statementRange(S.Declared),
                       Guard = F.range(S.Guard),
                       First = F.range(S.Rest.front()),
                       Last = F.statementRange(S.Rest.back()),
                       Grid = F.range(P.L->Grid);
  std::string Start = F.text(S.I->getInit()), Bound = F.text(S.Bound);
  if (!Declared || !Guard || !Last || !First || !Grid || Start.empty() ||
      Bound.empty())
    return Reason(why::InMacro, "part of it");
  std::string Between;
  for (const Stmt *Each : S.Between) {
    std::optional<Range> R = F.statementRange(Each);
    if (!R)
      return Reason(why::InMacro, "part of it");
    Between += F.text(*R) + "\n  ";
  }
  auto Names = Loop.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::string Text = llvm::cantFail(
      Loop.fill({{"start", Start},
                 {"bound", asOperand(Bound)},
                 {"type", F.writtenType(S.I->getType())},
                 {"index", nameOf(S.I)},
                 {"between", Between},
                 {"rest", F.text(Range{First->Begin, Last->End})}},
                Names));
  Changes Made;
  Made.write({Declared->Begin, Last->End}, llvm::StringRef(Text).trim());
  Made.replace(*Grid, "(" + *blocksOf(F, *P.L) + " + 3) / 4");
  return Made;
}

STARK_REWRITE(GridStride, "grid-stride")
