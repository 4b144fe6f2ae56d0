//===- WideBlocks.cpp - Fewer and larger blocks ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of one element a thread (ElementKernel.h) whose one
/// launch has blocks of fewer than 128 threads:
///
///     k<<<n, 1>>>(x, n);    ->    k<<<(n + 255) / 256, 256>>>(x, n);
///
/// Faster, because a warp runs for one thread as long as for 32, an SM holds 32
/// blocks at most, and each block takes its time to come and go.
///
/// Kept: each element is computed once, by the same statements. Refused where
/// the kernel uses its thread's number for anything else, and where the launch
/// may have fewer threads than there are elements: the others are left as they
/// are.
///
//===----------------------------------------------------------------------===//

#include "Analysis/ElementCover.h"
#include "Analysis/ElementKernel.h"
#include "Catalogue.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    WidthIsNumber("its index is made of a number, not of blockDim.x");
static constexpr ReasonKind Bound("it bounds how many threads its blocks have");

namespace {
/// Threads of blocks that are large enough, and of those launched instead.
constexpr uint64_t Enough = 128, Wanted = 256;

struct Plan {
  const Kernel *K;
  const Launch *L;
  uint64_t Threads;
};
} // namespace

/// blockDim.x itself, or a variable that holds it, not the same as a number.
static bool usesWidth(const Kernel &K, const Expr *E) {
  return anyOf(E, [&](const Stmt *N) {
    const auto *Each = llvm::dyn_cast<Expr>(N);
    return Each &&
           isBuiltin(resolve(Each, K.body(), *K.Parents), "blockDim", 'x');
  });
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    if (K->Launches.size() != 1 || !K->Launches.front()->BlockSize)
      continue;
    const Launch &L = *K->Launches.front();
    auto [X, Y, Z] = *L.BlockSize;
    std::optional<OrReason<ElementKernel>> S = readElementKernel(F, *K);
    if (!S || X >= Enough || X == 0 || Y != 1 || Z != 1)
      continue;
    WhyNot Why = *S ? whyNotRelaunch(F, *K, (*S)->Bound) : S->why();
    if (!Why && K->F->hasAttr<CUDALaunchBoundsAttr>())
      Why = Reason(::Bound);
    if (!Why && !usesWidth(*K, (*S)->I->getInit()))
      Why = Reason(WidthIsNumber);
    if (Why)
      Out.refuse(*K->At, *Why);
    else
      Out.fits({K, &L, X});
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.K->At, {P.K->name(), P.L->HostAt->Id}, 92, "Launch larger blocks",
      "'" + P.K->name() + "' is launched in blocks of " +
          std::to_string(P.Threads) +
          " threads, of which an SM holds 32 at most. Launch blocks of " +
          std::to_string(Wanted) + " threads, and as many fewer of them.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::optional<Range> Grid = F.range(P.L->Grid), Block = F.range(P.L->Block);
  if (!Grid || !Block)
    return Reason(why::InMacro, "the launch");
  std::string Blocks = *blocksOf(F, *P.L);
  // In 64 bits: a grid of as many blocks as elements has more threads than an
  // int may count.
  std::string Threads = P.Threads == 1
                            ? Blocks
                            : Blocks + " * " + std::to_string(P.Threads) + "LL";
  Changes Made;
  Made.replace(*Grid, "(" + Threads + " + " + std::to_string(Wanted - 1) +
                          ") / " + std::to_string(Wanted));
  Made.replace(*Block, std::to_string(Wanted));
  return Made;
}

STARK_REWRITE(WideBlocks, "wide-blocks")
