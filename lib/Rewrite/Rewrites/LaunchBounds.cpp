//===- LaunchBounds.cpp - The largest block that is launched --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel whose launches are all in the file with constant block
/// sizes, of which the largest is declared:
///
///     __global__ void k(...)  ->  __global__ void __launch_bounds__(256)
///     k(...)
///
/// Faster, because the compiler need not leave registers for blocks of 1024
/// threads.
///
/// Kept: everything. Refused where another launch could be larger: one that is
/// not constant, or that another file may make.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    TooLarge("its blocks have %0 threads, which no GPU runs");

namespace {
struct Plan {
  const Kernel *K;
  uint64_t Largest;
  size_t Name; ///< where the kernel's name stands
};
} // namespace

static OrReason<Plan> planFor(const Facts &F, const Kernel &K) {
  uint64_t Largest = 0;
  for (const Launch *L : K.Launches) {
    if (!L->BlockSize)
      return Reason(why::BlockNotConstant);
    Largest = std::max(Largest, (*L->BlockSize)[0] * (*L->BlockSize)[1] *
                                    (*L->BlockSize)[2]);
  }
  if (K.LaunchedElsewhere || K.Problem)
    return K.LaunchedElsewhere ? *K.LaunchedElsewhere : *K.Problem;
  if (K.Launches.empty())
    return Reason(why::NoLaunchHere);
  if (!K.F->isFirstDecl() || K.F->getMostRecentDecl() != K.F)
    return Reason(why::DeclaredBefore);
  if (Largest == 0 || Largest > MostThreadsOfBlock)
    return Reason(TooLarge, Largest);
  std::optional<size_t> Name = F.nameOffset(K.F, K.Bytes);
  if (!Name)
    return Reason(why::NameInMacro);
  return Plan{&K, Largest, *Name};
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel &K : F.kernels()) {
    if (K.F->hasAttr<CUDALaunchBoundsAttr>())
      continue;
    if (OrReason<Plan> P = planFor(F, K))
      Out.fits(*P);
    else
      Out.refuse(*K.At, P.why());
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(*P.K->At, {P.K->name()}, 20, "Declare the largest block",
                 "'" + P.K->name() + "' is launched with at most " +
                     std::to_string(P.Largest) +
                     " threads a block. Say so with __launch_bounds__, so that "
                     "the compiler may use the registers that this leaves.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  Made.insert(P.Name, "__launch_bounds__(" + std::to_string(P.Largest) + ") ");
  return Made;
}

STARK_REWRITE(LaunchBounds, "launch-bounds")
